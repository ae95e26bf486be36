//! Everything about a run as columns: no list of names, whatever a plan, a run and a log have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use wug_score::RunResult;
use wug_table::{ColumnValue as Value, TypedColumn as Column};

use super::Logs;
use super::flat::{flatten, kind, value};

/// Where a field of a run comes from, in the order of the columns. A name that an earlier one has too, with other values, is
/// written after the name of its source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Run,
    Result,
    Log,
    Plan,
}

impl Source {
    fn prefix(self) -> &'static str {
        match self {
            Self::Run => "run.",
            Self::Result => "result.",
            Self::Log => "log.",
            Self::Plan => "plan.",
        }
    }
}

/// What is logged and not exported: a host's name is private, and says nothing about a result.
const PRIVATE: [&str; 1] = ["host"];

type RunFields = BTreeMap<(Source, String), Json>;

/// The columns that tell runs apart, and all others, with the value of each for every result.
pub(super) struct RunColumns {
    columns: Vec<Column>,
    /// How many of them come before what a row is about.
    first: usize,
    /// The values of each result, in the order of the columns.
    rows: Vec<Vec<Value<'static>>>,
}

impl RunColumns {
    /// The columns of these results, none of which has a name that is taken.
    pub(super) fn of(results: &[RunResult], logs: &Logs, taken: &[&str]) -> Self {
        let mut order: Vec<(Source, String)> = Vec::new();
        let mut known: BTreeSet<(Source, String)> = BTreeSet::new();
        let mut all: Vec<RunFields> = Vec::new();
        for result in results {
            let fields = fields(result, logs.get(&result.run.plan));
            order.extend(fields.iter().map(|(key, _)| key.clone()).filter(|key| known.insert(key.clone())));
            all.push(fields.into_iter().collect());
        }
        // Stable: within a source, fields stay in the order in which runs first have them.
        order.sort_by_key(|(source, _)| *source);
        let mut names: BTreeMap<String, (Source, String)> = BTreeMap::new();
        let mut columns = Vec::new();
        let mut first = 0;
        let mut keys = Vec::new();
        for key in order {
            if names
                .get(&key.1)
                .is_some_and(|other| all.iter().all(|fields| says_the_same(fields, &key, other)))
            {
                continue;
            }
            let mut name = key.1.clone();
            while name.is_empty() || names.contains_key(&name) || taken.contains(&name.as_str()) {
                name.insert_str(0, key.0.prefix());
            }
            let values: Vec<&Json> = all.iter().filter_map(|fields| fields.get(&key)).collect();
            let kind = kind(&values);
            columns.push(Column::new(name.clone(), kind));
            first += usize::from(key.0 == Source::Run);
            names.insert(name, key.clone());
            keys.push((key, kind));
        }
        let row = |fields: &RunFields| {
            let cell = |(key, kind): &(_, _)| fields.get(key).map_or(Value::Null, |json| value(json, *kind));
            keys.iter().map(cell).collect()
        };
        Self { rows: all.iter().map(row).collect(), columns, first }
    }

    /// The columns that tell runs apart, and the others.
    pub(super) fn columns(&self) -> (&[Column], &[Column]) {
        self.columns.split_at(self.first)
    }

    /// What these results have in common.
    pub(super) fn row(&self, of: &[usize]) -> Vec<Value<'static>> {
        let Some((first, others)) = of.split_first() else { return vec![Value::Null; self.columns.len()] };
        let common = |i: usize, value: &Value<'static>| {
            // What differs is empty: any one value would be false of the others.
            if others.iter().all(|&other| self.rows[other][i] == *value) {
                value.clone()
            } else {
                Value::Null
            }
        };
        self.rows[*first].iter().enumerate().map(|(i, value)| common(i, value)).collect()
    }
}

/// Whether a field has the value of another wherever it has one.
fn says_the_same(fields: &RunFields, key: &(Source, String), other: &(Source, String)) -> bool {
    fields.get(key).is_none_or(|value| fields.get(other) == Some(value))
}

/// Everything about a run, in order.
fn fields(result: &RunResult, log: Option<&Json>) -> Vec<((Source, String), Json)> {
    let mut all = Vec::new();
    let mut add = |source: Source, value: &Json, but: &[&str]| {
        let mut flat = Vec::new();
        flatten(value, "", &mut flat);
        flat.retain(|(name, _)| !but.contains(&name.as_str()));
        let named = |name: String| if source == Source::Plan { short(&name) } else { name };
        all.extend(flat.into_iter().map(|(name, value)| ((source, named(name)), value)));
    };
    add(Source::Run, &run(result), &[]);
    add(Source::Result, &outcome(result), &[]);
    add(Source::Log, log.unwrap_or(&Json::Null), &PRIVATE);
    // Plans are written as JSON into every result.
    // The learner's name is one of the coordinates.
    add(Source::Plan, &serde_json::to_value(&result.plan).unwrap_or_default(), &["learner.name"]);
    all
}

/// The column of a field of a plan: its path, without the parts that say nothing to whoever reads a table.
fn short(path: &str) -> String {
    let own = path.strip_prefix("learner.").or_else(|| path.strip_prefix("measure."));
    own.unwrap_or(path).to_owned()
}

/// The run itself; its coordinates are fields like the others.
fn run(result: &RunResult) -> Json {
    let Ok(Json::Object(run)) = serde_json::to_value(&result.run) else { return Json::Null };
    let mut fields = serde_json::Map::new();
    for (name, value) in run {
        match value {
            Json::Object(coordinates) if name == "coordinates" => fields.extend(coordinates),
            value => drop(fields.insert(name, value)),
        }
    }
    Json::Object(fields)
}

/// How the run ended, and how far it came. `evaluated.stopped` says that evaluation ended early.
fn outcome(result: &RunResult) -> Json {
    let mut ending = serde_json::to_value(&result.ending).unwrap_or_default();
    let kind = ending.as_object_mut().and_then(|fields| fields.remove("kind"));
    let last = result.curve.last();
    let updates = result.data.pointer("/curve/updates").and_then(Json::as_array).and_then(|all| all.last());
    json!({
        "ending": kind,
        "ended": ending,
        "parameters": result.parameters,
        "epochs_run": last.map(|point| point.epoch),
        "steps_run": last.map(|point| point.steps).or_else(|| updates?.as_u64()),
        "evaluated": result.data.get("evaluated"),
        "facts": facts(&result.data),
    })
}

/// The single values among what is known of the data, such as the answers per sequence. Lists are rows of other tables.
fn facts(data: &Json) -> Json {
    let Json::Object(fields) = data else { return Json::Null };
    let single = |(name, value): (&String, &Json)| match value {
        Json::Array(_) => None,
        Json::Object(_) => Some((name.clone(), facts(value))),
        other => Some((name.clone(), other.clone())),
    };
    // It has columns of its own.
    Json::Object(fields.iter().filter(|(name, _)| *name != "evaluated").filter_map(single).collect())
}
