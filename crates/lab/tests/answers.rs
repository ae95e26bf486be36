//! Answers that a model gave elsewhere, scored as those of a learner.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fmt::Write as _;
use std::path::Path;

use wug_lab::LabError;
use wug_lab::answers::{Request, Source, experiment, read_splits};
use wug_lab::data;

/// Writes data under a name that is not the language's, and answers, each string as often as it is in the data.
fn write(root: &Path, answer: impl Fn(usize) -> f64) {
    let mut request = data::Request::parse("flare/parity").unwrap();
    let sizes = [
        "training",
        "validation-short",
        "validation-long",
        "test",
        "test-short-held-out",
        "test-edit-distance",
    ];
    request.options = sizes.map(|split| (format!("{split}.size"), "12".to_owned())).into();
    if !root.join("mine").exists() {
        data::write(&request, &root.join("mine"), false, &mut |_| ()).unwrap();
    }
    let mut lines = String::new();
    let splits = read_splits(&root.join("mine")).unwrap();
    let all: Vec<&String> = splits.iter().flat_map(|split| &split.strings).collect();
    // The first string once more: it may be in the data twice.
    for (i, string) in all.iter().chain([&all[0]]).enumerate() {
        writeln!(lines, "{{\"string\": \"{string}\", \"log_odds\": {:?}}}", answer(i)).unwrap();
    }
    std::fs::write(root.join("answers.jsonl"), lines).unwrap();
}

fn score(root: &Path) -> Result<usize, LabError> {
    let request = Request { data: root.join("mine"), learner: "mine".to_owned(), seed: 0, sets: Vec::new() };
    let found = experiment(&request, &Source::Answers(&root.join("answers.jsonl")))?;
    Ok(found.0.runs.len())
}

#[test]
fn a_data_set_is_known_by_its_manifest_and_a_string_may_be_answered_twice_alike() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), |_| 1.5);
    assert_eq!(score(dir.path()).unwrap(), 1);
    write(dir.path(), |i| i as f64);
    let error = score(dir.path()).unwrap_err().to_string();
    assert!(error.contains("has another answer in line"), "{error}");
}
