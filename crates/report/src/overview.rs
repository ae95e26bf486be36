//! Runs that no paper has a place for, at a glance: a row per language and a column per learner, and their
//! accuracy against length.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use wug_score::metric::{Direction, RECOGNITION_ACCURACY};
use wug_score::select::first_best;
use wug_score::{Reading, RunResult};

use crate::flare::departures;
use crate::measured::{TEST, by_length, chance, test_accuracy};
use crate::plot::{Figure, Mark, Panel, drawing};
use crate::table::{Cell, Column, Decimals, Row, Table, Value, distinct, mark_best};

/// The runs of a suite in one reading.
type Group<'a> = BTreeMap<(&'a str, Reading), Vec<&'a RunResult>>;

fn groups<'a>(results: &[&'a RunResult]) -> Group<'a> {
    let mut groups = Group::new();
    let shown = |result: &&&RunResult| result.run.suite == "flare" && test_accuracy(result).is_some();
    for result in results.iter().filter(shown) {
        groups.entry((&result.run.suite, result.run.reading)).or_default().push(result);
    }
    groups
}

/// One table per suite and reading: recognition accuracy on the long test.
pub(crate) fn tables(results: &[&RunResult]) -> Vec<Table> {
    let full = |mut table: Table| {
        table.notes.push(
            "Mean ± population standard deviation over runs; in brackets the number of runs.".to_owned(),
        );
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
    groups(results).into_iter().map(|((suite, reading), runs)| table(suite, reading, &runs))
}

fn table(suite: &str, reading: Reading, runs: &[&RunResult]) -> Table {
    let learners = learners(runs);
    let mut rows: BTreeMap<Vec<String>, Vec<&RunResult>> = BTreeMap::new();
    for run in runs {
        rows.entry(keys(run)).or_default().push(run);
    }
    // What is the same everywhere is said once, below.
    let values = |i: usize| rows.keys().map(|key| key[i].as_str()).collect::<BTreeSet<&str>>();
    let (differs, same): (Vec<usize>, Vec<usize>) =
        (0..KEYS.len()).partition(|&i| i == 0 || values(i).len() > 1);
    let row = |(key, runs): (&Vec<String>, &Vec<&RunResult>)| {
        let mut cells: Vec<Cell> = learners.iter().map(|learner| cell(runs, learner)).collect();
        mark_best(&mut cells);
        let chance = runs.iter().find_map(|run| chance(run));
        cells.push(Cell { ours: chance.map(|x| Value::number(x, Decimals(2))), ..Cell::default() });
        Row { keys: differs.iter().map(|&i| key[i].clone()).collect(), cells }
    };
    let same = same.into_iter().flat_map(|i| values(i).into_iter().map(move |value| (KEYS[i], value)));
    let keys: Vec<&str> = differs.iter().map(|&i| KEYS[i]).collect();
    let title = format!("{suite}: accuracy on the long test set");
    Table {
        notes: notes(runs, same),
        columns: learners.iter().copied().chain(["chance"]).map(Column::new).collect(),
        rows: rows.iter().map(row).collect(),
        ..Table::blank(suite, reading, "overview", &title, &keys)
    }
}

/// What is the same of all runs, how to read the table, and why it is not one of the paper's.
fn notes<'a>(runs: &[&RunResult], same: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let said = same.filter(|(_, value)| !value.is_empty()).map(|(key, value)| format!("{key}: {value}"));
    let said = said.collect::<Vec<_>>().join(", ");
    let setting: Vec<String> =
        lengths(runs).into_iter().chain(Some(said)).filter(|s| !s.is_empty()).collect();
    let departures: BTreeSet<&str> = runs.iter().flat_map(|run| departures(run)).collect();
    let departures = departures.into_iter().collect::<Vec<_>>().join(", ");
    let notes = [
        setting.join("; "),
        if departures.is_empty() {
            String::new()
        } else {
            format!(
                "Not to be compared with the paper's figures, which are of other data or settings: {departures}."
            )
        },
        "Chance is the accuracy of always giving the commoner answer.".to_owned(),
    ];
    notes.into_iter().filter(|note| !note.is_empty()).collect()
}

const KEYS: [&str; 4] = ["language", "size", "loss", "validation"];

fn keys(result: &RunResult) -> Vec<String> {
    let run = &result.run;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let size = run.size.map_or_else(String::new, |size| size.to_string());
    vec![run.language.clone(), size, text(&run.loss), text(&run.validation)]
}

/// The learners, in the order in which they were run.
fn learners<'a>(runs: &[&'a RunResult]) -> Vec<&'a str> {
    distinct(runs.iter().map(|run| run.run.learner.as_str()))
}

fn cell(runs: &[&RunResult], learner: &str) -> Cell {
    let of = runs.iter().filter(|run| run.run.learner == learner);
    let measured: Vec<_> = of.filter_map(|run| run.whole(TEST, RECOGNITION_ACCURACY.name)).collect();
    Cell::of_runs(&measured, Decimals(2))
}

/// The lengths of a plan's data: the longest string learned from, and the longest of the test.
fn longest(run: &RunResult) -> Option<(f64, f64)> {
    let of = |name: &str| run.plan.get("data")?.get(name).and_then(Json::as_f64);
    Some((of("short")?, of("longest")?))
}

/// What was learned from and what was asked, if that is the same everywhere.
fn lengths(runs: &[&RunResult]) -> Option<String> {
    let all: Option<Vec<(f64, f64)>> = runs.iter().map(|run| longest(run)).collect();
    let all = all?;
    let (short, longest) = all.first().filter(|first| all.iter().all(|lengths| lengths == *first))?;
    Some(format!("Trained on lengths 0-{short}, tested on lengths 0-{longest}"))
}

/// Accuracy against length, a panel per language: of each learner the run with the best accuracy.
pub(crate) fn figures(results: &[&RunResult]) -> Vec<Figure> {
    let figure = |((suite, reading), runs): ((&str, Reading), Vec<&RunResult>)| {
        let learners = learners(&runs);
        let languages: BTreeSet<&str> = runs.iter().map(|run| run.run.language.as_str()).collect();
        let panels: Vec<Panel> =
            languages.into_iter().filter_map(|language| panel(language, &learners, &runs)).collect();
        let title = format!("{suite}: accuracy against length ({reading} reading)");
        let series: Vec<String> = learners.iter().map(|&learner| learner.to_owned()).collect();
        (!panels.is_empty()).then(|| Figure {
            id: format!("{suite}-{reading}-lengths"),
            svg: drawing(&title, &series, &panels),
            title,
            notes: vec![
                "Long test set, of each learner the run with the best accuracy: the share of right answers among strings of lengths n - 10 to n + 10.".to_owned(),
                "Dashed upright: the longest string learned from. Dashed across: a fair coin.".to_owned(),
            ],
        })
    };
    groups(results).into_iter().filter_map(figure).collect()
}

fn panel(language: &str, learners: &[&str], runs: &[&RunResult]) -> Option<Panel> {
    let mut marks = Vec::new();
    let mut cut = None;
    for (series, learner) in learners.iter().enumerate() {
        let of: Vec<&&RunResult> =
            runs.iter().filter(|r| r.run.language == language && r.run.learner == *learner).collect();
        let Some(best) = first_best(&of, Direction::Higher, |run| test_accuracy(run)) else { continue };
        let windows = by_length(best, &RECOGNITION_ACCURACY);
        let points: Vec<(f64, f64)> = windows.iter().map(|w| (w.centre, w.value)).collect();
        cut = cut.or(longest(best).map(|(short, _)| short));
        if !points.is_empty() {
            marks.push(Mark::Line { series, points, thin: false });
        }
    }
    marks.extend(cut.map(Mark::Vertical));
    Panel::fitted(language, ("length (symbols)", "accuracy"), 1.0, 0.5, marks)
}
