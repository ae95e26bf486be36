//! What `wug show` says of learners, protocols, metrics and experiments.

use serde_json::json;
use wug_lab::LabError;
use wug_lab::learners::{LEARNERS, Learner, NextSymbolRole};
use wug_lab::parameter::{Constant, Parameter};
use wug_lab::protocol::{self, ProtocolEntry};
use wug_lab::score::{METRICS, Metric};
use wug_lab::spec::{Experiment, Scale, introduction};

use super::Facts;
use crate::exit::Exit;

/// Facts about the learner, protocol or metric of that name.
pub(super) fn describe(name: &str) -> Option<Facts> {
    let learner = || LEARNERS.iter().copied().find(|entry| entry.name == name).map(learner);
    let protocol = || protocol::find(name).map(protocol_facts);
    // Names of metrics have underscores, as in released code; either sign may be typed.
    let metric = || METRICS.iter().copied().find(|entry| entry.name.replace('_', "-") == name).map(metric);
    learner().or_else(protocol).or_else(metric)
}

fn learner(entry: &Learner) -> Facts {
    let mut facts =
        vec![("name", json!(entry.name)), ("summary", json!(entry.summary)), ("citation", json!(entry.cite))];
    for role in entry.roles() {
        let settings = entry.settings(role).unwrap_or_default();
        let lines: Vec<String> = settings.iter().map(setting).collect();
        let lines = if lines.is_empty() { vec!["nothing to set".to_owned()] } else { lines };
        facts.push((role.title(), json!(lines)));
    }
    if matches!(entry.next_symbol, Some(NextSymbolRole::Search(_))) {
        let places = "`wug report` shows the networks that were found on its page; `wug mdl draw` draws the one of a file";
        facts.push(("pictures", json!(places)));
    }
    facts
}

/// A setting in one line, as an experiment would write it.
fn setting(setting: &Parameter) -> String {
    let shown = |default: Constant| match default {
        Constant::Name(name) => format!("\"{name}\""),
        other => other.to_string(),
    };
    let published = setting
        .published
        .map_or_else(String::new, |value| format!("; {} in the published reading", shown(value)));
    let unless = setting
        .unless
        .map_or_else(String::new, |(other, value)| format!("; without effect if {other} = \"{value}\""));
    let Parameter { name, meaning, limits, .. } = setting;
    format!("{name} = {}: {meaning} ({limits}{published}{unless})", shown(setting.default))
}

fn protocol_facts(entry: &ProtocolEntry) -> Facts {
    let learners: Vec<&str> =
        LEARNERS.iter().filter(|l| l.roles().any(|role| role == entry.role)).map(|l| l.name).collect();
    vec![
        ("name", json!(entry.name)),
        ("summary", json!(entry.summary)),
        ("needs a", json!(entry.role.name())),
        ("learners", json!(learners)),
        ("section", json!(format!("[[{}]]", entry.name))),
    ]
}

fn metric(entry: &Metric) -> Facts {
    let mut facts = vec![
        ("name", json!(entry.name)),
        ("meaning", json!(entry.meaning)),
        ("unit", json!(entry.unit.name())),
        ("better", json!(if entry.higher_is_better() { "higher" } else { "lower" })),
        ("citation", json!(entry.cite)),
    ];
    facts.extend(entry.chance_of.map(|of| ("chance", json!(format!("that of {of}")))));
    facts
}

/// Facts about a built-in experiment.
pub(super) fn experiment_facts(name: &str, text: &str) -> Result<Facts, Exit> {
    let (title, about) = introduction(name, text)?;
    let mut facts = vec![("name", json!(name)), ("title", json!(title)), ("about", json!(about))];
    for scale in Scale::ALL {
        // An experiment on the user's own data cannot be planned without them.
        let runs = match Experiment::load(name, scale, &[]) {
            Ok(experiment) => Some(experiment.runs.len()),
            Err(LabError::Usage(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let key = match scale {
            Scale::Smoke => "runs at scale smoke",
            Scale::Quick => "runs at scale quick",
            Scale::Paper => "runs at scale paper",
        };
        facts.push((key, json!(runs)));
    }
    facts.push(("toml", json!(text)));
    Ok(facts)
}
