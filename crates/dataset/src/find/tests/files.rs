//! Files that are written are read again, and the validator finds what is planted in them.

use super::*;
use crate::manifest::Recorder;
use crate::table::TableFormat;
use crate::{DataError, MemoryFiles};

type Writer = fn(&RuleTask, &mut Recorder<'_>) -> Result<(), DataError>;

fn write_jsonl(task: &RuleTask, out: &mut Recorder<'_>) -> Result<(), DataError> {
    write_rows(task, TableFormat::Jsonl, out)
}

fn written(task: &RuleTask, write: Writer) -> MemoryFiles {
    let mut memory = MemoryFiles::default();
    write(task, &mut Recorder::new(&mut memory, "")).unwrap();
    memory
}

fn file<'a>(memory: &'a MemoryFiles, name: &str) -> &'a str {
    std::str::from_utf8(&memory.0[name]).unwrap()
}

/// Replaces the first occurrence in a file, of which there must be one.
fn plant(memory: &mut MemoryFiles, name: &str, from: &str, to: &str) {
    let text = file(memory, name);
    assert!(text.contains(from), "{name} has no {from}");
    let text = text.replacen(from, to, 1);
    memory.0.insert(name.to_owned(), text.into());
}

#[test]
fn text_is_read_again() {
    for name in settings() {
        let task = task(&name);
        let memory = written(&task, write_text);
        assert_eq!(memory.0.len(), 6 + 2 * task.rules.len());
        let read = |stem: &str| read_text(&memory, stem, &task).unwrap();
        assert_eq!(read("train").as_ref(), Some(&task.train), "{name}");
        for stem in ["valid", "test"] {
            let pairs = read(stem).unwrap();
            assert!(pairs.iter().all(|pair| pair.output.is_empty()), "{name}");
            assert!(pairs.iter().map(|pair| &pair.input).eq(&task.holdout), "{name}");
        }
        for rule in &task.rules {
            assert_eq!(read(&rule.name), Some(task.candidate_lines(rule)), "{name} {}", rule.name);
        }
        assert_eq!(read("nothing"), None);
    }
}

#[test]
fn rows_are_read_again() {
    for name in settings() {
        let task = task(&name);
        let memory = written(&task, write_jsonl);
        assert_eq!(read_rows(&memory, &task).unwrap().as_ref(), Some(&task), "{name}");
        let form = prompt_form(&task);
        assert_eq!(read_prompts(&memory, &form).unwrap(), Some(form), "{name}");
    }
    let task = task("count-or-mem");
    assert_eq!(read_rows(&MemoryFiles::default(), &task).unwrap(), None);
    assert_eq!(read_prompts(&MemoryFiles::default(), &prompt_form(&task)).unwrap(), None);
}

#[test]
fn rows_are_what_they_are_documented_to_be() {
    let memory = written(&task("hierar-or-linear:depth=1"), write_jsonl);
    let line = |name: &str, i: usize| file(&memory, name).lines().nth(i).unwrap().to_owned();
    assert_eq!(line("train.jsonl", 1), r#"{"input":"b a b","output":"a","hierar":null,"linear":null}"#);
    assert_eq!(line("holdout.jsonl", 5), r#"{"input":"b b a b b","output":null,"hierar":"a","linear":"b"}"#);
    assert_eq!(line("prompts-train.jsonl", 1), r#"{"text":"<eos> b a b <sep> a' <eos>","mask":[5,6]}"#);
    assert_eq!(line("prompts-holdout.jsonl", 0), r#"{"text":"<eos> a a a <sep>","mask":[]}"#);
    // The empty string is an input too.
    let memory = written(&task("count-or-mem:length=1"), write_jsonl);
    let row = r#"{"input":"","output":null,"count":"","mem":"b"}"#;
    assert!(file(&memory, "holdout.jsonl").starts_with(row));
}

#[test]
fn bad_rows_are_named_with_file_and_line() {
    let task = task("add-or-mul:length=3");
    let error = |name: &str, line: &str| {
        let mut memory = written(&task, write_jsonl);
        memory.0.get_mut(name).unwrap().extend(line.bytes());
        let error = match name {
            "prompts-holdout.jsonl" => read_prompts(&memory, &prompt_form(&task)).unwrap_err(),
            _ => read_rows(&memory, &task).unwrap_err(),
        };
        assert_eq!(validate(&memory, &task.name, Seed::new(1)).unwrap_err().to_string(), error.to_string());
        error.to_string()
    };
    let train = |line: &str| error("train.jsonl", line);
    assert_eq!(train("[]"), "train.jsonl, line 2: not a JSON object with input and output");
    let unknown = "train.jsonl, line 2: unknown token `b` at position 1; the alphabet is: a";
    assert_eq!(train(r#"{"input":"a b","output":""}"#), unknown);
    let holdout = |line: &str| error("holdout.jsonl", line);
    assert_eq!(
        holdout(r#"{"input":"a","output":"b"}"#),
        "holdout.jsonl, line 8: not a JSON object with input, output (null) and rules"
    );
    assert_eq!(
        holdout(r#"{"input":"a","output":null,"add":3}"#),
        "holdout.jsonl, line 8: the answer of rule `add` is 3, not a string"
    );
    assert_eq!(
        holdout(r#"{"input":"a","output":null,"add":"b"}"#),
        "holdout.jsonl, line 8: the rules are add, but in line 1 add, mul, mem"
    );
    let prompts = |line: &str| error("prompts-holdout.jsonl", line);
    let row = "prompts-holdout.jsonl, line 8: not a JSON object with text and mask";
    assert_eq!(prompts(r#"{"text":"a"}"#), row);
    let outside = "prompts-holdout.jsonl, line 8: masked position 1 lies outside the text of 1 tokens";
    assert_eq!(prompts(r#"{"text":"a","mask":[1]}"#), outside);

    let mut memory = written(&task, write_jsonl);
    memory.0.remove("holdout.jsonl");
    let missing = "there is no `holdout.jsonl` beside train.jsonl";
    assert_eq!(read_rows(&memory, &task).unwrap_err().to_string(), missing);
}

#[test]
fn bad_text_is_named_with_file_and_line() {
    let task = task("count-or-mem:length=3");
    let mut memory = written(&task, write_text);
    let error = |memory: &MemoryFiles| read_text(memory, "mem", &task).unwrap_err().to_string();
    plant(&mut memory, "mem.dst", "b b b\nb b b\n", "b b b\nb a\n");
    assert_eq!(error(&memory), "mem.dst, line 2: unknown token `a` at position 1; the alphabet is: b");
    memory.0.insert("mem.dst".to_owned(), b"b\n".to_vec());
    assert_eq!(error(&memory), "mem.dst: 1 outputs for 14 inputs in mem.src");
    memory.0.remove("mem.dst");
    assert_eq!(error(&memory), "there is no `mem.dst` beside mem.src");
}

#[test]
fn what_is_written_is_valid_and_another_setting_is_not() {
    for name in settings() {
        let task = task(&name);
        for (write, entries) in [(write_text as Writer, 3 + task.rules.len()), (write_jsonl, 3)] {
            let report = validate(&written(&task, write), &name, Seed::new(1)).unwrap();
            assert_eq!((report.errors, report.notes.len()), (0, 0), "{name}: {report:?}");
            assert_eq!((report.language, report.splits.len()), (task.name.clone(), entries));
        }
    }
    for write in [write_text as Writer, write_jsonl] {
        let memory = written(&task("count-or-mem:length=40"), write);
        assert!(validate(&memory, "count-or-mem:length=30", Seed::new(1)).unwrap().errors > 0);
        // Only a random split depends on the seed; line order is reported, not an error.
        let errors = |name: &str| {
            let report = validate(&written(&task(name), write), name, Seed::new(2)).unwrap();
            assert!(report.splits.values().any(|split| split["same_order"] == false), "{name}");
            report.errors
        };
        assert_eq!(errors("scan:split=jump"), 0);
        assert!(errors("scan:split=simple") > 0);
    }
}

#[test]
fn planted_errors_in_rows_are_found() {
    let name = "hierar-or-linear:depth=4";
    let mut memory = written(&task(name), write_jsonl);
    plant(&mut memory, "train.jsonl", r#"a a a a a a a a a","output":"a""#, r#"a","output":"a""#);
    plant(
        &mut memory,
        "train.jsonl",
        r#"a a a a b a a a a","output":"b""#,
        r#"a a a a b a a a a","output":"a""#,
    );
    plant(&mut memory, "holdout.jsonl", r#""hierar":"a","linear":"b""#, r#""hierar":"b","linear":"a""#);
    plant(&mut memory, "prompts-holdout.jsonl", "<eos> a a a a a <sep>", "<eos> a a a a <sep>");
    let report = validate(&memory, name, Seed::new(1)).unwrap();
    let train = &report.splits["train.jsonl"];
    let counts = ["missing_pairs", "unexpected_pairs", "output_errors"].map(|name| &train[name]);
    assert_eq!(counts, [1, 1, 1], "{report:?}");
    assert_eq!(
        *train["first_errors"].as_array().unwrap(),
        [
            "line 3: `a a a a b a a a a` is answered with `a`; the task says `b`",
            "line 1: unexpected `a`",
            "`a a a a a a a a a` is missing"
        ]
    );
    let holdout = &report.splits["holdout.jsonl"];
    assert_eq!([&holdout["hierar_output_errors"], &holdout["linear_output_errors"]], [1, 1]);
    let first = "line 2: `b b a b b` is answered with `b`; hierar says `a`";
    assert_eq!(holdout["first_errors"][0], first);
    let prompts = &report.splits["prompts"];
    assert_eq!([&prompts["missing_prompts"], &prompts["unexpected_prompts"]], [1, 1]);
    assert_eq!(report.errors, 3 + 2 + 2);

    let text = file(&memory, "holdout.jsonl").replace("linear", "line");
    memory.0.insert("holdout.jsonl".to_owned(), text.into());
    let report = validate(&memory, name, Seed::new(1)).unwrap();
    let holdout = &report.splits["holdout.jsonl"];
    assert_eq!([&holdout["missing_rules"], &holdout["unexpected_rules"]], [1, 1]);
}

#[test]
fn planted_errors_in_text_are_found() {
    let name = "dax-compo:primitives=5";
    let mut memory = written(&task(name), write_text);
    plant(&mut memory, "mem_func.dst", "A A A\nA A A\n", "A A A\nB B B\n");
    plant(&mut memory, "test.src", "F b\n", "F b\nF b\n");
    memory.0.remove("compo.src");
    let report = validate(&memory, name, Seed::new(1)).unwrap();
    assert_eq!(report.splits["mem_func"]["output_errors"], 1);
    let first = "line 7: `F b` is answered with `B B B`; the task says `A A A`";
    assert_eq!(report.splits["mem_func"]["first_errors"][0], first);
    assert_eq!(report.splits["test"]["unexpected_inputs"], 1);
    assert_eq!(report.errors, 2);
    assert_eq!(report.notes, ["compo: there is no compo.src, so nothing could be checked"]);
}

#[test]
fn what_cannot_be_checked_is_an_error() {
    let error = |name: &str| validate(&MemoryFiles::default(), name, Seed::new(1)).unwrap_err().to_string();
    assert_eq!(error("scan"), "there is no `train.jsonl` nor train.src: not a FIND directory");
    assert_eq!(error("scan:l=1"), "task `scan`: there is no setting `l`; there are: split");
}
