//! What all runs of the paper have in common (App. A). A figure of anything else does not belong beside the paper's.

use std::collections::BTreeSet;

use serde_json::Value;
use wug_score::{Reading, RunResult};

use super::trial::Trial;

/// The factors of the paper.
pub(super) const FACTORS: [usize; 4] = [1, 2, 4, 10];
/// Its margins.
const MARGINS: [f64; 2] = [0.005, 0.0];
/// How far Figure 3 goes.
const FARTHEST: u64 = 1000;

/// What the paper has in words, where it is in a plan, and the values that it may have.
type Allowed = (&'static str, &'static str, &'static [f64]);
type AllowedWords = (&'static str, &'static str, &'static [&'static str]);

const DATA: [Allowed; 4] = [
    ("order 3", "/order", &[3.0]),
    ("a prior of 0.3", "/prior", &[0.3]),
    ("data of seed 100", "/data_seed", &[100.0]),
    ("the factors 1, 2, 4 and 10", "/factor", &[1.0, 2.0, 4.0, 10.0]),
];

const LSTM: [Allowed; 4] = [
    ("an LSTM of 2, 32 or 128 units", "/learner/hidden", &[2.0, 32.0, 128.0]),
    ("one layer", "/learner/layers", &[1.0]),
    ("an LSTM trained for 1,000 epochs", "/learner/epochs", &[1000.0]),
    ("an LSTM with a learning rate of 0.001", "/learner/learning_rate", &[0.001]),
];
const LSTM_WORDS: [AllowedWords; 2] = [
    ("L1, L2 or none", "/learner/regularization", &["none", "l1", "l2"]),
    ("an LSTM given all strings in one batch", "/learner/batch", &["all"]),
];
const CONSTANT: Allowed = ("regularization by 1, 0.1 or 0.01", "/learner/lambda", &[1.0, 0.1, 0.01]);

const MEMORY: [Allowed; 7] = [
    ("memory networks of 8 units", "/learner/hidden", &[8.0]),
    ("one layer", "/learner/layers", &[1.0]),
    ("memory networks trained for 3 or 50 epochs", "/learner/epochs", &[3.0, 50.0]),
    ("memory networks with a learning rate of 0.01", "/learner/learning_rate", &[0.01]),
    ("memory networks given one string at a time, in order", "/learner/batch/in-order", &[1.0]),
    ("memories 5 wide", "/learner/memory_width", &[5.0]),
    ("2,050 rows of memory in the test", "/learner/test_memory", &[2050.0]),
];
const MEMORY_WORDS: [AllowedWords; 2] = [
    ("memory networks without regularization", "/learner/regularization", &["none"]),
    ("softmax gates", "/learner/gate", &["softmax"]),
];
const STACK_ROWS: Allowed = ("stacks of 50 or 100 rows", "/learner/memory", &[50.0, 100.0]);
const TAPE_ROWS: Allowed = ("tapes of 2,050 rows", "/learner/memory", &[2050.0]);

/// What the paper has and a trial has not, in words. Learners that the paper has not are free in their own settings.
pub(super) fn departures(trial: Trial<'_>) -> Vec<&'static str> {
    let result = trial.result;
    let mut departures = numbers(result, &DATA);
    if !has_margins(&result.plan) {
        departures.push("the margins 0.005 and 0");
    }
    if trial.is_from_first() {
        let farthest = result.plan.pointer("/test/strings").and_then(Value::as_u64);
        departures.extend((farthest != Some(FARTHEST)).then_some("tests up to n = 1,000"));
    } else {
        departures.extend((!trial.has_sizes_of_index()).then_some("sets of 1,000/b and 1,000·b strings"));
        departures.extend(other_place(result));
    }
    departures.extend(other_measure(result));
    if result.run.loss.as_deref().is_some_and(|loss| loss != "cross-entropy") {
        departures.push("softmax and cross-entropy");
    }
    departures.extend(of_learner(result));
    departures
}

/// Of "right after the longest string" the released data leave several readings. The paper's own figures fit a square of
/// pairs where strings have two counts, and longer strings elsewhere.
fn other_place(result: &RunResult) -> Vec<&'static str> {
    const TWO_COUNTS: AllowedWords = ("a square of pairs after the largest", "/test/after", &["square"]);
    const OTHERS: AllowedWords = ("tests of longer strings", "/test/after", &["square", "longer"]);
    match (result.run.reading, result.run.language.as_str()) {
        (Reading::Corrected, _) => Vec::new(),
        (Reading::Published, "an-bm-cn-plus-m") => words(result, &[TWO_COUNTS]),
        (Reading::Published, _) => words(result, &[OTHERS]),
    }
}

/// Where a single thing can come at most steps, the paper marks those; in Dyck languages, whatever can come.
fn other_measure(result: &RunResult) -> Vec<&'static str> {
    const COUNTING: AllowedWords =
        ("deterministic accuracy but for Dyck languages", "/measure", &["deterministic"]);
    const DYCK: AllowedWords = ("categorical accuracy for Dyck languages", "/measure", &["categorical"]);
    words(result, &[if result.run.language.starts_with("dyck-") { DYCK } else { COUNTING }])
}

fn of_learner(result: &RunResult) -> Vec<&'static str> {
    let memory = |rows: Allowed| {
        let mut departures = numbers(result, &MEMORY);
        departures.extend(numbers(result, &[rows]));
        departures.extend(words(result, &MEMORY_WORDS));
        departures
    };
    match result.run.learner.as_str() {
        "lstm" => {
            let mut departures = numbers(result, &LSTM);
            departures.extend(words(result, &LSTM_WORDS));
            let none = result.plan.pointer("/learner/regularization").and_then(Value::as_str) == Some("none");
            departures.extend(if none { Vec::new() } else { numbers(result, &[CONSTANT]) });
            departures
        }
        "stack-lstm" => memory(STACK_ROWS),
        "baby-ntm" => memory(TAPE_ROWS),
        _ => Vec::new(),
    }
}

fn numbers(result: &RunResult, allowed: &[Allowed]) -> Vec<&'static str> {
    let other = |&(said, at, values): &Allowed| {
        let given = result.plan.pointer(at).and_then(Value::as_f64);
        (!given.is_some_and(|x| values.contains(&x))).then_some(said)
    };
    allowed.iter().filter_map(other).collect()
}

fn words(result: &RunResult, allowed: &[AllowedWords]) -> Vec<&'static str> {
    let other = |&(said, at, values): &AllowedWords| {
        let given = result.plan.pointer(at).and_then(Value::as_str);
        (!given.is_some_and(|x| values.contains(&x))).then_some(said)
    };
    allowed.iter().filter_map(other).collect()
}

fn has_margins(plan: &Value) -> bool {
    let given: Vec<f64> = plan
        .get("margins")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_f64)
        .collect();
    MARGINS.iter().all(|margin| given.contains(margin))
}

/// What the paper has and these trials have not, said once.
pub(super) fn all_departures(trials: &[Trial<'_>]) -> String {
    let all: BTreeSet<&str> = trials.iter().flat_map(|trial| departures(*trial)).collect();
    all.into_iter().collect::<Vec<_>>().join(", ")
}
