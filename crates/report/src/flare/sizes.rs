//! Table 22: models of several sizes.

use wug_score::Aggregate;

use super::main_table::{DECIMALS, paper_column};
use super::published::SIZES;
use super::runs::{CellKey, PaperRuns, label};
use super::{blank, shortened};
use crate::measured::accuracies;
use crate::summary::bad_endings;
use crate::table::{Cell, Column, Row, Table, Value};

/// What the paper's figures are of.
const PAPER: &str = "The paper's figures are the best of 10 runs.";

/// Table 22; `None` unless something of another size than usual was run.
pub(super) fn table(runs: &PaperRuns<'_>) -> Option<Table> {
    if !runs.has_sizes() {
        return None;
    }
    let (learners, sizes) = (runs.learners(), runs.sizes());
    let grid: Vec<(&str, u64)> =
        learners.iter().flat_map(|learner| sizes.iter().map(move |size| (*learner, *size))).collect();
    let key = |language, (learner, size)| CellKey { language, learner, loss: "R", validation: "long", size };
    let row = |language: &'static str| Row {
        keys: vec![String::from(language)],
        cells: grid.iter().map(|at| cell(runs, key(language, *at))).collect(),
    };
    let mut table = blank(runs, "22", "Table 22: models of several sizes", &["language"]);
    table.columns = grid.iter().map(|(learner, size)| Column::of(label(learner), thousands(*size))).collect();
    let run = |language: &&'static str| grid.iter().any(|at| !runs.at(key(language, *at)).is_empty());
    table.rows = runs.languages().into_iter().filter(run).map(row).collect();
    let all: Vec<_> =
        runs.all().iter().copied().filter(|run| run.run.coordinates.text("loss") == Some("R")).collect();
    table.notes.push("Recognition accuracy on the long test set (lengths 0-500): the maximum over the runs with the loss R and validation on lengths 0-80; in brackets the number of runs.".to_owned());
    table.notes.push(PAPER.to_owned());
    table.notes.extend(
        Some(bad_endings(&all))
            .filter(|bad| !bad.is_empty())
            .map(|bad| format!("Of the runs with this loss, {bad}.")),
    );
    Some(table)
}

/// Table 22 in short.
pub(super) fn headline(runs: &PaperRuns<'_>) -> Option<Table> {
    let ours = "The best run with the loss R and validation on lengths 0-80, tested on lengths 0-500.";
    table(runs).map(|table| shortened(runs, table, &[ours, PAPER]))
}

fn cell(runs: &PaperRuns<'_>, key: CellKey<'_>) -> Cell {
    let scores = accuracies(&runs.at(key));
    let column = format!("{}_{}", paper_column(key.learner), thousands(key.size));
    Cell {
        ours: Aggregate::Max.of(&scores).map(|x| Value::number(x, DECIMALS)),
        paper: SIZES.number(&[key.language], &column),
        n: Some(scores.len()),
        best: false,
    }
}

/// `64k` for 64 000.
fn thousands(size: u64) -> String {
    if size.is_multiple_of(1000) { format!("{}k", size / 1000) } else { size.to_string() }
}
