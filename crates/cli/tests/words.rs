//! Names that were replaced by the terms of the field do not come back.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::{Path, PathBuf};

/// Each former name, and what is said instead. All are unambiguous: they have no other use in the code. A name that is also an
/// ordinary word is listed as it would be used.
const FORMER: &[(&str, &str)] = &[
    ("Owed", "DeferredGrad"),
    ("pay", "flush_deferred"),
    ("slopes", "grads"),
    ("Standing", "TrainerState"),
    ("Desk", "RunContext"),
    ("desk", "worker"),
    ("Seat", "WorkerContext"),
    ("taken_up", "load_checkpoint"),
    ("Staff", "WorkerOptions"),
    ("Team", "WorkerPool"),
    ("Sitting", "RunTimer"),
    ("Listed", "PlannedRun"),
    ("Wanted", "NetworkGrid"),
    ("Past", "TrainingSummary"),
    ("Kept", "CacheSlot"),
    ("Shelf", "FileSink or DataCache"),
    ("Library", "FileSource"),
    ("made_up", "fixtures"),
    ("read_many", "advance_batch"),
    ("at_once", "max_batch"),
    ("Mode::Learn", "Mode::Train"),
    ("Mode::Judge", "Mode::Eval"),
    ("Mode::Trace", "Mode::Grad"),
    ("kernel::Into", "kernel::Accumulate"),
    ("tape::Record", "tape::Recording"),
    ("company", "min_stable_rows"),
    ("room", "workspace, or crate"),
    ("spare", "grad_tmp"),
    ("Exam", "Evaluation"),
    ("exam", "evaluation"),
    ("Marks", "StepScores"),
    ("judge", "evaluate"),
    ("Hard", "ScoredString"),
    ("Places", "Decimals"),
    ("Told", "VaryingColumns"),
    ("Rows::Scores", "RecordFormat::Scores"),
    ("report::Rows", "report::RecordFormat"),
    ("Device", "MemoryKind"),
    ("struct Ends", "struct Boundaries"),
    ("NetworkError::Ends", "NetworkError::InputsOutputs"),
    // As prose and as ordinary variables these are fine.
    ("fn dots", "fn matvec"),
    ("kernel::mix", "kernel::vecmat"),
    ("fn follow", "fn step_batch"),
];

/// The changelog and `record/` are not read: they may say what something was called.
const READ: [&str; 6] = ["crates", "docs", "experiments", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Adds the `.rs`, `.md` and `.toml` files at or below a path, without this one.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        if !path.ends_with("target") {
            std::fs::read_dir(path).unwrap().for_each(|entry| collect(&entry.unwrap().path(), files));
        }
    } else if path.extension().is_some_and(|e| ["rs", "md", "toml"].iter().any(|ours| e == *ours))
        && !path.ends_with("cli/tests/words.rs")
    {
        files.push(path.to_path_buf());
    }
}

fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}

#[test]
fn former_names_do_not_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    READ.iter().for_each(|name| collect(&root.join(name), &mut files));
    assert!(files.len() > 100, "only {} files", files.len());
    let mut found = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        for (i, line) in text.lines().enumerate() {
            for (former, now) in FORMER.iter().filter(|(former, _)| has_word(line, former)) {
                let path = file.strip_prefix(&root).unwrap().display();
                found.push(format!("{path}, line {}: `{former}`; say `{now}`", i + 1));
            }
        }
    }
    assert!(found.is_empty(), "former names are back:\n{}", found.join("\n"));
}

#[test]
fn words_are_whole() {
    assert!(has_word("the Desk.", "Desk") && has_word("tape::Mode::Learn", "Mode::Learn"));
    assert!(!has_word("Desktop", "Desk") && !has_word("Mode::Learned", "Mode::Learn"));
}
