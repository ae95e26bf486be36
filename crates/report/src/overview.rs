//! Runs that no paper has a place for, at a glance: a row per language and a column per learner, and their
//! accuracy against length.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use wug_score::metric::{Direction, RECOGNITION_ACCURACY};
use wug_score::select::first_best;
use wug_score::{Aggregate, Reading, RunResult, Stratum};

use crate::plot::{Axis, Figure, Mark, Panel, drawing};
use crate::table::{Cell, Column, Places, Row, Table, Value};

const TEST: &str = "test";

/// The runs of a suite in one reading.
type Group<'a> = BTreeMap<(&'a str, Reading), Vec<&'a RunResult>>;

fn groups<'a>(results: &[&'a RunResult]) -> Group<'a> {
    let mut groups = Group::new();
    let shown = |result: &&&RunResult| result.run.suite == "flare" && accuracy(result).is_some();
    for result in results.iter().filter(shown) {
        groups.entry((&result.run.suite, result.run.reading)).or_default().push(result);
    }
    groups
}

fn accuracy(result: &RunResult) -> Option<f64> {
    result.value(TEST, RECOGNITION_ACCURACY.name)
}

/// One table per suite and reading: recognition accuracy on the long test.
pub(crate) fn tables(results: &[&RunResult]) -> Vec<Table> {
    groups(results).into_iter().map(|((suite, reading), runs)| table(suite, reading, &runs)).collect()
}

fn table(suite: &str, reading: Reading, runs: &[&RunResult]) -> Table {
    let learners = learners(runs);
    let mut rows: BTreeMap<Vec<String>, Vec<&RunResult>> = BTreeMap::new();
    for run in runs {
        rows.entry(keys(run)).or_default().push(run);
    }
    // What is the same everywhere is said once, below.
    let differs: Vec<usize> = (0..KEYS.len())
        .filter(|&i| i == 0 || rows.keys().map(|key| &key[i]).collect::<BTreeSet<_>>().len() > 1)
        .collect();
    let row = |(key, runs): (&Vec<String>, &Vec<&RunResult>)| {
        let mut cells: Vec<Cell> = learners.iter().map(|learner| cell(runs, learner)).collect();
        mark_best(&mut cells);
        let chance = runs.iter().find_map(|run| chance(run));
        cells.push(Cell { ours: chance.map(|x| Value::number(x, Places::Once(2))), ..Cell::default() });
        Row { keys: differs.iter().map(|&i| key[i].clone()).collect(), cells }
    };
    let columns = learners.iter().copied().chain(["chance"]).map(Column::new).collect();
    let same = (1..KEYS.len()).filter(|i| !differs.contains(i)).filter_map(|i| {
        let value = &rows.keys().next()?[i];
        (!value.is_empty()).then(|| format!("{}: {value}", KEYS[i]))
    });
    let same: Vec<String> = same.collect();
    Table {
        id: format!("{suite}-{reading}-overview"),
        title: format!("{suite}: accuracy on the long test set ({reading} reading)"),
        about: BTreeMap::from([
            ("suite".to_owned(), suite.to_owned()),
            ("reading".to_owned(), reading.name().to_owned()),
        ]),
        notes: vec![
            format!("{}{}", lengths(runs), same.join(", ")),
            "Mean over runs; chance is the accuracy of always giving the commoner answer.".to_owned(),
        ],
        keys: differs.iter().map(|&i| KEYS[i].to_owned()).collect(),
        columns,
        rows: rows.iter().map(row).collect(),
    }
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
    let mut learners: Vec<&str> = Vec::new();
    for run in runs {
        if !learners.contains(&run.run.learner.as_str()) {
            learners.push(&run.run.learner);
        }
    }
    learners
}

fn cell(runs: &[&RunResult], learner: &str) -> Cell {
    let of = runs.iter().filter(|run| run.run.learner == learner);
    let values: Vec<f64> = of.filter_map(|run| accuracy(run)).collect();
    let std = Aggregate::PopulationStd.of(&values).filter(|_| values.len() > 1);
    let number = |value| Value::Number { value, std, places: Places::Once(2) };
    Cell { ours: Aggregate::Mean.of(&values).map(number), ..Cell::default() }
}

fn mark_best(cells: &mut [Cell]) {
    let shown = |cell: &Cell| cell.ours.as_ref().map(Value::show_short);
    let best = cells.iter().filter_map(shown).max();
    for cell in cells.iter_mut() {
        cell.best = best.is_some() && shown(cell) == best;
    }
}

fn chance(run: &RunResult) -> Option<f64> {
    let whole = |m: &&wug_score::Measurement| {
        m.split == TEST && m.metric == RECOGNITION_ACCURACY.name && m.stratum == Stratum::All
    };
    run.scores.iter().find(whole)?.chance
}

/// The lengths of a plan's data: the longest string learned from, and the longest of the test.
fn longest(run: &RunResult) -> Option<(f64, f64)> {
    let of = |name: &str| run.plan.get("data")?.get(name).and_then(Json::as_f64);
    Some((of("short")?, of("longest")?))
}

/// What was learned from and what was asked, if that is the same everywhere.
fn lengths(runs: &[&RunResult]) -> String {
    let all: Option<Vec<(f64, f64)>> = runs.iter().map(|run| longest(run)).collect();
    match all.as_deref() {
        Some([first, rest @ ..]) if rest.iter().all(|x| x == first) => {
            format!("Trained on lengths 0-{}, tested on lengths 0-{}; ", first.0, first.1)
        }
        _ => String::new(),
    }
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
        let Some(best) = first_best(&of, Direction::Higher, |run| accuracy(run)) else { continue };
        let points = windows(best);
        cut = cut.or(longest(best).map(|(short, _)| short));
        if !points.is_empty() {
            marks.push(Mark::Line { series, points, thin: false });
        }
    }
    let points = || {
        marks.iter().flat_map(|mark| match mark {
            Mark::Line { points, .. } => points.as_slice(),
            _ => &[],
        })
    };
    points().next()?;
    let x = Axis::from_zero("length (symbols)", points().map(|point| point.0));
    let y = Axis::from_zero("accuracy", points().map(|point| point.1).chain([1.0]));
    marks.extend(cut.map(Mark::Vertical));
    marks.push(Mark::Horizontal(0.5));
    Some(Panel { title: language.to_owned(), x, y, marks })
}

/// Centre and accuracy of each window of lengths.
fn windows(run: &RunResult) -> Vec<(f64, f64)> {
    let of = run.scores.iter().filter(|m| m.split == TEST && m.metric == RECOGNITION_ACCURACY.name);
    let point = |m: &wug_score::Measurement| match m.stratum {
        Stratum::Length(window) => Some((window.centre(), m.value?)),
        _ => None,
    };
    let mut points: Vec<(f64, f64)> = of.filter_map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}
