//! The strings with the highest cross-entropy, of the best model of each language and architecture.

use wug_score::{RunResult, ScoredString};

use super::blank;
use super::runs::PaperRuns;
use crate::table::{Cell, Column, Decimals, Row, Table, Value};

/// How many strings of a model are shown.
const SHOWN: usize = 5;
/// How many symbols of a string are shown.
const SYMBOLS: usize = 30;

/// The table; `None` if no run has such strings.
pub(super) fn table(runs: &PaperRuns<'_>) -> Option<Table> {
    let mut table = blank(runs, "hardest", "The hardest strings", &["language", "learner", "rank"]);
    table.columns =
        ["string", "length", "label", "edits", "distance", "cross-entropy"].map(Column::new).to_vec();
    for language in runs.languages() {
        for learner in runs.learners() {
            table.rows.extend(runs.best_model(language, learner).into_iter().flat_map(rows));
        }
    }
    table.notes = vec![
        "Of the model with the best accuracy on the long test set among all runs with long validation: the strings whose correct label it found least likely.".to_owned(),
        format!("Cross-entropy in nats; above log 2 = 0.693 the answer is incorrect. Strings are cut after {SYMBOLS} symbols. A negative without a number of edits was drawn at random."),
    ];
    (!table.rows.is_empty()).then_some(table)
}

fn rows(model: &RunResult) -> Vec<Row> {
    let loss = |string: &&ScoredString| string.cross_entropy.unwrap_or(f64::INFINITY);
    let mut strings: Vec<&ScoredString> = model.hardest.iter().collect();
    strings.sort_by(|a, b| loss(b).total_cmp(&loss(a)));
    let row = |(rank, string): (usize, &ScoredString)| Row {
        keys: vec![model.run.language().to_owned(), model.run.learner().to_owned(), rank.to_string()],
        cells: cells(string),
    };
    (1..).zip(strings).take(SHOWN).map(row).collect()
}

fn cells(scored: &ScoredString) -> Vec<Cell> {
    let symbols: Vec<&str> = scored.string.split_whitespace().collect();
    let mut start = symbols.iter().take(SYMBOLS).copied().collect::<Vec<_>>().join(" ");
    if symbols.is_empty() {
        start.push('ε');
    } else if symbols.len() > SYMBOLS {
        start.push_str(" …");
    }
    let number = |n: Option<usize>| n.map_or_else(Cell::default, |n| Cell::ours(n.to_string()));
    let nats = scored.cross_entropy.map_or_else(|| "∞".into(), |x| Value::number(x, Decimals(3)));
    vec![
        Cell::ours(start),
        number(Some(symbols.len())),
        Cell::ours(if scored.label { "member" } else { "no member" }),
        number(scored.edits),
        number(scored.distance),
        Cell::ours(nats),
    ]
}
