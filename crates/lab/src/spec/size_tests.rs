use std::time::{Duration, Instant};

use super::*;

/// A list of so many numbers.
fn list(n: usize) -> String {
    format!("{:?}", (1..=n).collect::<Vec<_>>())
}

/// Refused at once, with the number of runs and the limit.
#[track_caller]
fn refused(sections: &str, sets: &[(String, String)], runs: &str) {
    let (text, begun) = (format!("title = \"x\"\n{sections}"), Instant::now());
    let error = Experiment::read("x", "x.toml", &text, Scale::Paper, sets).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, LabError::Usage(_)) && message.contains(runs), "{message}");
    assert!(message.contains("an experiment has at most 100000"), "{message}");
    // Milliseconds, but for a machine that is busy with other things.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}: {message}", begun.elapsed());
}

#[test]
fn lists_of_settings_are_counted_before_they_are_expanded() {
    let (many, some) = (list(1000), list(300));
    let cube = format!("hidden = {many}\nbatch_symbols = {many}\npatience = {many}\n");
    let lstm = "[[recognition]]\nlanguages = \"parity\"\nlearners = \"lstm\"\nseeds = 2\n";
    let of_cube = "2 seeds of 8000000000 cells are 16000000000 runs";
    refused(
        &format!("{lstm}losses = \"R\"\nvalidation = \"short\"\n{cube}"),
        &[],
        "2 seeds of 1000000000 cells are 2000000000 runs",
    );
    refused(&format!("{lstm}sizes = [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000]\n{cube}"), &[], of_cube);
    // From the command line, in a scale, and in the table of a learner.
    let sets = ["hidden", "batch_symbols", "patience"].map(|name| (name.to_owned(), many.clone()));
    refused(lstm, &sets, "are 2000000000 runs");
    let smaller = format!("title = \"x\"\n{lstm}[recognition.smoke]\n{cube}");
    let error = Experiment::read("x", "x.toml", &smaller, Scale::Smoke, &[]).unwrap_err().to_string();
    assert!(error.contains("are 2000000000 runs"), "{error}");
    let table = format!(
        "learners = [{{ name = \"lstm\", hidden = {many}, batch_symbols = {many}, patience = {many} }}]"
    );
    refused(
        &format!("[[recognition]]\nlanguages = \"parity\"\nseeds = 1\n{table}"),
        &[],
        "are 1000000000 runs",
    );
    // Lists whose product no number can hold.
    let ones = format!("{:?}", vec![1; 10_000]);
    let all = ["hidden", "batch_symbols", "patience", "max_epochs", "learning_rate"];
    let all = all.map(|name| format!("{name} = {ones}")).join("\n");
    refused(&format!("{lstm}{all}"), &[], "2 seeds of more than 18446744073709551614 cells");
    // Learners that are each below the limit.
    let two = format!("{{ name = \"lstm\", hidden = {some}, patience = {some} }}");
    refused(
        &format!("[[recognition]]\nlanguages = \"parity\"\nseeds = 1\nlearners = [{two}, {two}]"),
        &[],
        "are 180000 runs",
    );
    // Those of others.
    let mine = format!(
        "{{ name = \"mine\", host = \"test\", version = \"1\", roles = [\"recognizer\"], a = {many}, b = {many}, c = {many} }}"
    );
    refused(
        &format!("[[recognition]]\nlanguages = \"parity\"\nseeds = 1\nlearners = [{mine}]"),
        &[],
        "are 1000000000 runs",
    );
}

#[test]
fn lists_of_a_protocol_are_counted_before_they_are_expanded() {
    let (many, some) = (list(10_000), list(300));
    let speed = "[[speed]]\nlanguages = \"qa\"\nlearners = \"lstm\"\nseeds = 1\n";
    refused(&format!("{speed}batch = {many}\nhidden = {some}\n"), &[], "are 3000000 runs");
    refused(&format!("{speed}batch = {many}\ndata_seed = {many}\n"), &[], "are 100000000 runs");
    let tasks = format!(
        "tasks = [{{ name = \"composition-or-memorization\", primitives = {many}, shown = {many} }}]"
    );
    refused(&format!("[[preference]]\nlearners = \"lstm\"\nseeds = 1\n{tasks}"), &[], "are 100000000 runs");
    let factors = format!("factors = {:?}", vec![1; 2000]);
    refused(
        &format!(
            "[[generalization]]\nlanguages = \"an-bn\"\nlearners = \"lstm\"\nseeds = 1\nhidden = {some}\n{factors}\n"
        ),
        &[],
        "are 600000 runs",
    );
    let suites = format!("languages = {:?}", vec!["flare/*"; 50_000]);
    refused(&format!("[[recognition]]\n{suites}\nseeds = 1\nlearners = \"lstm\"\n"), &[], "are 900000 runs");
}

#[test]
fn sections_that_are_each_below_the_limit_are_counted_together() {
    let section =
        "[[generalization]]\nlanguages = \"an-bn\"\nlearners = \"lstm\"\nfactors = 1\nseeds = 40000\n";
    refused(&section.repeat(3), &[], "x.toml: its first 3 sections have 120000 runs");
}
