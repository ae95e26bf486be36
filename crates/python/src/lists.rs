//! What there is, as JSON: the same as `wug list --json`.

use pyo3::prelude::*;
use serde_json::{Value, json};
use wug_lab::language::registry::LANGUAGES;
use wug_lab::learners::{LEARNERS, Role};
use wug_lab::protocol::PROTOCOLS;
use wug_lab::score::METRICS;
use wug_lab::spec::titles;
use wug_lab::suite::SUITES;

use crate::errors::{raised, usage};

/// A list of things, each with its name and a line about it.
#[pyfunction]
pub(crate) fn listing(what: &str) -> PyResult<String> {
    let rows: Vec<Value> = match what {
        "languages" => LANGUAGES
            .iter()
            .map(|entry| json!({ "name": entry.name, "suite": entry.suite, "summary": entry.summary }))
            .collect(),
        "suites" => SUITES
            .iter()
            .map(|suite| {
                json!({ "name": suite.name(), "question": suite.about().question, "members": suite.members() })
            })
            .collect(),
        "learners" => LEARNERS
            .iter()
            .map(|learner| {
                let roles: Vec<&str> = learner.roles().map(Role::name).collect();
                json!({ "name": learner.name, "roles": roles, "summary": learner.summary })
            })
            .collect(),
        "protocols" => PROTOCOLS
            .iter()
            .map(|entry| json!({ "name": entry.name, "role": entry.role.name(), "summary": entry.summary }))
            .collect(),
        "metrics" => METRICS
            .iter()
            .map(|metric| {
                json!({
                    "name": metric.name, "unit": metric.unit.name(), "meaning": metric.meaning,
                    "higher_is_better": metric.higher_is_better(), "citation": metric.cite,
                })
            })
            .collect(),
        "experiments" => {
            let titles = titles().map_err(raised)?;
            titles.into_iter().map(|(name, title)| json!({ "name": name, "title": title })).collect()
        }
        other => return Err(usage(format!("there is no list of `{other}`"))),
    };
    Ok(Value::Array(rows).to_string())
}
