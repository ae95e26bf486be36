//! Table 2: reviews.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use wug_score::metric::{HIGHEST_ACCURACY, WADE};
use wug_score::{Reading, RunResult};

use super::published::{IMDB, PAPER};
use super::runs::is_of_reviews;
use super::{NAME, batch};
use crate::measured::TEST;
use crate::table::{Cell, Column, Decimals, MEAN_NOTE, Row, Scope, Table, Value};

/// The runs that a mean of the paper is of.
const RUNS: usize = 50;

const COLUMNS: [(&str, &str, &str); 2] =
    [("100 × WADE", "wade_x100", "wade_std_x100"), ("highest accuracy", "max_acc", "max_acc_std")];

/// One table per reading that has runs on reviews.
pub(super) fn tables(results: &[&RunResult]) -> Vec<Table> {
    Reading::ALL.into_iter().filter_map(|reading| table(results, reading)).collect()
}

fn table(results: &[&RunResult], reading: Reading) -> Option<Table> {
    let mut rows: BTreeMap<(&str, String), Vec<&RunResult>> = BTreeMap::new();
    for run in results.iter().filter(|run| is_of_reviews(run) && run.run.reading == reading) {
        rows.entry((run.run.learner(), settings(run))).or_default().push(*run);
    }
    let row = |((learner, settings), runs): (&(&str, String), &Vec<&RunResult>)| Row {
        keys: vec![(*learner).to_owned(), settings.clone()],
        cells: cells(learner, runs).into(),
    };
    let table = Table {
        columns: COLUMNS.map(|(name, ..)| Column::new(name)).into(),
        rows: rows.iter().map(row).collect(),
        notes: notes(reading, &rows.values().flatten().copied().collect::<Vec<_>>()),
        ..Table::blank(Scope::Suite(NAME), reading, "2", "Table 2: reviews", &["learner", "settings"])
    };
    (!table.rows.is_empty()).then_some(table)
}

/// What the paper has, in words, and where it is: the reviews among the data of a result, the rest in its plan.
const REVIEWS: [(&str, &str, f64); 2] =
    [("25,000 reviews for training", "/train", 25_000.0), ("25,000 for testing", "/test", 25_000.0)];
const TRAINING: [(&str, &str, f64); 6] = [
    ("30,000 pieces", "/corpus/pieces", 30_000.0),
    ("reviews of up to 5,000 pieces", "/corpus/longest", 5000.0),
    ("ten passes", "/passes", 10.0),
    ("batches of 8", "/batch", 8.0),
    ("a first evaluation after 8 reviews", "/evaluations/first", 8.0),
    ("one every 400", "/evaluations/every", 400.0),
];
const RECURRENT: [(&str, &str, f64); 3] = [
    ("256 units", "/settings/hidden", 256.0),
    ("an embedding of 128", "/settings/embedding", 128.0),
    ("dropout 0.6", "/settings/dropout", 0.6),
];
const TRANSFORMER: [(&str, &str, f64); 4] = [
    ("a width of 128", "/settings/hidden", 128.0),
    ("eight heads", "/settings/heads", 8.0),
    ("a feed-forward layer of 256", "/settings/feedforward_units", 256.0),
    ("dropout 0.5", "/settings/dropout", 0.5),
];

/// What the paper has and a run has not, in words: its figures stand beside no such run.
fn departures(run: &RunResult) -> Vec<&'static str> {
    let own: &[(&'static str, &str, f64)] = match run.run.learner() {
        "rnn" | "lstm" | "gru" => &RECURRENT,
        "transformer" => &TRANSFORMER,
        _ => &[],
    };
    let is = |value: Option<&Json>, want: f64| {
        value.and_then(Json::as_f64).is_some_and(|value| (value - want).abs() < 1e-9)
    };
    let reviews = REVIEWS.iter().filter(|(_, at, want)| !is(run.data.pointer(at), *want));
    let trained = TRAINING.iter().chain(own).filter(|(_, at, want)| !is(run.plan.pointer(at), *want));
    reviews.chain(trained).map(|(words, ..)| *words).collect()
}

/// What tells runs of a learner apart.
fn settings(run: &RunResult) -> String {
    let all = run.run.coordinates.iter().filter(|(name, _)| !["language", "learner"].contains(name));
    all.map(|(name, value)| format!("{} {value}", name.replace('_', " "))).collect::<Vec<_>>().join(", ")
}

fn cells(learner: &str, runs: &[&RunResult]) -> [Cell; 2] {
    let values =
        |metric: &str| -> Vec<f64> { runs.iter().filter_map(|run| run.value(TEST, metric)).collect() };
    let hundredfold: Vec<f64> = values(WADE.name).iter().map(|x| 100.0 * x).collect();
    let ours = [
        Value::mean(&hundredfold, false, Decimals(3)),
        Value::mean(&values(HIGHEST_ACCURACY.name), true, Decimals(3)),
    ];
    let as_in_print = runs.iter().all(|run| departures(run).is_empty());
    let print =
        |(_, column, std): &(&str, &str, &str)| IMDB.mean(&[learner], column, std).filter(|_| as_in_print);
    let mut printed = COLUMNS.iter().map(print);
    ours.map(|ours| {
        let paper = printed.next().flatten();
        Cell { ours, n: Some(runs.len()), paper_n: paper.as_ref().map(|_| RUNS), paper, ..Cell::default() }
    })
}

fn notes(reading: Reading, runs: &[&RunResult]) -> Vec<String> {
    let score = match reading {
        Reading::Published => {
            "WADE as published for reviews: thresholds 0.5 to 0.99, strictly above, with weights from 1 to 10; T in evaluations. Both figures of bag-of-words are of its smoothed curve, as in the paper: an exponential moving average over a window of 10."
        }
        Reading::Corrected => {
            "WADE by Equations 1 and 2, thresholds 0.01 to 1, T in reviews seen; the paper's is another formula, over thresholds from 0.5 on, with T in evaluations, and of smoothed accuracies for bag-of-words."
        }
    };
    let paper = "The paper's figures are of IMDB (25,000 reviews for training, 25,000 for testing), batches of 8, ten passes, hidden 256, embedding 128, dropout 0.6 and batch normalisation; its pieces are learned from the test reviews too, and padding is not masked.";
    let apart: BTreeSet<&str> = runs.iter().flat_map(|run| departures(run)).collect();
    let apart = (!apart.is_empty()).then(|| {
        let apart = apart.into_iter().collect::<Vec<_>>().join(", ");
        format!("The paper's figures are not beside runs of other reviews or settings; those that some runs do not have: {apart}.")
    });
    let notes = [format!("Paper: {PAPER}."), score.to_owned(), paper.to_owned(), MEAN_NOTE.to_owned()];
    notes.into_iter().chain(apart).chain(batch::note(runs)).collect()
}
