//! Files that are written are read again, and the validator finds what is planted in them.

use serde_json::Value;

use super::super::{
    ADJ_QA, HARD_SYM_CT, QA, Reading, SPLITS, SYM_CT, TASKS, TaskData, VOCABULARY, WadeTask, dataset, read,
    validate, write,
};
use crate::manifest::Recorder;
use crate::table::TableFormat;
use crate::validation::Validation;
use crate::{MemoryFiles, Seed};

fn written(data: &TaskData) -> MemoryFiles {
    let mut memory = MemoryFiles::default();
    write(data, TableFormat::Jsonl, &mut Recorder::new(&mut memory, "")).unwrap();
    memory
}

/// A directory of hand-made sequences, answers in brackets.
fn planted(task: &WadeTask, train: &[&str], test: &[&str]) -> MemoryFiles {
    let all: Vec<&str> = train.iter().chain(test).copied().collect();
    written(&TaskData {
        task: task.name,
        settings: task.settings(Reading::Corrected),
        sequences: all.iter().map(|text| task.parse(text).unwrap()).collect(),
        wanted: all.len(),
        drawn: all.len(),
        train: (0..train.len()).collect(),
        test: (train.len()..all.len()).collect(),
    })
}

fn value<'a>(report: &'a Validation, split: &str, name: &str) -> &'a Value {
    &report.splits[split][name]
}

#[test]
fn what_is_written_is_read_again_and_is_valid() {
    for task in TASKS {
        for reading in Reading::ALL {
            let data = dataset(task, reading, 1000, Seed::new(4));
            let memory = written(&data);
            let sequences = SPLITS.map(|split| read(&memory, split, task).unwrap().unwrap());
            assert!(sequences[0].iter().eq(data.train()) && sequences[1].iter().eq(data.test()));
            let report = validate(&memory, task, reading).unwrap();
            assert_eq!((report.errors, report.notes.len()), (0, 0), "{} {reading}: {report:?}", task.name);
            assert_eq!(*value(&report, "train", "examples"), data.train.len());
            assert_eq!(*value(&report, "vocabulary", "tokens"), task.vocabulary().len());
            let share = value(&report, "test", "majority_answer_share").as_f64().unwrap();
            assert!(share > 0.0 && share <= 1.0, "{}: {share}", task.name);
        }
    }
}

#[test]
fn rows_are_text_and_mask() {
    let memory = planted(&QA, &["I SEE TOM . DO I SEE TOM ? [YES]"], &[]);
    let row = "{\"text\":\"I SEE TOM . DO I SEE TOM ? YES\",\"mask\":[9]}\n";
    assert_eq!(memory.0["train.jsonl"], row.as_bytes());
    assert_eq!(memory.0["test.jsonl"], b"");
    let vocabulary = String::from_utf8(memory.0[VOCABULARY].clone()).unwrap();
    assert!(vocabulary.lines().eq(QA.vocabulary().tokens()));
}

#[test]
fn a_bad_row_is_named_with_file_and_line() {
    let error = |row: &str| {
        let mut memory = planted(&SYM_CT, &["A x A [1] ."], &[]);
        memory.0.get_mut("train.jsonl").unwrap().extend(row.bytes());
        let error = read(&memory, "train", &SYM_CT).unwrap_err().to_string();
        assert_eq!(validate(&memory, &SYM_CT, Reading::Corrected).unwrap_err().to_string(), error);
        error
    };
    assert_eq!(
        error(r#"{"text":"A y","mask":[]}"#),
        "train.jsonl, line 2: unknown token `y` at position 1; \
         the alphabet is: A B C x . 0 1 2 3 4 5 6 7 8 9"
    );
    let outside = "train.jsonl, line 2: masked position 5 lies outside the text of 5 tokens";
    assert_eq!(error(r#"{"text":"A x A 1 .","mask":[3,5]}"#), outside);
    let order = "train.jsonl, line 2: masked position 3 follows 4; positions must ascend";
    assert_eq!(error(r#"{"text":"A x A 1 .","mask":[4,3]}"#), order);
    let object = "train.jsonl, line 2: not a JSON object with text and mask";
    assert_eq!(error("A x A 1 ."), object);
    assert_eq!(error(r#"{"text":"A x A 1 .","mask":[3],"answer":"1"}"#), object);
    assert!(read(&MemoryFiles::default(), "train", &SYM_CT).unwrap().is_none());
}

#[test]
fn planted_errors_are_found() {
    let train = ["A B x B [1] .", "A B x B [2] .", "A x [A] [1] .", "A A x A [2] ."];
    let memory = planted(&SYM_CT, &train, &["B x B [1] .", "A A x A [2] .", "C x C [1] ."]);
    for reading in Reading::ALL {
        let report = validate(&memory, &SYM_CT, reading).unwrap();
        assert_eq!(report.errors, 1 + 1 + 1, "{report:?}");
        assert_eq!(*value(&report, "train", "answer_errors"), 1);
        assert_eq!(*value(&report, "train", "malformed"), 1);
        // The first two texts differ in the answer, so only the answer makes them distinct.
        assert_eq!(*value(&report, "train", "duplicates"), 0);
        assert_eq!(*value(&report, "train", "masked_positions"), 5);
        assert_eq!(*value(&report, "train", "majority_answer_share"), 0.4);
        let first = &value(&report, "train", "first_errors");
        assert_eq!(first[0], "line 2, position 4: `2` instead of `1`");
        assert!(first[1].as_str().unwrap().starts_with("line 3: expected "), "{first}");
        assert_eq!(*value(&report, "test", "overlap_with_training"), 1);
        assert_eq!(*value(&report, "test", "answer_errors"), 0);
    }
}

#[test]
fn only_false_zeros_of_task_4_in_the_published_reading_are_known() {
    let texts = ["A B y C x A B y [1] C y [0] .", "A B y C x A B y [2] .", "A B x A B y [1] B A y [0] ."];
    let memory = planted(&HARD_SYM_CT, &texts, &[]);
    let published = validate(&memory, &HARD_SYM_CT, Reading::Published).unwrap();
    assert_eq!(*value(&published, "train", "known_wrong_answers"), 1);
    assert_eq!((published.errors, value(&published, "train", "answer_errors")), (1, &1.into()));
    let corrected = validate(&memory, &HARD_SYM_CT, Reading::Corrected).unwrap();
    assert_eq!(corrected.errors, 2);
    assert!(value(&corrected, "train", "known_wrong_answers").is_null());

    // A wrong digit of a longer count is no decoy's label, even if it is a zero.
    let eleven = format!("{} x A y [1] [0] .", ["A"; 11].join(" y "));
    let memory = planted(&HARD_SYM_CT, &[&eleven], &[]);
    assert_eq!(validate(&memory, &HARD_SYM_CT, Reading::Published).unwrap().errors, 1);
}

#[test]
fn released_data_of_task_4_are_wrong_and_of_task_9_unstated() {
    let count = |task: &WadeTask, name: &str| {
        let memory = written(&dataset(task, Reading::Published, 3000, Seed::new(2)));
        let published = validate(&memory, task, Reading::Published).unwrap();
        assert_eq!(published.errors, 0, "{published:?}");
        let corrected = validate(&memory, task, Reading::Corrected).unwrap().errors;
        let counts = SPLITS.map(|split| value(&published, split, name).as_u64().unwrap());
        (counts.iter().sum::<u64>(), corrected as u64)
    };
    for (task, name) in [(HARD_SYM_CT, "known_wrong_answers"), (ADJ_QA, "unstated_answers")] {
        let (known, errors) = count(&task, name);
        assert!(known > 0 && known == errors, "{}: {known} {errors}", task.name);
    }
}

#[test]
fn what_is_not_there_is_said() {
    let error = validate(&MemoryFiles::default(), &QA, Reading::Corrected).unwrap_err().to_string();
    assert_eq!(error, "there is no `train.jsonl` nor test.jsonl: not a WADE directory");
    let mut memory = planted(&QA, &["I SEE TOM . DO I SEE TOM ? [YES]"], &[]);
    memory.0.remove("test.jsonl");
    memory.0.insert(VOCABULARY.to_owned(), b"I\n".to_vec());
    let report = validate(&memory, &QA, Reading::Corrected).unwrap();
    assert_eq!(report.notes, ["test: there is no test.jsonl, so nothing could be checked"]);
    assert_eq!(report.errors, QA.vocabulary().len() - usize::from(QA.vocabulary().tokens()[0] == "I"));
}
