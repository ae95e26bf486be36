//! Running experiments, with learners of Python's beside ours.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use serde_json::json;
use wug_lab::foreign::Learners;
use wug_lab::learners::Role;
use wug_lab::score::RunResult;
use wug_lab::spec::{Experiment, Planning, Scale};
use wug_lab::sweep::{PlannedRun, Sweep};
use wug_lab::work::{Observer, Progress, WorkerOptions, work};
use wug_lab::{Keep, LabError};

use crate::errors::{WugError, raised, usage};
use crate::learner::begin;

/// How often Python is asked whether a signal came.
const LOOK: Duration = Duration::from_millis(50);

/// Does something on another thread without the interpreter's lock, while this one watches for signals. `interrupt` is called
/// if one comes; the signal's exception is raised once all is over.
fn watched<T: Send + 'static>(
    py: Python<'_>,
    stop: &AtomicBool,
    interrupt: Option<&Py<PyAny>>,
    does: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let worker = thread::Builder::new()
        .name("wug".to_owned())
        .spawn(does)
        .map_err(|error| WugError::new_err(format!("the system gives no thread: {error}")))?;
    // Python handles signals on its main thread alone. So the work is on another, and this one looks.
    let mut interrupted = None;
    while !worker.is_finished() {
        py.detach(|| thread::sleep(LOOK));
        if let Err(error) = py.check_signals() {
            stop.store(true, Ordering::SeqCst);
            if let Some(interrupt) = interrupt {
                interrupt.call0(py)?;
            }
            interrupted = Some(error);
        }
    }
    let ended = py.detach(|| worker.join());
    match (interrupted, ended) {
        // The signal first: what was done until then is in the sweep.
        (Some(error), _) => Err(error),
        (None, Ok(value)) => Ok(value),
        (None, Err(_)) => Err(WugError::new_err("wug itself broke")),
    }
}

/// Tells Python of runs that are over.
struct Listener(Option<Py<PyAny>>);

impl Observer for Listener {
    fn begins(&self, _: usize, _: &PlannedRun) {}
    fn epoch(&self, _: usize, _: usize, _: f64) {}
    fn evaluating(&self, _: usize, _: &str) {}

    fn ends(&self, _: usize, result: &RunResult, took: Duration, progress: Progress) {
        let Some(tell) = &self.0 else { return };
        let coordinates: Vec<String> =
            result.run.coordinates.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let line = json!({
            "run": result.run.plan, "label": coordinates.join(", "), "seed": result.run.seed,
            "ending": result.ending.name(), "seconds": took.as_secs_f64(),
            "done": progress.done, "total": progress.total,
        });
        // Whoever listens must not stop a sweep.
        Python::attach(|py| drop(tell.call1(py, (line.to_string(),))));
    }
}

/// Learners by name. Tables and runs know learners by their names: each needs one of its own.
fn named(learners: Vec<(String, Py<PyAny>)>, stop: &Arc<AtomicBool>) -> PyResult<Learners> {
    let mut by_name = BTreeMap::new();
    for (name, make) in learners {
        if by_name.insert(name.clone(), begin(make, Arc::clone(stop))).is_some() {
            return Err(usage(format!(
                "two learners have the name `{name}`; give each a `name` of its own (an attribute of the class or the object)"
            )));
        }
    }
    Ok(Arc::new(by_name))
}

/// Runs an experiment; what came of it, as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub(crate) fn run(
    py: Python<'_>,
    experiment: String,
    text: Option<String>,
    out: PathBuf,
    scale: &str,
    sets: Vec<(String, String)>,
    jobs: usize,
    keep: Vec<String>,
    learners: Vec<(String, Py<PyAny>)>,
    tell: Option<Py<PyAny>>,
    interrupt: Option<Py<PyAny>>,
) -> PyResult<String> {
    let scale = Scale::named(scale)
        .ok_or_else(|| usage(format!("the scales are: {}", Scale::ALL.map(Scale::name).join(", "))))?;
    let keep = Keep::named(keep.iter().map(String::as_str))
        .map_err(|_| usage(format!("what can be kept is: {}", Keep::NAMES.join(", "))))?;
    let stop = Arc::new(AtomicBool::new(false));
    let learners = named(learners, &stop)?;
    let planning = Arc::clone(&stop);
    let options =
        WorkerOptions { stop: Arc::clone(&stop), keep, learners, ..WorkerOptions::new(jobs.max(1)) };
    // Planning as well as the runs: Ctrl-C must work while a command of a learner says hello.
    let done = watched(py, &stop, interrupt.as_ref(), move || {
        // Planning starts the commands of learners, which may take their time.
        let mut planning = Planning::stopped_by(planning);
        let experiment = match text {
            Some(text) => Experiment::read_with(&experiment, &text, scale, &sets, &mut planning),
            None => Experiment::load_with(&experiment, scale, &sets, &mut planning),
        }?;
        let sweep = Sweep::begin(&out, &experiment)?;
        let summary = work(&sweep, options, &Listener(tell))?;
        let status = sweep.status()?;
        Ok::<_, LabError>((summary, status.ended("failed")))
    })?;
    let (summary, failed) = done.map_err(raised)?;
    Ok(json!({ "done": summary.done, "failed": failed, "waiting": summary.waiting }).to_string())
}

/// Examines a learner; the checks, as JSON.
#[pyfunction]
pub(crate) fn doctor(
    py: Python<'_>,
    make: Py<PyAny>,
    role: &str,
    seconds: f64,
    interrupt: Option<Py<PyAny>>,
) -> PyResult<String> {
    let role = Role::ALL.into_iter().find(|known| known.name() == role);
    let role =
        role.ok_or_else(|| usage(format!("the roles are: {}", Role::ALL.map(Role::name).join(", "))))?;
    let stop = Arc::new(AtomicBool::new(false));
    let begin = begin(make, Arc::clone(&stop));
    let checks =
        watched(py, &stop, interrupt.as_ref(), move || wug_lab::doctor::examine(role, seconds, &*begin))?;
    Ok(json!(checks.map_err(raised)?).to_string())
}
