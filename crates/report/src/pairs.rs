//! Minimal pairs of any language: what was measured of a run, and an overview of the runs that no suite claims.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use wug_score::metric::{PAIR_ACCURACY_SUM, PAIR_CEILING};
use wug_score::strata::Window;
use wug_score::{Measurement, Metric, Reading, RunResult, Stratum};

use crate::generic::by_protocol;
use crate::parameters;
use crate::plan_fields::{data_note, spread_note};
use crate::plot::{Figure, Mark, Panel, SPREAD_NOTE, drawing};
use crate::suite::SUITES;
use crate::table::{Cell, Column, Decimals, MEAN_NOTE, Row, Scope, Table, Value, distinct};

/// The protocol.
pub(crate) const PROTOCOL: &str = "pairs";

/// The pairs at the lengths of training, and at greater ones.
pub(crate) const SPLITS: [&str; 2] = ["test", "out-of-distribution"];

const DECIMALS: Decimals = Decimals(3);

/// Whether a run has been asked about pairs.
pub(crate) fn shows(result: &RunResult) -> bool {
    result.run.protocol == PROTOCOL && SPLITS.iter().any(|s| result.whole(s, PAIR_CEILING.name).is_some())
}

/// The greatest length of training.
pub(crate) fn longest_trained(run: &RunResult) -> Option<f64> {
    run.plan.pointer("/data/lengths/1").and_then(Json::as_f64)
}

/// A metric on both splits by the middle of a stratum, from low to high.
pub(crate) fn over(run: &RunResult, metric: &Metric, of: fn(&Stratum) -> Option<Window>) -> Vec<(f64, f64)> {
    let point = |m: &Measurement| Some((of(&m.stratum)?.centre(), m.numerator?, m.denominator?));
    // A window at the border of both splits has pairs of both.
    let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for (x, numerator, denominator) in run.scores.iter().filter(|m| m.metric == metric.name).filter_map(point)
    {
        let sum = sums.entry(x.to_bits()).or_default();
        *sum = (sum.0 + numerator, sum.1 + denominator);
    }
    sums.into_iter()
        .map(|(x, (numerator, denominator))| (f64::from_bits(x), numerator / denominator))
        .collect()
}

/// The lengths of a stratum.
pub(crate) fn length(stratum: &Stratum) -> Option<Window> {
    if let Stratum::Length(window) = stratum { Some(*window) } else { None }
}

/// The distances of a stratum.
pub(crate) fn dependency(stratum: &Stratum) -> Option<Window> {
    if let Stratum::Dependency(window) = stratum { Some(*window) } else { None }
}

fn groups<'a>(results: &[&'a RunResult]) -> BTreeMap<(&'a str, Reading), Vec<&'a RunResult>> {
    let shown: Vec<&RunResult> = results.iter().copied().filter(|result| shows(result)).collect();
    by_protocol(&shown)
}

/// One table per reading: a row per language and split, a column per learner.
pub(crate) fn tables(results: &[&RunResult]) -> Vec<Table> {
    let mut tables = each(results, MEAN_NOTE);
    tables.iter_mut().for_each(|table| table.notes.extend(table.interval_note()));
    tables
}

/// The same in short.
pub(crate) fn headline(results: &[&RunResult]) -> Vec<Table> {
    each(results, "Mean over runs.").into_iter().map(Table::compact).collect()
}

fn each(results: &[&RunResult], values: &str) -> Vec<Table> {
    let of = |((_, reading), runs): ((&str, Reading), Vec<&RunResult>)| table(reading, &runs, values);
    groups(results).into_iter().map(of).collect()
}

fn table(reading: Reading, runs: &[&RunResult], values: &str) -> Table {
    let learners = distinct(runs.iter().map(|run| run.run.learner()));
    let mut rows = Vec::new();
    for language in distinct(runs.iter().map(|run| run.run.language())) {
        for split in SPLITS {
            let of = |learner: &str| of(runs, language, learner);
            let known = |metric: &Metric| {
                runs.iter()
                    .filter(|run| run.run.language() == language)
                    .find_map(|run| run.whole(split, metric.name))
            };
            let mut cells: Vec<Cell> = learners.iter().map(|learner| cell(&of(learner), split)).collect();
            cells.push(Cell::maybe(
                known(&PAIR_CEILING).and_then(|m| Some(Value::number(m.value?, DECIMALS))),
            ));
            cells.push(Cell::maybe(
                known(&PAIR_ACCURACY_SUM).and_then(|m| Some(Value::number(m.chance?, DECIMALS))),
            ));
            rows.push(Row { keys: vec![language.to_owned(), split.to_owned()], cells });
        }
    }
    let mut notes = vec![
        format!("{}. Ceiling and chance are those of these very pairs.", capital(PAIR_ACCURACY_SUM.meaning)),
        values.to_owned(),
    ];
    let cells = distinct(runs.iter().map(|run| (run.run.language(), run.run.learner()))).into_iter();
    notes.extend(spread_note(cells.map(|(language, learner)| of(runs, language, learner))));
    notes.extend(SUITES.iter().filter_map(|suite| suite.not_comparable(runs)));
    notes.extend(parameters::notes(runs));
    notes.extend(data_note(runs));
    let title = "pairs: the grammatical string is preferred";
    Table {
        notes,
        columns: learners.into_iter().chain(["ceiling", "chance"]).map(Column::new).collect(),
        rows,
        ..Table::blank(Scope::Protocol(PROTOCOL), reading, "overview", title, &["language", "split"])
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn of<'a>(runs: &[&'a RunResult], language: &str, learner: &str) -> Vec<&'a RunResult> {
    runs.iter().copied().filter(|r| r.run.language() == language && r.run.learner() == learner).collect()
}

fn cell(runs: &[&RunResult], split: &str) -> Cell {
    let measured: Vec<_> = runs.iter().filter_map(|run| run.whole(split, PAIR_ACCURACY_SUM.name)).collect();
    Cell::of_runs(&measured, DECIMALS)
}

/// Accuracy against length, a panel per language: of each learner every run, and their mean.
pub(crate) fn figures(results: &[&RunResult]) -> Vec<Figure> {
    let figure = |((_, reading), runs): ((&str, Reading), Vec<&RunResult>)| {
        let learners = distinct(runs.iter().map(|run| run.run.learner()));
        let panel = |language: &str| {
            let lines = |learner: &str| {
                of(&runs, language, learner).iter().map(|run| over(run, &PAIR_ACCURACY_SUM, length)).collect()
            };
            let marks: Vec<Mark> =
                learners.iter().enumerate().flat_map(|(i, l)| Mark::of_runs(i, lines(l))).collect();
            let trained = runs.iter().find(|run| run.run.language() == language);
            let trained = trained.and_then(|run| longest_trained(run)).map(Mark::Vertical);
            panel(language, "length (symbols)", marks.into_iter().chain(trained).collect())
        };
        let panels: Vec<Panel> =
            distinct(runs.iter().map(|run| run.run.language())).into_iter().filter_map(panel).collect();
        let title = format!("pairs: accuracy against length ({reading} reading)");
        let series: Vec<String> =
            learners.iter().map(|learner| parameters::labelled(learner, runs.iter().copied())).collect();
        (!panels.is_empty()).then(|| Figure {
            id: format!("{PROTOCOL}-{reading}-lengths"),
            svg: drawing(&title, &series, &panels),
            title,
            notes: vec![
                "The share of pairs whose good string has a strictly higher probability, by the length of that string."
                    .to_owned(),
                SPREAD_NOTE.to_owned(),
                FIGURE_NOTE.to_owned(),
            ],
        })
    };
    groups(results).into_iter().filter_map(figure).collect()
}

/// How the lines across a panel are read.
pub(crate) const FIGURE_NOTE: &str =
    "Dashed upright: the longest training string. Dashed across: a fair coin.";

/// A panel of accuracies; `None` without marks.
pub(crate) fn panel(title: &str, x: &'static str, marks: Vec<Mark>) -> Option<Panel> {
    Panel::fitted(title, (x, "accuracy"), 1.0, 0.5, marks)
}
