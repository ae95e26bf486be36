//! Table 2: reviews.

use std::collections::BTreeMap;

use wug_score::Reading;
use wug_score::metric::{HIGHEST_ACCURACY, WADE};

use super::published::{IMDB, PAPER};
use super::runs::{WadeRun, is_of_reviews};
use super::{NAME, batch};
use crate::cells::PaperCells;
use crate::departures::{PaperFigure, reading_note};
use crate::measured::TEST;
use crate::pivot::Pivot;
use crate::table::{Cell, Column, Decimals, MEAN_NOTE, Scope, Table, Value};

/// The runs that a mean of the paper is of.
const RUNS: usize = 50;

/// One table per reading that has runs on reviews.
pub(super) fn tables(cells: &PaperCells<'_>, runs: &[WadeRun<'_>]) -> Vec<Table> {
    Reading::ALL.into_iter().filter_map(|reading| table(cells, runs, reading)).collect()
}

type ReviewRow<'r> = (&'r str, Vec<WadeRun<'r>>);

fn table(cells: &PaperCells<'_>, runs: &[WadeRun<'_>], reading: Reading) -> Option<Table> {
    let own: Vec<WadeRun<'_>> =
        runs.iter().copied().filter(|run| is_of_reviews(*run) && run.plan.reading == reading).collect();
    let mut rows: BTreeMap<(&str, String), Vec<WadeRun<'_>>> = BTreeMap::new();
    for run in &own {
        rows.entry((run.learner(), settings(*run))).or_default().push(*run);
    }
    let values = |runs: &[WadeRun<'_>], metric: &str| -> Vec<f64> {
        runs.iter().filter_map(|run| run.value(TEST, metric)).collect()
    };
    let beside = |(learner, runs): &ReviewRow<'_>, ours: Option<Value>, column: &str, std: &str| {
        let figure = IMDB.mean(&[learner], column, std).map(|value| PaperFigure { value, n: Some(RUNS) });
        Cell { n: Some(runs.len()), ..Cell::maybe(ours) }.with_paper(runs.iter().copied(), figure)
    };
    let keyed = rows
        .into_iter()
        .map(|((learner, settings), runs)| (vec![learner.to_owned(), settings], (learner, runs)));
    let table = Pivot::new()
        .column(Column::new("100 × WADE"), |row: &ReviewRow<'_>| {
            let hundredfold: Vec<f64> = values(&row.1, WADE.name).iter().map(|x| 100.0 * x).collect();
            beside(row, Value::mean(&hundredfold, false, Decimals(3)), "wade_x100", "wade_std_x100")
        })
        .column(Column::new("highest accuracy"), |row| {
            let highest = values(&row.1, HIGHEST_ACCURACY.name);
            beside(row, Value::mean(&highest, true, Decimals(3)), "max_acc", "max_acc_std")
        })
        .fill(
            Table {
                notes: notes(cells, reading, &own),
                ..Table::blank(Scope::Suite(NAME), reading, "2", "Table 2: reviews", &["learner", "settings"])
            },
            keyed,
        );
    (!table.rows.is_empty()).then_some(table)
}

/// What tells runs of a learner apart.
fn settings(run: WadeRun<'_>) -> String {
    let all = run.run.coordinates.iter().filter(|(name, _)| !["language", "learner"].contains(name));
    all.map(|(name, value)| format!("{} {value}", name.replace('_', " "))).collect::<Vec<_>>().join(", ")
}

fn notes(cells: &PaperCells<'_>, reading: Reading, runs: &[WadeRun<'_>]) -> Vec<String> {
    let score = match reading {
        Reading::Published => {
            "WADE as published for reviews: thresholds 0.5 to 0.99, strictly above, with weights from 1 to 10; T in evaluations. Both figures of bag-of-words are of its smoothed curve, as in the paper: an exponential moving average over a window of 10."
        }
        Reading::Corrected => {
            "WADE by Equations 1 and 2, thresholds 0.01 to 1, T in reviews seen; the paper's is another formula, over thresholds from 0.5 on, with T in evaluations, and of smoothed accuracies for bag-of-words."
        }
    };
    let paper = "The paper's figures are of IMDB (25,000 reviews for training, 25,000 for testing), batches of 8, ten passes, hidden 256, embedding 128, dropout 0.6 and batch normalisation; its pieces are learned from the test reviews too, and padding is not masked.";
    let notes = [format!("Paper: {PAPER}."), score.to_owned(), paper.to_owned(), MEAN_NOTE.to_owned()];
    let other = reading_note(cells, reading, runs.iter().copied());
    notes.into_iter().chain(other).chain(batch::note(runs)).collect()
}
