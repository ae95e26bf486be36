//! Runs of the index that nobody ran, as the lab writes them.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use serde_json::{Value, json};
use wug_score::metric::{
    CATEGORICAL_ACCEPTANCE, CATEGORICAL_ACCURACY, DETERMINISTIC_ACCEPTANCE, DETERMINISTIC_ACCURACY,
    LANGUAGE_MODELING_SYMBOL_EXCESS, LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE, SOLVED_LENGTH,
};
use wug_score::strata::Margin;
use wug_score::{Hard, Measurement, Metric, RunResult, Stratum, Tally};

use super::{flare, measured, named, row};

/// The factors of the paper.
pub(crate) const FACTORS: [usize; 4] = [1, 2, 4, 10];

/// What marking with a margin counted: right of all scored steps, and accepted of all strings.
pub(crate) type Marks = (&'static str, [usize; 2], [usize; 2]);

/// A run with the plan of the paper, not yet marked.
pub(crate) fn planned(language: &str, learner: &str, factor: usize, seed: u64) -> RunResult {
    let mut result = flare([language, learner, "cross-entropy", ""], seed, Vec::new());
    let (training, strings) = (1000 / factor, 1000 * factor);
    "bliss".clone_into(&mut result.run.suite);
    (result.run.size, result.run.validation) = (None, None);
    result.run.plan = format!("{language}-{learner}-{factor}-{seed}");
    result.run.data_hash = format!("{language} divided by {factor}");
    result.plan = json!({
        "measure": if language.starts_with("dyck-") { "categorical" } else { "deterministic" },
        "order": 3, "factor": factor, "training": training, "prior": 0.3, "data_seed": 100,
        "test": { "from": "longest", "after": "square", "strings": strings }, "margins": [0.005, 0.0], "precision": "f32",
        "learner": learner_of_paper(learner),
    });
    if result.plan["learner"].is_null() {
        result.run.loss = None;
    }
    result.data = json!({
        "strings": training, "distinct": 22, "longest": 48,
        "marked": { "strings": strings, "of": strings, "stopped": false },
    });
    result
}

fn learner_of_paper(learner: &str) -> Value {
    let memory = |rows: usize| {
        json!({
            "hidden": 8, "layers": 1, "regularization": "none", "lambda": 0.0, "epochs": 50, "learning_rate": 0.01,
            "batch": { "in-order": 1 }, "memory": rows, "test_memory": 2050, "memory_width": 5, "gate": "softmax",
        })
    };
    match learner {
        "lstm" => json!({
            "hidden": 32, "layers": 1, "regularization": "l1", "lambda": 0.1, "epochs": 1000,
            "learning_rate": 0.001, "batch": "all",
        }),
        "stack-lstm" => memory(50),
        "baby-ntm" => memory(2050),
        "gru" => json!({ "hidden": 7, "epochs": 9 }),
        _ => Value::Null,
    }
}

/// The same, marked.
pub(crate) fn marked(mut result: RunResult, marks: &[Marks]) -> RunResult {
    let categorical = result.run.language.starts_with("dyck");
    let (accuracy, acceptance) = if categorical {
        (&CATEGORICAL_ACCURACY, &CATEGORICAL_ACCEPTANCE)
    } else {
        (&DETERMINISTIC_ACCURACY, &DETERMINISTIC_ACCEPTANCE)
    };
    for (margin, steps, strings) in marks {
        result.scores.push(counted(margin, accuracy, *steps, strings[1]));
        result.scores.push(counted(margin, acceptance, *strings, strings[1]));
    }
    result
}

/// How far strings were solved at a margin.
pub(crate) fn reaching(mut result: RunResult, margin: &str, far: usize) -> RunResult {
    result.scores.push(counted(margin, &SOLVED_LENGTH, [far, 1], 1));
    result
}

fn counted(margin: &str, metric: &'static Metric, [part, whole]: [usize; 2], n: usize) -> Measurement {
    let margin: Margin = margin.parse().unwrap();
    let tally = Tally { numerator: part as f64, denominator: whole as f64, n };
    Measurement::new("test", Stratum::Margin(margin), &metric.measured(tally, Some(0.25)))
}

/// Solved at the margins given, and at no others; as narrowly as can be.
pub(crate) fn solving(result: RunResult, solved: [bool; 2]) -> RunResult {
    let strings = result.data["marked"]["of"].as_u64().unwrap() as usize;
    let categorical = result.run.language.starts_with("dyck");
    // 0.5 % of 100,000 steps are forgiven where steps have one possible symbol, none elsewhere.
    let wrong = |solved: [bool; 2], at: usize| match (categorical, solved) {
        (true, _) => usize::from(!solved[at]),
        (false, [_, true]) => 0,
        (false, [true, false]) => 500,
        (false, [false, false]) => 501,
    };
    let marks = |at: usize| ([100_000 - wrong(solved, at), 100_000], [strings - wrong(solved, at), strings]);
    let (lenient, strict) = (marks(0), marks(1));
    marked(result, &[("0.005", lenient.0, lenient.1), ("0", strict.0, strict.1)])
}

/// Marking ended after so many strings, whatever was right until then.
pub(crate) fn stopped(mut result: RunResult, strings: usize) -> RunResult {
    result.data["marked"]["strings"] = strings.into();
    result.data["marked"]["stopped"] = true.into();
    result
}

/// With a string that was rejected, and what was learned of the training strings.
pub(crate) fn detailed(mut result: RunResult, string: &str, excess: f64) -> RunResult {
    let (split, string) = ("test".to_owned(), string.to_owned());
    result.hardest =
        vec![Hard { split, string, label: true, edits: None, distance: None, cross_entropy: None }];
    let training = |metric, value| measured("training", Stratum::All, metric, value);
    result.scores.push(training(&LANGUAGE_MODELING_SYMBOL_EXCESS, excess));
    result.scores.push(training(&LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE, excess / 2.0));
    result
}

/// A run of Figure 3: trained on so many strings, with the longest of these symbols, and solving strings up to n.
pub(crate) fn far(learner: &str, training: usize, longest: usize, seed: u64, n: usize) -> RunResult {
    let mut result = planned("an-bn", learner, 1000 / training, seed);
    result.plan["test"] = json!({ "from": "first", "after": "square", "strings": 1000 });
    result.data["longest"] = longest.into();
    result.data["marked"] = json!({ "strings": 1000, "of": 1000, "stopped": false });
    result.run.plan += "-first";
    let result = marked(result, &[("0.005", [9, 10], [n, 1000]), ("0", [9, 10], [n, 1000])]);
    reaching(reaching(result, "0.005", n), "0", n)
}

/// The four indices of a row of Table 2, which factors were run, and how many runs.
pub(crate) fn index(results: &[RunResult], language: &str, learner: &str) -> [String; 6] {
    row(named(&wug_report::tables(results), "bliss-published-2"), &[language, learner]).try_into().unwrap()
}

/// Every factor, of which this one is solved at each margin.
pub(crate) fn with_index(language: &str, learner: &str, solved: [Option<usize>; 2]) -> Vec<RunResult> {
    let run = |factor| solving(planned(language, learner, factor, 100), solved.map(|b| b == Some(factor)));
    FACTORS.map(run).to_vec()
}

/// An LSTM of the paper's grid.
pub(crate) fn configured(hidden: usize, regularization: &str, lambda: f64, seed: u64) -> RunResult {
    let mut result = planned("an-bn", "lstm", 1, seed);
    for (name, value) in
        [("hidden", json!(hidden)), ("regularization", json!(regularization)), ("lambda", json!(lambda))]
    {
        result.plan["learner"][name] = value;
    }
    result.run.plan = format!("{}-{hidden}-{regularization}-{lambda}", result.run.plan);
    result
}
