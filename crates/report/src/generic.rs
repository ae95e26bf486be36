//! A table for whatever no paper has a table for, so that nothing that was run is hidden.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::{Aggregate, METRICS, Measurement, Reading, RunResult, Stratum};

use crate::table::{Cell, Column, Decimals, Row, Table, range};

/// What tells rows apart: its name, and how it is read from a run and a measurement.
type Key = (&'static str, fn(&RunResult, &Measurement) -> String);

const KEYS: [Key; 6] = [
    ("language", |result, _| result.run.language.clone()),
    ("learner", |result, _| result.run.learner.clone()),
    ("size", |result, _| result.run.size.map_or_else(String::new, |size| size.to_string())),
    ("loss", |result, _| result.run.loss.clone().unwrap_or_default()),
    ("validation", |result, _| result.run.validation.clone().unwrap_or_default()),
    ("split", |_, measurement| measurement.split.clone()),
];

/// Rows by their names, and in each what was measured by metric.
type Cells<'a> = BTreeMap<Vec<String>, BTreeMap<&'a str, Vec<&'a Measurement>>>;

/// One table per suite and reading.
pub(crate) fn tables(results: &[&RunResult]) -> Vec<Table> {
    let mut groups: BTreeMap<(&str, Reading), Vec<&RunResult>> = BTreeMap::new();
    for result in results {
        groups.entry((&result.run.suite, result.run.reading)).or_default().push(result);
    }
    let tables = groups.into_iter().map(|((suite, reading), runs)| table(suite, reading, &runs));
    // Runs that measured nothing ended badly, which is shown elsewhere.
    tables.filter(|table| !table.rows.is_empty()).collect()
}

fn table(suite: &str, reading: Reading, runs: &[&RunResult]) -> Table {
    let cells = collect(runs);
    // A key that is empty everywhere tells nothing apart.
    let told: Vec<usize> = (0..KEYS.len()).filter(|i| cells.keys().any(|key| !key[*i].is_empty())).collect();
    let metrics = metrics(&cells);
    let row = |(key, measured): (&Vec<String>, &BTreeMap<&str, Vec<&Measurement>>)| Row {
        keys: told.iter().map(|i| key[*i].clone()).collect(),
        cells: metrics.iter().map(|metric| cell(measured.get(metric))).collect(),
    };
    let keys: Vec<&str> = told.iter().map(|i| KEYS[*i].0).collect();
    let mut table = Table {
        notes: notes(&metrics, runs),
        columns: metrics.iter().map(|metric| Column::new(*metric)).collect(),
        rows: cells.iter().map(row).collect(),
        ..Table::blank(suite, reading, "other", &format!("{suite}: all that was measured"), &keys)
    };
    table.notes.extend(table.interval_note());
    table
}

fn collect<'a>(runs: &[&'a RunResult]) -> Cells<'a> {
    let mut cells = Cells::new();
    for result in runs {
        for measurement in result.scores.iter().filter(|m| m.stratum == Stratum::All) {
            let key = KEYS.iter().map(|(_, of)| of(result, measurement)).collect();
            let measured = cells.entry(key).or_default().entry(&measurement.metric).or_default();
            measured.extend(measurement.value.map(|_| measurement));
        }
    }
    cells
}

/// The metrics that were measured: those that are known in their order, and then the others.
fn metrics<'a>(cells: &Cells<'a>) -> Vec<&'a str> {
    let found: BTreeSet<&str> = cells.values().flat_map(BTreeMap::keys).copied().collect();
    let place = |name: &str| METRICS.iter().position(|metric| metric.name == name).unwrap_or(METRICS.len());
    let mut found: Vec<&str> = found.into_iter().collect();
    found.sort_by_key(|name| place(name));
    found
}

fn cell(measured: Option<&Vec<&Measurement>>) -> Cell {
    measured.map_or_else(Cell::default, |measured| Cell::of_runs(measured, Decimals(3)))
}

fn notes(metrics: &[&str], runs: &[&RunResult]) -> Vec<String> {
    let mut notes =
        vec!["Mean ± population standard deviation over runs; in brackets the number of runs.".to_owned()];
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
