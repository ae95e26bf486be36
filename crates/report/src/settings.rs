//! The settings of the runs behind the cells: what was drawn or varied, and what all have in common.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wug_score::{Reading, RunResult};

use crate::columns::{VaryingColumns, coordinate_names, show_key};
use crate::generic::{by_key, by_protocol};
use crate::parameters;
use crate::plan_fields::{field_name, fields, shown};
use crate::table::{Cell, Column, Row, Scope, Table};

/// The column of trainable parameters, as results have them.
const PARAMETERS: &str = "parameters";

/// One table per protocol and reading.
pub(crate) fn tables(results: &[&RunResult]) -> Vec<Table> {
    let with_plan: Vec<&RunResult> = results.iter().copied().filter(|run| !run.plan.is_null()).collect();
    by_protocol(&with_plan)
        .into_iter()
        .map(|((protocol, reading), runs)| table(protocol, reading, &runs))
        .collect()
}

/// A row per coordinates.
fn table(protocol: &str, reading: Reading, runs: &[&RunResult]) -> Table {
    let names = coordinate_names(runs.iter().map(|result| &result.run));
    let fields = field_names(runs, &names);
    let rows: Vec<(Vec<String>, Vec<String>, Vec<&RunResult>)> = by_key(runs, &names)
        .into_iter()
        .map(|(key, runs)| (show_key(&key), values(&runs, &fields), runs))
        .collect();
    let columns = VaryingColumns::of(&fields, rows.iter().map(|(_, values, _)| values.as_slice()));
    let title = format!("{protocol}: the settings of the runs");
    let row = |(keys, values, runs): &(Vec<String>, Vec<String>, Vec<&RunResult>)| {
        let first =
            [Cell::ours(runs.len().to_string()), Cell::maybe(parameters::range(runs.iter().copied()))];
        let values =
            columns.values(values).map(|value| Cell::maybe(Some(value).filter(|value| !value.is_empty())));
        Row { keys: keys.clone(), cells: first.into_iter().chain(values).collect() }
    };
    let heads = ["runs", PARAMETERS].into_iter().map(str::to_owned).chain(columns.names());
    let mut table = Table {
        columns: heads.map(Column::new).collect(),
        rows: rows.iter().map(row).collect(),
        ..Table::blank(Scope::Protocol(protocol), reading, "settings", &title, &names)
    };
    table.notes.push("Of the runs with the same coordinates: the values that they have, or from the lowest to the highest of those that were drawn.".to_owned());
    let constant = columns.constant(" ");
    table.notes.extend((!constant.is_empty()).then(|| format!("All runs: {constant}.")));
    table
}

/// The fields that are no coordinates, and have no column of their own. Those of a learner may be coordinates too.
fn field_names(runs: &[&RunResult], coordinates: &[&str]) -> Vec<String> {
    let coordinates: Vec<String> = coordinates.iter().map(|name| field_name(name)).collect();
    let known =
        |name: &String| coordinates.contains(name) || ["reading", PARAMETERS].contains(&name.as_str());
    let all: BTreeSet<String> = runs.iter().flat_map(|run| fields(run).into_keys()).collect();
    all.into_iter().filter(|name| !known(name)).collect()
}

fn values(runs: &[&RunResult], names: &[String]) -> Vec<String> {
    let all: Vec<BTreeMap<String, Value>> = runs.iter().map(|run| fields(run)).collect();
    let of = |name: &String| shown(&all.iter().filter_map(|fields| fields.get(name)).collect::<Vec<_>>());
    names.iter().map(of).collect()
}
