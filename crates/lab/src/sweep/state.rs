//! How far a sweep has come, and setting aside what went wrong.

use std::fs::{File, TryLockError};
use std::time::Duration;

use wug_score::{Ending, RunResult};

use super::claim::{is_there, lock_done};
use super::{PlannedRun, Sweep, seal};
use crate::LabError;
use crate::disk::{open_own, read_own};
use crate::keep::Keep;

/// How far one run has come.
#[derive(Clone, Debug, PartialEq)]
pub enum RunState {
    Done(Box<RunResult>),
    /// There is something where its result should be, but it is no result, or a damaged one.
    Broken(String),
    /// A worker holds it.
    Running,
    /// It has a checkpoint, and no worker holds it.
    Interrupted,
    /// It has not begun.
    Waiting,
}

/// A sweep, run by run.
#[derive(Clone, Debug)]
pub struct Status {
    /// In the order of the plan.
    pub runs: Vec<(PlannedRun, RunState)>,
}

impl Status {
    /// How many runs are in a state.
    pub fn count(&self, is: impl Fn(&RunState) -> bool) -> usize {
        self.runs.iter().filter(|(_, state)| is(state)).count()
    }

    /// How many runs ended in this way, by the name of the ending.
    pub fn ended(&self, name: &str) -> usize {
        self.count(|state| matches!(state, RunState::Done(result) if result.ending.name() == name))
    }

    /// The results, in the order of the plan.
    pub fn results(self) -> Vec<RunResult> {
        let done = |(_, state)| if let RunState::Done(result) = state { Some(*result) } else { None };
        self.runs.into_iter().filter_map(done).collect()
    }
}

impl Sweep {
    /// How far every run has come.
    pub fn status(&self) -> Result<Status, LabError> {
        let state = |run: &PlannedRun| Ok((run.clone(), self.state(&run.id)?));
        Ok(Status { runs: self.runs.iter().map(state).collect::<Result<_, LabError>>()? })
    }

    /// How far a run has come.
    pub fn state(&self, id: &str) -> Result<RunState, LabError> {
        let path = self.result_path(id);
        // The result before the claim: a worker writes it while it still holds the lock.
        match read_own(&path) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                return Ok(match self.result(id, &bytes) {
                    Ok(result) => RunState::Done(Box::new(result)),
                    Err(message) => RunState::Broken(format!("{}: {message}", path.display())),
                });
            }
            // A link or a directory in its place: a state and no error, so that `wug retry` can set it aside.
            Err(error @ LabError::Corrupt { .. }) => return Ok(RunState::Broken(error.to_string())),
            Err(error) => return Err(error),
        }
        // Shared: several who look do not see each other as workers.
        let claim = open_own(&self.claim_path(id), File::options().read(true))?;
        let held = claim.is_some_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
        Ok(if held {
            RunState::Running
        } else if is_there(&self.checkpoint_path(id)) {
            RunState::Interrupted
        } else {
            RunState::Waiting
        })
    }

    fn result(&self, id: &str, bytes: &[u8]) -> Result<RunResult, String> {
        let sealed = str::from_utf8(bytes).map_err(|error| format!("not a result: {error}"))?;
        // A sweep without a build hash is older than checksums.
        let text = seal::open_result(sealed, !self.header.build.is_empty())?;
        let result = RunResult::from_text(&text).map_err(|error| error.to_string())?;
        if result.run.plan == id {
            Ok(result)
        } else {
            Err(format!("it is the result of run {}", result.run.plan))
        }
    }

    /// What was logged about a run that is over: time, host, build. `None` if there is no log that can be read.
    pub fn log(&self, id: &str) -> Option<serde_json::Value> {
        serde_json::from_slice(&read_own(&self.log_path(id)).ok()??).ok()
    }

    /// Moves the results that are failures or no results at all to `aside/`, so that their runs are done again.
    pub fn retry(&self) -> Result<Vec<PlannedRun>, LabError> {
        self.retry_keeping(Keep::default())
    }

    /// The same, also for results that lack some of what is to be kept beside them.
    pub fn retry_keeping(&self, keep: Keep) -> Result<Vec<PlannedRun>, LabError> {
        self.usable()?;
        self.make_folders()?;
        let mut again = Vec::new();
        for run in &self.runs {
            // Workers would not do an added run again, whatever it lacks.
            let keep = if run.added { Keep::default() } else { keep };
            if !self.is_due(&run.id, keep)? {
                continue;
            }
            let Some(_lock) = self.lock_result(&run.id)? else { continue };
            // Between the look and the lock, another `wug retry` and a worker may have done the run again.
            if self.is_due(&run.id, keep)? {
                self.set_aside(&self.result_path(&run.id), &run.id, "json")?;
                again.push(run.clone());
            }
        }
        Ok(again)
    }

    /// Whether a run has a result that is a failure, or none, or that lacks some of what is to be kept.
    fn is_due(&self, id: &str, keep: Keep) -> Result<bool, LabError> {
        Ok(match self.state(id)? {
            RunState::Broken(_) => true,
            RunState::Done(result) => {
                matches!(result.ending, Ending::Failed { .. }) || !self.has_kept(id, keep)
            }
            _ => false,
        })
    }

    /// The lock of a run that has a result; none if the result is gone. Its worker holds the lock for an instant after
    /// it has written the result.
    fn lock_result(&self, id: &str) -> Result<Option<File>, LabError> {
        // Half a second in all: the worker has only a few files to remove.
        for _ in 0..50 {
            if let Some(lock) = lock_done(&self.root, id)? {
                return Ok(Some(lock));
            }
            if !is_there(&self.result_path(id)) {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let path = self.claim_path(id);
        Err(LabError::corrupt(&path, "is held by a worker, though the run has a result: stop it, and retry"))
    }
}
