//! The settings of the runs behind the cells: what was drawn or varied, and what all have in common.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wug_score::Reading;

use crate::columns::{VaryingColumns, coordinate_names, show_key};
use crate::generic::{by_key, by_protocol};
use crate::parameters;
use crate::pivot::Pivot;
use crate::plan_fields::{field_name, fields, shown};
use crate::run::AnyRun;
use crate::table::{Cell, Column, Scope, Table};

/// The column of trainable parameters, as results have them.
const PARAMETERS: &str = "parameters";

/// One table per protocol and reading, with a row per coordinates.
pub(crate) fn tables(runs: &[AnyRun<'_>]) -> Vec<Table> {
    by_protocol(runs).into_iter().map(|((protocol, reading), runs)| table(protocol, reading, &runs)).collect()
}

fn table(protocol: &str, reading: Reading, runs: &[AnyRun<'_>]) -> Table {
    let names = coordinate_names(runs.iter().map(|run| &run.result().run));
    let fields = field_names(runs, &names);
    let rows: Vec<(Vec<String>, SettingsRow<'_>)> = by_key(runs, &names)
        .into_iter()
        .map(|(key, runs)| (show_key(&key), SettingsRow { values: values(&runs, &fields), runs }))
        .collect();
    let columns = VaryingColumns::of(&fields, rows.iter().map(|(_, row)| row.values.as_slice()));
    let title = format!("{protocol}: the settings of the runs");
    let blank = Table::blank(Scope::Protocol(protocol), reading, "settings", &title, &names);
    let mut table = Pivot::new()
        .column(Column::new("runs"), |row: &SettingsRow<'_>| Cell::ours(row.runs.len().to_string()))
        .column(Column::new(PARAMETERS), |row| Cell::maybe(parameters::range(row.runs.iter().copied())))
        .columns(
            columns.names().enumerate(),
            |(_, name)| Column::new(name),
            |row, (i, _)| {
                let value = columns.values(&row.values).nth(*i);
                Cell::maybe(value.filter(|value| !value.is_empty()))
            },
        )
        .fill(blank, rows.iter().cloned());
    table.notes.push("Of the runs with the same coordinates: the values that they have, or from the lowest to the highest of those that were drawn.".to_owned());
    let constant = columns.constant(" ");
    table.notes.extend((!constant.is_empty()).then(|| format!("All runs: {constant}.")));
    table
}

#[derive(Clone)]
struct SettingsRow<'r> {
    values: Vec<String>,
    runs: Vec<AnyRun<'r>>,
}

/// The fields that are no coordinates, and have no column of their own. Those of a learner may be coordinates too.
fn field_names(runs: &[AnyRun<'_>], coordinates: &[&str]) -> Vec<String> {
    let coordinates: Vec<String> = coordinates.iter().map(|name| field_name(name)).collect();
    // A field of the data that is a coordinate, such as a factor.
    let of_data = |name: &String| {
        let own = name.strip_prefix("data ").filter(|own| coordinates.iter().any(|known| known == own));
        let value = |run: &AnyRun<'_>| fields(run).get(name).map(|value| shown(&[value]));
        own.is_some_and(|own| {
            runs.iter().all(|run| value(run).is_none_or(|v| v == run.run.coordinates.show(own)))
        })
    };
    let known =
        |name: &String| coordinates.contains(name) || ["reading", PARAMETERS].contains(&name.as_str());
    let all: BTreeSet<String> = runs.iter().flat_map(|run| fields(run).into_keys()).collect();
    all.into_iter().filter(|name| !known(name) && !of_data(name)).collect()
}

fn values(runs: &[AnyRun<'_>], names: &[String]) -> Vec<String> {
    let all: Vec<BTreeMap<String, Value>> = runs.iter().map(|run| fields(run)).collect();
    let of = |name: &String| shown(&all.iter().filter_map(|fields| fields.get(name)).collect::<Vec<_>>());
    names.iter().map(of).collect()
}
