//! Doing the runs of a sweep: one after the other, several at a time, by any number of processes.

use std::any::Any;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use wug_score::{Ending, FORMAT, RunResult};

use crate::LabError;
use crate::desk::Desk;
use crate::disk::write_whole;
use crate::plan::{RunPlan, Shelf};
use crate::sweep::{Listed, RunState, Sweep};

/// Somebody who looks on. Called from several threads.
pub trait Observer: Sync {
    /// A run begins at a desk (numbered from 0).
    fn begins(&self, desk: usize, run: &Listed);

    /// An epoch of the run at a desk is over.
    fn epoch(&self, desk: usize, done: usize, validation: f64);

    /// The run at a desk is about to judge a split.
    fn judging(&self, desk: usize, split: &str);

    /// A run is over.
    fn ends(&self, desk: usize, result: &RunResult, took: Duration, progress: Progress);
}

/// How far a sweep has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Runs that are over.
    pub done: usize,
    /// Runs in all.
    pub total: usize,
    /// About how long the rest will take.
    pub left: Duration,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs done here and now.
    pub done: usize,
    /// Runs among them that failed.
    pub failed: usize,
    /// Runs that others are at.
    pub elsewhere: usize,
}

/// How much of a sweep is done, to estimate the rest.
struct Pace {
    begun: Instant,
    left: f64,
    /// Done since then.
    here: f64,
    done: usize,
    total: usize,
}

impl Pace {
    fn over(&mut self, cost: f64) -> Progress {
        self.done += 1;
        self.here += cost;
        self.left = (self.left - cost).max(0.0);
        let left = self.begun.elapsed().mul_f64(self.left / self.here.max(f64::MIN_POSITIVE));
        Progress { done: self.done, total: self.total, left }
    }
}

/// How to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staff {
    /// Runs at a time.
    pub jobs: usize,
    /// Unfinished work is put away this often: what is lost when a process is killed is at most this much and an epoch.
    pub checkpoint: Duration,
}

impl Staff {
    /// So many runs at a time.
    pub fn new(jobs: usize) -> Self {
        Self { jobs, checkpoint: Duration::from_secs(20) }
    }
}

/// Works on a sweep until nothing is left that nobody is at. The first error of the disk ends the work; a run that fails or
/// diverges is a result.
pub fn work(sweep: &Sweep, staff: Staff, observer: &dyn Observer) -> Result<Tally, LabError> {
    sweep.usable()?;
    let status = sweep.status()?;
    if let Some((_, RunState::Broken(message))) =
        status.runs.iter().find(|(_, state)| matches!(state, RunState::Broken(_)))
    {
        return Err(LabError::Usage(format!(
            "{message}. `wug retry {}` sets it aside, and the run is done again",
            sweep.root().display()
        )));
    }
    let open = status.runs.iter().filter(|(_, state)| !matches!(state, RunState::Done(_)));
    let left: f64 = open.map(|(run, _)| run.plan.cost()).sum();
    let done = status.count(|state| matches!(state, RunState::Done(_)));
    let pace = Mutex::new(Pace { begun: Instant::now(), left, here: 0.0, done, total: sweep.runs.len() });
    let team = Team { sweep, observer, pace, stop: AtomicBool::new(false), every: staff.checkpoint };
    let tallies = std::thread::scope(|scope| {
        let desks: Vec<_> = (0..staff.jobs.max(1))
            .map(|desk| {
                scope.spawn({
                    let team = &team;
                    move || team.work(desk)
                })
            })
            .collect();
        desks
            .into_iter()
            .map(|desk| desk.join().unwrap_or_else(|panic| Err(broken(panic.as_ref()))))
            .collect::<Vec<_>>()
    });
    let mut sum = Tally::default();
    for tally in tallies {
        let tally = tally?;
        sum.done += tally.done;
        sum.failed += tally.failed;
    }
    sum.elsewhere = sweep.status()?.count(|state| !matches!(state, RunState::Done(_)));
    Ok(sum)
}

fn broken(panic: &(dyn Any + Send)) -> LabError {
    LabError::Usage(format!("a worker broke: {}", words(panic)))
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".to_owned())
}

struct Team<'a> {
    sweep: &'a Sweep,
    observer: &'a dyn Observer,
    pace: Mutex<Pace>,
    stop: AtomicBool,
    every: Duration,
}

impl Team<'_> {
    fn work(&self, desk: usize) -> Result<Tally, LabError> {
        let mut shelf = Shelf::default();
        let mut tally = Tally::default();
        for run in &self.sweep.runs {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let outcome = self.sweep.claim(&run.id).and_then(|claim| match claim {
                None => Ok(None),
                Some(_held) => self.execute(desk, run, &mut shelf).map(Some),
            });
            match outcome {
                Ok(None) => {}
                Ok(Some(failed)) => {
                    tally.done += 1;
                    tally.failed += usize::from(failed);
                }
                Err(error) => {
                    self.stop.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(tally)
    }

    /// Does a run that is ours, and says whether it failed.
    fn execute(&self, desk: usize, run: &Listed, shelf: &mut Shelf) -> Result<bool, LabError> {
        #[expect(clippy::disallowed_methods, reason = "this is the lab")]
        let (begun, clock) = (SystemTime::now(), Instant::now());
        let cpu = cpu_time::ThreadTime::now();
        self.observer.begins(desk, run);
        let mut at = Seat {
            observer: self.observer,
            desk,
            checkpoint: self.sweep.checkpoint_path(&run.id),
            saved: Instant::now(),
            every: self.every,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| run.plan.execute(shelf, &mut at)));
        let result = match outcome {
            Ok(Ok(result)) => result,
            Ok(Err(LabError::Disk { path, source })) => return Err(LabError::Disk { path, source }),
            Ok(Err(error)) => failed(&run.plan, error.to_string()),
            Err(panic) => failed(&run.plan, format!("wug itself broke: {}", words(panic.as_ref()))),
        };
        let took = clock.elapsed();
        self.sweep.keep(&result, &log(begun, took, cpu.elapsed()))?;
        let progress =
            self.pace.lock().unwrap_or_else(std::sync::PoisonError::into_inner).over(run.plan.cost());
        self.observer.ends(desk, &result, took, progress);
        Ok(matches!(result.ending, Ending::Failed { .. }))
    }
}

/// The result of a run that could not be done.
fn failed(plan: &RunPlan, message: String) -> RunResult {
    RunResult {
        format: FORMAT,
        run: plan.run(String::new()),
        plan: serde_json::to_value(plan).unwrap_or_default(),
        ending: Ending::Failed { message },
        parameters: None,
        data: Value::Null,
        curve: Vec::new(),
        scores: Vec::new(),
        hardest: Vec::new(),
        strings: Vec::new(),
    }
}

/// What differs between two runs of one plan.
fn log(begun: SystemTime, took: Duration, cpu: Duration) -> Value {
    let since = begun.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    json!({
        "begun": since.as_secs(),
        "seconds": took.as_secs_f64(),
        "cpu_seconds": cpu.as_secs_f64(),
        "host": fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()).ok(),
        "machine": std::env::consts::ARCH,
        "instructions": wug_learner::kernel::instruction_set(),
        "processors": std::thread::available_parallelism().map(usize::from).ok(),
    })
}

struct Seat<'a> {
    observer: &'a dyn Observer,
    desk: usize,
    checkpoint: PathBuf,
    saved: Instant,
    every: Duration,
}

impl Desk for Seat<'_> {
    fn taken_up(&mut self) -> Option<Vec<u8>> {
        fs::read(&self.checkpoint).ok()
    }

    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) {
        if self.saved.elapsed() < self.every {
            return;
        }
        self.saved = Instant::now();
        // Without it a kill costs more time; the result is the same.
        let _ = write_whole(&self.checkpoint, &bytes());
    }

    fn epoch(&mut self, done: usize, validation: f64) {
        self.observer.epoch(self.desk, done, validation);
    }

    fn judging(&mut self, split: &str) {
        self.observer.judging(self.desk, split);
    }
}
