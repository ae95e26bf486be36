//! Beginning a sweep, going on with it, and adding runs to it: all under one lock, so that nobody writes what they read before another
//! process changed it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use wug_learner::kernel::instruction_set;

use super::claim::{begin_lock, is_there};
use super::header::{header_in, made_by, runs_in};
use super::{
    BUILD, FOLDERS, Header, OTHERS, PLAN, PlannedRun, RUNS, Sweep, VERSION, make_folders, memory, tidy,
};
use crate::LabError;
use crate::disk::{is_part, read_own};
use crate::plan::PLAN_FORMAT;
use crate::spec::Experiment;

impl Sweep {
    /// Begins a sweep, or goes on with the same one. A directory that holds fewer runs of the same kind grows; one that
    /// holds other runs is left alone, unless they were [added](Self::add). A plan or a list of runs that is damaged is written
    /// again if all results belong to this experiment.
    pub fn begin(root: &Path, experiment: &Experiment) -> Result<Self, LabError> {
        // Before the directory is made: a sweep that does not fit into memory leaves nothing behind.
        let sweep = Self::planned(root, experiment)?;
        let _lock = prepare(root)?;
        sweep.begun()
    }

    /// Begins a sweep, or adds runs to one that is there, whatever its runs are.
    pub fn add(root: &Path, experiment: &Experiment) -> Result<Self, LabError> {
        let sweep = Self::planned(root, experiment)?;
        let _lock = prepare(root)?;
        if !is_there(&root.join(PLAN)) {
            return sweep.begun();
        }
        let mut there = Self::open(root)?;
        there.usable()?;
        let old: BTreeSet<String> = there.runs.iter().map(|run| run.id.clone()).collect();
        let new = sweep.runs.into_iter().filter(|run| !old.contains(&run.id));
        there.runs.extend(new.map(|run| PlannedRun { added: true, ..run }));
        if there.runs.len() > old.len() {
            there.header.runs = there.runs.len();
            there.write()?;
        }
        Ok(there)
    }

    /// The sweep of an experiment, before anything is read or written.
    fn planned(root: &Path, experiment: &Experiment) -> Result<Self, LabError> {
        let runs: Vec<PlannedRun> = experiment.runs.iter().map(PlannedRun::new).collect();
        memory::must_fit(&runs, memory::available())?;
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
        Ok(Self { root: root.to_path_buf(), header, runs })
    }

    /// Writes the sweep, unless it is there already or another one is.
    fn begun(mut self) -> Result<Self, LabError> {
        let there = if is_there(&self.root.join(PLAN)) { header_in(&self.root).map(Some) } else { Ok(None) };
        match there {
            Ok(Some(header)) => {
                let there = Self { root: self.root.clone(), header, runs: Vec::new() };
                there.usable()?;
                match runs_in(&self.root, there.header.runs) {
                    Ok(runs) => {
                        // Runs may be added, and none may go: reports would lose results that no list names.
                        self.must_hold(&runs, &format!(" ({})", there.describe()))?;
                        self.keep_added(&runs);
                        // Many processes may begin the same sweep: those that change nothing write nothing.
                        if runs == self.runs {
                            return Ok(Self { runs, ..there });
                        }
                    }
                    Err(error @ LabError::Corrupt { .. }) => self.may_replace(error)?,
                    Err(error) => return Err(error),
                }
            }
            Ok(None) => self.may_begin()?,
            Err(error @ LabError::Corrupt { .. }) => {
                // The list may be whole where the header is not. Runs that `wug score` added are in no experiment, only here.
                if let Ok(runs) = runs_in(&self.root, 0) {
                    self.keep_added(&runs);
                }
                self.may_replace(error)?;
                self.may_begin()?;
            }
            Err(error) => return Err(error),
        }
        self.write()?;
        Ok(self)
    }

    /// Takes over the runs that other commands added to what is there.
    fn keep_added(&mut self, there: &[PlannedRun]) {
        let ours: BTreeSet<&str> = self.runs.iter().map(|run| run.id.as_str()).collect();
        let added: Vec<PlannedRun> =
            there.iter().filter(|run| run.added && !ours.contains(run.id.as_str())).cloned().collect();
        self.runs.extend(added);
        self.header.runs = self.runs.len();
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
    fn may_begin(&mut self) -> Result<(), LabError> {
        if !is_there(&self.root.join(RUNS)) && self.ended()?.is_empty() {
            return Ok(());
        }
        match runs_in(&self.root, 0) {
            Ok(runs) => {
                self.must_hold(&runs, "")?;
                self.keep_added(&runs);
            }
            Err(error @ LabError::Corrupt { .. }) => self.may_replace(error)?,
            // Neither file is there: only the results can say whose sweep it was.
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
        match there.iter().find(|run| !run.added && !ours.contains(run.id.as_str())) {
            None => Ok(()),
            Some(run) => Err(LabError::Usage(format!(
                "{} holds another sweep{what}, in which `{}` is a run that this one does not have; nothing was changed. Choose another directory with --out",
                self.root.display(),
                run.plan.label()
            ))),
        }
    }
}

/// Makes the folders of a sweep, waits until no other process changes its list of runs, and removes what killed processes left.
fn prepare(root: &Path) -> Result<File, LabError> {
    nothing_else_in(root)?;
    // The lock is a file in one of them.
    make_folders(root)?;
    let lock = begin_lock(root)?;
    tidy(root);
    Ok(lock)
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
    // With a plan it is a sweep, whatever its user keeps beside it.
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
