//! A sweep is a directory: what is to be done, who is at it, and what came out.
//!
//! ```text
//! plan.json            what the sweep is, and who made it
//! runs.jsonl           every run, one line each
//! claims/<id>          locked while somebody does the run
//! checkpoints/<id>     a run between two epochs
//! results/<id>.json    what came out: only what the plan determines
//! logs/<id>.json       when, where and how long
//! ```
//!
//! A claim is a file lock, which the system takes back when its holder dies; a result appears whole or not at all. So any
//! number of workers may work on one directory, be killed at any moment and begin again.

mod state;

use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wug_score::RunResult;

use crate::LabError;
use crate::disk::write_whole;
use crate::plan::{PLAN_FORMAT, RunPlan};
use crate::spec::Experiment;

pub use state::{RunState, Status};

/// What a sweep is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// What plans mean.
    pub format: u32,
    /// The version of wug that made it.
    pub version: String,
    /// The experiment.
    pub name: String,
    /// What it is.
    pub title: String,
    /// What to know of it.
    pub about: String,
    /// How much of it.
    pub scale: String,
    /// How many runs.
    pub runs: usize,
}

/// A run and its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
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
    pub runs: Vec<Listed>,
}

const PLAN: &str = "plan.json";
const RUNS: &str = "runs.jsonl";

/// A run that is ours to do, until this is dropped or the process dies.
#[derive(Debug)]
pub(crate) struct Claim {
    _lock: File,
}

impl Sweep {
    /// Begins a sweep, or goes on with the same one. A directory that holds fewer runs of the same kind grows; one that
    /// holds other runs is left alone.
    pub fn begin(root: &Path, experiment: &Experiment) -> Result<Self, LabError> {
        for folder in ["claims", "checkpoints", "results", "logs"] {
            let path = root.join(folder);
            fs::create_dir_all(&path).map_err(LabError::disk(&path))?;
        }
        // Two that begin the same sweep at once take turns.
        let path = root.join("claims").join("plan");
        let lock = File::create(&path).map_err(LabError::disk(&path))?;
        lock.lock().map_err(LabError::disk(&path))?;
        let runs: Vec<Listed> =
            experiment.runs.iter().map(|plan| Listed { id: plan.id(), plan: plan.clone() }).collect();
        let header = Header {
            format: PLAN_FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: experiment.name.clone(),
            title: experiment.title.clone(),
            about: experiment.about.clone(),
            scale: experiment.scale.name().to_owned(),
            runs: runs.len(),
        };
        let sweep = Self { root: root.to_path_buf(), header, runs };
        if root.join(PLAN).exists() {
            let there = Self::open(root)?;
            there.usable()?;
            if there.runs == sweep.runs {
                return Ok(there);
            }
            sweep.must_hold(&there)?;
        }
        sweep.write()?;
        Ok(sweep)
    }

    fn must_hold(&self, there: &Self) -> Result<(), LabError> {
        let ours: std::collections::BTreeSet<&str> = self.runs.iter().map(|run| run.id.as_str()).collect();
        match there.runs.iter().find(|run| !ours.contains(run.id.as_str())) {
            None => Ok(()),
            Some(run) => Err(LabError::Usage(format!(
                "{} holds another sweep ({}, scale {}, {} runs), in which `{}` is a run that this one does not have; nothing was changed. Choose another directory with --out",
                self.root.display(),
                there.header.name,
                there.header.scale,
                there.runs.len(),
                run.plan.label()
            ))),
        }
    }

    fn write(&self) -> Result<(), LabError> {
        let json = |error: serde_json::Error| LabError::Usage(error.to_string());
        let mut lines = Vec::new();
        for run in &self.runs {
            serde_json::to_writer(&mut lines, run).map_err(json)?;
            lines.push(b'\n');
        }
        write_whole(&self.root.join(RUNS), &lines)?;
        let mut text = serde_json::to_vec_pretty(&self.header).map_err(json)?;
        text.push(b'\n');
        write_whole(&self.root.join(PLAN), &text)
    }

    /// A sweep that is there.
    pub fn open(root: &Path) -> Result<Self, LabError> {
        let read = |name: &str| {
            let path = root.join(name);
            fs::read_to_string(&path).map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => LabError::Usage(format!(
                    "{} is no sweep: it has no {name} (`wug run EXPERIMENT --out DIR` makes one)",
                    root.display()
                )),
                _ => LabError::disk(&path)(error),
            })
        };
        let text = read(PLAN)?;
        let bad = |name: &str, message: String| {
            LabError::Usage(format!("{} cannot be read: {message}", root.join(name).display()))
        };
        let format = serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|v| v["format"].as_u64());
        if let Some(format) = format.filter(|format| *format != u64::from(PLAN_FORMAT)) {
            return Err(bad(
                PLAN,
                format!(
                    "its plan has format {format}, but wug {} reads format {PLAN_FORMAT}",
                    env!("CARGO_PKG_VERSION")
                ),
            ));
        }
        let header: Header = serde_json::from_str(&text).map_err(|error| bad(PLAN, error.to_string()))?;
        let mut runs = Vec::new();
        for (i, line) in read(RUNS)?.lines().enumerate() {
            let run: Listed =
                serde_json::from_str(line).map_err(|error| bad(RUNS, format!("line {}: {error}", i + 1)))?;
            runs.push(run);
        }
        Ok(Self { root: root.to_path_buf(), header, runs })
    }

    /// Results of two versions in one sweep would be compared with each other: only the version that made it goes on.
    pub fn usable(&self) -> Result<(), LabError> {
        let ours = env!("CARGO_PKG_VERSION");
        if self.header.version != ours {
            return Err(LabError::Usage(format!(
                "{} was made by wug {}, and this is wug {ours}: go on with that version, or begin in another directory. It can still be reported on",
                self.root.display(),
                self.header.version
            )));
        }
        Ok(())
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn result_path(&self, id: &str) -> PathBuf {
        self.root.join("results").join(format!("{id}.json"))
    }

    pub(crate) fn checkpoint_path(&self, id: &str) -> PathBuf {
        self.root.join("checkpoints").join(id)
    }

    /// Claims a run, if nobody else is at it and it is not done.
    pub(crate) fn claim(&self, id: &str) -> Result<Option<Claim>, LabError> {
        if self.result_path(id).exists() {
            return Ok(None);
        }
        let path = self.root.join("claims").join(id);
        let mut lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(LabError::disk(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(LabError::disk(&path)(error)),
        }
        // Whoever held it before may have finished it in the meantime.
        if self.result_path(id).exists() {
            return Ok(None);
        }
        // For those who look at the directory; the lock is what counts.
        let _ = lock.set_len(0).and_then(|()| writeln!(lock, "process {}", std::process::id()));
        Ok(Some(Claim { _lock: lock }))
    }

    /// Keeps a result, and lets go of what is not needed any more.
    pub(crate) fn keep(&self, result: &RunResult, log: &serde_json::Value) -> Result<(), LabError> {
        let id = &result.run.plan;
        let text = result.to_text().map_err(|error| LabError::Usage(error.to_string()))?;
        let log = format!("{log:#}\n");
        write_whole(&self.root.join("logs").join(format!("{id}.json")), log.as_bytes())?;
        write_whole(&self.result_path(id), text.as_bytes())?;
        let _ = fs::remove_file(self.checkpoint_path(id));
        let _ = fs::remove_file(self.root.join("claims").join(id));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
