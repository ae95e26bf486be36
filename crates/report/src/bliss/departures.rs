//! What all runs of the paper have in common (App. A). Values of other settings are not shown beside the paper's.

use std::collections::BTreeSet;

use serde_json::Value;
use wug_score::{Reading, RunResult};

use super::index_run::IndexRun;

/// The factors of the paper.
pub(super) const FACTORS: [usize; 4] = [1, 2, 4, 10];
const MARGINS: [f64; 2] = [0.005, 0.0];
/// How many strings the tests of Figure 3 have.
const FIGURE_3_STRINGS: u64 = 1000;

/// A setting of the paper in words, its pointer in a plan, and the values that it may have.
type Allowed = (&'static str, &'static str, &'static [f64]);
type AllowedWords = (&'static str, &'static str, &'static [&'static str]);

const DATA: [Allowed; 4] = [
    ("order 3", "/order", &[3.0]),
    ("a prior of 0.3", "/prior", &[0.3]),
    ("data of seed 100", "/data_seed", &[100.0]),
    ("the factors 1, 2, 4 and 10", "/factor", &[1.0, 2.0, 4.0, 10.0]),
];

const LSTM: [Allowed; 5] = [
    ("an LSTM of 2, 32 or 128 units", "/settings/hidden", &[2.0, 32.0, 128.0]),
    ("one layer", "/settings/layers", &[1.0]),
    ("an LSTM trained for 1,000 epochs", "/settings/epochs", &[1000.0]),
    ("an LSTM with a learning rate of 0.001", "/settings/learning_rate", &[0.001]),
    ("an LSTM without dropout", "/settings/dropout", &[0.0]),
];
const LSTM_WORDS: [AllowedWords; 2] = [
    ("L1, L2 or none", "/settings/regularization", &["none", "l1", "l2"]),
    ("an LSTM given all strings in one batch", "/settings/batch", &["all"]),
];
const CONSTANT: Allowed = ("regularization by 1, 0.1 or 0.01", "/settings/lambda", &[1.0, 0.1, 0.01]);

const MEMORY: [Allowed; 6] = [
    ("memory networks of 8 units", "/settings/hidden", &[8.0]),
    ("memory networks trained for 3 or 50 epochs", "/settings/epochs", &[3.0, 50.0]),
    ("memory networks with a learning rate of 0.01", "/settings/learning_rate", &[0.01]),
    ("memory networks given one string at a time", "/settings/batch", &[1.0]),
    ("memories 5 wide", "/settings/memory_width", &[5.0]),
    ("2,050 rows of memory in the test", "/settings/test_memory", &[2050.0]),
];
const MEMORY_WORDS: [AllowedWords; 2] = [
    ("memory networks without regularization", "/settings/regularization", &["none"]),
    ("softmax gates", "/settings/gate", &["softmax"]),
];
const STACK_ROWS: Allowed = ("stacks of 50 or 100 rows", "/settings/memory", &[50.0, 100.0]);
const TAPE_ROWS: Allowed = ("tapes of 2,050 rows", "/settings/memory", &[2050.0]);

const LATER_WORDS: [AllowedWords; 2] =
    [("Adam", "/settings/optimizer", &["adam"]), ("one-hot input", "/settings/embedding", &["one-hot"])];
const WEIGHT_DECAY: Allowed = ("no weight decay", "/settings/weight_decay", &[0.0]);

/// The settings of the paper that a run does not have, in words. Learners that the paper does not have may have any.
pub(super) fn departures(run: IndexRun<'_>) -> Vec<&'static str> {
    let result = run.result;
    let mut departures = numbers(result, &DATA);
    if !has_margins(&result.plan) {
        departures.push("the margins 0.005 and 0");
    }
    if run.is_from_first() {
        let strings = result.plan.pointer("/test/strings").and_then(Value::as_u64);
        departures.extend((strings != Some(FIGURE_3_STRINGS)).then_some("tests up to n = 1,000"));
    } else {
        departures.extend((!run.has_sizes_of_index()).then_some("sets of 1,000/b and 1,000·b strings"));
        departures.extend(other_test_start(result));
    }
    departures.extend(other_measure(result));
    if result.run.coordinates.text("loss").is_some_and(|loss| loss != "cross-entropy") {
        departures.push("softmax and cross-entropy");
    }
    departures.extend(of_learner(result));
    departures
}

/// "Right after the longest string" can be read in several ways. The paper's own figures fit a square of pairs where
/// strings have two counts, and longer strings elsewhere.
fn other_test_start(result: &RunResult) -> Vec<&'static str> {
    const TWO_COUNTS: AllowedWords = ("a square of pairs after the largest", "/test/after", &["square"]);
    const OTHERS: AllowedWords = ("tests of longer strings", "/test/after", &["square", "longer"]);
    match (result.run.reading, result.run.language()) {
        (Reading::Corrected, _) => Vec::new(),
        (Reading::Published, "an-bm-cn-plus-m") => words(result, &[TWO_COUNTS]),
        (Reading::Published, _) => words(result, &[OTHERS]),
    }
}

/// Where most steps have a single possible symbol, the paper scores those; in Dyck languages, all steps.
fn other_measure(result: &RunResult) -> Vec<&'static str> {
    const COUNTING: AllowedWords =
        ("deterministic accuracy but for Dyck languages", "/measure", &["deterministic"]);
    const DYCK: AllowedWords = ("categorical accuracy for Dyck languages", "/measure", &["categorical"]);
    words(result, &[if result.run.language().starts_with("dyck-") { DYCK } else { COUNTING }])
}

/// Settings that runs of earlier versions do not have: theirs were these.
fn later(result: &RunResult) -> Vec<&'static str> {
    let has = |at: &str| result.plan.pointer(at).is_some();
    let named = LATER_WORDS.into_iter().filter(|(_, at, _)| has(at)).collect::<Vec<_>>();
    let mut departures = words(result, &named);
    departures.extend(
        Some(WEIGHT_DECAY)
            .filter(|(_, at, _)| has(at))
            .map(|one| numbers(result, &[one]))
            .unwrap_or_default(),
    );
    let untrained = result.plan.pointer("/settings/train_output") == Some(&Value::Bool(false));
    departures.extend(untrained.then_some("a trained output layer"));
    departures
}

fn of_learner(result: &RunResult) -> Vec<&'static str> {
    let memory = |rows: Allowed| {
        let mut departures = numbers(result, &MEMORY);
        departures.extend(numbers(result, &[rows]));
        departures.extend(words(result, &MEMORY_WORDS));
        departures.extend(later(result));
        departures
    };
    match result.run.learner() {
        "lstm" => {
            let mut departures = numbers(result, &LSTM);
            departures.extend(words(result, &LSTM_WORDS));
            departures.extend(later(result));
            let none =
                result.plan.pointer("/settings/regularization").and_then(Value::as_str) == Some("none");
            departures.extend(if none { Vec::new() } else { numbers(result, &[CONSTANT]) });
            departures
        }
        "stack-lstm" => memory(STACK_ROWS),
        "baby-ntm" => memory(TAPE_ROWS),
        _ => Vec::new(),
    }
}

fn numbers(result: &RunResult, allowed: &[Allowed]) -> Vec<&'static str> {
    let other = |&(words, at, values): &Allowed| {
        let given = result.plan.pointer(at).and_then(Value::as_f64);
        (!given.is_some_and(|x| values.contains(&x))).then_some(words)
    };
    allowed.iter().filter_map(other).collect()
}

fn words(result: &RunResult, allowed: &[AllowedWords]) -> Vec<&'static str> {
    let other = |&(words, at, values): &AllowedWords| {
        let given = result.plan.pointer(at).and_then(Value::as_str);
        (!given.is_some_and(|x| values.contains(&x))).then_some(words)
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

/// The settings of the paper that some of these runs do not have, each once.
pub(super) fn all_departures(runs: &[IndexRun<'_>]) -> String {
    let all: BTreeSet<&str> = runs.iter().flat_map(|run| departures(*run)).collect();
    all.into_iter().collect::<Vec<_>>().join(", ")
}
