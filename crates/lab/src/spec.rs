//! Experiments: a TOML file, at a scale, with a few values set by hand, becomes a list of runs.
//!
//! A file has a title and sections, each a grid of one protocol (`[[recognition]]`). What a section leaves out is as in the
//! paper. Its tables `smoke` and `quick` say what is smaller at those scales; `paper` is the section itself.

mod problem;

use serde::Deserialize;
use toml::{Table, Value};

use crate::LabError;
use crate::plan::RunPlan;
use crate::recognition;

pub use problem::Problem;

/// How much of an experiment to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Every code path, in seconds.
    Smoke,
    /// An evening on two cores.
    Quick,
    /// The grid of the paper.
    #[default]
    Paper,
}

impl Scale {
    /// All of them, from small to large.
    pub const ALL: [Self; 3] = [Self::Smoke, Self::Quick, Self::Paper];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }

    /// The scale of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scale| scale.name() == name)
    }
}

/// An experiment that has been checked: its runs cannot be wrong.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The name of its file.
    pub name: String,
    /// What it is.
    pub title: String,
    /// What to know before running it.
    pub about: String,
    /// How much of it.
    pub scale: Scale,
    /// Its runs, each once.
    pub runs: Vec<RunPlan>,
}

/// A file's own words, before its sections are read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    recognition: Vec<Table>,
}

/// The experiments that come with wug, by name.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("quickstart", include_str!("../../../experiments/quickstart.toml")),
    ("flare_table2", include_str!("../../../experiments/flare_table2.toml")),
    ("flare_table22", include_str!("../../../experiments/flare_table22.toml")),
];

impl Experiment {
    /// Reads and checks an experiment. `source` is what messages call it.
    pub fn read(
        name: &str,
        source: &str,
        text: &str,
        scale: Scale,
        sets: &[(String, String)],
    ) -> Result<Self, LabError> {
        let usage = |problem: Problem| LabError::Usage(problem.describe(source, text));
        let file: File = toml::from_str(text).map_err(|error| usage(Problem::parse(&error, text)))?;
        if file.recognition.is_empty() {
            return Err(LabError::Usage(format!(
                "{source} has no runs: it needs a section such as [[recognition]]"
            )));
        }
        let mut runs: Vec<RunPlan> = Vec::new();
        let mut used = vec![false; sets.len()];
        for section in file.recognition {
            // Every scale is read, so that a slip is found before the evening it is needed.
            for at in Scale::ALL {
                let mut table = scaled(section.clone(), at).map_err(usage)?;
                set(&mut table, "recognition", sets, &mut used).map_err(usage)?;
                let spec: recognition::Spec =
                    Value::Table(table).try_into().map_err(|error| usage(Problem::parse(&error, text)))?;
                spec.check().map_err(usage)?;
                if at == scale {
                    runs.extend(spec.plans().map_err(usage)?.into_iter().map(RunPlan::Recognition));
                }
            }
        }
        if let Some((_, (key, _))) = used.iter().zip(sets).find(|(used, _)| !**used) {
            let message = "belongs to no section of this experiment".to_owned();
            return Err(LabError::Usage(Problem::new(key, key, message).describe("--set", "")));
        }
        let mut seen = std::collections::BTreeSet::new();
        runs.retain(|run| seen.insert(run.id()));
        Ok(Self { name: name.to_owned(), title: file.title, about: file.about, scale, runs })
    }
}

/// The section as it is at a scale.
fn scaled(mut section: Table, scale: Scale) -> Result<Table, Problem> {
    for at in [Scale::Smoke, Scale::Quick] {
        match section.remove(at.name()) {
            Some(Value::Table(overrides)) if at == scale => merge(&mut section, overrides),
            None | Some(Value::Table(_)) => {}
            Some(other) => {
                let message = format!("is a {}; it must be a table of what is smaller", other.type_str());
                return Err(Problem::new(at.name(), "", message));
            }
        }
    }
    Ok(section)
}

fn merge(table: &mut Table, overrides: Table) {
    for (key, value) in overrides {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => merge(inner, value),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// Puts `key=value` where it belongs; keys may be nested with dots and may begin with the section's name.
fn set(
    table: &mut Table,
    section: &str,
    sets: &[(String, String)],
    used: &mut [bool],
) -> Result<(), Problem> {
    for ((key, text), used) in sets.iter().zip(used) {
        let path = key.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')).unwrap_or(key);
        *used = true;
        let value = parse_value(text);
        let mut place = &mut *table;
        let (folders, last) = path.rsplit_once('.').map_or((None, path), |(f, l)| (Some(f), l));
        for folder in folders.into_iter().flat_map(|f| f.split('.')) {
            let inner = place.entry(folder).or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(inner) = inner else {
                return Err(Problem::new(key, key, format!("`{folder}` has no parts")));
            };
            place = inner;
        }
        place.insert(last.to_owned(), value);
    }
    Ok(())
}

/// A value as TOML has it; bare words are strings, and words with commas are lists.
fn parse_value(text: &str) -> Value {
    let parsed = |text: &str| toml::from_str::<Table>(&format!("x = {text}")).ok()?.remove("x");
    parsed(text).unwrap_or_else(|| {
        if text.contains(',') {
            let item = |item: &str| parsed(item).unwrap_or_else(|| Value::String(item.to_owned()));
            return Value::Array(text.split(',').map(|x| item(x.trim())).collect());
        }
        Value::String(text.to_owned())
    })
}

#[cfg(test)]
mod tests;
