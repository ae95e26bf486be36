//! Recognition accuracy of the runs that no suite claims: a row per language and a column per learner, and a figure of
//! accuracy against length.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::metric::RECOGNITION_ACCURACY;
use wug_score::plan::Recognition;
use wug_score::{Metric, Reading, RunResult};

use crate::columns::{VaryingColumns, coordinate_names, show_key, sort_key};
use crate::generic::{by_key, by_protocol};
use crate::measured::{TEST, accuracies, chance, over_lengths, test_accuracy};
use crate::parameters;
use crate::pivot::Pivot;
use crate::plan_fields::{data_note, spread_note};
use crate::plot::{AxisLabels, Figure, Mark, Panel, SPREAD_NOTE, drawing};
use crate::run::AnyRun;
use crate::suite::{Contents, not_comparable};
use crate::table::{BOLD_NOTE, Cell, Column, Decimals, MEAN_NOTE, Scope, Table, Value, distinct, set_ranks};

const METRIC: &Metric = &RECOGNITION_ACCURACY.metric;

/// Whether the overview shows a run: those with a recognition accuracy on the long test set.
pub(crate) fn shows(result: &RunResult) -> bool {
    test_accuracy(result).is_some()
}

/// Tables and figures of each protocol and reading.
pub(crate) fn contents(runs: &[AnyRun<'_>]) -> Contents {
    let shown: Vec<AnyRun<'_>> = runs.iter().copied().filter(|run| shows(run)).collect();
    let mut contents = Contents::default();
    for ((protocol, reading), runs) in by_protocol(&shown) {
        let mut full = table(protocol, reading, &runs);
        let mut short = full.clone();
        for (table, values) in [(&mut full, MEAN_NOTE), (&mut short, "Mean over runs.")] {
            table.notes.push(values.to_owned());
            let names = coordinate_names(runs.iter().map(|run| &run.result().run));
            table.notes.extend(spread_note(by_key(&runs, &names).into_values()));
        }
        full.notes.push(BOLD_NOTE.to_owned());
        full.notes.extend(full.interval_note());
        contents.tables.push(full);
        contents.headline.push(short.compact());
        contents.figures.extend(figure(protocol, reading, &runs));
    }
    contents
}

fn table(protocol: &str, reading: Reading, runs: &[AnyRun<'_>]) -> Table {
    let learners = learners(runs);
    let names = coordinate_names(runs.iter().map(|run| &run.result().run));
    let names: Vec<&str> = names.into_iter().filter(|name| !["language", "learner"].contains(name)).collect();
    let mut rows: BTreeMap<_, Vec<AnyRun<'_>>> = BTreeMap::new();
    for run in runs {
        rows.entry((run.result().run.language(), sort_key(&run.run.coordinates, &names)))
            .or_default()
            .push(*run);
    }
    let shown: Vec<Vec<String>> = rows.keys().map(|(_, key)| show_key(key)).collect();
    let columns = VaryingColumns::of(&names, shown.iter().map(Vec::as_slice));
    let keys = rows.keys().zip(&shown).map(|((language, _), key)| {
        std::iter::once((*language).to_owned()).chain(columns.values(key)).collect()
    });
    let title = format!("{protocol}: accuracy on the long test set");
    let blank = Table {
        notes: notes(runs, columns.constant(": ")),
        ..Table::blank(Scope::Protocol(protocol), reading, "overview", &title, &["language"])
    };
    // Chance depends on the test set alone, so the first run that has it speaks for the row.
    let level = |runs: &[AnyRun<'_>]| runs.iter().find_map(|run| chance(run));
    let mut table = Pivot::new()
        .columns(
            learners.clone(),
            |learner| Column::new(*learner),
            |runs: &Vec<AnyRun<'_>>, learner| cell(&of_learner(runs, learner)),
        )
        .column(Column::new("chance"), |runs| Cell::maybe(level(runs).map(|x| Value::number(x, Decimals(2)))))
        .column(Column::new("parameters"), |runs| Cell::maybe(parameters::range(runs.iter().copied())))
        .fill(blank, keys.zip(rows.values().cloned()));
    for (row, runs) in table.rows.iter_mut().zip(rows.values()) {
        let scores: Vec<Vec<f64>> = learners.iter().map(|of| accuracies(&of_learner(runs, of))).collect();
        set_ranks(&mut row.cells, &scores, level(runs), METRIC.better);
    }
    table.keys.extend(columns.names());
    table
}

/// What is the same for all runs, why they are not comparable with a paper's, and what the chance level is.
fn notes(runs: &[AnyRun<'_>], constant: String) -> Vec<String> {
    let setting = lengths(runs).into_iter().chain(Some(constant)).filter(|part| !part.is_empty());
    let setting = setting.collect::<Vec<_>>().join("; ");
    let mut notes: Vec<String> = Some(setting).filter(|note| !note.is_empty()).into_iter().collect();
    notes.extend(not_comparable(runs));
    notes.push("Chance is the accuracy of always giving the commoner answer.".to_owned());
    notes.extend(parameters::notes(runs));
    notes.extend(data_note(runs));
    notes
}

/// The learners, in the order in which they were run.
fn learners<'r>(runs: &[AnyRun<'r>]) -> Vec<&'r str> {
    distinct(runs.iter().map(|run| run.result().run.learner()))
}

fn of_learner<'r>(runs: &[AnyRun<'r>], learner: &str) -> Vec<AnyRun<'r>> {
    runs.iter().copied().filter(|run| run.run.learner() == learner).collect()
}

fn cell(runs: &[AnyRun<'_>]) -> Cell {
    let measured: Vec<_> = runs.iter().filter_map(|run| run.whole(TEST, METRIC.name)).collect();
    Cell::of_runs(&measured, Decimals(2))
}

/// The lengths of the longest training string, and of the longest test string.
fn longest(run: AnyRun<'_>) -> Option<(usize, usize)> {
    let data = &run.of::<Recognition>()?.plan.data;
    Some((data.short, data.longest))
}

/// The lengths of training and test strings, if they are the same for all runs.
fn lengths(runs: &[AnyRun<'_>]) -> Option<String> {
    let all: Option<Vec<(usize, usize)>> = runs.iter().map(|run| longest(*run)).collect();
    let all = all?;
    let (short, longest) = all.first().filter(|first| all.iter().all(|lengths| lengths == *first))?;
    Some(format!("Trained on lengths 0-{short}, tested on lengths 0-{longest}"))
}

/// Accuracy against length, a panel per language: of each learner every run, and their mean.
fn figure(protocol: &str, reading: Reading, runs: &[AnyRun<'_>]) -> Option<Figure> {
    let learners = learners(runs);
    let languages: BTreeSet<&str> = runs.iter().map(|run| run.result().run.language()).collect();
    let panels: Vec<Panel> =
        languages.into_iter().filter_map(|language| panel(language, &learners, runs)).collect();
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
}

fn panel(language: &str, learners: &[&str], runs: &[AnyRun<'_>]) -> Option<Panel> {
    let mut marks = Vec::new();
    let of_language: Vec<AnyRun<'_>> =
        runs.iter().copied().filter(|run| run.run.language() == language).collect();
    for (series, learner) in learners.iter().enumerate() {
        marks.extend(Mark::of_runs(series, over_lengths(&of_learner(&of_language, learner), METRIC)));
    }
    let longest_trained = of_language.iter().find_map(|run| longest(*run));
    marks.extend(longest_trained.map(|(short, _)| Mark::Vertical(short as f64)));
    Panel::fitted(language, AxisLabels { x: "length (symbols)", y: "accuracy" }, 1.0, 0.5, marks)
}
