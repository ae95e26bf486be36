//! What all runs of the paper have in common. Values of other settings are not shown beside the paper's.

use serde_json::Value;
use wug_score::RunResult;

use super::published::{SEARCHED_BATCH, STACK_RNN, STACK_RNN_SEARCHED, STACK_RNN_SGD};
use super::runs::learner;
use super::version::Version;

/// A field of a plan: what the paper has, in words, where it is, and its value.
type Field = (&'static str, &'static str, Want);

/// What a field must be.
#[derive(Clone, Copy)]
enum Want {
    Number(f64),
    OneOf(&'static [f64]),
    Text(&'static str),
    Is(bool),
}

use Want::{Is, Number, OneOf, Text};

const DATA: &[Field] = &[
    ("90,000 training strings", "/data/training", Number(90_000.0)),
    ("10,000 validation strings", "/data/validation", Number(10_000.0)),
    ("10,000 pairs", "/data/test", Number(10_000.0)),
    ("10,000 longer pairs", "/data/out_of_distribution", Number(10_000.0)),
    ("lengths from 4", "/data/lengths/0", Number(4.0)),
    ("lengths up to 30", "/data/lengths/1", Number(30.0)),
    ("longer pairs from 31", "/data/greater_lengths/0", Number(31.0)),
    ("longer pairs up to 100", "/data/greater_lengths/1", Number(100.0)),
    ("distinct strings", "/data/distinct", Is(true)),
];

const TRAINING: &[Field] = &[
    ("15 epochs", "/settings/epochs", Number(15.0)),
    ("shuffled strings", "/settings/shuffle", Is(true)),
    ("two validations in an epoch", "/validations", Number(2.0)),
];

const BATCH: Field = ("batches of 512", "/settings/batch", Number(512.0));

const LSTM: &[Field] = &[
    BATCH,
    ("two layers", "/settings/layers", Number(2.0)),
    ("256 units", "/settings/hidden", Number(256.0)),
    ("an embedding of 256", "/settings/embedding", Number(256.0)),
    ("SGD for the LSTM", "/settings/optimizer", Text("sgd")),
    ("learning rates of 0.1, 0.2 and 0.3", "/settings/learning_rate", OneOf(&[0.1, 0.2, 0.3])),
];

const ADAMW: [Field; 4] = [
    BATCH,
    ("AdamW", "/settings/optimizer", Text("adam")),
    ("a weight decay of 0.01", "/settings/weight_decay", Number(0.01)),
    ("learning rates of 0.0001, 0.0003 and 0.0005", "/settings/learning_rate", OneOf(&[1e-4, 3e-4, 5e-4])),
];

const BY_SGD: Field = ("SGD", "/settings/optimizer", Text("sgd"));
const SGD_RATES: Field =
    ("learning rates of 0.1, 0.2 and 0.3 for SGD", "/settings/learning_rate", OneOf(&[0.1, 0.2, 0.3]));

/// What the released configuration of the Stack-RNN has in place of AdamW, with the learning rates that the paper has for SGD.
const SGD: [Field; 3] = [BATCH, BY_SGD, SGD_RATES];

/// The settings that were found by search. They are shown apart from those of the paper.
const SEARCHED: [Field; 3] =
    [("the batches found by search", "/settings/batch", Number(SEARCHED_BATCH)), BY_SGD, SGD_RATES];

const STACK: &[Field] = &[
    ("256 units", "/settings/hidden", Number(256.0)),
    ("an embedding of 256", "/settings/embedding", Number(256.0)),
    ("a stack of 150 rows", "/settings/memory", Number(150.0)),
    ("a stack of 150 rows", "/settings/test_memory", Number(150.0)),
    ("rows of 8", "/settings/memory_width", Number(8.0)),
];

const TRANSFORMER: &[Field] = &[
    ("five layers", "/settings/layers", Number(5.0)),
    ("a width of 128", "/settings/hidden", Number(128.0)),
    ("four heads", "/settings/heads", Number(4.0)),
    ("a feed-forward layer of 512", "/settings/feedforward", Number(4.0)),
    ("dropout 0.1", "/settings/dropout", Number(0.1)),
    ("post-norm", "/settings/norm", Text("post")),
    ("positions in halves", "/settings/positions", Text("halves")),
    ("an embedding that is not scaled", "/settings/scale_embedding", Is(false)),
    ("Xavier's initialization", "/settings/initialization", Text("xavier")),
    ("no dropout of the embedding", "/settings/embedding_dropout", Is(false)),
];

/// The faults of the released code, which a version has or has not: of all networks, and of the transformer, which has dropout.
fn faults(version: Version, learner: &str) -> Vec<Field> {
    let faults: [Field; 2] = match version {
        Version::Released => [
            ("an output layer that is not trained (published)", "/settings/train_output", Is(false)),
            ("dropout in scoring (published)", "/settings/scoring_dropout", Is(true)),
        ],
        Version::Described => [
            ("an output layer that is trained (as described)", "/settings/train_output", Is(true)),
            ("no dropout in scoring (as described)", "/settings/scoring_dropout", Is(false)),
        ],
        Version::Corrected => [
            ("an output layer that is trained (corrected)", "/settings/train_output", Is(true)),
            ("no dropout in scoring (corrected)", "/settings/scoring_dropout", Is(false)),
        ],
    };
    match learner {
        "transformer" => faults.to_vec(),
        // The search was for settings with a trained one: an untrained one fits at no length.
        STACK_RNN_SEARCHED => vec![("an output layer that is trained", "/settings/train_output", Is(true))],
        _ => faults[..1].to_vec(),
    }
}

/// The settings of the paper that a run does not have, in words. Baselines and learners that the paper does not have depart in their
/// data alone. What is not known of a run is taken to be as in the paper.
pub(super) fn departures(result: &RunResult) -> Vec<&'static str> {
    if result.plan.is_null() {
        return Vec::new();
    }
    let (own, optimizer): (&[Field], &[Field]) = match learner(result) {
        "lstm" => (LSTM, &[]),
        STACK_RNN => (STACK, &ADAMW),
        STACK_RNN_SGD => (STACK, &SGD),
        STACK_RNN_SEARCHED => (STACK, &SEARCHED),
        "transformer" => (TRANSFORMER, &ADAMW),
        _ => (&[], &[]),
    };
    let training = if own.is_empty() { &[] } else { TRAINING };
    let faults = if own.is_empty() { Vec::new() } else { faults(Version::of(result), learner(result)) };
    let all = DATA.iter().chain(training).chain(own).chain(optimizer).chain(&faults);
    all.filter(|(_, at, want)| !want.is_met(result.plan.pointer(at))).map(|(words, ..)| *words).collect()
}

impl Want {
    fn is_met(&self, value: Option<&Value>) -> bool {
        let near = |x: f64, y: &f64| (x - y).abs() <= 1e-9 * y.abs();
        let number = value.and_then(Value::as_f64);
        match self {
            Number(want) => number.is_some_and(|x| near(x, want)),
            OneOf(want) => number.is_some_and(|x| want.iter().any(|y| near(x, y))),
            Text(want) => value.and_then(Value::as_str) == Some(*want),
            Is(want) => value.and_then(Value::as_bool) == Some(*want),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_version_has_its_own_switches() {
        let want = |version, learner: &str| {
            let met = json!({ "settings": { "train_output": false, "scoring_dropout": true } });
            let all = faults(version, learner);
            (all.len(), all.iter().all(|(_, at, want)| want.is_met(met.pointer(at))))
        };
        assert_eq!(want(Version::Released, "transformer"), (2, true));
        assert_eq!(want(Version::Released, "lstm"), (1, true));
        for version in [Version::Corrected, Version::Described] {
            assert_eq!(want(version, "transformer"), (2, false));
            assert_eq!(want(version, "lstm"), (1, false));
        }
    }
}
