//! `plan.json` and `runs.jsonl`: what a sweep is, which build made it, and the list of its runs.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wug_learner::kernel::instruction_set;

use super::{PLAN, PlannedRun, RUNS};
use crate::LabError;
use crate::disk::read_own;
use crate::plan::PLAN_FORMAT;
use crate::spec::Scale;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The build: a hash over the sources that results depend on. Two builds of one version can compute different numbers.
pub const BUILD: &str = env!("WUG_BUILD");

/// What a sweep is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The format of the plans.
    pub format: u32,
    /// The version of wug that made it.
    pub version: String,
    /// The build of wug that made it; empty if it is older than build hashes.
    #[serde(default)]
    pub build: String,
    /// The instruction set of the kernels on the machine that made it.
    #[serde(default)]
    pub instructions: String,
    pub name: String,
    pub title: String,
    pub about: String,
    /// The scale of the experiment.
    pub scale: String,
    /// What was changed with `--set`, as typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    pub runs: usize,
}

impl Header {
    /// What made the sweep.
    pub fn made_by(&self) -> String {
        made_by(&self.version, &self.build, &self.instructions)
    }

    /// What is to be known of the sweep beside its title and scale, a line each: what was changed, and the experiment's description,
    /// which is of the experiment at full scale as it is in its file.
    pub fn lines(&self) -> Vec<String> {
        let changed = (!self.changes.is_empty()).then(|| format!("changed: {}", self.changes.join(" ")));
        let whole = self.changes.is_empty() && self.scale == Scale::Paper.name();
        let about = Some(self.about.trim()).filter(|about| !about.is_empty());
        let about = about.map(|about| {
            if whole { about.to_owned() } else { format!("The experiment in full, at scale paper: {about}") }
        });
        changed.into_iter().chain(about).collect()
    }

    /// Whether this program made the sweep.
    pub(super) fn is_ours(&self) -> bool {
        (self.version.as_str(), self.build.as_str()) == (VERSION, BUILD)
            // Kernels of another vector width add in another order: the last digits would differ.
            && self.instructions == instruction_set()
    }
}

pub(super) fn made_by(version: &str, build: &str, instructions: &str) -> String {
    let or_unknown = |name: &str| if name.is_empty() { "unknown" } else { name }.to_owned();
    format!("wug {version}, build {}, on {}", or_unknown(build), or_unknown(instructions))
}

fn read(root: &Path, name: &str) -> Result<String, LabError> {
    let bytes = read_own(&root.join(name))?.ok_or_else(|| missing(root, name))?;
    String::from_utf8(bytes).map_err(|error| unreadable(root, name, &error.to_string()))
}

fn missing(root: &Path, name: &str) -> LabError {
    let other = if name == PLAN { RUNS } else { PLAN };
    if root.join(other).symlink_metadata().is_ok() {
        return LabError::corrupt(&root.join(name), format!("is missing; {}", remedy(root)));
    }
    LabError::Usage(format!(
        "{} is no sweep: it has no {name} (`wug run EXPERIMENT --out DIR` makes one)",
        root.display()
    ))
}

fn unreadable(root: &Path, name: &str, message: &str) -> LabError {
    LabError::corrupt(&root.join(name), format!("cannot be read: {message}; {}", remedy(root)))
}

fn remedy(root: &Path) -> String {
    format!(
        "`wug run` of the same experiment with --out {} writes it again and keeps all results",
        root.display()
    )
}

pub(super) fn header_in(root: &Path) -> Result<Header, LabError> {
    let text = read(root, PLAN)?;
    // The format alone first: the header of another version need not have our fields.
    let format = serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|v| v["format"].as_u64());
    // It is not damaged: another version made it, and may read it.
    if let Some(format) = format.filter(|format| *format != u64::from(PLAN_FORMAT)) {
        return Err(LabError::Usage(format!(
            "{} cannot be read: its plan has format {format}, but wug {VERSION} reads format {PLAN_FORMAT}",
            root.join(PLAN).display()
        )));
    }
    serde_json::from_str(&text).map_err(|error| unreadable(root, PLAN, &error.to_string()))
}

/// Reads `runs.jsonl`, which lists at least so many runs. A run that is listed twice is one run.
pub(super) fn runs_in(root: &Path, at_least: usize) -> Result<Vec<PlannedRun>, LabError> {
    let mut runs: Vec<PlannedRun> = Vec::new();
    let mut ids = BTreeSet::new();
    for (i, line) in read(root, RUNS)?.lines().enumerate() {
        let bad = |message: String| unreadable(root, RUNS, &format!("line {}: {message}", i + 1));
        let run: PlannedRun = serde_json::from_str(line).map_err(|error| bad(error.to_string()))?;
        let id = run.plan.id();
        // Computed again: a line that was edited by hand would be run under the id of another plan.
        if run.id != id {
            return Err(bad(format!("the plan of run {} is that of run {id}", run.id)));
        }
        if ids.insert(id) {
            runs.push(run);
        }
    }
    // While a sweep grows, its list is longer than its header says for a moment; it is never shorter.
    if runs.len() < at_least {
        return Err(unreadable(root, RUNS, &format!("it lists {} of {at_least} runs", runs.len())));
    }
    Ok(runs)
}
