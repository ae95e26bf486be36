//! What all runs of the paper have in common. Values of other settings are not shown beside the paper's.

use serde_json::Value;
use wug_score::RunResult;

/// A number of a plan: its name, where it is, and the least and the most that the paper has.
const PLANNED: [(&str, &str, f64, f64); 11] = [
    ("training lengths up to 40", "/data/short", 40.0, 40.0),
    ("long validation up to length 80", "/data/long", 80.0, 80.0),
    ("tests up to length 500", "/data/longest", 500.0, 500.0),
    ("dropout 0.1", "/settings/dropout", 0.1, 0.1),
    ("five layers", "/settings/layers", 5.0, 5.0),
    ("gradients clipped at 5", "/clip", 5.0, 5.0),
    ("learning rates of 0.0001 to 0.01", "/learning_rate", 1e-4, 1e-2),
    ("a decay of 0.5", "/decay", 0.5, 0.5),
    ("a decay after 4 bad checkpoints", "/decay_patience", 4.0, 4.0),
    ("an end after 10 bad checkpoints", "/patience", 10.0, 10.0),
    ("batches of 128 to 4,096 symbols", "/batch_symbols", 128.0, 4096.0),
];

/// The settings of the paper that a run does not have, in words. What is not known of a run is taken to be as in the paper.
pub(super) fn departures(result: &RunResult) -> Vec<&'static str> {
    let mut departures = Vec::new();
    if !result.data.is_null() {
        departures.extend(other_data(result));
    }
    if !result.plan.is_null() {
        departures.extend(other_plan(&result.plan));
    }
    departures
}

/// By the strings that there are: a directory may hold more or fewer than a plan would draw.
fn other_data(result: &RunResult) -> impl Iterator<Item = &'static str> {
    let validation = format!("validation-{}", result.run.coordinates.text("validation").unwrap_or_default());
    let paper = [
        ("10,000 training strings", "training", 10_000),
        ("1,000 validation strings", &validation, 1_000),
        ("5,010 long test strings", "test", 5_010),
    ];
    let examples = |split: &str| result.data.get("splits")?.get(split)?.get("examples")?.as_u64();
    paper.map(|(words, split, n)| (examples(split) != Some(n)).then_some(words)).into_iter().flatten()
}

fn other_plan(plan: &Value) -> impl Iterator<Item = &'static str> {
    let number = |at: &str| plan.pointer(at).and_then(Value::as_f64);
    // A learner from elsewhere is trained in its own way, on the same data.
    let foreign = plan.pointer("/settings/foreign.version").is_some();
    let other = move |&(words, at, least, most): &(&'static str, &str, f64, f64)| {
        let same = number(at).is_some_and(|x| (least..=most).contains(&x));
        (!same && (!foreign || at.starts_with("/data/"))).then_some(words)
    };
    let width = !foreign && plan.get("matching").and_then(Value::as_str) != Some("published");
    // Plans do not say it where it is Adam.
    let optimizer = !foreign && plan.pointer("/settings/optimizer").is_some_and(|name| name != "adam");
    let others = [width.then_some("widths as published"), optimizer.then_some("Adam")];
    PLANNED.iter().filter_map(other).chain(others.into_iter().flatten())
}
