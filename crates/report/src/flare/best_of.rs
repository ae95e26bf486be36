//! How the best of our runs compares with the best of the paper's, which had more: the share of runs that pass, and what
//! the best of as many as the paper's would be.

use wug_score::best_of::{Draws, any_passes, expected_best};
use wug_score::estimate::share_of_runs;
use wug_score::select::rounded;
use wug_score::{Aggregate, Bootstrap, Estimate};

use super::blank;
use super::main_table::DECIMALS;
use super::published::RUNS;
use super::runs::{BestLoss, FlareRun, FlareRuns};
use crate::departures::PaperFigure;
use crate::pivot::Pivot;
use crate::table::{Cell, Column, IntervalKind, Table, Value};

/// An accuracy from which on a language counts as recognised.
const SOLVED: f64 = 0.99;

/// The best of some runs beside the paper's.
pub(super) struct BestRow<'r> {
    /// The names of the row.
    pub(super) keys: Vec<String>,
    /// The scores of our runs by loss.
    pub(super) ours: BestLoss,
    /// The paper's best of the same losses.
    pub(super) paper: Option<PaperFigure>,
    pub(super) of: Vec<FlareRun<'r>>,
}

/// A table of such rows; `None` without rows.
pub(super) fn table(
    runs: &FlareRuns<'_>,
    name: &str,
    title: &str,
    keys: &[&str],
    rows: &[BestRow<'_>],
) -> Option<Table> {
    let best_of = |name| Column::of("best of the paper's number of runs", name);
    let share_of = |name: String| Column::of("share of runs", name);
    let shown = |share: Option<Estimate>, kind| {
        Cell::maybe(share.map(|share| Value::estimate(share, kind, DECIMALS)))
    };
    let mut table = Pivot::new()
        .column(Column::new("losses"), |row: &&BestRow<'_>| {
            Cell::ours(row.ours.losses().iter().map(|loss| loss.name()).collect::<Vec<_>>().join(", "))
        })
        .column(Column::new("best"), |row| {
            let scores = row.ours.all_scores();
            let best = Aggregate::Max.of(&scores).map(|x| Value::number(x, DECIMALS));
            let best = Cell { n: Some(scores.len()), best_of: true, ..Cell::maybe(best) };
            best.with_paper(row.of.iter().copied(), row.paper.clone())
        })
        .column(share_of(format!("at least {SOLVED}")), |row| {
            let scores = row.ours.all_scores();
            let solved = scores.iter().filter(|x| **x >= SOLVED).count();
            shown(share_of_runs(solved, scores.len()), IntervalKind::Share)
        })
        .column(share_of("at least the paper's best".to_owned()), |row| {
            shown(row.reaches(), IntervalKind::Share)
        })
        .column(best_of("expected"), |row| Cell::maybe(row.comparable().map(|_| expected(&row.ours))))
        .column(best_of("reaches the paper's"), |row| {
            let n = row.comparable().and_then(|paper| paper.n);
            let share = row.reaches().zip(n).map(|(share, n)| any_passes(share, n));
            shown(share, IntervalKind::FromShare)
        })
        .fill(
            blank(runs, &format!("{name}-best-of"), title, keys),
            rows.iter().map(|row| (row.keys.clone(), row)),
        );
    table.notes.push(format!("Best: the highest accuracy of any run, ours of the losses named, the paper's of {RUNS} runs of each of the same losses. An accuracy reaches the paper's if it does so when rounded as that is."));
    table.notes.push(format!("Expected: the mean of the best over all ways to choose {RUNS} runs of each loss; not known from fewer. Reaches the paper's: the probability that one of the paper's number of runs does, 1 - (1 - share)^n. If its interval is low, our runs are of a worse learner and not just fewer."));
    table.notes.extend(table.interval_note());
    (!table.rows.is_empty()).then_some(table)
}

impl BestRow<'_> {
    /// The paper's best, if all runs are as in the paper.
    fn comparable(&self) -> Option<&PaperFigure> {
        self.paper.as_ref().filter(|_| self.of.iter().all(|run| run.is_as_in_paper()))
    }

    /// The share of runs that are as good as the paper's best.
    fn reaches(&self) -> Option<Estimate> {
        let least = self.comparable()?.value.rounded()?;
        let scores = self.ours.all_scores();
        // Rounded as the printed one: 0.996 reaches a printed 1.00, which may have been 0.995.
        let reached = scores.iter().filter(|x| rounded(**x, DECIMALS.0).is_some_and(|x| x >= least));
        share_of_runs(reached.count(), scores.len())
    }
}

/// The expected best of the paper's number of runs of each loss.
fn expected(ours: &BestLoss) -> Value {
    // By loss, because the paper's 40 runs are ten of each and no random draw from all.
    let kinds: Vec<Draws<'_>> = ours.by_loss.iter().map(|(_, values)| Draws { values, n: RUNS }).collect();
    if let Some((value, interval)) = expected_best(&kinds).zip(Bootstrap::of_report().over_best(&kinds)) {
        let estimate = Estimate { value, low: interval.low, high: interval.high };
        return Value::estimate(estimate, IntervalKind::Best, DECIMALS);
    }
    let fewest = kinds.iter().map(|kind| kind.values.len()).min().unwrap_or(0);
    Value::from(format!("not enough runs: {fewest} of {RUNS} of a loss"))
}
