//! One run of a worker: its attempt, its checkpoints, its time, its result.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wug_score::{Ending, FORMAT, RunResult};

use super::{Observer, WorkerPool, words};
use crate::LabError;
use crate::context::RunContext;
use crate::disk::{read_own, write_own};
use crate::foreign::{Host, Learners};
use crate::keep::{self, Keep};
use crate::plan::{DataCache, RunPlan};
use crate::sweep::{
    Attempt, BUILD, MAX_DEATHS, PlannedRun, Sweep, VERSION, open_checkpoint, seal_checkpoint,
};

/// How an attempt at a run ended.
pub(super) enum RunEnd {
    /// There is a result.
    Done,
    /// There is a result that says why there is none.
    Failed,
    /// The process is to end; the run goes on later.
    Interrupted,
    /// The run must run alone, and others are running.
    Postponed,
}

/// Training of at least so long is saved before evaluation begins.
const TRAINED: Duration = Duration::from_secs(5);

impl WorkerPool<'_> {
    /// Does a run that is claimed.
    pub(super) fn execute(
        &self,
        worker: usize,
        run: &PlannedRun,
        cache: &mut DataCache,
    ) -> Result<RunEnd, LabError> {
        let deaths = self.sweep.deaths_of(&run.id);
        // A run that died too often gets no attempt: its failure is recorded without running it again.
        let attempt = match deaths {
            MAX_DEATHS.. => None,
            _ => match self.sweep.attempt(&run.id)? {
                None => return Ok(RunEnd::Postponed),
                attempt => attempt,
            },
        };
        #[expect(clippy::disallowed_methods, reason = "the lab reads the clock, for logs")]
        let begun = SystemTime::now();
        let timer = RunTimer::begin(self.sweep.spent_path(&run.id));
        self.pace.run_begins(worker, run);
        self.observer.begins(worker, run);
        let result = match attempt {
            None => failed(&run.plan, died(deaths)),
            Some(attempt) => match self.result(worker, run, cache, &timer, &attempt)? {
                None => return Ok(RunEnd::Interrupted),
                Some(result) => result,
            },
        };
        self.sweep.keep(&result, &log(begun, &timer.spent()))?;
        self.observer.ends(worker, &result, timer.clock.elapsed(), self.pace.run_ended(worker, self.sweep)?);
        Ok(if matches!(result.ending, Ending::Failed { .. }) { RunEnd::Failed } else { RunEnd::Done })
    }

    /// The result of a run, unless it is interrupted.
    fn result(
        &self,
        worker: usize,
        run: &PlannedRun,
        cache: &mut DataCache,
        timer: &RunTimer,
        attempt: &Attempt,
    ) -> Result<Option<RunResult>, LabError> {
        let mut context = WorkerContext {
            sweep: self.sweep,
            observer: self.observer,
            worker,
            run,
            timer,
            saved: Instant::now(),
            every: self.every,
            stop: &self.stop,
            learners: &self.learners,
            keep: self.keep,
            kept: BTreeMap::new(),
            unkept: &self.unkept,
        };
        // A panic is an error in wug itself. It costs its run and not the others of the sweep.
        match catch_unwind(AssertUnwindSafe(|| run.plan.execute(cache, &mut context))) {
            Ok(Ok(result)) => {
                context.seal_kept().inspect_err(|_| attempt.undo())?;
                Ok(Some(result))
            }
            // The disk's fault and not the run's: it counts as no death, and the other workers stop too.
            Ok(Err(error @ LabError::Disk { .. })) => {
                attempt.undo();
                Err(error)
            }
            // If stops counted as deaths, three of them would fail the run.
            Ok(Err(LabError::Stopped)) => {
                attempt.undo();
                Ok(None)
            }
            Ok(Err(error)) => Ok(Some(failed(&run.plan, error.to_string()))),
            Err(panic) => Ok(Some(failed(&run.plan, format!("wug itself broke: {}", words(panic.as_ref()))))),
        }
    }
}

fn died(times: u32) -> String {
    format!(
        "its process ended {times} times before the run had saved any progress: it was killed, or the run needs more memory than there is; `wug retry` lets it run again"
    )
}

/// The result of a run that could not be done.
fn failed(plan: &RunPlan, message: String) -> RunResult {
    RunResult {
        format: FORMAT,
        run: plan.run(String::new()),
        plan: plan.untyped(),
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
fn log(begun: SystemTime, spent: &Spent) -> Value {
    let since = begun.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    json!({
        "version": VERSION,
        "build": BUILD,
        "begun": since.as_secs(),
        "seconds": spent.seconds,
        "cpu_seconds": spent.cpu_seconds,
        "starts": spent.starts,
        "host": fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()).ok(),
        "machine": std::env::consts::ARCH,
        "instructions": wug_learner::kernel::instruction_set(),
        "processors": std::thread::available_parallelism().map(usize::from).ok(),
    })
}

/// What a run has taken so far, by all processes. What a killed process did after its last checkpoint is not counted:
/// that work was lost.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Spent {
    seconds: f64,
    cpu_seconds: f64,
    /// How many times the run was started or resumed.
    starts: usize,
}

/// Measures the time of a run since it was started or resumed.
struct RunTimer {
    clock: Instant,
    // Of this thread alone: other workers of the process do other runs.
    cpu: cpu_time::ThreadTime,
    before: Spent,
    /// Where the time is noted beside the checkpoint.
    path: PathBuf,
}

impl RunTimer {
    fn begin(path: PathBuf) -> Self {
        // What cannot be read costs a figure in a log. It is no reason to fail.
        let before = read_own(&path).ok().flatten().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let (clock, cpu) = (Instant::now(), cpu_time::ThreadTime::now());
        Self { clock, cpu, before: before.unwrap_or_default(), path }
    }

    fn spent(&self) -> Spent {
        Spent {
            seconds: self.before.seconds + self.clock.elapsed().as_secs_f64(),
            cpu_seconds: self.before.cpu_seconds + self.cpu.elapsed().as_secs_f64(),
            starts: self.before.starts + 1,
        }
    }
}

struct WorkerContext<'a> {
    sweep: &'a Sweep,
    observer: &'a dyn Observer,
    worker: usize,
    run: &'a PlannedRun,
    timer: &'a RunTimer,
    saved: Instant,
    every: Duration,
    stop: &'a Arc<AtomicBool>,
    learners: &'a Learners,
    keep: Keep,
    /// The files that are kept, with their checksums.
    kept: BTreeMap<String, String>,
    /// The learners without a model that can be kept, of which the observer was told.
    unkept: &'a Mutex<BTreeSet<String>>,
}

impl WorkerContext<'_> {
    fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says what is kept, before the result is there.
    fn seal_kept(self) -> Result<(), LabError> {
        if self.keep == Keep::default() {
            return Ok(());
        }
        if self.keep.models && !keep::has_model(self.kept.keys()) {
            self.say_unkept();
        }
        self.sweep.seal_kept(&self.run.id, self.keep, self.kept)
    }

    /// Says, once for each learner, that its models are not kept.
    fn say_unkept(&self) {
        let run = self.run.plan.run(String::new());
        let learner = run.coordinates.iter().find(|(name, _)| *name == "learner");
        let learner = learner.map_or_else(String::new, |(_, value)| value.to_string());
        let mut told = self.unkept.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(learner.clone()) {
            self.observer
                .note(&format!("`{learner}` has no model that wug could keep; its predictions can be"));
        }
    }

    /// Saves a checkpoint if the last one is at least so old, or the run is to stop.
    fn save(&mut self, age: Duration, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        let stopping = self.stopping();
        if self.saved.elapsed() < age && !stopping {
            return Ok(());
        }
        self.saved = Instant::now();
        // Without it a kill costs more time; the result is the same.
        let id = &self.run.id;
        let _ = write_own(&self.sweep.checkpoint_path(id), &seal_checkpoint(id, &bytes()));
        // After the checkpoint: a kill in between counts too little time, and never time whose work was lost.
        let _ = write_own(&self.timer.path, json!(self.timer.spent()).to_string().as_bytes());
        if stopping { Err(LabError::Stopped) } else { Ok(()) }
    }
}

impl RunContext for WorkerContext<'_> {
    /// A checkpoint that is damaged, or of another run, is set aside: the run starts again, with the same result.
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        let (id, path) = (&self.run.id, self.sweep.checkpoint_path(&self.run.id));
        let problem = match read_own(&path) {
            Ok(None) => return None,
            Ok(Some(file)) => match open_checkpoint(id, &file) {
                Ok(bytes) => return Some(bytes),
                Err(problem) => problem,
            },
            Err(error) => error.to_string(),
        };
        // Not deleted: it may show a fault of the disk or of wug.
        let to = match self.sweep.set_aside(&path, id, "checkpoint") {
            Ok(to) => format!("it was moved to {}", to.display()),
            Err(error) => error.to_string(),
        };
        self.observer.note(&format!(
            "{}: the checkpoint {} cannot be used ({problem}); {to}, and the run starts again",
            self.run.plan.label(),
            path.display()
        ));
        None
    }

    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        self.save(self.every, bytes)
    }

    fn trained(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        self.save(self.every.min(TRAINED), bytes)
    }

    fn epoch(&mut self, done: usize, validation: f64) {
        self.observer.epoch(self.worker, done, validation);
    }

    fn evaluating(&mut self, split: &str) -> Result<(), LabError> {
        if self.stopping() {
            return Err(LabError::Stopped);
        }
        self.observer.evaluating(self.worker, split);
        Ok(())
    }

    fn host(&self) -> Host {
        Host {
            stop: Arc::clone(self.stop),
            log: Some(self.sweep.stderr_path(&self.run.id)),
            learners: Arc::clone(self.learners),
        }
    }

    fn keeps(&self) -> Keep {
        self.keep
    }

    fn keep(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), LabError> {
        let checksum = self.sweep.write_kept(&self.run.id, name, bytes)?;
        self.kept.insert(name.to_owned(), checksum);
        Ok(())
    }
}
