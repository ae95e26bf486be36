//! Results that nobody ran.

#![allow(dead_code, reason = "each test uses its part of this module")]

pub(crate) mod index;

use serde_json::json;
use wug_report::{ABSENT, Cell, Table, Value};
use wug_score::metric::{RECOGNITION_ACCURACY, RECOGNITION_CROSS_ENTROPY};
use wug_score::strata::Window;
use wug_score::{
    Ending, FORMAT, Hard, Measurement, Metric, Point, Ratio, Reading, Run, RunResult, Score, Stratum, Tally,
};

/// A measurement of a value that is the mean of so many examples.
pub(crate) fn measured(split: &str, stratum: Stratum, metric: &'static Metric, value: f64) -> Measurement {
    let tally = Tally::of(&[Ratio::once(value)]);
    let chance = metric.higher_is_better().then_some(0.5);
    Measurement::new(split, stratum, &Score { metric, tally, spread: Some(0.1), chance, interval: None })
}

/// The accuracy on a split.
pub(crate) fn accuracy(split: &str, value: f64) -> Measurement {
    measured(split, Stratum::All, &RECOGNITION_ACCURACY, value)
}

/// The cross-entropy on a split.
pub(crate) fn cross_entropy(split: &str, value: f64) -> Measurement {
    measured(split, Stratum::All, &RECOGNITION_CROSS_ENTROPY, value)
}

/// A run of FLaRe that measured this.
pub(crate) fn flare(at: [&str; 4], seed: u64, scores: Vec<Measurement>) -> RunResult {
    let [language, learner, loss, validation] = at;
    RunResult {
        format: FORMAT,
        run: Run {
            plan: format!("{language}-{learner}-{loss}-{validation}-{seed}"),
            suite: "flare".to_owned(),
            language: language.to_owned(),
            learner: learner.to_owned(),
            size: Some(64_000),
            loss: Some(loss.to_owned()),
            validation: Some(validation.to_owned()),
            seed,
            reading: Reading::Published,
            version: "0.1.0".to_owned(),
            data_hash: format!("data of {language}"),
        },
        plan: serde_json::Value::Null,
        ending: Ending::Finished,
        parameters: Some(63_713),
        data: serde_json::Value::Null,
        curve: Vec::new(),
        scores,
        hardest: Vec::new(),
        strings: Vec::new(),
    }
}

/// A run with the data and the plan of the paper, as the lab writes them.
pub(crate) fn as_in_the_paper(mut result: RunResult) -> RunResult {
    result.plan = json!({
        "data": {
            "source": { "drawn": { "seed": 0 } },
            "training": 10_000, "validation": 1_000, "test": 5_010, "held_out": 1_000, "distances": 50,
            "short": 40, "long": 80, "longest": 500,
        },
        "matching": "published", "learning_rate": 0.0017, "batch_symbols": 3409, "dropout": 0.1, "clip": 5.0,
        "decay": 0.5, "decay_patience": 4, "patience": 10, "max_epochs": 1000,
    });
    let split = |examples: usize| json!({ "examples": examples });
    result.data = json!({ "splits": {
        "training": split(10_000),
        "validation-short": split(1_000),
        "validation-long": split(1_000),
        "test": split(5_010),
    } });
    result.ending = Ending::Stopped;
    result
}

/// A run of FLaRe of which only the test accuracy is known.
pub(crate) fn scored(at: [&str; 4], seed: u64, test: f64) -> RunResult {
    flare(at, seed, vec![accuracy("test", test)])
}

/// The rows of a printed table, without its head.
pub(crate) fn printed(text: &'static str) -> Vec<Vec<&'static str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

/// Runs of three languages and three learners with all that figures show.
pub(crate) fn many() -> Vec<RunResult> {
    let mut results = Vec::new();
    for (i, language) in ["repeat-01", "parity", "dyck-2-3"].into_iter().enumerate() {
        for (j, learner) in ["transformer", "rnn", "lstm"].into_iter().enumerate() {
            for (validation, seed) in [("short", 1), ("short", 2), ("long", 1), ("long", 2)] {
                let ease = 0.5 + 0.08 * i as f64 + 0.1 * j as f64 + 0.02 * seed as f64;
                results.push(detailed([language, learner, "R", validation], seed, ease));
            }
        }
    }
    results
}

/// A run with curves, scores by length, single strings and the hardest of them; the higher `ease`, the better.
fn detailed(at: [&str; 4], seed: u64, ease: f64) -> RunResult {
    let validation = format!("validation-{}", at[3]);
    let loss = |length: f64| (1.0 - ease) * (0.2 + length / 300.0 + 0.1 * (length / 40.0).sin());
    let mut scores = vec![
        accuracy("training", 1.0),
        cross_entropy(&validation, 0.1),
        accuracy(&validation, 0.99),
        accuracy("test-short-held-out", 0.98),
        accuracy("test", ease),
    ];
    scores.extend((0..=50).map(|i| {
        let window = Window { lo: 10 * i - 10, hi: 10 * i + 10 };
        measured("test", Stratum::Length(window), &RECOGNITION_CROSS_ENTROPY, loss(10.0 * i as f64))
    }));
    let point = |epoch: usize| {
        let validation = 0.1 + 0.59 * (-(epoch as f64) * ease / (4.0 + seed as f64)).exp();
        Point { epoch, steps: 100 * epoch as u64, training: Some(validation), validation: Some(validation) }
    };
    let mut result = as_in_the_paper(flare(at, seed, scores));
    result.curve = (1..=30).map(point).collect();
    let strings: Vec<Hard> = (0..50).map(|i| negative(i, ease)).collect();
    if at[1] == "transformer" && at[0] != "parity" {
        result.strings.clone_from(&strings);
    }
    result.hardest = strings[..7].to_vec();
    result
}

/// A string that is no member; the nearer it is to the language, the worse it is judged.
fn negative(i: usize, ease: f64) -> Hard {
    let distance = 1 + i % 25;
    Hard {
        split: "test-edit-distance".to_owned(),
        string: vec!["0 1"; 7 * i].join(" "),
        label: false,
        edits: Some(distance + i % 2),
        distance: Some(distance),
        cross_entropy: Some((1.0 - ease) * (6.0 + (i as f64).sin()) / distance as f64),
    }
}

/// The table of a name.
pub(crate) fn named<'t>(tables: &'t [Table], id: &str) -> &'t Table {
    let ids = || tables.iter().map(|table| &table.id).collect::<Vec<_>>();
    tables.iter().find(|table| table.id == id).unwrap_or_else(|| panic!("no table {id} but {:?}", ids()))
}

/// What we show in a row.
pub(crate) fn row(table: &Table, keys: &[&str]) -> Vec<String> {
    let row = table.rows.iter().find(|row| row.keys == keys).unwrap_or_else(|| panic!("no row {keys:?}"));
    let shown = |cell: &Cell| cell.ours.as_ref().map_or(ABSENT.to_owned(), Value::show);
    row.cells.iter().map(shown).collect()
}
