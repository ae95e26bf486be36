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
mod begin;
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
use crate::disk::{make_own_dir, own_dir, remove_leftovers, write_own};
use crate::plan::RunPlan;

pub(crate) use attempts::{Attempt, MAX_DEATHS};
use claim::{is_there, lock_done, locked};
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
    pub plan: RunPlan,
    /// Whether another command added it (`wug score`): it is no run of the experiment, and only that command does it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub added: bool,
}

impl PlannedRun {
    /// A run of an experiment.
    pub(crate) fn new(plan: &RunPlan) -> Self {
        Self { id: plan.id(), plan: plan.clone(), added: false }
    }
}

/// A directory with a sweep in it.
#[derive(Clone, Debug)]
pub struct Sweep {
    root: PathBuf,
    pub header: Header,
    pub runs: Vec<PlannedRun>,
}

const PLAN: &str = "plan.json";
const RUNS: &str = "runs.jsonl";
const FOLDERS: [&str; 5] = ["claims", "attempts", "checkpoints", "results", "logs"];
/// What else a sweep may hold.
const OTHERS: [&str; 5] = [PLAN, RUNS, "aside", "report.html", kept::FOLDER];

impl Sweep {
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

    fn write(&self) -> Result<(), LabError> {
        let mut lines = Vec::new();
        for run in &self.runs {
            let line = serde_json::to_string(run).map_err(LabError::internal)?;
            // A plan that JSON changes would have another id when the sweep is opened again.
            if !serde_json::from_str(&line).is_ok_and(|again: PlannedRun| again == *run) {
                let message =
                    format!("the plan of `{}` would not be read back as it is: {line}", run.plan.label());
                return Err(LabError::Internal(message));
            }
            lines.extend_from_slice(line.as_bytes());
            lines.push(b'\n');
        }
        // Runs before the header: whoever reads a header finds at least as many runs as it says.
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

#[cfg(test)]
mod tests;
