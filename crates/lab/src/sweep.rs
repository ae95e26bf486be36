//! A sweep is a directory: its plan, who works on it, and its results.
//!
//! ```text
//! plan.json            what the sweep is, and which build made it
//! runs.jsonl           every run, one line each
//! claims/<id>          locked while a worker does the run
//! attempts/<id>        how often the run was begun since it last made progress
//! checkpoints/<id>     a run between two epochs, and in <id>.spent the time it has taken so far
//! results/<id>.json    the result: only what the plan determines, and a checksum
//! kept/<id>/           predictions and the model, where a run was asked to keep them
//! logs/<id>.json       when, where, by which build and how long
//! aside/               what was damaged or failed
//! ```
//!
//! A claim is a file lock, which the system releases when its holder dies; a result appears whole or not at all. So any
//! number of workers may work on one directory, be killed at any moment and begin again. Links inside the directory are
//! refused: what they lead to is not ours to overwrite.

mod attempts;
mod claim;
mod header;
mod kept;
mod memory;
mod seal;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wug_learner::kernel::instruction_set;

use crate::LabError;
use crate::disk::{is_part, make_own_dir, own_dir, read_own, remove_leftovers, write_own};
use crate::plan::{PLAN_FORMAT, RunPlan};
use crate::spec::{Experiment, Scale};

pub(crate) use attempts::{Attempt, MAX_DEATHS};
use claim::{begin_lock, is_there, lock_done, locked};
pub use header::{BUILD, Header, VERSION};
use header::{header_in, made_by, runs_in};
pub use kept::PredictionRows;
pub(crate) use kept::check_kept;
pub(crate) use seal::{open_checkpoint, seal_checkpoint};
pub use state::{RunState, Status};

/// A run and its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// The hash of the plan.
    pub id: String,
    /// The plan.
    pub plan: RunPlan,
}

/// A directory with a sweep in it.
#[derive(Clone, Debug)]
pub struct Sweep {
    root: PathBuf,
    /// What it is.
    pub header: Header,
    /// Its runs.
    pub runs: Vec<PlannedRun>,
}

const PLAN: &str = "plan.json";
const RUNS: &str = "runs.jsonl";
const FOLDERS: [&str; 5] = ["claims", "attempts", "checkpoints", "results", "logs"];
/// What else a sweep may hold.
const OTHERS: [&str; 5] = [PLAN, RUNS, "aside", "report.html", kept::FOLDER];

impl Sweep {
    /// Begins a sweep, or goes on with the same one. A directory that holds fewer runs of the same kind grows; one that
    /// holds other runs is left alone. A plan or a list of runs that is damaged is written again if all results belong
    /// to this experiment.
    pub fn begin(root: &Path, experiment: &Experiment) -> Result<Self, LabError> {
        let runs: Vec<PlannedRun> =
            experiment.runs.iter().map(|plan| PlannedRun { id: plan.id(), plan: plan.clone() }).collect();
        memory::must_fit(&runs, memory::available())?;
        nothing_else_in(root)?;
        make_folders(root)?;
        let _lock = begin_lock(root)?;
        tidy(root);
        let header = Header {
            format: PLAN_FORMAT,
            version: VERSION.to_owned(),
            build: BUILD.to_owned(),
            instructions: instruction_set().to_owned(),
            name: experiment.name.clone(),
            title: experiment.title.clone(),
            about: experiment.about.clone(),
            scale: experiment.scale.name().to_owned(),
            changes: experiment.changes.clone(),
            runs: runs.len(),
        };
        let sweep = Self { root: root.to_path_buf(), header, runs };
        let there = if is_there(&root.join(PLAN)) { header_in(root).map(Some) } else { Ok(None) };
        match there {
            Ok(Some(header)) => {
                let there = Self { root: root.to_path_buf(), header, runs: Vec::new() };
                there.usable()?;
                match runs_in(root, there.header.runs) {
                    Ok(runs) if runs == sweep.runs => return Ok(Self { runs, ..there }),
                    Ok(runs) => sweep.must_hold(&runs, &format!(" ({})", there.describe()))?,
                    Err(error @ LabError::Corrupt { .. }) => sweep.may_replace(error)?,
                    Err(error) => return Err(error),
                }
            }
            Ok(None) => sweep.may_begin()?,
            Err(error @ LabError::Corrupt { .. }) => {
                sweep.may_replace(error)?;
                sweep.may_begin()?;
            }
            Err(error) => return Err(error),
        }
        sweep.write()?;
        Ok(sweep)
    }

    /// Begins a sweep, or adds runs to one that is there, whatever its runs are.
    pub fn add(root: &Path, experiment: &Experiment) -> Result<Self, LabError> {
        if !is_there(&root.join(PLAN)) {
            return Self::begin(root, experiment);
        }
        let there = Self::open(root)?;
        let mut whole = experiment.clone();
        (whole.name, whole.title) = (there.header.name.clone(), there.header.title.clone());
        whole.about.clone_from(&there.header.about);
        whole.changes.clone_from(&there.header.changes);
        whole.scale = Scale::named(&there.header.scale).unwrap_or_default();
        let old: BTreeSet<&str> = there.runs.iter().map(|run| run.id.as_str()).collect();
        whole.runs.retain(|run| !old.contains(run.id().as_str()));
        whole.runs.splice(0..0, there.runs.iter().map(|run| run.plan.clone()));
        Self::begin(root, &whole)
    }

    /// Refuses to replace a damaged file if there are results of other runs: the sweep may have been another.
    fn may_replace(&self, error: LabError) -> Result<(), LabError> {
        let link = |path: &Path| path.symlink_metadata().is_ok_and(|meta| !meta.is_file());
        match &error {
            LabError::Corrupt { path, .. } if link(path) => Err(error),
            _ if self.owns(&self.ended()?) => Ok(()),
            _ => Err(error),
        }
    }

    /// Refuses to write a plan where none can be read, unless all that is left of the sweep agrees with this one.
    fn may_begin(&self) -> Result<(), LabError> {
        if !is_there(&self.root.join(RUNS)) && self.ended()?.is_empty() {
            return Ok(());
        }
        match runs_in(&self.root, 0) {
            Ok(runs) => self.must_hold(&runs, "")?,
            Err(error @ LabError::Corrupt { .. }) => self.may_replace(error)?,
            Err(LabError::Usage(_)) => {}
            Err(error) => return Err(error),
        }
        let ended = self.ended()?;
        if !self.owns(&ended) {
            let problem = "is missing or damaged, and there are results of runs that this experiment does not have; nothing was changed. Choose another directory with --out";
            return Err(LabError::corrupt(&self.root.join(PLAN), problem));
        }
        ended.iter().try_for_each(|id| self.same_build(id))
    }

    /// Refuses to go on beside a result of another build, as far as its log tells.
    fn same_build(&self, id: &str) -> Result<(), LabError> {
        let Some(log) = read_own(&self.log_path(id))? else { return Ok(()) };
        let log: serde_json::Value = serde_json::from_slice(&log).unwrap_or_default();
        let [build, instructions] = ["build", "instructions"].map(|name| log[name].as_str());
        let same = |there: Option<&str>, here: &str| there.is_none_or(|there| there == here);
        if same(build, BUILD) && same(instructions, instruction_set()) {
            return Ok(());
        }
        Err(self.foreign(&made_by(VERSION, build.unwrap_or_default(), instructions.unwrap_or_default())))
    }

    /// The ids of the runs that have a result (or something in its place).
    pub(crate) fn ended(&self) -> Result<BTreeSet<String>, LabError> {
        let folder = self.root.join("results");
        let mut ids = BTreeSet::new();
        for entry in fs::read_dir(&folder).map_err(LabError::disk(&folder))? {
            let name = entry.map_err(LabError::disk(&folder))?.file_name();
            ids.extend(name.to_str().and_then(|name| name.strip_suffix(".json")).map(str::to_owned));
        }
        Ok(ids)
    }

    fn owns(&self, ids: &BTreeSet<String>) -> bool {
        let ours: BTreeSet<&str> = self.runs.iter().map(|run| run.id.as_str()).collect();
        ids.iter().all(|id| ours.contains(id.as_str()))
    }

    fn describe(&self) -> String {
        let Header { name, scale, runs, .. } = &self.header;
        format!("{name}, scale {scale}, {runs} runs")
    }

    fn must_hold(&self, there: &[PlannedRun], what: &str) -> Result<(), LabError> {
        let ours: BTreeSet<&str> = self.runs.iter().map(|run| run.id.as_str()).collect();
        match there.iter().find(|run| !ours.contains(run.id.as_str())) {
            None => Ok(()),
            Some(run) => Err(LabError::Usage(format!(
                "{} holds another sweep{what}, in which `{}` is a run that this one does not have; nothing was changed. Choose another directory with --out",
                self.root.display(),
                run.plan.label()
            ))),
        }
    }

    fn write(&self) -> Result<(), LabError> {
        let mut lines = Vec::new();
        for run in &self.runs {
            let line = serde_json::to_string(run).map_err(LabError::internal)?;
            if !serde_json::from_str(&line).is_ok_and(|again: PlannedRun| again == *run) {
                let message =
                    format!("the plan of `{}` would not be read back as it is: {line}", run.plan.label());
                return Err(LabError::Internal(message));
            }
            lines.extend_from_slice(line.as_bytes());
            lines.push(b'\n');
        }
        write_own(&self.root.join(RUNS), &lines)?;
        let mut text = serde_json::to_vec_pretty(&self.header).map_err(LabError::internal)?;
        text.push(b'\n');
        write_own(&self.root.join(PLAN), &text)
    }

    /// A sweep that is there.
    pub fn open(root: &Path) -> Result<Self, LabError> {
        let header = header_in(root)?;
        for folder in FOLDERS {
            own_dir(&root.join(folder))?;
        }
        tidy(root);
        let runs = runs_in(root, header.runs)?;
        Ok(Self { root: root.to_path_buf(), header, runs })
    }

    /// Results of two builds, or of one on two instruction sets, would be compared with each other: only what made the
    /// sweep goes on with it.
    pub fn usable(&self) -> Result<(), LabError> {
        if self.header.is_ours() {
            return Ok(());
        }
        Err(self.foreign(&self.header.made_by()))
    }

    fn foreign(&self, maker: &str) -> LabError {
        LabError::Usage(format!(
            "{} was made by {maker}, and this is {}: go on with that build, or begin in another directory. It can still be reported on",
            self.root.display(),
            made_by(VERSION, BUILD, instruction_set())
        ))
    }

    /// Makes the folders that are not there: they may have been removed, or come with an empty copy.
    pub(crate) fn make_folders(&self) -> Result<(), LabError> {
        make_folders(&self.root)
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

fn make_folders(root: &Path) -> Result<(), LabError> {
    FOLDERS.iter().try_for_each(|folder| make_own_dir(&root.join(folder)))
}

/// Removes what killed processes left: temporary files, and what only an unfinished run needs of runs that have a result.
fn tidy(root: &Path) {
    remove_leftovers(root);
    FOLDERS.iter().for_each(|folder| remove_leftovers(&root.join(folder)));
    kept::tidy(root);
    let mut left: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for folder in ["attempts", "checkpoints", "claims"] {
        for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let id = name.strip_suffix(".spent").unwrap_or(&name);
            if is_there(&root.join("results").join(format!("{id}.json"))) {
                left.entry(id.to_owned()).or_default().push(entry.path());
            }
        }
    }
    for (id, paths) in left {
        // Without the lock, `wug retry` could give the run to a worker whose files these then are.
        let Ok(Some(_lock)) = lock_done(root, &id) else { continue };
        for path in claim_last(paths, root.join("claims").join(&id)) {
            let _ = fs::remove_file(path);
        }
    }
}

/// The files in the order of their removal: the claim once, and last. As soon as its name is free, another worker may take
/// the run, and a second removal would be that of its claim.
fn claim_last(paths: Vec<PathBuf>, claim: PathBuf) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = paths.into_iter().filter(|path| *path != claim).collect();
    paths.push(claim);
    paths
}

/// Refuses a directory that has something in it and is no sweep, nor what is left of one.
fn nothing_else_in(root: &Path) -> Result<(), LabError> {
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(LabError::disk(root))?,
    };
    let names: Vec<String> =
        entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect();
    let ours = |name: &str| FOLDERS.contains(&name) || OTHERS.contains(&name) || is_part(name);
    if names.iter().any(|name| name == PLAN) {
        return Ok(());
    }
    match names.iter().find(|name| !ours(name)) {
        None => Ok(()),
        Some(name) => Err(LabError::Usage(format!(
            "{} is no sweep, and it is not empty: it holds `{name}`; choose a new directory with --out",
            root.display()
        ))),
    }
}

#[cfg(test)]
mod tests;
