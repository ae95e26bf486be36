//! Doing the runs of a sweep: several at a time, by any number of processes.

mod pace;
mod run;

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use wug_score::RunResult;

use crate::LabError;
use crate::foreign::Learners;
use crate::keep::Keep;
use crate::plan::DataCache;
use crate::sweep::{PlannedRun, RunState, Sweep};
use pace::Pace;
use run::RunEnd;

/// Is told of progress, from several threads.
pub trait Observer: Sync {
    /// A worker (numbered from 0) begins a run.
    fn begins(&self, worker: usize, run: &PlannedRun);

    /// An epoch of a worker's run is over.
    fn epoch(&self, worker: usize, done: usize, validation: f64);

    /// A worker's run is about to evaluate a split.
    fn evaluating(&self, worker: usize, split: &str);

    /// A run is over.
    fn ends(&self, worker: usize, result: &RunResult, took: Duration, progress: Progress);

    /// Something that the user should know.
    fn note(&self, _message: &str) {}
}

/// How far a sweep has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Runs that are over.
    pub done: usize,
    pub total: usize,
    /// About how long the rest will take.
    pub left: TimeLeft,
}

/// An estimate of the time that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft {
    pub time: Duration,
    /// Whether there are runs beside of which nothing is known, because no run of their protocol has been timed.
    pub at_least: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkSummary {
    /// Runs done by this call.
    pub done: usize,
    /// Runs among them that failed.
    pub failed: usize,
    /// Runs that were stopped in the middle because the process is to end.
    pub interrupted: usize,
    /// Runs among them that have a checkpoint; the others start again.
    pub saved: usize,
    /// Runs that are held by other workers.
    pub elsewhere: usize,
    /// Runs that are not done and that no worker holds.
    pub waiting: usize,
}

#[derive(Clone)]
pub struct WorkerOptions {
    /// Runs at a time.
    pub jobs: usize,
    /// How often checkpoints are saved: a process that is killed loses at most this much and a step.
    pub checkpoint: Duration,
    /// Once this is set, every run saves a checkpoint and stops.
    pub stop: Arc<AtomicBool>,
    /// What is kept beside the results.
    pub keep: Keep,
    /// The learners of this program, by name.
    pub learners: Learners,
    /// The ids of the runs to do; if none are named, all but those that another command added.
    pub only: Option<BTreeSet<String>>,
}

impl std::fmt::Debug for WorkerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerOptions")
            .field("jobs", &self.jobs)
            .field("keep", &self.keep)
            .finish_non_exhaustive()
    }
}

impl WorkerOptions {
    /// So many runs at a time.
    pub fn new(jobs: usize) -> Self {
        Self {
            jobs,
            // Each checkpoint is synced to the disk: more of them would slow short runs, and 20 seconds are a small loss.
            checkpoint: Duration::from_secs(20),
            stop: Arc::default(),
            keep: Keep::default(),
            learners: Learners::default(),
            only: None,
        }
    }
}

/// Works on a sweep until every run is done or held by another worker. The first error of the disk ends the work; a run
/// that fails or diverges is a result.
pub fn work(sweep: &Sweep, options: WorkerOptions, observer: &dyn Observer) -> Result<WorkSummary, LabError> {
    sweep.usable()?;
    sweep.make_folders()?;
    // Before any work: what is broken may be all that is left of hours, and only the user can say that it may go.
    for (run, state) in sweep.status()?.runs {
        if let RunState::Broken(message) = state {
            let root = sweep.root().display();
            let problem =
                format!("is broken ({message}). `wug retry {root}` sets it aside, and the run is done again");
            return Err(LabError::corrupt(&sweep.result_path(&run.id), problem));
        }
    }
    let WorkerOptions { jobs, checkpoint, stop, keep, learners, only } = options;
    let pace = Pace::begin(sweep)?;
    let failed = AtomicBool::new(false);
    let pool = WorkerPool {
        sweep,
        observer,
        pace,
        failed,
        stop,
        every: checkpoint,
        keep,
        learners,
        only,
        unkept: Mutex::default(),
    };
    let mut sum = WorkSummary::default();
    for summary in pool.all(jobs) {
        let summary = summary?;
        sum.done += summary.done;
        sum.failed += summary.failed;
        sum.interrupted += summary.interrupted;
        sum.saved += summary.saved;
    }
    for (run, state) in sweep.status()?.runs {
        if pool.is_due(&run) {
            sum.elsewhere += usize::from(matches!(state, RunState::Running));
            sum.waiting += usize::from(matches!(state, RunState::Waiting | RunState::Interrupted));
        }
    }
    Ok(sum)
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".to_owned())
}

struct WorkerPool<'a> {
    sweep: &'a Sweep,
    observer: &'a dyn Observer,
    pace: Pace,
    /// A worker met an error that concerns all of them.
    failed: AtomicBool,
    stop: Arc<AtomicBool>,
    every: Duration,
    keep: Keep,
    learners: Learners,
    only: Option<BTreeSet<String>>,
    /// The learners without a model that can be kept, of which the observer was told.
    unkept: Mutex<BTreeSet<String>>,
}

impl WorkerPool<'_> {
    /// Lets all workers work, the calling thread among them. If the system gives fewer threads, fewer workers do it all.
    fn all(&self, jobs: usize) -> Vec<Result<WorkSummary, LabError>> {
        thread::scope(|scope| {
            let mut others = Vec::new();
            for worker in 1..jobs {
                match thread::Builder::new().spawn_scoped(scope, move || self.work(worker)) {
                    Ok(handle) => others.push(handle),
                    Err(error) => {
                        self.observer.note(&format!(
                            "the system gives no more threads ({error}): {worker} of {jobs} runs at a time"
                        ));
                        break;
                    }
                }
            }
            // Caught like those of other threads: a panic here would leave the scope and lose what the others return.
            let first = catch_unwind(AssertUnwindSafe(|| self.work(0)));
            let others = others.into_iter().map(thread::ScopedJoinHandle::join);
            let broken = |panic: Box<dyn Any + Send>| {
                Err(LabError::Internal(format!("a worker broke: {}", words(panic.as_ref()))))
            };
            std::iter::once(first).chain(others).map(|end| end.unwrap_or_else(broken)).collect()
        })
    }

    /// Whether a run is among those to do.
    fn is_due(&self, run: &PlannedRun) -> bool {
        self.only.as_ref().map_or(!run.added, |only| only.contains(&run.id))
    }

    fn ending(&self) -> bool {
        // Relaxed is enough: nothing is read because of these flags, and a late look costs one more step.
        self.failed.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    fn work(&self, worker: usize) -> Result<WorkSummary, LabError> {
        let mut cache = DataCache::default();
        let mut summary = WorkSummary::default();
        // Other workers may have released runs since: pass again until there is nothing to be had.
        loop {
            let before = summary.done;
            self.pass(worker, &mut cache, &mut summary)
                .inspect_err(|_| self.failed.store(true, Ordering::Relaxed))?;
            if summary.done == before || self.ending() {
                return Ok(summary);
            }
        }
    }

    /// Does every run that can be had, one after the other; those that have died before come last.
    fn pass(&self, worker: usize, cache: &mut DataCache, summary: &mut WorkSummary) -> Result<(), LabError> {
        // Once per pass: the folder has a file for each run that is under way or died.
        let deaths = self.sweep.deaths()?;
        let mut runs: Vec<&PlannedRun> = self.sweep.runs.iter().collect();
        runs.retain(|run| self.is_due(run));
        // A stable sort: other runs stay in the order of the plan, in which those on the same data follow each other.
        runs.sort_by_key(|run| deaths.get(&run.id).copied().unwrap_or(0));
        for run in runs {
            if self.ending() {
                break;
            }
            // Held to the end of the loop's body: results are written under the claim.
            let Some(_held) = self.sweep.claim(&run.id)? else { continue };
            match self.execute(worker, run, cache)? {
                RunEnd::Done => summary.done += 1,
                RunEnd::Failed => {
                    summary.done += 1;
                    summary.failed += 1;
                }
                RunEnd::Interrupted => {
                    summary.interrupted += 1;
                    summary.saved += usize::from(self.sweep.checkpoint_path(&run.id).is_file());
                }
                RunEnd::Postponed => {}
            }
        }
        Ok(())
    }
}
