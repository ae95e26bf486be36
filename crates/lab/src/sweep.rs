//! A sweep is a directory: what is to be done, who is at it, and what came out.
//!
//! ```text
//! plan.json            what the sweep is, and who made it
//! runs.jsonl           every run, one line each
//! claims/<id>          locked while somebody does the run
//! checkpoints/<id>     a run between two epochs, and in <id>.spent the time it has taken so far
//! results/<id>.json    what came out: only what the plan determines
//! logs/<id>.json       when, where and how long
//! ```
//!
//! A claim is a file lock, which the system takes back when its holder dies; a result appears whole or not at all. So any
//! number of workers may work on one directory, be killed at any moment and begin again.

mod state;

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wug_score::RunResult;

use crate::LabError;
use crate::disk::{is_part, write_whole};
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
const FOLDERS: [&str; 4] = ["claims", "checkpoints", "results", "logs"];

/// A run that is ours to do, until this is dropped or the process dies.
#[derive(Debug)]
pub(crate) struct Claim {
    _lock: File,
}

impl Sweep {
    /// Begins a sweep, or goes on with the same one. A directory that holds fewer runs of the same kind grows; one that
    /// holds other runs is left alone.
    pub fn begin(root: &Path, experiment: &Experiment) -> Result<Self, LabError> {
        nothing_else_in(root)?;
        for folder in FOLDERS {
            let path = root.join(folder);
            fs::create_dir_all(&path).map_err(LabError::disk(&path))?;
        }
        // Two that begin the same sweep at once take turns.
        let path = root.join("claims").join("plan");
        let lock = File::create(&path).map_err(LabError::disk(&path))?;
        lock.lock().map_err(LabError::disk(&path))?;
        let runs: Vec<PlannedRun> =
            experiment.runs.iter().map(|plan| PlannedRun { id: plan.id(), plan: plan.clone() }).collect();
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
            let there = Self { root: root.to_path_buf(), header: header_in(root)?, runs: Vec::new() };
            there.usable()?;
            match runs_in(root, &there.header) {
                Ok(runs) if runs == sweep.runs => return Ok(Self { runs, ..there }),
                Ok(runs) => sweep.must_hold(&Self { runs, ..there })?,
                // The list is lost, but what came out of it is all ours: it is written again.
                Err(LabError::Usage(_)) if sweep.owns(&sweep.ended()?) => {}
                Err(error) => return Err(error),
            }
        }
        sweep.write()?;
        Ok(sweep)
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
        ids.iter().all(|id| self.runs.iter().any(|run| run.id == *id))
    }

    fn must_hold(&self, there: &Self) -> Result<(), LabError> {
        let ours: BTreeSet<&str> = self.runs.iter().map(|run| run.id.as_str()).collect();
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
            let line = serde_json::to_string(run).map_err(json)?;
            if !serde_json::from_str(&line).is_ok_and(|again: PlannedRun| again == *run) {
                let message =
                    format!("the plan of `{}` would not be read back as it is: {line}", run.plan.label());
                return Err(LabError::Usage(message));
            }
            lines.extend_from_slice(line.as_bytes());
            lines.push(b'\n');
        }
        write_whole(&self.root.join(RUNS), &lines)?;
        let mut text = serde_json::to_vec_pretty(&self.header).map_err(json)?;
        text.push(b'\n');
        write_whole(&self.root.join(PLAN), &text)
    }

    /// A sweep that is there.
    pub fn open(root: &Path) -> Result<Self, LabError> {
        let header = header_in(root)?;
        Ok(Self { root: root.to_path_buf(), runs: runs_in(root, &header)?, header })
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

    /// Where the time that an unfinished run has taken is noted.
    pub(crate) fn spent_path(&self, id: &str) -> PathBuf {
        self.root.join("checkpoints").join(format!("{id}.spent"))
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
        if !locked(&lock).map_err(LabError::disk(&path))? {
            return Ok(None);
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
        let _ = fs::remove_file(self.spent_path(id));
        let _ = fs::remove_file(self.root.join("claims").join(id));
        Ok(())
    }
}

/// Whether a lock could be had. Somebody who only looks holds it for an instant, so it is tried a few times.
fn locked(file: &File) -> std::io::Result<bool> {
    for _ in 0..5 {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

/// Refuses a directory that has something in it and is no sweep, nor the beginning of one.
fn nothing_else_in(root: &Path) -> Result<(), LabError> {
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(LabError::disk(root))?,
    };
    let names: Vec<String> =
        entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect();
    let ours = |name: &str| FOLDERS.contains(&name) || name == RUNS || is_part(name);
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

fn read(root: &Path, name: &str) -> Result<String, LabError> {
    let path = root.join(name);
    fs::read_to_string(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => LabError::Usage(format!(
            "{} is no sweep: it has no {name} (`wug run EXPERIMENT --out DIR` makes one)",
            root.display()
        )),
        std::io::ErrorKind::InvalidData => unreadable(root, name, &error.to_string()),
        _ => LabError::disk(&path)(error),
    })
}

fn unreadable(root: &Path, name: &str, message: &str) -> LabError {
    LabError::Usage(format!("{} cannot be read: {message}", root.join(name).display()))
}

fn header_in(root: &Path) -> Result<Header, LabError> {
    let text = read(root, PLAN)?;
    let format = serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|v| v["format"].as_u64());
    if let Some(format) = format.filter(|format| *format != u64::from(PLAN_FORMAT)) {
        let ours = env!("CARGO_PKG_VERSION");
        let message = format!("its plan has format {format}, but wug {ours} reads format {PLAN_FORMAT}");
        return Err(unreadable(root, PLAN, &message));
    }
    serde_json::from_str(&text).map_err(|error| unreadable(root, PLAN, &error.to_string()))
}

fn runs_in(root: &Path, header: &Header) -> Result<Vec<PlannedRun>, LabError> {
    let mut runs: Vec<PlannedRun> = Vec::new();
    for (i, line) in read(root, RUNS)?.lines().enumerate() {
        let bad = |message: String| unreadable(root, RUNS, &format!("line {}: {message}", i + 1));
        let run: PlannedRun = serde_json::from_str(line).map_err(|error| bad(error.to_string()))?;
        let id = run.plan.id();
        if run.id != id {
            return Err(bad(format!("the plan of run {} is that of run {id}", run.id)));
        }
        runs.push(run);
    }
    // While a sweep grows, its list is longer than its header says for a moment; it is never shorter.
    if runs.len() < header.runs {
        let message = format!("it lists {} of {} runs", runs.len(), header.runs);
        return Err(unreadable(root, RUNS, &message));
    }
    Ok(runs)
}

#[cfg(test)]
mod tests;
