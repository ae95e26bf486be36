//! Table 2: reviews.

use std::collections::BTreeMap;

use wug_score::metric::{HIGHEST_ACCURACY, WADE};
use wug_score::{Reading, RunResult};

use super::NAME;
use super::published::{IMDB, PAPER};
use super::runs::is_of_reviews;
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
        notes: notes(reading),
        ..Table::blank(Scope::Suite(NAME), reading, "2", "Table 2: reviews", &["learner", "settings"])
    };
    (!table.rows.is_empty()).then_some(table)
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
    let mut printed = COLUMNS.iter().map(|(_, column, std)| IMDB.mean(&[learner], column, std));
    ours.map(|ours| {
        let paper = printed.next().flatten();
        Cell { ours, n: Some(runs.len()), paper_n: paper.as_ref().map(|_| RUNS), paper, ..Cell::default() }
    })
}

fn notes(reading: Reading) -> Vec<String> {
    let score = match reading {
        Reading::Published => {
            "WADE as published for reviews: thresholds 0.5 to 0.99, strictly above, with weights from 1 to 10; T in evaluations."
        }
        Reading::Corrected => {
            "WADE by Equations 1 and 2, thresholds 0.01 to 1, T in reviews seen; the paper's is another formula, over thresholds from 0.5 on, with T in evaluations."
        }
    };
    let paper = "The paper's figures are of IMDB (25,000 reviews for training, 25,000 for testing), batches of 8, ten passes, hidden 256, embedding 128, dropout 0.6 and batch normalisation; its pieces are learned from the test reviews too, and padding is not masked. Those of bag-of-words are smoothed first.";
    [format!("Paper: {PAPER}."), score.to_owned(), paper.to_owned(), MEAN_NOTE.to_owned()].into()
}
