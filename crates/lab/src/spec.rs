//! Experiments: a TOML file, at a scale, with a few values set by hand, becomes a list of runs.
//!
//! A file has a title and sections, each a grid of one protocol (`[[recognition]]`). What a section leaves out is as in the
//! paper. Its tables `smoke` and `quick` say what is smaller at those scales; `paper` is the section itself.

mod place;
mod problem;

use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

use crate::LabError;
use crate::plan::RunPlan;
use crate::recognition;

use place::Places;
use problem::alternatives;

pub use problem::Problem;

/// The name of a section of the protocol.
const RECOGNITION: &str = "recognition";

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
    /// The experiment of a name, or of a file.
    pub fn load(name: &str, scale: Scale, sets: &[(String, String)]) -> Result<Self, LabError> {
        let path = Path::new(name);
        if path.extension().is_some_and(|e| e == "toml") || name.contains(std::path::MAIN_SEPARATOR) {
            let text =
                std::fs::read_to_string(path).map_err(|error| LabError::Usage(format!("{name}: {error}")))?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            return Self::read(&stem, name, &text, scale, sets);
        }
        let found = BUILT_IN.iter().find(|(built_in, _)| *built_in == name.replace('-', "_"));
        let (name, text) = found.ok_or_else(|| {
            let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            let names = alternatives(name, &names);
            LabError::Usage(format!("unknown experiment `{name}`{names}; or give the path of a .toml file"))
        })?;
        Self::read(name, &format!("experiments/{name}.toml"), text, scale, sets)
    }

    /// Reads and checks an experiment. `source` is what messages call it.
    pub fn read(
        name: &str,
        source: &str,
        text: &str,
        scale: Scale,
        sets: &[(String, String)],
    ) -> Result<Self, LabError> {
        let (file, places) = File::read(source, text)?;
        let mut runs: Vec<RunPlan> = Vec::new();
        for (number, section) in file.recognition.iter().enumerate() {
            let in_file = |at: Scale, problem: &Problem| {
                let line = places.line(RECOGNITION, number, at, problem);
                LabError::Usage(problem.describe(&place(source, line)))
            };
            // Every scale is read, so that a slip is found before the evening it is needed.
            for at in Scale::ALL {
                understand(section, at, &[]).map_err(|problem| in_file(at, &problem))?;
            }
            // What is wrong only now is not the file's fault.
            let spec = understand(section, scale, sets).map_err(|problem| {
                let all = || sets.iter().map(written).collect::<Vec<_>>().join(" ");
                LabError::Usage(problem.describe(&blamed(sets, &problem).unwrap_or_else(all)))
            })?;
            let plans = spec.plans().map_err(|problem| match blamed(sets, &problem) {
                Some(set) => LabError::Usage(problem.describe(&set)),
                None => in_file(scale, &problem),
            })?;
            runs.extend(plans.into_iter().map(RunPlan::Recognition));
        }
        let mut seen = std::collections::BTreeSet::new();
        runs.retain(|run| seen.insert(run.id()));
        Ok(Self { name: name.to_owned(), title: file.title, about: file.about, scale, runs })
    }
}

/// The names and titles of the experiments that come with wug.
pub fn titles() -> Result<Vec<(&'static str, String)>, LabError> {
    BUILT_IN.iter().map(|(name, text)| Ok((*name, File::read(name, text)?.0.title))).collect()
}

impl File {
    fn read<'a>(source: &str, text: &'a str) -> Result<(Self, Places<'a>), LabError> {
        let bad = |error: toml::de::Error| {
            let line = error.span().map(|span| place::line(text, span.start));
            LabError::Usage(Problem::parse(&error, &[]).describe(&place(source, line)))
        };
        let places = Places::read(text).map_err(bad)?;
        if let Some(line) = places.lone_section(RECOGNITION) {
            let message = "is written with two brackets, `[[recognition]]`: there may be several".to_owned();
            let problem = Problem::new(RECOGNITION, "", message);
            return Err(LabError::Usage(problem.describe(&place(source, Some(line)))));
        }
        let file: Self = toml::from_str(text).map_err(bad)?;
        if file.recognition.is_empty() {
            let message = format!("{source} has no runs: it needs a section such as [[recognition]]");
            return Err(LabError::Usage(message));
        }
        Ok((file, places))
    }
}

fn place(source: &str, line: Option<usize>) -> String {
    line.map_or(source.to_owned(), |line| format!("{source}, line {line}"))
}

/// The section as it is at a scale with some values set by hand, checked.
fn understand(
    section: &Table,
    scale: Scale,
    sets: &[(String, String)],
) -> Result<recognition::Spec, Problem> {
    let mut table = scaled(section.clone(), scale)?;
    sets.iter().try_for_each(|(key, value)| set(&mut table, key, value))?;
    let spec: recognition::Spec = Value::Table(table)
        .try_into()
        .map_err(|error| Problem::parse(&error, &[Scale::Smoke.name(), Scale::Quick.name()]))?;
    spec.check()?;
    Ok(spec)
}

/// The path of a key from the section on: it may begin with the section's name.
fn in_section(key: &str) -> &str {
    key.strip_prefix(RECOGNITION).and_then(|rest| rest.strip_prefix('.')).unwrap_or(key)
}

fn written((key, value): &(String, String)) -> String {
    format!("--set {key}={value}")
}

/// The value set by hand that a problem is about.
fn blamed(sets: &[(String, String)], problem: &Problem) -> Option<String> {
    let about = |key: &str| {
        let rest = problem.field().strip_prefix(key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    sets.iter().rfind(|(key, _)| about(in_section(key))).map(written)
}

/// The section as it is at a scale.
fn scaled(mut section: Table, scale: Scale) -> Result<Table, Problem> {
    for at in [Scale::Smoke, Scale::Quick] {
        match section.remove(at.name()) {
            Some(Value::Table(overrides)) if at == scale => merge(&mut section, overrides),
            None | Some(Value::Table(_)) => {}
            Some(other) => {
                let given = format!("of type {}", other.type_str());
                return Err(Problem::value(at.name(), &given, "a table of what is smaller"));
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

/// Puts a value where it belongs; keys may be nested with dots.
fn set(table: &mut Table, key: &str, text: &str) -> Result<(), Problem> {
    let path = in_section(key);
    if path.split('.').any(str::is_empty) {
        return Err(Problem::new(path, text, "a part of the key is empty".to_owned()));
    }
    let mut place = table;
    let (folders, last) = path.rsplit_once('.').map_or((None, path), |(f, l)| (Some(f), l));
    for folder in folders.into_iter().flat_map(|f| f.split('.')) {
        let inner = place.entry(folder).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(inner) = inner else {
            return Err(Problem::new(path, text, format!("`{folder}` has no parts")));
        };
        place = inner;
    }
    place.insert(last.to_owned(), parse_value(text));
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
