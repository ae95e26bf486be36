//! The published text format: one example per line, tokens separated by one space, sources and targets apart.

use wug_language::{Alphabet, Word};

use crate::{RuleTask, TransductionPair};

/// The files of a task, by name: `train`, `valid` and `test` (`.src` and `.dst`) for the trained model's
/// answers, then one pair of files per candidate rule, whose first lines are the training pairs.
///
/// As published, the targets of `test` are empty lines and `valid` is a copy of `test`.
///
/// ```
/// use wug_dataset::{Seed, find};
/// let task = find::build("add-or-multiply:length=3", Seed::new(1)).unwrap();
/// let files = find::to_text(&task);
/// assert_eq!(files[0], ("train.src".to_owned(), "a a a\n".to_owned()));
/// assert_eq!(files[6].0, "add.src");
/// assert!(files[6].1.starts_with("a a a\n\na\n")); // the training input, then m = 0, 1, …
/// ```
pub fn to_text(task: &RuleTask) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut push = |stem: &str, source: String, target: String| {
        files.push((format!("{stem}.src"), source));
        files.push((format!("{stem}.dst"), target));
    };
    push("train", inputs(task, &task.train), outputs(task, &task.train));
    let test = lines(&task.source, task.holdout.iter());
    let unanswered = "\n".repeat(task.holdout.len());
    push("valid", test.clone(), unanswered.clone());
    push("test", test, unanswered);
    for rule in &task.rules {
        let pairs = task.candidate_lines(rule);
        push(&rule.name, inputs(task, &pairs), outputs(task, &pairs));
    }
    files
}

fn inputs(task: &RuleTask, pairs: &[TransductionPair]) -> String {
    lines(&task.source, pairs.iter().map(|pair| &pair.input))
}

fn outputs(task: &RuleTask, pairs: &[TransductionPair]) -> String {
    lines(&task.target, pairs.iter().map(|pair| &pair.output))
}

fn lines<'a>(alphabet: &Alphabet, words: impl Iterator<Item = &'a Word>) -> String {
    words.map(|word| alphabet.format(word) + "\n").collect()
}
