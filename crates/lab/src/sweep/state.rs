//! How far a sweep has come, and setting aside what went wrong.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;

use wug_score::{Ending, RunResult};

use super::{PlannedRun, Sweep};
use crate::LabError;

/// How far one run has come.
#[derive(Clone, Debug, PartialEq)]
pub enum RunState {
    /// It is over.
    Done(Box<RunResult>),
    /// There is a file where its result should be, but it is none.
    Broken(String),
    /// Somebody is at it.
    Running,
    /// It was begun, and nobody is at it.
    Interrupted,
    /// It was not begun.
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
        match fs::read_to_string(&path) {
            Ok(text) => {
                return Ok(match RunResult::from_text(&text) {
                    Ok(result) if result.run.plan == id => RunState::Done(Box::new(result)),
                    Ok(result) => RunState::Broken(format!(
                        "{} is the result of run {}",
                        path.display(),
                        result.run.plan
                    )),
                    Err(error) => RunState::Broken(format!("{}: {error}", path.display())),
                });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::IsADirectory) => {
                return Ok(RunState::Broken(format!("{}: not a result: {error}", path.display())));
            }
            Err(error) => return Err(LabError::disk(&path)(error)),
        }
        let claim = self.root.join("claims").join(id);
        // Shared: those who look do not keep each other from seeing.
        let held = File::open(&claim)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
        Ok(if held {
            RunState::Running
        } else if self.checkpoint_path(id).exists() {
            RunState::Interrupted
        } else {
            RunState::Waiting
        })
    }

    /// Sets aside the results that are failures or no results at all, so that their runs are done again. Nothing is
    /// deleted: they go to `aside/`.
    pub fn retry(&self) -> Result<Vec<PlannedRun>, LabError> {
        self.usable()?;
        let mut again = Vec::new();
        for (run, state) in self.status()?.runs {
            let failed = match state {
                RunState::Broken(_) => true,
                RunState::Done(result) => matches!(result.ending, Ending::Failed { .. }),
                _ => false,
            };
            if failed {
                let aside = self.root.join("aside");
                fs::create_dir_all(&aside).map_err(LabError::disk(&aside))?;
                let mut to = aside.join(format!("{}.json", run.id));
                for n in 1.. {
                    if !to.exists() {
                        break;
                    }
                    to = aside.join(format!("{}.{n}.json", run.id));
                }
                let from = self.result_path(&run.id);
                fs::rename(&from, &to).map_err(LabError::disk(&from))?;
                again.push(run);
            }
        }
        Ok(again)
    }
}
