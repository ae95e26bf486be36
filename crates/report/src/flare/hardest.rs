//! The strings with the highest cross-entropy, of the best model of each language and architecture.

use wug_score::ScoredString;

use super::blank;
use super::runs::{FlareRun, FlareRuns};
use crate::pivot::Pivot;
use crate::table::{Cell, Column, Decimals, Table, Value};

/// How many strings of a model are shown.
const SHOWN: usize = 5;
/// How many symbols of a string are shown.
const SYMBOLS: usize = 30;

/// The table; `None` if no run has such strings.
pub(super) fn table(runs: &FlareRuns<'_>) -> Option<Table> {
    let best = |language: &'static str| {
        runs.learners().into_iter().filter_map(move |learner| runs.best_model(language, learner))
    };
    let models: Vec<FlareRun<'_>> = runs.languages().into_iter().flat_map(best).collect();
    let number = |n: Option<usize>| n.map_or_else(Cell::default, |n| Cell::ours(n.to_string()));
    let mut table = Pivot::new()
        .column(Column::new("string"), |scored: &&ScoredString| Cell::ours(start(&symbols(scored))))
        .column(Column::new("length"), |scored| number(Some(symbols(scored).len())))
        .column(Column::new("label"), |scored| Cell::ours(if scored.label { "member" } else { "no member" }))
        .column(Column::new("edits"), |scored| number(scored.edits))
        .column(Column::new("distance"), |scored| number(scored.distance))
        .column(Column::new("cross-entropy"), |scored| {
            Cell::ours(scored.cross_entropy.map_or_else(|| "∞".into(), |x| Value::number(x, Decimals(3))))
        })
        .fill(
            blank(runs, "hardest", "The hardest strings", &["language", "learner", "rank"]),
            models.iter().flat_map(|model| rows(*model)),
        );
    table.notes = vec![
        "Of the model with the best accuracy on the long test set among all runs with long validation: the strings whose correct label it found least likely.".to_owned(),
        format!("Cross-entropy in nats; above log 2 = 0.693 the answer is incorrect. Strings are cut after {SYMBOLS} symbols. A negative without a number of edits was drawn at random."),
    ];
    (!table.rows.is_empty()).then_some(table)
}

fn rows(model: FlareRun<'_>) -> Vec<(Vec<String>, &ScoredString)> {
    // Not finite: the right label had probability zero, which is harder than any number.
    let loss = |string: &&ScoredString| string.cross_entropy.unwrap_or(f64::INFINITY);
    let mut strings: Vec<&ScoredString> = model.result().hardest.iter().collect();
    strings.sort_by(|a, b| loss(b).total_cmp(&loss(a)));
    let keys = |rank: usize| vec![model.subject().to_owned(), model.learner().to_owned(), rank.to_string()];
    (1..).zip(strings).take(SHOWN).map(|(rank, string)| (keys(rank), string)).collect()
}

fn symbols(scored: &ScoredString) -> Vec<&str> {
    scored.string.split_whitespace().collect()
}

fn start(symbols: &[&str]) -> String {
    let start = symbols.iter().take(SYMBOLS).copied().collect::<Vec<_>>().join(" ");
    match symbols.len() {
        0 => "ε".to_owned(),
        n if n > SYMBOLS => start + " …",
        _ => start,
    }
}
