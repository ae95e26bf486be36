//! All measurements of the runs that no suite claims, by protocol: any result is shown, whatever its coordinates.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::{Aggregate, Coordinate, METRICS, Measurement, Reading, Stratum};

use crate::columns::{coordinate_names, show_key, sort_key};
use crate::pivot::Pivot;
use crate::plan_fields::{data_note, spread_note};
use crate::records::Derived;
use crate::run::{AnyRun, results};
use crate::suite::{Contents, not_comparable};
use crate::table::{Cell, Column, Decimals, MEAN_NOTE, Scope, Table, range};
use crate::{overview, pairs, parameters};

/// Rows by coordinates and split, and in each what was measured by metric.
type MeasuredRows<'a> = BTreeMap<(Vec<Option<Coordinate>>, &'a str), BTreeMap<&'a str, Vec<&'a Measurement>>>;

/// One table per protocol and reading. What an overview shows is not among the most important.
pub(crate) fn contents(runs: &[AnyRun<'_>]) -> Contents {
    let others: Vec<AnyRun<'_>> =
        runs.iter().copied().filter(|run| !overview::shows(run) && !pairs::shows(run)).collect();
    Contents { tables: tables(runs), figures: Vec::new(), headline: tables(&others) }
}

fn tables(runs: &[AnyRun<'_>]) -> Vec<Table> {
    let tables =
        by_protocol(runs).into_iter().map(|((protocol, reading), runs)| table(protocol, reading, &runs));
    // Runs without measurements diverged or failed, which has a table of its own.
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// Runs by protocol and reading.
pub(crate) fn by_protocol<'r>(runs: &[AnyRun<'r>]) -> BTreeMap<(&'r str, Reading), Vec<AnyRun<'r>>> {
    let mut groups: BTreeMap<_, Vec<AnyRun<'r>>> = BTreeMap::new();
    for run in runs {
        let of = &run.result().run;
        groups.entry((of.protocol.as_str(), of.reading)).or_default().push(*run);
    }
    groups
}

/// The mean over the runs of every cell, as rows of an export: the metric's name is followed by `_mean`.
pub(crate) fn means<'r>(runs: &[AnyRun<'r>]) -> Vec<Derived<'r>> {
    let mut means = Vec::new();
    for runs in by_protocol(runs).into_values() {
        let names = coordinate_names(runs.iter().map(|run| &run.result().run));
        for of in by_key(&runs, &names).into_values() {
            let whole = of.iter().flat_map(|run| &run.result().scores).filter(|m| m.stratum == Stratum::All);
            let measured: BTreeSet<(&str, &str)> =
                whole.map(|m| (m.split.as_str(), m.metric.as_str())).collect();
            means.extend(measured.into_iter().filter_map(|(split, metric)| mean(&of, split, metric)));
        }
    }
    means
}

/// The mean of a metric over the runs that have it. Their chance levels are not those of the mean.
fn mean<'r>(runs: &[AnyRun<'r>], split: &str, metric: &str) -> Option<Derived<'r>> {
    let of: Vec<AnyRun<'r>> = runs.iter().copied().filter(|run| run.value(split, metric).is_some()).collect();
    let values: Vec<f64> = of.iter().filter_map(|run| run.value(split, metric)).collect();
    let mut measurement = of.first()?.whole(split, metric)?.clone();
    measurement.metric = format!("{metric}_mean");
    measurement.value = Aggregate::Mean.of(&values);
    // The mean is over runs: each weighs the same, whatever its number of strings.
    measurement.numerator = Some(values.iter().sum());
    measurement.denominator = Some(values.len() as f64);
    measurement.n = values.len();
    measurement.spread = Aggregate::PopulationStd.of(&values).filter(|_| values.len() > 1);
    // Those of the first run, which say nothing of a mean over runs.
    (measurement.chance, measurement.interval) = (None, None);
    Some(Derived { of: results(&of), measurement, shown: String::new() })
}

fn table(protocol: &str, reading: Reading, runs: &[AnyRun<'_>]) -> Table {
    let names = coordinate_names(runs.iter().map(|run| &run.result().run));
    let rows = collect(runs, &names);
    let metrics = metrics(&rows);
    let of_key = by_key(runs, &names);
    let size = |key: &Vec<_>| of_key.get(key).and_then(|runs| parameters::range(runs.iter().copied()));
    let keys: Vec<&str> = names.iter().copied().chain(["split"]).collect();
    let title = format!("{protocol}: all that was measured");
    let blank = Table {
        notes: notes(&metrics, runs),
        ..Table::blank(Scope::Protocol(protocol), reading, "other", &title, &keys)
    };
    let mut pivot = Pivot::new().columns(
        metrics,
        |metric| Column::new(*metric),
        |(_, measured): &(&Vec<Option<Coordinate>>, &BTreeMap<&str, Vec<&Measurement>>), metric| {
            cell(measured.get(metric))
        },
    );
    if rows.keys().any(|(key, _)| size(key).is_some()) {
        pivot = pivot.column(Column::new("parameters"), |(key, _)| Cell::maybe(size(key)));
    }
    let keyed = rows.iter().map(|((key, split), measured)| {
        (show_key(key).into_iter().chain([(*split).to_owned()]).collect(), (key, measured))
    });
    let mut table = pivot.fill(blank, keyed);
    table.notes.extend(table.interval_note());
    table
}

/// Runs by the coordinates of these names.
pub(crate) fn by_key<'r>(
    runs: &[AnyRun<'r>],
    names: &[&str],
) -> BTreeMap<Vec<Option<Coordinate>>, Vec<AnyRun<'r>>> {
    let mut rows: BTreeMap<_, Vec<AnyRun<'r>>> = BTreeMap::new();
    for run in runs {
        rows.entry(sort_key(&run.run.coordinates, names)).or_default().push(*run);
    }
    rows
}

fn collect<'a>(runs: &[AnyRun<'a>], names: &[&str]) -> MeasuredRows<'a> {
    let mut rows = MeasuredRows::new();
    for result in results(runs) {
        for measurement in result.scores.iter().filter(|m| m.stratum == Stratum::All) {
            let key = (sort_key(&result.run.coordinates, names), measurement.split.as_str());
            let measured = rows.entry(key).or_default().entry(&measurement.metric).or_default();
            // A measurement without a value makes its column, but its cell stays empty: nothing was scored.
            measured.extend(measurement.value.map(|_| measurement));
        }
    }
    rows
}

/// The metrics that were measured: those that are known in their order, and then the others.
fn metrics<'a>(rows: &MeasuredRows<'a>) -> Vec<&'a str> {
    let found: BTreeSet<&str> = rows.values().flat_map(BTreeMap::keys).copied().collect();
    let rank = |name: &str| METRICS.iter().position(|metric| metric.name == name).unwrap_or(METRICS.len());
    let mut found: Vec<&str> = found.into_iter().collect();
    // A stable sort, so that unknown metrics stay in the order of their names.
    found.sort_by_key(|name| rank(name));
    found
}

fn cell(measured: Option<&Vec<&Measurement>>) -> Cell {
    measured.map_or_else(Cell::default, |measured| Cell::of_runs(measured, Decimals(3)))
}

fn notes(metrics: &[&str], runs: &[AnyRun<'_>]) -> Vec<String> {
    let names = coordinate_names(runs.iter().map(|run| &run.result().run));
    let mut notes = vec![MEAN_NOTE.to_owned()];
    notes.extend(spread_note(by_key(runs, &names).into_values()));
    // Tables by language of these runs have it already.
    if !runs.iter().any(|run| overview::shows(run) || pairs::shows(run)) {
        notes.extend(not_comparable(runs));
    }
    notes.extend(parameters::misses(runs));
    notes.extend(data_note(runs));
    for metric in METRICS.iter().filter(|metric| metrics.contains(&metric.name)) {
        let levels: Vec<f64> = runs
            .iter()
            .flat_map(|run| &run.result().scores)
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
