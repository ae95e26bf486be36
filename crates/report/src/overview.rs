//! Recognition accuracy of the runs that no suite claims: a row per language and a column per learner, and a figure of
//! accuracy against length.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use wug_score::metric::RECOGNITION_ACCURACY;
use wug_score::{Metric, Reading, RunResult};

use crate::columns::{VaryingColumns, coordinate_names, show_key, sort_key};
use crate::generic::{by_key, by_protocol};
use crate::measured::{TEST, accuracies, chance, over_lengths, test_accuracy};
use crate::parameters;
use crate::plan_fields::{data_note, spread_note};
use crate::plot::{Figure, Mark, Panel, SPREAD_NOTE, drawing};
use crate::suite::SUITES;
use crate::table::{
    BOLD_NOTE, Cell, Column, Decimals, MEAN_NOTE, Row, Scope, Table, Value, distinct, set_ranks,
};

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
        table.notes.push(BOLD_NOTE.to_owned());
        table.notes.extend(table.interval_note());
        table
    };
    each(results, MEAN_NOTE).map(full).collect()
}

/// The same in short.
pub(crate) fn headline(results: &[&RunResult]) -> Vec<Table> {
    each(results, "Mean over runs.").map(Table::compact).collect()
}

/// A table per protocol and reading, with a note on what its values are.
fn each(results: &[&RunResult], values: &str) -> impl Iterator<Item = Table> {
    groups(results).into_iter().map(move |((protocol, reading), runs)| {
        let mut table = table(protocol, reading, &runs);
        table.notes.push(values.to_owned());
        let names = coordinate_names(runs.iter().map(|run| &run.run));
        table.notes.extend(spread_note(by_key(&runs, &names).into_values()));
        table
    })
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
        let of: Vec<Vec<&RunResult>> = learners.iter().map(|learner| of_learner(runs, learner)).collect();
        let mut cells: Vec<Cell> = of.iter().map(|of| cell(of)).collect();
        let chance = runs.iter().find_map(|run| chance(run));
        let scores: Vec<Vec<f64>> = of.iter().map(|of| accuracies(of)).collect();
        set_ranks(&mut cells, &scores, chance, METRIC.better);
        cells.push(Cell::maybe(chance.map(|x| Value::number(x, Decimals(2)))));
        cells.push(Cell::maybe(parameters::range(runs.iter().copied())));
        Row { keys: std::iter::once((*language).to_owned()).chain(columns.values(key)).collect(), cells }
    };
    let title = format!("{protocol}: accuracy on the long test set");
    let mut table = Table {
        notes: notes(runs, columns.constant(": ")),
        columns: learners.iter().copied().chain(["chance", "parameters"]).map(Column::new).collect(),
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
    notes.extend(parameters::notes(runs));
    notes.extend(data_note(runs));
    notes
}

/// The learners, in the order in which they were run.
fn learners<'a>(runs: &[&'a RunResult]) -> Vec<&'a str> {
    distinct(runs.iter().map(|run| run.run.learner()))
}

fn of_learner<'a>(runs: &[&'a RunResult], learner: &str) -> Vec<&'a RunResult> {
    runs.iter().copied().filter(|run| run.run.learner() == learner).collect()
}

fn cell(runs: &[&RunResult]) -> Cell {
    let measured: Vec<_> = runs.iter().filter_map(|run| run.whole(TEST, METRIC.name)).collect();
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

/// Accuracy against length, a panel per language: of each learner every run, and their mean.
pub(crate) fn figures(results: &[&RunResult]) -> Vec<Figure> {
    let figure = |((protocol, reading), runs): ((&str, Reading), Vec<&RunResult>)| {
        let learners = learners(&runs);
        let languages: BTreeSet<&str> = runs.iter().map(|run| run.run.language()).collect();
        let panels: Vec<Panel> =
            languages.into_iter().filter_map(|language| panel(language, &learners, &runs)).collect();
        let title = format!("{protocol}: accuracy against length ({reading} reading)");
        let series: Vec<String> =
            learners.iter().map(|learner| parameters::labelled(learner, runs.iter().copied())).collect();
        (!panels.is_empty()).then(|| Figure {
            id: format!("{protocol}-{reading}-lengths"),
            svg: drawing(&title, &series, &panels),
            title,
            notes: vec![
                "Long test set: the share of correct answers among strings of lengths n - 10 to n + 10."
                    .to_owned(),
                SPREAD_NOTE.to_owned(),
                "Dashed upright: the longest training string. Dashed across: a fair coin.".to_owned(),
            ],
        })
    };
    groups(results).into_iter().filter_map(figure).collect()
}

fn panel(language: &str, learners: &[&str], runs: &[&RunResult]) -> Option<Panel> {
    let mut marks = Vec::new();
    let of_language: Vec<&RunResult> =
        runs.iter().copied().filter(|run| run.run.language() == language).collect();
    for (series, learner) in learners.iter().enumerate() {
        marks.extend(Mark::of_runs(series, over_lengths(&of_learner(&of_language, learner), METRIC)));
    }
    let longest_trained = of_language.iter().find_map(|run| longest(run));
    marks.extend(longest_trained.map(|(short, _)| Mark::Vertical(short)));
    Panel::fitted(language, ("length (symbols)", "accuracy"), 1.0, 0.5, marks)
}
