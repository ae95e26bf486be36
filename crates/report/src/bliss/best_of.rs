//! How the index of the best of our runs compares with the best of the paper's, which had more or fewer: the share of runs
//! that solve each factor, and what the best of as many as the paper's would solve.

use wug_score::best_of::{BestIndex, any_passes};
use wug_score::estimate::share_of_runs;
use wug_score::strata::Margin;
use wug_score::{Acceptance, Estimate};

use super::index_run::IndexRun;
use super::index_table::{shown, solved_by_factor};
use super::published::runs as paper_runs;
use super::rows::{RowKey, RunGroup, margins, settings_notes};
use crate::table::{Cell, Column, Decimals, IntervalKind, Row, Table, Value};

const DECIMALS: Decimals = Decimals(3);
/// The name of the row of the index.
const INDEX: &str = "𝔹";

/// A share for each factor.
type Shares = Vec<(usize, Estimate)>;

/// The table; `None` without trained learners.
pub(super) fn table(group: &RunGroup<'_>) -> Option<Table> {
    // Baselines are the same in every run.
    let by_row = group.rows(|run| run.has_index() && run.is_trained());
    let (columns, margins) = (group.varying(&by_row), margins(&by_row));
    let (name, title) = if group.of_paper {
        ("2-best-of", "Table 2: the best of how many")
    } else {
        ("index-best-of", "The index 𝔹: the best of how many")
    };
    let mut table = group.blank(name, title, &["language", "learner"]);
    table.keys.extend(columns.names());
    table.keys.push("b".to_owned());
    let rules: Vec<(Acceptance, Margin)> = Acceptance::ALL
        .into_iter()
        .flat_map(|acceptance| margins.iter().map(move |margin| (acceptance, *margin)))
        // Where nothing is forgiven, both criteria are the same.
        .filter(|(acceptance, margin)| *acceptance == Acceptance::AllSteps || margin.value() > 0.0)
        .collect();
    let known = group.of_paper.then_some("best of the paper's n");
    for (acceptance, margin) in &rules {
        let names = ["share of runs"].into_iter().chain(known);
        table
            .columns
            .extend(names.map(|name| Column::of(format!("{}, ε = {margin}", shown(*acceptance)), name)));
    }
    table.columns.push(Column::new("n"));
    for (key, runs) in &by_row {
        let names: Vec<String> = [key.language, key.learner]
            .map(str::to_owned)
            .into_iter()
            .chain(columns.values(&key.settings))
            .collect();
        table.rows.extend(rows(group, key, &names, runs, &rules));
    }
    table.notes.extend(notes(group.of_paper));
    table.notes.extend(table.interval_note());
    table.notes.extend(settings_notes(&columns));
    // Beside a paper's best every number of runs says something; by itself one run does not.
    let several = by_row
        .values()
        .any(|runs| runs.iter().any(|a| runs.iter().filter(|b| a.factor == b.factor).count() > 1));
    (!table.rows.is_empty() && (group.of_paper || several)).then_some(table)
}

/// A row for each factor, and one for the index.
fn rows(
    group: &RunGroup<'_>,
    key: &RowKey<'_>,
    names: &[String],
    runs: &[IndexRun<'_>],
    rules: &[(Acceptance, Margin)],
) -> Vec<Row> {
    let paper_n = paper_runs(key.learner).filter(|_| group.of_paper);
    let columns = if group.of_paper { 2 } else { 1 };
    let shares: Vec<Shares> = rules
        .iter()
        .map(|(acceptance, margin)| {
            let factors = solved_by_factor(runs, *margin, *acceptance).into_iter();
            factors.filter_map(|(b, (passed, of))| Some((b, share_of_runs(passed, of)?))).collect()
        })
        .collect();
    let factors = crate::table::distinct(shares.iter().flatten().map(|(factor, _)| *factor));
    let named = |b: String| names.iter().cloned().chain([b]).collect();
    let row = |factor: &usize| {
        let of = |shares: &Shares| shares.iter().find(|(b, _)| b == factor).map(|(_, share)| *share);
        let count = runs.iter().filter(|run| run.factor == *factor && run.is_evaluated()).count();
        let cells = shares.iter().flat_map(|shares| solving(of(shares), paper_n).into_iter().take(columns));
        Row { keys: named(factor.to_string()), cells: cells.chain([counts(count, paper_n)]).collect() }
    };
    let complete = group.factors().iter().all(|factor| factors.contains(factor));
    let index = shares.iter().zip(rules).flat_map(|(shares, (acceptance, margin))| {
        // Unless all factors were run, the index of the best is only bounded, and a median would hide that.
        let best = paper_n.filter(|_| complete).map(|n| index_of_best(&BestIndex::of(shares, n), &factors));
        let paper = key.printed(*margin).filter(|_| *acceptance == Acceptance::AllSteps && group.of_paper);
        let best = Cell { ours: best.map(Value::from), paper: paper.map(Value::from), ..Cell::default() };
        // An index is no share of runs, so the first of each pair stays empty.
        [Cell::default(), best]
    });
    let index = Row { keys: named(INDEX.to_owned()), cells: index.chain([Cell::default()]).collect() };
    factors.iter().map(row).chain(paper_n.map(|_| index)).collect()
}

/// The share of runs that solve a factor, and the probability that the best of n does.
fn solving(share: Option<Estimate>, n: Option<usize>) -> [Cell; 2] {
    // Runs are taken as independent draws, as the paper's seeds and configurations were made.
    let best = share.zip(n).map(|(share, n)| any_passes(share, n));
    [
        Cell::maybe(share.map(|share| Value::estimate(share, IntervalKind::Share, DECIMALS))),
        Cell::maybe(best.map(|best| Value::estimate(best, IntervalKind::FromShare, DECIMALS))),
    ]
}

fn counts(ours: usize, paper: Option<usize>) -> Cell {
    let number = |n: usize| Value::from(n.to_string());
    Cell { ours: Some(number(ours)), paper: paper.map(number), ..Cell::default() }
}

/// The median, and the range in brackets.
fn index_of_best(best: &BestIndex, factors: &[usize]) -> String {
    let least = factors.iter().min().copied().unwrap_or(1);
    let shown = |index: Option<usize>| index.map_or_else(|| format!("<{least}"), |b| b.to_string());
    let (median, low, high) = (shown(best.median), shown(best.low), shown(best.high));
    if low == high { median } else { format!("{median} ({low} to {high})") }
}

fn notes(of_paper: bool) -> Vec<String> {
    let shares = "Share of runs: those that solve the test at a factor, of all configurations and seeds that were run.";
    let mut notes = vec![shares.to_owned()];
    if of_paper {
        notes.push("Best of the paper's n: the probability that one of as many runs as the paper's solves it, 1 - (1 - share)^n, with runs drawn from the configurations that were run here.".to_owned());
        notes.push(format!("{INDEX}: the index that the best of as many runs as the paper's would have: the median, and in brackets from what it reaches in 95 % of cases if all shares are at the low ends of their intervals to what it reaches in 5 % if they are at the high ends. A paper's index inside that range is no evidence of another learner."));
    }
    notes
}
