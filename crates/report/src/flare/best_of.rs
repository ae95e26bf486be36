//! How the best of our runs compares with the best of the paper's, which had more: the share of runs that pass, and what
//! the best of as many as the paper's would be.

use wug_score::best_of::{Draws, any_passes, expected_best};
use wug_score::estimate::share_of_runs;
use wug_score::select::rounded;
use wug_score::{Aggregate, Bootstrap, Estimate};

use super::blank;
use super::main_table::DECIMALS;
use super::published::{Printed, RUNS};
use super::runs::{BestLoss, PaperRuns};
use crate::table::{Cell, Column, IntervalKind, Row, Table, Value};

/// An accuracy from which on a language counts as recognised.
const SOLVED: f64 = 0.99;

/// The best of some runs beside the paper's.
pub(super) struct BestRow {
    /// The names of the row.
    pub(super) keys: Vec<String>,
    /// The scores of our runs by loss.
    pub(super) ours: BestLoss,
    /// The paper's best of the same losses.
    pub(super) paper: Option<Printed>,
}

/// A table of such rows; `None` without rows.
pub(super) fn table(
    runs: &PaperRuns<'_>,
    (name, title): (&str, &str),
    keys: &[&str],
    rows: &[BestRow],
) -> Option<Table> {
    let mut table = blank(runs, &format!("{name}-best-of"), title, keys);
    let shares = [format!("at least {SOLVED}"), "at least the paper's best".to_owned()];
    table.columns = ["losses", "best"].map(Column::new).to_vec();
    table.columns.extend(shares.map(|name| Column::of("share of runs", name)));
    table.columns.extend(
        ["expected", "reaches the paper's"]
            .map(|name| Column::of("best of the paper's number of runs", name)),
    );
    table.rows = rows.iter().map(|row| Row { keys: row.keys.clone(), cells: cells(row) }).collect();
    table.notes.push(format!("Best: the highest accuracy of any run, ours of the losses named, the paper's of {RUNS} runs of each of the same losses. An accuracy reaches the paper's if it does so when rounded as that is."));
    table.notes.push(format!("Expected: the mean of the best over all ways to choose {RUNS} runs of each loss; not known from fewer. Reaches the paper's: the probability that one of the paper's number of runs does, 1 - (1 - share)^n. If its interval is low, our runs are of a worse learner and not just fewer."));
    table.notes.extend(table.interval_note());
    (!table.rows.is_empty()).then_some(table)
}

fn cells(row: &BestRow) -> Vec<Cell> {
    let scores = row.ours.all_scores();
    let losses: Vec<&str> = row.ours.by_loss.iter().map(|(loss, _)| *loss).collect();
    let best = Cell {
        ours: Aggregate::Max.of(&scores).map(|x| Value::number(x, DECIMALS)),
        n: Some(scores.len()),
        best_of: true,
        ..Cell::default()
    };
    let share = |least: f64| share_of_runs(scores.iter().filter(|x| **x >= least).count(), scores.len());
    let shown = |share: Estimate, kind| Value::estimate(share, kind, DECIMALS);
    let reaches = row.paper.as_ref().and_then(|paper| {
        let least = paper.number()?;
        let reached = scores.iter().filter(|x| rounded(**x, DECIMALS.0).is_some_and(|x| x >= least));
        share_of_runs(reached.count(), scores.len())
    });
    let (paper, paper_n) = row.paper.as_ref().map(|paper| (paper.value.clone(), paper.n)).unzip();
    vec![
        Cell::ours(losses.join(", ")),
        Cell { paper, paper_n, ..best },
        Cell::maybe(share(SOLVED).map(|share| shown(share, IntervalKind::Share))),
        Cell::maybe(reaches.map(|share| shown(share, IntervalKind::Share))),
        Cell::maybe(row.paper.as_ref().map(|_| expected(&row.ours))),
        Cell::maybe(
            reaches.zip(paper_n).map(|(share, n)| shown(any_passes(share, n), IntervalKind::FromShare)),
        ),
    ]
}

/// The expected best of the paper's number of runs of each loss.
fn expected(ours: &BestLoss) -> Value {
    let kinds: Vec<Draws<'_>> = ours.by_loss.iter().map(|(_, values)| Draws { values, n: RUNS }).collect();
    if let Some((value, interval)) = expected_best(&kinds).zip(Bootstrap::of_report().over_best(&kinds)) {
        let estimate = Estimate { value, low: interval.low, high: interval.high };
        return Value::estimate(estimate, IntervalKind::Best, DECIMALS);
    }
    let fewest = kinds.iter().map(|kind| kind.values.len()).min().unwrap_or(0);
    Value::from(format!("not enough runs: {fewest} of {RUNS} of a loss"))
}
