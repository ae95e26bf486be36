//! The published layout, and what the validator finds in it.

use super::super::files::{FILES, Holds};
use super::*;
use crate::MemoryFiles;
use crate::manifest::Recorder;

fn written(prefix: &str) -> MemoryFiles {
    let mut memory = MemoryFiles::default();
    write_scan(Seed::new(1), &mut Recorder::new(&mut memory, prefix)).unwrap();
    memory
}

fn one(name: &str, text: &str) -> MemoryFiles {
    let mut memory = MemoryFiles::default();
    memory.0.insert(name.to_owned(), text.into());
    memory
}

#[test]
fn published_names_hold_the_splits_in_the_published_sizes() {
    let (memory, golden) = (written(""), golden());
    assert_eq!(memory.0.len(), FILES.len());
    for file in FILES {
        let text = std::str::from_utf8(&memory.0[&format!("{}{}", file.folder, file.name)]).unwrap();
        let (part, pairs) = match file.holds {
            Holds::All => ("all".to_owned(), commands()),
            Holds::Train(split) => (format!("{}/train", split.name()), split.parts(Seed::new(1)).train),
            Holds::Test(split) => (format!("{}/test", split.name()), split.parts(Seed::new(1)).test),
        };
        assert_eq!(read_lines(text).unwrap(), pairs, "{}", file.name);
        assert!(text.ends_with('\n'));
        assert_eq!(golden["scan"][part]["lines"], file.lines, "{}", file.name);
    }
}

#[test]
fn what_is_written_is_valid_in_any_folder() {
    for prefix in ["", "some/where/"] {
        let mut memory = written(prefix);
        memory.0.insert("README.txt".to_owned(), b"Not lines.\n".to_vec());
        let report = validate_scan(&memory).unwrap();
        assert_eq!((report.errors, report.notes.len()), (0, 0), "{report:?}");
        assert_eq!(report.splits.len(), FILES.len());
        let train = &report.splits[&format!("{prefix}add_prim_split/tasks_train_addprim_jump.txt")];
        assert_eq!([&train["examples"], &train["distinct"]], [14_670, 13_204]);
    }
}

#[test]
fn bad_lines_are_found_and_numbered() {
    let text = "IN: run OUT: I_RUN\nIN: run\nIN: turn OUT: I_RUN\nIN: fly OUT: I_RUN\n\
                IN: jump left OUT: I_JUMP\n";
    let mut memory = one("a/mine.txt", text);
    memory.0.insert("b.txt".to_owned(), b"IN: run OUT: \xff\n".to_vec());
    let report = validate_scan(&memory).unwrap();
    let mine = &report.splits["a/mine.txt"];
    let counts = ["examples", "distinct", "malformed", "output_errors"].map(|name| &mine[name]);
    assert_eq!(counts, [5, 2, 3, 1], "{report:?}");
    let errors = mine["first_errors"].as_array().unwrap();
    assert_eq!(errors[0], "line 2: found `IN: run`, expected `IN: <command> OUT: <actions>`");
    let turn = "line 3: `turn` is no SCAN command: found `turn`, \
                expected walk, look, run, jump or a direction after turn";
    assert_eq!(errors[1], turn);
    assert!(errors[2].as_str().unwrap().starts_with("line 4: the command: unknown token `fly`"));
    assert_eq!(errors[3], "line 5: `jump left` is `I_JUMP`, not `I_TURN_LEFT I_JUMP`");
    assert_eq!(report.splits["b.txt"]["malformed"], 1);
    assert_eq!(report.errors, 5);
}

#[test]
fn sizes_repetitions_and_overlap_are_checked_in_published_files() {
    let mut memory = written("");
    let test = "add_prim_split/tasks_test_addprim_jump.txt";
    memory.0.get_mut(test).unwrap().extend(b"IN: jump OUT: I_JUMP\n");
    let train = "length_split/tasks_train_length.txt";
    let text = std::str::from_utf8(&memory.0[train]).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let second = rest.split_once('\n').unwrap().0;
    assert_ne!(first, second);
    let text = format!("{second}\n{rest}");
    memory.0.insert(train.to_owned(), text.into());
    let report = validate_scan(&memory).unwrap();
    let test = &report.splits[test];
    let counts = ["published_size", "size_differs", "repeated_commands", "overlap_with_training"];
    assert_eq!(counts.map(|name| &test[name]), [7_706, 1, 0, 1], "{report:?}");
    let errors = ["7707 lines instead of 7706", "`jump` was trained on"];
    assert_eq!(*test["first_errors"].as_array().unwrap(), errors);
    let train = &report.splits[train];
    assert_eq!([&train["size_differs"], &train["repeated_commands"]], [0, 1]);
    assert_eq!(report.errors, 3);
}

#[test]
fn what_cannot_be_checked_is_said() {
    let error = validate_scan(&one("a.txt", "hello\n")).unwrap_err().to_string();
    assert_eq!(error, "there is no `*.txt` of SCAN lines (`IN: <command> OUT: <actions>`)");
    let mut memory = written("");
    memory.0.remove("simple_split/tasks_train_simple.txt");
    let report = validate_scan(&memory).unwrap();
    let note = "simple_split/tasks_test_simple.txt: its training file is not there to compare with";
    assert_eq!((report.errors, report.notes), (0, vec![note.to_owned()]));
}
