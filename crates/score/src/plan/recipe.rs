//! What a paper's table was made with, so that a run can be told from it.
//!
//! A section of an experiment that says `paper = "tse/3"` is the paper's own: planned, each of its cells is a [`Recipe`]. Reports
//! compare every run with the nearest recipe. Where nothing differs, the paper's figure stands beside the run; where something
//! does, the [`Departure`]s say what.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;
use wug_parameter::Range;

use super::{Plan, Untyped};

/// The runs behind one cell of a paper's table; they differ in their seeds, and in what each draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The suite and the table, such as `tse/3`.
    pub table: String,
    /// The name of the section among several of one table, such as `as described`; empty if there is none. What follows a comma names
    /// another way of training the same learner, which tables show as a learner of its own: `as described, by SGD`.
    pub version: String,
    pub protocol: String,
    /// The run with the first seed.
    pub plan: Plan<Untyped>,
    /// The settings that each run draws, and from where, by the names that experiments give them, such as `loss_weight`.
    pub drawn: BTreeMap<String, Range>,
    /// How many runs the cell has.
    pub runs: usize,
}

/// A field in which a run is not as in the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// Its path in the plan, such as `data.training` or `learner.settings.epochs`.
    pub field: String,
    /// What the run has; none if it has no such field.
    pub ours: Option<Value>,
    /// What the paper has.
    pub paper: Option<Value>,
}

/// Fields that differ from run to run of one cell, that follow from others, or that say where data are and what else is measured.
/// What was found in files is compared by the facts that results have of it.
const OF_RUN: [&str; 9] = [
    "seed",
    "data_seed",
    "learner.parameters",
    "learner.found",
    "data.corpus.path",
    "data.corpus.hash",
    "data.source.directory",
    "data.source.file.path",
    "measure.measures",
];

/// Every field of a plan by its path, but for those in which the runs of one cell differ.
pub fn fields(plan: &Plan<Untyped>) -> BTreeMap<String, Value> {
    let mut fields = BTreeMap::new();
    flatten(&super::json(plan), "", &mut fields);
    let of_run = |path: &str| {
        OF_RUN
            .iter()
            .any(|own| path.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    // A directory of strings is as good as strings that are drawn: it has no such field, and they need none.
    fields.retain(|path, value| !(of_run(path) || path == "data.source" && *value == "drawn"));
    fields
}

fn flatten(value: &Value, path: &str, fields: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(value, &path, fields);
            }
        }
        Value::Null => {}
        value => drop(fields.insert(path.to_owned(), value.clone())),
    }
}

impl Recipe {
    /// In what a run differs from this cell, the subject and the learner's name included.
    pub fn departures(&self, plan: &Plan<Untyped>) -> Vec<Departure> {
        self.differences(&fields(plan), &fields(&self.plan))
    }

    /// The same of fields that are known already, for whoever compares many.
    pub fn differences(
        &self,
        ours: &BTreeMap<String, Value>,
        paper: &BTreeMap<String, Value>,
    ) -> Vec<Departure> {
        let absent = paper.keys().filter(|path| !ours.contains_key(*path));
        let mut paths: Vec<&String> = ours.keys().chain(absent).collect();
        paths.sort_unstable();
        let departure = |path: &String| {
            let (own, printed) = (ours.get(path), paper.get(path));
            let same = self.is_drawn(path, own) || same(own, printed);
            (!same).then(|| Departure { field: path.clone(), ours: own.cloned(), paper: printed.cloned() })
        };
        paths.into_iter().filter_map(departure).collect()
    }

    /// Whether each run draws a field, and this is a value that it may have drawn.
    fn is_drawn(&self, path: &str, value: Option<&Value>) -> bool {
        // One draw gives the weights of all auxiliary losses.
        let weight = path.starts_with("measure.weights.").then_some("loss_weight");
        let name = weight.or_else(|| path.strip_prefix("learner.settings.")).unwrap_or(path);
        let (Some(range), Some(x)) = (self.drawn.get(name), value.and_then(Value::as_f64)) else {
            return false;
        };
        (range.from..=range.to).contains(&x)
    }
}

/// Whether two values are one: 1 and 1.0 are.
fn same(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a.and_then(Value::as_f64), b.and_then(Value::as_f64)) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        _ => a == b,
    }
}

impl Departure {
    /// The name of the field without what it is part of, in words.
    pub fn name(&self) -> String {
        self.own_path().replace(['.', '_'], " ")
    }

    /// The name of the group that the field is in: a score with ten fields of its own is one thing.
    pub fn group(&self) -> String {
        let own = self.own_path();
        own.split('.').next().unwrap_or(own).replace('_', " ")
    }

    fn own_path(&self) -> &str {
        let parts = ["learner.settings.", "learner.", "measure."];
        let own = parts.iter().find_map(|part| self.field.strip_prefix(part));
        own.filter(|name| *name != "name").unwrap_or(&self.field)
    }

    /// Whether it is of what was drawn or read, or of what was measured: a learner that the paper does not have can differ in no
    /// other field.
    pub fn is_of_task(&self) -> bool {
        self.is_of_data() || self.field.starts_with("measure.") || self.field == "reading"
    }

    /// Whether the strings, sequences or examples are others than the paper's.
    pub fn is_of_data(&self) -> bool {
        self.field == "subject" || self.field.starts_with("data.")
    }
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Value>| match value {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "none".to_owned(),
        };
        write!(f, "{} {} (paper: {})", self.name(), shown(&self.ours), shown(&self.paper))
    }
}
