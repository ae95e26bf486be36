//! Experiments: a TOML file, at a scale, with the values of `--set`, becomes a list of runs.
//!
//! A file has a title and sections, each a grid of one protocol (`[[recognition]]`, `[[generalization]]`, …). Its text becomes a
//! [`draft`], in which every value knows where it was written; each section is read once, at one scale and in each reading that
//! it asks for; and its plans follow. Its tables `smoke` and `quick` say what is smaller at those scales; `paper` is the section itself.

mod built_in;
mod data_seed;
mod declared;
pub mod draft;
mod external;
mod file;
pub(crate) mod grid;
mod learners;
mod planning;
mod problem;
mod scale;
pub(crate) mod section;
mod shared;
pub(crate) mod sizes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use wug_parameter::{Parameter, alternatives};
use wug_score::plan::Recipe;

use crate::LabError;
use crate::plan::RunPlan;
use crate::protocol::{Protocol, ProtocolEntry};
use crate::regular::read_present;
use file::{ExperimentFile, Set, as_typed};
use grid::MAX_RUNS;
use section::AnySection;

/// The most bytes of an experiment.
const LARGEST: u64 = 16 << 20;

#[cfg(test)]
pub(crate) use built_in::fixtures;
pub use built_in::{BUILT_IN, built_in, introduction, titles};
pub use data_seed::DataSeeds;
pub use draft::{Fields, Origin};
pub use learners::{LearnerGrid, LearnerSource};
pub use planning::Planning;
pub use problem::Problem;
pub use scale::Scale;
pub use section::Section;
pub(crate) use shared::LANGUAGES;
pub use sizes::RoleTask;
pub use wug_score::plan::Reading;

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
        let known: Vec<f64> = self.runs.iter().filter_map(|run| run.estimate.seconds).collect();
        (!known.is_empty()).then(|| (known.iter().sum(), known.len()))
    }

    /// The sizes that runs miss by more than 5 %, a line each: they are not as comparable as the experiment says.
    pub fn missed_sizes(&self) -> Vec<String> {
        sizes::missed(&self.runs)
    }

    /// Loads a built-in experiment by name, or a file.
    pub fn load(name: &str, scale: Scale, sets: &[Set]) -> Result<Self, LabError> {
        Self::load_with(name, scale, sets, &mut Planning::default())
    }

    /// The same, with what planning needs beside the text.
    pub fn load_with(
        name: &str,
        scale: Scale,
        sets: &[Set],
        planning: &mut Planning,
    ) -> Result<Self, LabError> {
        let path = Path::new(name);
        if path.extension().is_some_and(|e| e == "toml") || name.contains(std::path::MAIN_SEPARATOR) {
            let usage = |error: &dyn std::fmt::Display| LabError::Usage(format!("{name}: {error}"));
            let bytes = read_present(path, LARGEST).map_err(|error| usage(&error))?;
            let text = String::from_utf8(bytes).map_err(|error| usage(&error))?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let mut file = ExperimentFile::read(name, &text)?;
            // Relative paths of a file are relative to its directory. Those of `--set` are not.
            if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
                file.resolve_paths(directory);
            }
            return Self::planned(&stem, file, scale, sets, planning);
        }
        let (name, text) = built_in(name).ok_or_else(|| {
            let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            let names = alternatives(name, &names);
            LabError::Usage(format!("unknown experiment `{name}`{names}; or give the path of a .toml file"))
        })?;
        let file = ExperimentFile::read(&format!("experiments/{name}.toml"), text)?;
        Self::planned(name, file, scale, sets, planning)
    }

    /// Reads and plans an experiment. `source` names it in messages.
    pub fn read(name: &str, source: &str, text: &str, scale: Scale, sets: &[Set]) -> Result<Self, LabError> {
        Self::planned(name, ExperimentFile::read(source, text)?, scale, sets, &mut Planning::default())
    }

    /// The same for a text of this name, with what planning needs beside it.
    pub fn read_with(
        name: &str,
        text: &str,
        scale: Scale,
        sets: &[Set],
        planning: &mut Planning,
    ) -> Result<Self, LabError> {
        Self::planned(name, ExperimentFile::read(name, text)?, scale, sets, planning)
    }

    /// The same for an experiment that a program makes: a section of a protocol. `source` names it in messages.
    pub fn of_section(
        name: &str,
        source: &str,
        protocol: &str,
        title: &str,
        section: Fields,
        sets: &[Set],
    ) -> Result<Self, LabError> {
        let fields = Fields::default().with("title", title).with(protocol, vec![section]);
        let file = ExperimentFile::of(source, fields)
            .map_err(|problem| LabError::Usage(problem.describe(source)))?;
        Self::planned(name, file, Scale::Paper, sets, &mut Planning::default())
    }

    fn planned(
        name: &str,
        file: ExperimentFile,
        scale: Scale,
        sets: &[Set],
        planning: &mut Planning,
    ) -> Result<Self, LabError> {
        // Before sections are read: they need the roles and versions that hellos name, and all commands are waited for together.
        file.greet(planning, sets);
        // At all scales, not only this one: a mistake in `[quick]` is better found at `smoke` than after an evening.
        file.check()?;
        let sections = sections(&file, scale, sets, planning)?;
        unused(&file, scale, &sections, sets)?;
        let mut runs: Vec<RunPlan> = Vec::new();
        // All sections are counted by now: a grid that is too large is refused before its plans fill the memory.
        for ReadSection { fields, section, .. } in &sections {
            runs.extend(section.plans().map_err(|problem| file.located(&problem, fields, sets))?);
        }
        let mut seen = BTreeSet::new();
        // Sections may overlap. A run that two of them list is done once, with the notes of the first.
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

/// What the tables of papers were made with: the cells of the built-in experiments whose sections say which table they are.
pub fn recipes() -> Result<Vec<Recipe>, LabError> {
    let mut all = Vec::new();
    for (name, text) in BUILT_IN {
        let file = ExperimentFile::read(name, text)?;
        // The sections of another experiment are planned with it.
        if file.is_of_another {
            continue;
        }
        // At the scale of the paper: its figures are of these runs, and not of smaller ones.
        for ReadSection { fields, section, .. } in
            sections(&file, Scale::Paper, &[], &Planning::of_recipes())?
        {
            all.extend(section.recipes().map_err(|problem| file.located(&problem, &fields, &[]))?);
        }
    }
    Ok(all)
}

/// A section that was read.
struct ReadSection {
    entry: &'static ProtocolEntry,
    /// What it was read from.
    fields: Fields,
    section: Box<dyn AnySection>,
    /// The numbers of the `--set`s that it takes.
    sets: Vec<usize>,
}

/// Reads every section, and counts the runs of all before any is planned.
fn sections(
    file: &ExperimentFile,
    scale: Scale,
    sets: &[Set],
    planning: &Planning,
) -> Result<Vec<ReadSection>, LabError> {
    let (mut read, mut runs) = (Vec::new(), 0_usize);
    for (i, section) in file.sections.iter().enumerate() {
        let entry = section.entry;
        let own = file.sets_of(entry, sets)?;
        let at = section.at(scale);
        // The scale before `--set`: what is typed wins over the file at any scale.
        let mut fields = at.map_err(|problem| file.located(&problem, &Fields::default(), sets))?;
        for (i, set) in &own {
            file::set(&mut fields, entry, *i, set)
                .map_err(|problem| file.located(&problem, &fields, sets))?;
        }
        let located = |problem: Problem| file.located(&problem, &fields, sets);
        for reading in shared::readings(&fields).map_err(located)? {
            let section = (entry.read)(fields.clone(), reading, planning).map_err(located)?;
            runs = runs.saturating_add(section.count().map_err(located)?);
            let sets = own.iter().map(|(i, _)| *i).collect();
            read.push(ReadSection { entry, fields: fields.clone(), section, sets });
        }
        // After each section, so that the message can say how far it came. The sum saturates: sizes come from users.
        if runs > MAX_RUNS {
            return Err(LabError::Usage(format!(
                "{}: its first {} sections have {runs} runs; an experiment has at most {MAX_RUNS}",
                file.source,
                i + 1
            )));
        }
    }
    Ok(read)
}

/// Refuses settings of the file that none of a section's learners has, and those of `--set` that no section uses.
fn unused(
    file: &ExperimentFile,
    scale: Scale,
    sections: &[ReadSection],
    sets: &[Set],
) -> Result<(), LabError> {
    let problem = |name: &str| Problem::new(name, "", "none of the learners has this setting".to_owned());
    // Of each `--set`, whether some section uses it.
    let mut used: BTreeMap<usize, bool> = BTreeMap::new();
    for ReadSection { entry, fields, section, sets: own } in sections {
        for i in own {
            let in_vain = section.unused().iter().any(|name| name == entry.inside(&sets[*i].0));
            // One section that uses it is enough: without a section's name, a `--set` is laid over all that have the field.
            *used.entry(*i).or_default() |= !in_vain;
        }
        // Where a scale or `--set` takes learners away, their settings stay behind.
        let whole =
            scale == Scale::Paper && !matches!(written(fields, shared::LEARNERS), Some(Origin::Set(_)));
        // What a section inherits is exempt: `[defaults]` serves several sections, whose learners differ.
        let is_of_file = |name: &&String| matches!(written(fields, name), Some(Origin::Line(_)));
        let mut of_file = section.unused().iter().filter(is_of_file);
        if let (true, Some(name)) = (whole, of_file.next()) {
            return Err(file.located(&problem(name), fields, sets));
        }
    }
    let Some((i, _)) = used.into_iter().find(|(_, used)| !used) else { return Ok(()) };
    let entry = sections.iter().find(|section| section.sets.contains(&i)).map(|section| section.entry);
    let name = entry.map_or(sets[i].0.as_str(), |entry| entry.inside(&sets[i].0));
    Err(LabError::Usage(problem(name).describe(&as_typed(&sets[i]))))
}

fn written(fields: &Fields, path: &str) -> Option<Origin> {
    Some(fields.get(path)?.origin)
}

/// The names of all fields that sections of a protocol may have, those in tables with dots.
pub(crate) fn known_names(entry: &ProtocolEntry) -> Vec<&'static str> {
    let own = entry.fields.iter().map(|field| field.name);
    let mut known: Vec<&'static str> = own.chain([entry.subjects]).collect();
    known.extend((entry.shared)().iter().map(|field| field.name));
    known.push(shared::LEARNERS);
    known.extend(learners::setting_names(entry.role));
    known.extend(Scale::SMALLER.map(Scale::name));
    known
}

/// The names that they had in earlier versions, which are still read.
fn former_names(entry: &ProtocolEntry) -> Vec<&'static str> {
    let shared = (entry.shared)();
    let former = entry.fields.iter().chain(&shared).flat_map(|field| field.former).copied();
    former.chain(learners::former_names(entry.role)).collect()
}

/// The shared fields with the defaults of a protocol.
pub(crate) fn shared_fields<P: Protocol>() -> Vec<Parameter> {
    shared::parameters::<P>().to_vec()
}

/// Checks what a section that is not read says of declared fields and learners.
pub(crate) fn check_unread<P: Protocol>(fields: &Fields) -> Result<(), Problem> {
    declared::check(fields, &shared::parameters::<P>())?;
    declared::check(fields, P::FIELDS)?;
    learners::check_names::<P>(fields)
}

#[cfg(test)]
mod size_tests;
#[cfg(test)]
mod tests;
