//! Table 22: models of several sizes.

use wug_score::{Aggregate, RunResult};

use super::best_of::{self, BestRow};
use super::main_table::DECIMALS;
use super::published::{Printed, RUNS, SIZES, paper_column};
use super::runs::{BestLoss, CellKey, PaperRuns};
use super::{blank, shortened};
use crate::parameters;
use crate::plan_fields::spread_note;
use crate::summary::bad_endings;
use crate::table::{BEST_OF_NOTE, Cell, Column, Row, Table, Value};

/// What the paper's figures are of.
const PAPER: &str = "The paper's figures are the best of 10 runs.";

/// The learners and sizes of the table.
fn grid<'a>(runs: &PaperRuns<'a>) -> Vec<(&'a str, u64)> {
    let sizes = runs.sizes();
    // A learner from elsewhere that was asked for no size has one of its own, which is in no column.
    let without_size = |learner: &&str| {
        let mut own = runs.all().iter().filter(|run| run.run.learner() == *learner).peekable();
        own.peek().is_some() && own.all(|run| run.run.coordinates.integer("size").is_none())
    };
    let learners = runs.learners().into_iter().filter(|learner| !without_size(learner));
    learners.flat_map(|learner| sizes.iter().map(move |size| (learner, *size))).collect()
}

fn key<'k>(language: &'k str, (learner, size): (&'k str, u64)) -> CellKey<'k> {
    CellKey { language, learner, loss: "R", validation: "long", size }
}

/// Table 22; `None` unless something of another size than usual was run.
pub(super) fn table(runs: &PaperRuns<'_>) -> Option<Table> {
    if !runs.has_sizes() {
        return None;
    }
    let grid = grid(runs);
    let row = |language: &'static str| Row {
        keys: vec![String::from(language)],
        cells: grid.iter().map(|at| cell(runs, language, *at)).collect(),
    };
    let mut table = blank(runs, "22", "Table 22: models of several sizes", &["language"]);
    let all: Vec<_> = runs
        .languages()
        .into_iter()
        .flat_map(|l| grid.iter().flat_map(move |at| runs.at(key(l, *at))))
        .collect();
    table.columns = grid.iter().map(|at| Column::of(at.0, head(*at, &all))).collect();
    let run = |language: &&'static str| grid.iter().any(|at| !runs.at(key(language, *at)).is_empty());
    table.rows = runs.languages().into_iter().filter(run).map(row).collect();
    table.notes.push("Recognition accuracy on the long test set (lengths 0-500): the maximum over the runs with the loss R and validation on lengths 0-80. In the heads, the size asked for and in brackets the trainable parameters that there are.".to_owned());
    table.notes.push(PAPER.to_owned());
    table.notes.push(BEST_OF_NOTE.to_owned());
    let cells = runs.languages().into_iter().flat_map(|l| grid.iter().map(move |at| runs.at(key(l, *at))));
    table.notes.extend(spread_note(cells));
    table.notes.extend(parameters::misses(&all));
    table.notes.extend(
        Some(bad_endings(&all))
            .filter(|bad| !bad.is_empty())
            .map(|bad| format!("Of the runs with this loss, {bad}.")),
    );
    Some(table)
}

/// The size asked for, and the parameters that runs of it have.
fn head((learner, size): (&str, u64), runs: &[&RunResult]) -> String {
    let own = runs.iter().copied().filter(|run| run.run.learner() == learner);
    let own = own.filter(|run| run.run.coordinates.integer("size") == Some(size));
    let parameters = parameters::range(own).map_or_else(String::new, |range| format!(" ({range})"));
    thousands(size) + &parameters
}

/// How the best runs of Table 22 compare with the best of the paper's.
pub(super) fn best_of(runs: &PaperRuns<'_>) -> Option<Table> {
    let grid = Some(grid(runs)).filter(|_| runs.has_sizes())?;
    let mut rows = Vec::new();
    for language in runs.languages() {
        for at in &grid {
            let Some(ours) = best(runs, language, *at) else { continue };
            let keys = vec![language.to_owned(), at.0.to_owned(), thousands(at.1)];
            rows.push(BestRow { keys, ours, paper: printed(language, *at) });
        }
    }
    let keys = ["language", "learner", "size"];
    best_of::table(runs, ("22", "Table 22: the best of how many"), &keys, &rows)
}

fn best(runs: &PaperRuns<'_>, language: &str, at: (&str, u64)) -> Option<BestLoss> {
    runs.best_among(&["R"], Aggregate::Max, |loss| CellKey { loss, ..key(language, at) })
}

fn printed(language: &str, (learner, size): (&str, u64)) -> Option<Printed> {
    let column = format!("{}_{}", paper_column(learner), thousands(size));
    Some(Printed { value: SIZES.number(&[language], &column)?, n: RUNS, loss: None })
}

/// Table 22 in short.
pub(super) fn headline(runs: &PaperRuns<'_>) -> Option<Table> {
    let ours = "The best run with the loss R and validation on lengths 0-80, tested on lengths 0-500.";
    table(runs).map(|table| shortened(runs, table, &[ours, PAPER]))
}

fn cell(runs: &PaperRuns<'_>, language: &str, at: (&str, u64)) -> Cell {
    let best = best(runs, language, at);
    let (paper, paper_n) = printed(language, at).map(|Printed { value, n, .. }| (value, n)).unzip();
    Cell {
        ours: best.as_ref().map(|best| Value::number(best.value, DECIMALS)),
        n: best.map(|best| best.scores().len()),
        paper,
        paper_n,
        best_of: true,
        ..Cell::default()
    }
}

/// `64k` for 64 000.
fn thousands(size: u64) -> String {
    if size.is_multiple_of(1000) { format!("{}k", size / 1000) } else { size.to_string() }
}
