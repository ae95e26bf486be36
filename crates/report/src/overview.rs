//! Recognition accuracy of the runs that no suite claims: a row per language and a column per learner, and a figure of
//! accuracy against length.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use wug_score::metric::RECOGNITION_ACCURACY;
use wug_score::select::first_best;
use wug_score::{Metric, Reading, RunResult};

use crate::columns::{VaryingColumns, coordinate_names, show_key, sort_key};
use crate::generic::by_protocol;
use crate::measured::{TEST, by_length, chance, test_accuracy};
use crate::plot::{Figure, Mark, Panel, drawing};
use crate::suite::SUITES;
use crate::table::{Cell, Column, Decimals, MEAN_NOTE, Row, Scope, Table, Value, distinct, set_best};

const METRIC: &Metric = &RECOGNITION_ACCURACY.metric;

/// Whether the overview shows a run: those with a recognition accuracy on the long test set.
pub(crate) fn shows(result: &RunResult) -> bool {
    test_accuracy(result).is_some()
}

fn groups<'a>(results: &[&'a RunResult]) -> BTreeMap<(&'a str, Reading), Vec<&'a RunResult>> {
    let shown: Vec<&RunResult> = results.iter().copied().filter(|result| shows(result)).collect();
    by_protocol(&shown)
}

/// One table per protocol and reading.
pub(crate) fn tables(results: &[&RunResult]) -> Vec<Table> {
    let full = |mut table: Table| {
        table.notes.push(MEAN_NOTE.to_owned());
        table.notes.extend(table.interval_note());
        table
    };
    each(results).map(full).collect()
}

/// The same in short.
pub(crate) fn headline(results: &[&RunResult]) -> Vec<Table> {
    let short = |mut table: Table| {
        table.notes.push("Mean over runs.".to_owned());
        table.compact()
    };
    each(results).map(short).collect()
}

fn each(results: &[&RunResult]) -> impl Iterator<Item = Table> {
    groups(results).into_iter().map(|((protocol, reading), runs)| table(protocol, reading, &runs))
}

fn table(protocol: &str, reading: Reading, runs: &[&RunResult]) -> Table {
    let learners = learners(runs);
    let names = coordinate_names(runs.iter().map(|run| &run.run));
    let names: Vec<&str> = names.into_iter().filter(|name| !["language", "learner"].contains(name)).collect();
    let mut rows: BTreeMap<_, Vec<&RunResult>> = BTreeMap::new();
    for run in runs {
        rows.entry((run.run.language(), sort_key(&run.run.coordinates, &names))).or_default().push(*run);
    }
    let rows: Vec<(&str, Vec<String>, Vec<&RunResult>)> =
        rows.into_iter().map(|((language, key), runs)| (language, show_key(&key), runs)).collect();
    let columns = VaryingColumns::of(&names, rows.iter().map(|(_, key, _)| key.as_slice()));
    let row = |(language, key, runs): &(&str, Vec<String>, Vec<&RunResult>)| {
        let mut cells: Vec<Cell> = learners.iter().map(|learner| cell(runs, learner)).collect();
        set_best(&mut cells, METRIC.better);
        let chance = runs.iter().find_map(|run| chance(run));
        cells.push(Cell { ours: chance.map(|x| Value::number(x, Decimals(2))), ..Cell::default() });
        Row { keys: std::iter::once((*language).to_owned()).chain(columns.values(key)).collect(), cells }
    };
    let title = format!("{protocol}: accuracy on the long test set");
    let mut table = Table {
        notes: notes(runs, columns.constant(": ")),
        columns: learners.iter().copied().chain(["chance"]).map(Column::new).collect(),
        rows: rows.iter().map(row).collect(),
        ..Table::blank(Scope::Protocol(protocol), reading, "overview", &title, &["language"])
    };
    table.keys.extend(columns.names());
    table
}

/// What is the same for all runs, why they are not comparable with a paper's, and what the chance level is.
fn notes(runs: &[&RunResult], constant: String) -> Vec<String> {
    let setting = lengths(runs).into_iter().chain(Some(constant)).filter(|part| !part.is_empty());
    let setting = setting.collect::<Vec<_>>().join("; ");
    let mut notes: Vec<String> = Some(setting).filter(|note| !note.is_empty()).into_iter().collect();
    notes.extend(SUITES.iter().filter_map(|suite| suite.not_comparable(runs)));
    notes.push("Chance is the accuracy of always giving the commoner answer.".to_owned());
    notes
}

/// The learners, in the order in which they were run.
fn learners<'a>(runs: &[&'a RunResult]) -> Vec<&'a str> {
    distinct(runs.iter().map(|run| run.run.learner()))
}

fn cell(runs: &[&RunResult], learner: &str) -> Cell {
    let of = runs.iter().filter(|run| run.run.learner() == learner);
    let measured: Vec<_> = of.filter_map(|run| run.whole(TEST, METRIC.name)).collect();
    Cell::of_runs(&measured, Decimals(2))
}

/// The lengths of a plan's data: the longest training string, and the longest test string.
fn longest(run: &RunResult) -> Option<(f64, f64)> {
    let of = |name: &str| run.plan.get("data")?.get(name).and_then(Json::as_f64);
    Some((of("short")?, of("longest")?))
}

/// The lengths of training and test strings, if they are the same for all runs.
fn lengths(runs: &[&RunResult]) -> Option<String> {
    let all: Option<Vec<(f64, f64)>> = runs.iter().map(|run| longest(run)).collect();
    let all = all?;
    let (short, longest) = all.first().filter(|first| all.iter().all(|lengths| lengths == *first))?;
    Some(format!("Trained on lengths 0-{short}, tested on lengths 0-{longest}"))
}

/// Accuracy against length, a panel per language: of each learner the run with the best accuracy.
pub(crate) fn figures(results: &[&RunResult]) -> Vec<Figure> {
    let figure = |((protocol, reading), runs): ((&str, Reading), Vec<&RunResult>)| {
        let learners = learners(&runs);
        let languages: BTreeSet<&str> = runs.iter().map(|run| run.run.language()).collect();
        let panels: Vec<Panel> =
            languages.into_iter().filter_map(|language| panel(language, &learners, &runs)).collect();
        let title = format!("{protocol}: accuracy against length ({reading} reading)");
        let series: Vec<String> = learners.iter().map(|&learner| learner.to_owned()).collect();
        (!panels.is_empty()).then(|| Figure {
            id: format!("{protocol}-{reading}-lengths"),
            svg: drawing(&title, &series, &panels),
            title,
            notes: vec![
                "Long test set, of each learner the run with the best accuracy: the share of correct answers among strings of lengths n - 10 to n + 10.".to_owned(),
                "Dashed upright: the longest training string. Dashed across: a fair coin.".to_owned(),
            ],
        })
    };
    groups(results).into_iter().filter_map(figure).collect()
}

fn panel(language: &str, learners: &[&str], runs: &[&RunResult]) -> Option<Panel> {
    let mut marks = Vec::new();
    let mut longest_trained = None;
    for (series, learner) in learners.iter().enumerate() {
        let is = |run: &&&RunResult| run.run.language() == language && run.run.learner() == *learner;
        let of: Vec<&&RunResult> = runs.iter().filter(is).collect();
        let Some(best) = first_best(&of, METRIC.better, |run| test_accuracy(run)) else { continue };
        let windows = by_length(best, METRIC);
        let points: Vec<(f64, f64)> = windows.iter().map(|w| (w.centre, w.value)).collect();
        longest_trained = longest_trained.or(longest(best).map(|(short, _)| short));
        if !points.is_empty() {
            marks.push(Mark::Line { series, points, thin: false });
        }
    }
    marks.extend(longest_trained.map(Mark::Vertical));
    Panel::fitted(language, ("length (symbols)", "accuracy"), 1.0, 0.5, marks)
}
