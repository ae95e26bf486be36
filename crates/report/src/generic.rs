//! All measurements of the runs that no suite claims, by protocol: any result is shown, whatever its coordinates.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::{Aggregate, Coordinate, METRICS, Measurement, Reading, RunResult, Stratum};

use crate::columns::{coordinate_names, show_key, sort_key};
use crate::plan_fields::{data_note, spread_note};
use crate::records::Derived;
use crate::suite::SUITES;
use crate::table::{Cell, Column, Decimals, MEAN_NOTE, Row, Scope, Table, range};
use crate::{overview, pairs, parameters};

/// Rows by coordinates and split, and in each what was measured by metric.
type Cells<'a> = BTreeMap<(Vec<Option<Coordinate>>, &'a str), BTreeMap<&'a str, Vec<&'a Measurement>>>;

/// One table per protocol and reading.
pub(crate) fn tables(results: &[&RunResult]) -> Vec<Table> {
    let tables =
        by_protocol(results).into_iter().map(|((protocol, reading), runs)| table(protocol, reading, &runs));
    // Runs without measurements diverged or failed, which has a table of its own.
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// Runs by protocol and reading.
pub(crate) fn by_protocol<'a>(results: &[&'a RunResult]) -> BTreeMap<(&'a str, Reading), Vec<&'a RunResult>> {
    let mut groups: BTreeMap<_, Vec<&RunResult>> = BTreeMap::new();
    for result in results {
        groups.entry((result.run.protocol.as_str(), result.run.reading)).or_default().push(*result);
    }
    groups
}

/// The mean over the runs of every cell, as rows of an export: the metric's name is followed by `_mean`.
pub(crate) fn means<'a>(results: &[&'a RunResult]) -> Vec<Derived<'a>> {
    let mut means = Vec::new();
    for runs in by_protocol(results).into_values() {
        let names = coordinate_names(runs.iter().map(|result| &result.run));
        for of in by_key(&runs, &names).into_values() {
            let whole = of.iter().flat_map(|run| &run.scores).filter(|m| m.stratum == Stratum::All);
            let measured: BTreeSet<(&str, &str)> =
                whole.map(|m| (m.split.as_str(), m.metric.as_str())).collect();
            means.extend(measured.into_iter().filter_map(|(split, metric)| mean(&of, split, metric)));
        }
    }
    means
}

/// The mean of a metric over the runs that have it. Their chance levels are not those of the mean.
fn mean<'a>(runs: &[&'a RunResult], split: &str, metric: &str) -> Option<Derived<'a>> {
    let of: Vec<&RunResult> = runs.iter().copied().filter(|run| run.value(split, metric).is_some()).collect();
    let values: Vec<f64> = of.iter().filter_map(|run| run.value(split, metric)).collect();
    let mut measurement = of.first()?.whole(split, metric)?.clone();
    measurement.metric = format!("{metric}_mean");
    measurement.value = Aggregate::Mean.of(&values);
    measurement.numerator = Some(values.iter().sum());
    measurement.denominator = Some(values.len() as f64);
    measurement.n = values.len();
    measurement.spread = Aggregate::PopulationStd.of(&values).filter(|_| values.len() > 1);
    (measurement.chance, measurement.interval) = (None, None);
    Some(Derived { of, measurement, shown: String::new() })
}

fn table(protocol: &str, reading: Reading, runs: &[&RunResult]) -> Table {
    let names = coordinate_names(runs.iter().map(|result| &result.run));
    let cells = collect(runs, &names);
    let metrics = metrics(&cells);
    let sizes = sizes(runs, &names);
    let has_sizes = sizes.values().any(Option::is_some);
    let rows = cells.iter().map(|((key, split), measured)| {
        let size = has_sizes.then(|| Cell::maybe(sizes.get(key).cloned().flatten()));
        Row {
            keys: show_key(key).into_iter().chain([(*split).to_owned()]).collect(),
            cells: metrics.iter().map(|metric| cell(measured.get(metric))).chain(size).collect(),
        }
    });
    let keys: Vec<&str> = names.iter().copied().chain(["split"]).collect();
    let title = format!("{protocol}: all that was measured");
    let mut table = Table {
        notes: notes(&metrics, runs),
        columns: metrics.iter().copied().chain(has_sizes.then_some("parameters")).map(Column::new).collect(),
        rows: rows.collect(),
        ..Table::blank(Scope::Protocol(protocol), reading, "other", &title, &keys)
    };
    table.notes.extend(table.interval_note());
    table
}

/// The parameters of the runs of a row.
fn sizes(runs: &[&RunResult], names: &[&str]) -> BTreeMap<Vec<Option<Coordinate>>, Option<String>> {
    let rows = by_key(runs, names).into_iter();
    rows.map(|(key, runs)| (key, parameters::range(runs))).collect()
}

/// Runs by the coordinates of these names.
pub(crate) fn by_key<'a>(
    runs: &[&'a RunResult],
    names: &[&str],
) -> BTreeMap<Vec<Option<Coordinate>>, Vec<&'a RunResult>> {
    let mut rows: BTreeMap<_, Vec<&RunResult>> = BTreeMap::new();
    for run in runs {
        rows.entry(sort_key(&run.run.coordinates, names)).or_default().push(*run);
    }
    rows
}

fn collect<'a>(runs: &[&'a RunResult], names: &[&str]) -> Cells<'a> {
    let mut cells = Cells::new();
    for result in runs {
        for measurement in result.scores.iter().filter(|m| m.stratum == Stratum::All) {
            let key = (sort_key(&result.run.coordinates, names), measurement.split.as_str());
            let measured = cells.entry(key).or_default().entry(&measurement.metric).or_default();
            measured.extend(measurement.value.map(|_| measurement));
        }
    }
    cells
}

/// The metrics that were measured: those that are known in their order, and then the others.
fn metrics<'a>(cells: &Cells<'a>) -> Vec<&'a str> {
    let found: BTreeSet<&str> = cells.values().flat_map(BTreeMap::keys).copied().collect();
    let rank = |name: &str| METRICS.iter().position(|metric| metric.name == name).unwrap_or(METRICS.len());
    let mut found: Vec<&str> = found.into_iter().collect();
    found.sort_by_key(|name| rank(name));
    found
}

fn cell(measured: Option<&Vec<&Measurement>>) -> Cell {
    measured.map_or_else(Cell::default, |measured| Cell::of_runs(measured, Decimals(3)))
}

fn notes(metrics: &[&str], runs: &[&RunResult]) -> Vec<String> {
    let names = coordinate_names(runs.iter().map(|result| &result.run));
    let mut notes = vec![MEAN_NOTE.to_owned()];
    notes.extend(spread_note(by_key(runs, &names).into_values()));
    // Tables by language of these runs have it already.
    if !runs.iter().any(|run| overview::shows(run) || pairs::shows(run)) {
        notes.extend(SUITES.iter().filter_map(|suite| suite.not_comparable(runs)));
    }
    notes.extend(parameters::misses(runs));
    notes.extend(data_note(runs));
    for metric in METRICS.iter().filter(|metric| metrics.contains(&metric.name)) {
        let levels: Vec<f64> = runs
            .iter()
            .flat_map(|run| &run.scores)
            .filter(|m| m.metric == metric.name && m.stratum == Stratum::All)
            .filter_map(|m| m.chance)
            .collect();
        let chance = match (Aggregate::Min.of(&levels), Aggregate::Max.of(&levels)) {
            (Some(lowest), Some(highest)) => format!("; chance {}", range(lowest, highest)),
            _ => String::new(),
        };
        notes.push(format!("{}: {} ({}{chance}).", metric.name, metric.meaning, metric.unit.name()));
    }
    notes
}
