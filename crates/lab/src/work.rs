//! Doing the runs of a sweep: one after the other, several at a time, by any number of processes.

use std::any::Any;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wug_score::{Ending, RunResult};

use crate::LabError;
use crate::context::RunContext;
use crate::disk::write_whole;
use crate::plan::{DataCache, RunPlan};
use crate::protocol::Outcome;
use crate::sweep::{PlannedRun, RunState, Sweep};

/// Somebody who looks on. Called from several threads.
pub trait Observer: Sync {
    /// A run begins at a context (numbered from 0).
    fn begins(&self, context: usize, run: &PlannedRun);

    /// An epoch of the run at a context is over.
    fn epoch(&self, context: usize, done: usize, validation: f64);

    /// The run at a context is about to judge a split.
    fn judging(&self, context: usize, split: &str);

    /// A run is over.
    fn ends(&self, context: usize, result: &RunResult, took: Duration, progress: Progress);
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
    /// Runs that are not done and that nobody is at: somebody let go of them at the last moment.
    pub waiting: usize,
}

/// How much of a sweep there was to do when work began, to estimate the rest.
struct Pace {
    begun: Instant,
    open: f64,
}

impl Pace {
    fn begin(sweep: &Sweep) -> Result<Self, LabError> {
        Ok(Self { begun: Instant::now(), open: open(sweep)?.1 })
    }

    /// How far all who work on the sweep have come together.
    fn progress(&self, sweep: &Sweep) -> Result<Progress, LabError> {
        let (runs, cost) = open(sweep)?;
        let done = (self.open - cost).max(f64::MIN_POSITIVE);
        let left = Duration::try_from_secs_f64(self.begun.elapsed().as_secs_f64() * cost / done);
        let total = sweep.runs.len();
        Ok(Progress { done: total - runs, total, left: left.unwrap_or(Duration::MAX) })
    }
}

/// How many runs have no result yet, and what they cost.
fn open(sweep: &Sweep) -> Result<(usize, f64), LabError> {
    let ended = sweep.ended()?;
    let open = sweep.runs.iter().filter(|run| !ended.contains(&run.id));
    Ok(open.fold((0, 0.0), |(runs, cost), run| (runs + 1, cost + run.plan.cost())))
}

/// How to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerOptions {
    /// Runs at a time.
    pub jobs: usize,
    /// Unfinished work is put away this often: what is lost when a process is killed is at most this much and an epoch.
    pub checkpoint: Duration,
}

impl WorkerOptions {
    /// So many runs at a time.
    pub fn new(jobs: usize) -> Self {
        Self { jobs, checkpoint: Duration::from_secs(20) }
    }
}

/// Works on a sweep until nothing is left that nobody is at. The first error of the disk ends the work; a run that fails or
/// diverges is a result.
pub fn work(sweep: &Sweep, staff: WorkerOptions, observer: &dyn Observer) -> Result<Tally, LabError> {
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
    let pace = Pace::begin(sweep)?;
    let team = WorkerPool { sweep, observer, pace, stop: AtomicBool::new(false), every: staff.checkpoint };
    let tallies = std::thread::scope(|scope| {
        let desks: Vec<_> = (0..staff.jobs.max(1))
            .map(|context| {
                scope.spawn({
                    let team = &team;
                    move || team.work(context)
                })
            })
            .collect();
        desks
            .into_iter()
            .map(|context| context.join().unwrap_or_else(|panic| Err(broken(panic.as_ref()))))
            .collect::<Vec<_>>()
    });
    let mut sum = Tally::default();
    for tally in tallies {
        let tally = tally?;
        sum.done += tally.done;
        sum.failed += tally.failed;
    }
    let status = sweep.status()?;
    sum.elsewhere = status.count(|state| matches!(state, RunState::Running));
    sum.waiting = status.count(|state| matches!(state, RunState::Waiting | RunState::Interrupted));
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

struct WorkerPool<'a> {
    sweep: &'a Sweep,
    observer: &'a dyn Observer,
    pace: Pace,
    stop: AtomicBool,
    every: Duration,
}

impl WorkerPool<'_> {
    fn work(&self, context: usize) -> Result<Tally, LabError> {
        let mut cache = DataCache::default();
        let mut tally = Tally::default();
        // What somebody else was at may have been let go since: look again until there is nothing to be had.
        loop {
            let before = tally.done;
            self.pass(context, &mut cache, &mut tally)?;
            if tally.done == before {
                return Ok(tally);
            }
        }
    }

    /// Does every run that can be had, one after the other.
    fn pass(&self, context: usize, cache: &mut DataCache, tally: &mut Tally) -> Result<(), LabError> {
        for run in &self.sweep.runs {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let outcome = self.sweep.claim(&run.id).and_then(|claim| match claim {
                None => Ok(None),
                Some(_held) => self.execute(context, run, cache).map(Some),
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
        Ok(())
    }

    /// Does a run that is ours, and says whether it failed.
    fn execute(&self, context: usize, run: &PlannedRun, cache: &mut DataCache) -> Result<bool, LabError> {
        #[expect(clippy::disallowed_methods, reason = "this is the lab")]
        let begun = SystemTime::now();
        let timer = RunTimer::begin(self.sweep.spent_path(&run.id));
        self.observer.begins(context, run);
        let mut at = WorkerContext {
            observer: self.observer,
            context,
            checkpoint: self.sweep.checkpoint_path(&run.id),
            timer: &timer,
            saved: Instant::now(),
            every: self.every,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| run.plan.execute(cache, &mut at)));
        let result = match outcome {
            Ok(Ok(result)) => result,
            Ok(Err(LabError::Disk { path, source })) => return Err(LabError::Disk { path, source }),
            Ok(Err(error)) => failed(&run.plan, error.to_string()),
            Err(panic) => failed(&run.plan, format!("wug itself broke: {}", words(panic.as_ref()))),
        };
        self.sweep.keep(&result, &log(begun, &timer.spent()))?;
        self.observer.ends(context, &result, timer.clock.elapsed(), self.pace.progress(self.sweep)?);
        Ok(matches!(result.ending, Ending::Failed { .. }))
    }
}

/// The result of a run that could not be done.
fn failed(plan: &RunPlan, message: String) -> RunResult {
    let outcome = Outcome {
        ending: Ending::Failed { message },
        parameters: None,
        data: Value::Null,
        curve: Vec::new(),
        scores: Vec::new(),
        hardest: Vec::new(),
        strings: Vec::new(),
    };
    plan.result(String::new(), outcome)
}

/// What differs between two runs of one plan.
fn log(begun: SystemTime, spent: &Spent) -> Value {
    let since = begun.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    json!({
        "begun": since.as_secs(),
        "seconds": spent.seconds,
        "cpu_seconds": spent.cpu_seconds,
        "sittings": spent.sittings,
        "host": fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()).ok(),
        "machine": std::env::consts::ARCH,
        "instructions": wug_learner::kernel::instruction_set(),
        "processors": std::thread::available_parallelism().map(usize::from).ok(),
    })
}

/// What a run has taken so far, in all its sittings. Of a timer that was killed, what came after its last checkpoint is
/// not counted: that work was lost.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Spent {
    seconds: f64,
    cpu_seconds: f64,
    sittings: usize,
}

/// Working at a run without a break.
struct RunTimer {
    clock: Instant,
    cpu: cpu_time::ThreadTime,
    before: Spent,
    /// Where the time is noted beside the checkpoint.
    path: PathBuf,
}

impl RunTimer {
    fn begin(path: PathBuf) -> Self {
        let before = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let (clock, cpu) = (Instant::now(), cpu_time::ThreadTime::now());
        Self { clock, cpu, before: before.unwrap_or_default(), path }
    }

    fn spent(&self) -> Spent {
        Spent {
            seconds: self.before.seconds + self.clock.elapsed().as_secs_f64(),
            cpu_seconds: self.before.cpu_seconds + self.cpu.elapsed().as_secs_f64(),
            sittings: self.before.sittings + 1,
        }
    }
}

struct WorkerContext<'a> {
    observer: &'a dyn Observer,
    context: usize,
    checkpoint: PathBuf,
    timer: &'a RunTimer,
    saved: Instant,
    every: Duration,
}

impl RunContext for WorkerContext<'_> {
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        fs::read(&self.checkpoint).ok()
    }

    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) {
        if self.saved.elapsed() < self.every {
            return;
        }
        self.saved = Instant::now();
        // Without it a kill costs more time; the result is the same.
        let _ = write_whole(&self.checkpoint, &bytes());
        let _ = write_whole(&self.timer.path, json!(self.timer.spent()).to_string().as_bytes());
    }

    fn epoch(&mut self, done: usize, validation: f64) {
        self.observer.epoch(self.context, done, validation);
    }

    fn judging(&mut self, split: &str) {
        self.observer.judging(self.context, split);
    }
}
