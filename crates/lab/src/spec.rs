//! Experiments: a TOML file, at a scale, with the values of `--set`, becomes a list of runs.
//!
//! A file has a title and sections, each a grid of one protocol (`[[recognition]]`, `[[generalization]]`, `[[preference]]`). What a section leaves out is
//! as in the paper. Its tables `smoke` and `quick` say what is smaller at those scales; `paper` is the section itself.

mod data_seed;
mod foreign;
pub(crate) mod grid;
mod learners;
mod problem;
mod section;
pub(crate) mod sizes;
pub(crate) mod source_map;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

use crate::LabError;
use crate::plan::RunPlan;
use crate::protocol::{Entry, PROTOCOLS};
use crate::regular::read_present;

use grid::MAX_RUNS;
use problem::alternatives;
use section::Set;
use source_map::SourceMap;

/// The most bytes of an experiment.
const LARGEST: u64 = 16 << 20;

pub use data_seed::DataSeeds;
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

    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }

    /// The scale with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scale| scale.name() == name)
    }
}

/// An experiment that has been checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The name of its file.
    pub name: String,
    pub title: String,
    /// What to know before running it.
    pub about: String,
    pub scale: Scale,
    /// What was changed with `--set`, as typed.
    pub changes: Vec<String>,
    /// Its runs, without duplicates.
    pub runs: Vec<RunPlan>,
}

impl Experiment {
    /// About how many seconds of one core the runs take of which that is known in advance, and how many those are; none if it is
    /// known of none.
    pub fn seconds(&self) -> Option<(f64, usize)> {
        let known: Vec<f64> = self.runs.iter().filter_map(RunPlan::seconds).collect();
        (!known.is_empty()).then(|| (known.iter().sum(), known.len()))
    }

    /// The sizes that runs miss by more than 5 %, a line each: they are not as comparable as the experiment says.
    pub fn missed_sizes(&self) -> Vec<String> {
        sizes::missed(&self.runs)
    }
}

/// A file whose sections are not parsed yet.
#[derive(Debug)]
struct ExperimentFile {
    title: String,
    about: String,
    /// The sections by protocol, in the order of the registry.
    sections: Vec<(&'static Entry, Vec<Table>)>,
}

/// The fields beside the sections.
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
    ("wade_table2", include_str!("../../../experiments/wade_table2.toml")),
    ("wade_table4", include_str!("../../../experiments/wade_table4.toml")),
    ("wade_table5", include_str!("../../../experiments/wade_table5.toml")),
    ("wade_figure3", include_str!("../../../experiments/wade_figure3.toml")),
    ("wade_rules", include_str!("../../../experiments/wade_rules.toml")),
    ("find_table1", include_str!("../../../experiments/find_table1.toml")),
    ("find_table2", include_str!("../../../experiments/find_table2.toml")),
    ("find_tables3to6", include_str!("../../../experiments/find_tables3to6.toml")),
    ("find_table7", include_str!("../../../experiments/find_table7.toml")),
    ("find_table8", include_str!("../../../experiments/find_table8.toml")),
    ("find_figure3", include_str!("../../../experiments/find_figure3.toml")),
    ("find_appendix_c", include_str!("../../../experiments/find_appendix_c.toml")),
    ("find_appendix_d", include_str!("../../../experiments/find_appendix_d.toml")),
    ("tse_table3", include_str!("../../../experiments/tse_table3.toml")),
    ("tse_table3_normal", include_str!("../../../experiments/tse_table3_normal.toml")),
    ("tse_table3_sgd", include_str!("../../../experiments/tse_table3_sgd.toml")),
];

impl Experiment {
    /// Loads a built-in experiment by name, or a file.
    pub fn load(name: &str, scale: Scale, sets: &[(String, String)]) -> Result<Self, LabError> {
        let path = Path::new(name);
        if path.extension().is_some_and(|e| e == "toml") || name.contains(std::path::MAIN_SEPARATOR) {
            let usage = |error: &dyn std::fmt::Display| LabError::Usage(format!("{name}: {error}"));
            let bytes = read_present(path, LARGEST).map_err(|error| usage(&error))?;
            let text = String::from_utf8(bytes).map_err(|error| usage(&error))?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
            return Self::read_in(directory, (&stem, name), &text, scale, sets);
        }
        let (name, text) = built_in(name).ok_or_else(|| {
            let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            let names = alternatives(name, &names);
            LabError::Usage(format!("unknown experiment `{name}`{names}; or give the path of a .toml file"))
        })?;
        Self::read(name, &format!("experiments/{name}.toml"), text, scale, sets)
    }

    /// Reads and checks an experiment. `source` names it in messages.
    pub fn read(
        name: &str,
        source: &str,
        text: &str,
        scale: Scale,
        sets: &[(String, String)],
    ) -> Result<Self, LabError> {
        Self::read_in(None, (name, source), text, scale, sets)
    }

    /// The same for a file in a directory, to which its paths are relative. Those of `--set` are not.
    fn read_in(
        directory: Option<&Path>,
        (name, source): (&str, &str),
        text: &str,
        scale: Scale,
        sets: &[(String, String)],
    ) -> Result<Self, LabError> {
        let (mut file, source_map) = ExperimentFile::read(source, text)?;
        if let Some(directory) = directory {
            for (protocol, sections) in &mut file.sections {
                sections.iter_mut().for_each(|section| protocol.resolve_paths(section, directory));
            }
        }
        // Those of `--set` are greeted with their section.
        foreign::greet(file.sections.iter().flat_map(|(_, tables)| tables).flat_map(Table::values));
        file.check(&source_map, source, scale, sets)?;
        let mut runs: Vec<RunPlan> = Vec::new();
        // Settings of `--set` that the learners of some section have, and messages about those that they do not have.
        let (mut used, mut unused) = (BTreeSet::new(), BTreeMap::new());
        for (protocol, sections) in &file.sections {
            let sets = file.sets_of(protocol, source, sets)?;
            for (index, section) in sections.iter().enumerate() {
                let plans = protocol.plans_of(section, scale, &sets).map_err(|problem| {
                    let line = || location(source, source_map.line(protocol, index, scale, &problem));
                    let place = set_with(protocol, &sets, &problem).unwrap_or_else(line);
                    LabError::Usage(problem.describe(&place))
                })?;
                runs.extend(plans);
                let in_vain = protocol.unused_settings(section, scale, &sets).unwrap_or_default();
                for set in &sets {
                    if let Some(problem) = in_vain.get(protocol.inside(&set.0)) {
                        unused.insert(&set.0, problem.describe(&as_typed(set)));
                    } else {
                        used.insert(&set.0);
                    }
                }
            }
        }
        if let Some((_, message)) = unused.into_iter().find(|(key, _)| !used.contains(key)) {
            return Err(LabError::Usage(message));
        }
        let mut seen = BTreeSet::new();
        runs.retain(|run| seen.insert(run.id()));
        Ok(Self {
            name: name.to_owned(),
            title: file.title,
            about: file.about,
            scale,
            changes: sets.iter().map(as_typed).collect(),
            runs,
        })
    }
}

/// The name and text of the built-in experiment of that name, with hyphens or underscores.
pub fn built_in(name: &str) -> Option<(&'static str, &'static str)> {
    BUILT_IN.iter().copied().find(|(built_in, _)| *built_in == name.replace('-', "_"))
}

/// What an experiment needs beside its file, from fixtures: one is about reviews that the user has.
#[cfg(test)]
pub(crate) fn fixtures(name: &str) -> Vec<(String, String)> {
    let reviews = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/reviews.csv");
    let needed = (name == "wade_table2").then(|| ("corpus.path".to_owned(), reviews.to_owned()));
    needed.into_iter().collect()
}

/// The names and titles of the experiments that come with wug.
pub fn titles() -> Result<Vec<(&'static str, String)>, LabError> {
    BUILT_IN.iter().map(|(name, text)| Ok((*name, introduction(name, text)?.0))).collect()
}

/// The title of an experiment, and what to know before running it. Nothing is planned.
pub fn introduction(name: &str, text: &str) -> Result<(String, String), LabError> {
    let (file, _) = ExperimentFile::read(name, text)?;
    Ok((file.title, file.about))
}

impl ExperimentFile {
    fn read<'a>(source: &str, text: &'a str) -> Result<(Self, SourceMap<'a>), LabError> {
        let invalid = |error: toml::de::Error| {
            let line = error.span().map(|span| source_map::line(text, span.start));
            LabError::Usage(Problem::parse(&error, &[]).describe(&location(source, line)))
        };
        let source_map = SourceMap::read(text).map_err(invalid)?;
        for entry in PROTOCOLS {
            if let Some(line) = source_map.lone_section(entry.name) {
                let message = format!("must have two brackets, `[[{}]]`: there may be several", entry.name);
                let problem = Problem::new(entry.name, "", message);
                return Err(LabError::Usage(problem.describe(&location(source, Some(line)))));
            }
        }
        let mut table: Table = toml::from_str(text).map_err(invalid)?;
        let mut sections = Vec::new();
        for entry in PROTOCOLS {
            let names = std::iter::once(&entry.name).chain(entry.former_names);
            let mut own = Vec::new();
            for name in names {
                if let Some(value) = table.remove(*name) {
                    own.extend(tables(name, value).map_err(|problem| {
                        LabError::Usage(problem.describe(&location(source, source_map.top_line(name))))
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
            let line = source_map.top_line(problem.field());
            LabError::Usage(problem.describe(&location(source, line)))
        })?;
        if sections.is_empty() {
            let sections: Vec<String> = PROTOCOLS.iter().map(|entry| format!("[[{}]]", entry.name)).collect();
            let sections = sections.join(" or ");
            return Err(LabError::Usage(format!(
                "{source} has no runs: it needs a section such as {sections}"
            )));
        }
        Ok((Self { title, about, sections }, source_map))
    }

    /// Checks every section, and counts the runs of all before any is planned.
    fn check(
        &self,
        source_map: &SourceMap<'_>,
        source: &str,
        scale: Scale,
        sets: &[Set],
    ) -> Result<(), LabError> {
        let (mut runs, mut counted) = (0_usize, 0);
        for (protocol, sections) in &self.sections {
            let sets = self.sets_of(protocol, source, sets)?;
            for (index, section) in sections.iter().enumerate() {
                let in_file = |at: Scale, problem: &Problem| {
                    let line = source_map.line(protocol, index, at, problem);
                    LabError::Usage(problem.describe(&location(source, line)))
                };
                // All scales are checked, so that an error in one is found at once.
                for at in Scale::ALL {
                    protocol.check_section(section, at, &[]).map_err(|problem| in_file(at, &problem))?;
                }
                let at = Scale::Paper;
                let in_vain = protocol.unused_settings(section, at, &[]);
                if let Some(problem) = in_vain.map_err(|problem| in_file(at, &problem))?.values().next() {
                    return Err(in_file(at, problem));
                }
                // The file alone is valid: an error from here on comes from `--set`.
                let planned = protocol.check_section(section, scale, &sets).map_err(|problem| {
                    let all = || sets.iter().map(|set| as_typed(set)).collect::<Vec<_>>().join(" ");
                    LabError::Usage(
                        problem.describe(&set_with(protocol, &sets, &problem).unwrap_or_else(all)),
                    )
                })?;
                (runs, counted) = (runs.saturating_add(planned), counted + 1);
                if runs > MAX_RUNS {
                    return Err(LabError::Usage(format!(
                        "{source}: its first {counted} sections have {runs} runs; an experiment has at most {MAX_RUNS}"
                    )));
                }
            }
        }
        Ok(())
    }

    /// The values of `--set` for sections of a protocol: those whose key begins with its name, and those without a name that are
    /// fields of it. A key that no protocol has goes to the first, which reports it.
    fn sets_of<'s>(&self, protocol: &Entry, source: &str, sets: &'s [Set]) -> Result<Vec<&'s Set>, LabError> {
        let mut own = Vec::new();
        for set in sets {
            let named = PROTOCOLS.iter().find(|other| other.named_in(&set.0).is_some());
            let here = |other: &Entry| self.sections.iter().any(|(present, _)| present.name == other.name);
            match named {
                Some(other) if !here(other) => {
                    let message = format!("{}: {source} has no section [[{}]]", as_typed(set), other.name);
                    return Err(LabError::Usage(message));
                }
                Some(other) if other.name == protocol.name => own.push(set),
                Some(_) => {}
                None => {
                    let mut with_field =
                        self.sections.iter().filter(|(other, _)| other.has_field(set)).peekable();
                    let unknown = with_field.peek().is_none();
                    let first = self.sections.first().is_some_and(|(other, _)| other.name == protocol.name);
                    if with_field.any(|(other, _)| other.name == protocol.name) || (unknown && first) {
                        own.push(set);
                    }
                }
            }
        }
        Ok(own)
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

fn location(source: &str, line: Option<usize>) -> String {
    line.map_or(source.to_owned(), |line| format!("{source}, line {line}"))
}

/// A set as it is typed.
fn as_typed((key, value): &Set) -> String {
    format!("--set {key}={value}")
}

/// The `--set` that a problem is about.
fn set_with(protocol: &Entry, sets: &[&Set], problem: &Problem) -> Option<String> {
    let about = |key: &str| {
        let rest = problem.field().strip_prefix(key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    sets.iter().rfind(|(key, _)| about(protocol.inside(key))).map(|set| as_typed(set))
}

#[cfg(test)]
mod size_tests;
#[cfg(test)]
mod tests;
