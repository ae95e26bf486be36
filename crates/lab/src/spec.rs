//! Experiments: a TOML file, at a scale, with a few values set by hand, becomes a list of runs.
//!
//! A file has a title and sections, each a grid of one protocol (`[[recognition]]`, `[[generalization]]`). What a section leaves out is
//! as in the paper. Its tables `smoke` and `quick` say what is smaller at those scales; `paper` is the section itself.

pub(crate) mod grid;
mod learners;
mod problem;
mod section;
mod source_map;

use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

use crate::LabError;
use crate::plan::RunPlan;
use crate::protocol::{Entry, PROTOCOLS};

use problem::alternatives;
use section::Set;
use source_map::SourceMap;

pub use learners::LearnerGrid;
pub use problem::Problem;
pub use section::Section;

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

/// What a file says, before its sections are read.
#[derive(Debug)]
struct File {
    title: String,
    about: String,
    /// Of each protocol that it has, in the order of the registry.
    sections: Vec<(&'static Entry, Vec<Table>)>,
}

/// What a file says beside its sections.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    title: String,
    #[serde(default)]
    about: String,
}

/// The experiments that come with wug, by name.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("quickstart", include_str!("../../../experiments/quickstart.toml")),
    ("flare_table2", include_str!("../../../experiments/flare_table2.toml")),
    ("flare_table22", include_str!("../../../experiments/flare_table22.toml")),
    ("bliss_table2", include_str!("../../../experiments/bliss_table2.toml")),
    ("bliss_figure3", include_str!("../../../experiments/bliss_figure3.toml")),
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
        for (kind, sections) in &file.sections {
            let sets = file.concerned(kind, source, sets)?;
            for (number, section) in sections.iter().enumerate() {
                let in_file = |at: Scale, problem: &Problem| {
                    let line = places.line(kind, number, at, problem);
                    LabError::Usage(problem.describe(&place(source, line)))
                };
                // Every scale is read, so that a slip is found before the evening it is needed.
                for at in Scale::ALL {
                    kind.check_section(section, at, &[]).map_err(|problem| in_file(at, &problem))?;
                }
                // What is wrong only now is not the file's fault.
                kind.check_section(section, scale, &sets).map_err(|problem| {
                    let all = || sets.iter().map(|set| written(set)).collect::<Vec<_>>().join(" ");
                    LabError::Usage(problem.describe(&blamed(kind, &sets, &problem).unwrap_or_else(all)))
                })?;
                let plans = kind.plans_of(section, scale, &sets).map_err(|problem| {
                    match blamed(kind, &sets, &problem) {
                        Some(set) => LabError::Usage(problem.describe(&set)),
                        None => in_file(scale, &problem),
                    }
                })?;
                runs.extend(plans);
            }
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
    fn read<'a>(source: &str, text: &'a str) -> Result<(Self, SourceMap<'a>), LabError> {
        let bad = |error: toml::de::Error| {
            let line = error.span().map(|span| source_map::line(text, span.start));
            LabError::Usage(Problem::parse(&error, &[]).describe(&place(source, line)))
        };
        let places = SourceMap::read(text).map_err(bad)?;
        for entry in PROTOCOLS {
            if let Some(line) = places.lone_section(entry.name) {
                let message =
                    format!("is written with two brackets, `[[{}]]`: there may be several", entry.name);
                let problem = Problem::new(entry.name, "", message);
                return Err(LabError::Usage(problem.describe(&place(source, Some(line)))));
            }
        }
        let mut table: Table = toml::from_str(text).map_err(bad)?;
        let mut sections = Vec::new();
        for entry in PROTOCOLS {
            let names = std::iter::once(&entry.name).chain(entry.former_names);
            let mut own = Vec::new();
            for name in names {
                if let Some(value) = table.remove(*name) {
                    own.extend(tables(name, value).map_err(|problem| {
                        LabError::Usage(problem.describe(&place(source, places.top_line(name))))
                    })?);
                }
            }
            if !own.is_empty() {
                sections.push((entry, own));
            }
        }
        let Head { title, about } = Value::Table(table).try_into().map_err(|error: toml::de::Error| {
            let protocols: Vec<&str> = PROTOCOLS.iter().map(|entry| entry.name).collect();
            let problem = Problem::parse(&error, &protocols);
            let line = places.top_line(problem.field());
            LabError::Usage(problem.describe(&place(source, line)))
        })?;
        if sections.is_empty() {
            let kinds: Vec<String> = PROTOCOLS.iter().map(|entry| format!("[[{}]]", entry.name)).collect();
            let kinds = kinds.join(" or ");
            return Err(LabError::Usage(format!("{source} has no runs: it needs a section such as {kinds}")));
        }
        Ok((Self { title, about, sections }, places))
    }

    /// What is set by hand in sections of a kind: what names it, and what names none and is a field of it. A field of no kind
    /// is left to the first, which says so.
    fn concerned<'s>(&self, kind: &Entry, source: &str, sets: &'s [Set]) -> Result<Vec<&'s Set>, LabError> {
        let mut concerned = Vec::new();
        for set in sets {
            let named = PROTOCOLS.iter().find(|other| other.named_in(&set.0).is_some());
            let here = |other: &Entry| self.sections.iter().any(|(present, _)| present.name == other.name);
            match named {
                Some(other) if !here(other) => {
                    let message = format!("{}: {source} has no section [[{}]]", written(set), other.name);
                    return Err(LabError::Usage(message));
                }
                Some(other) if other.name == kind.name => concerned.push(set),
                Some(_) => {}
                None => {
                    let mut knowing = self.sections.iter().filter(|(other, _)| other.knows(set)).peekable();
                    let nobody = knowing.peek().is_none();
                    let first = self.sections.first().is_some_and(|(other, _)| other.name == kind.name);
                    if knowing.any(|(other, _)| other.name == kind.name) || (nobody && first) {
                        concerned.push(set);
                    }
                }
            }
        }
        Ok(concerned)
    }
}

/// The tables of a list of sections.
fn tables(name: &str, value: Value) -> Result<Vec<Table>, Problem> {
    let table = |item: Value| match item {
        Value::Table(table) => Some(table),
        _ => None,
    };
    let tables = match value {
        Value::Array(items) => items.into_iter().map(table).collect(),
        _ => None,
    };
    tables
        .ok_or_else(|| Problem::new(name, "", format!("must be a list of tables, each written `[[{name}]]`")))
}

fn place(source: &str, line: Option<usize>) -> String {
    line.map_or(source.to_owned(), |line| format!("{source}, line {line}"))
}

fn written((key, value): &Set) -> String {
    format!("--set {key}={value}")
}

/// The value set by hand that a problem is about.
fn blamed(kind: &Entry, sets: &[&Set], problem: &Problem) -> Option<String> {
    let about = |key: &str| {
        let rest = problem.field().strip_prefix(key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    sets.iter().rfind(|(key, _)| about(kind.inside(key))).map(|set| written(set))
}

#[cfg(test)]
mod tests;
