//! Progress on stderr: a line per finished run, and of runs in progress a line per worker on a terminal, or now and then a line in a log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use wug_lab::score::{Ending, Measurement, RunResult};
use wug_lab::sweep::{PlannedRun, Sweep};
use wug_lab::work::{Observer, Progress, TimeLeft};

use crate::exit::say;
use crate::safe::{visible, visible_lines};

/// How often a log has a line of a run in progress.
const LOGGED: Duration = Duration::from_mins(1);

/// Prints the progress of a sweep.
pub(crate) struct Watch {
    bars: MultiProgress,
    workers: Vec<ProgressBar>,
    /// When the log last had a line of each worker's run, where there is no terminal.
    logged: Mutex<Vec<Instant>>,
    total: usize,
    terminal: bool,
}

impl Watch {
    pub(crate) fn new(sweep: &Sweep, jobs: usize) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let terminal = !bars.is_hidden();
        let style = ProgressStyle::with_template("  {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        let workers =
            (0..jobs).map(|_| bars.add(ProgressBar::new_spinner().with_style(style.clone()))).collect();
        let logged = Mutex::new(vec![Instant::now(); jobs]);
        let watch = Self { bars, workers, logged, total: sweep.runs.len(), terminal };
        watch.say(&format!(
            "{} ({}, scale {})",
            sweep.header.title,
            crate::run::runs(sweep.runs.len()),
            sweep.header.scale
        ));
        sweep.header.lines().iter().for_each(|line| watch.say(line));
        watch
    }

    /// Removes the workers' lines.
    pub(crate) fn close(&self) {
        let _ = self.bars.clear();
    }

    fn say(&self, line: &str) {
        if self.terminal {
            let _ = self.bars.println(visible_lines(line));
        } else {
            say(line);
        }
    }

    fn show(&self, worker: usize, message: &str) {
        if let Some(bar) = self.workers.get(worker) {
            bar.set_message(visible(message).into_owned());
            bar.tick();
        }
        if !self.terminal && self.is_due(worker) {
            self.say(message);
        }
    }

    /// Whether the log has had no line of a worker's run for a while.
    fn is_due(&self, worker: usize) -> bool {
        // A panic elsewhere cannot leave half a time behind, so a poisoned lock can be used.
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let due = logged.get_mut(worker).filter(|last| last.elapsed() >= LOGGED);
        due.map(|last| *last = Instant::now()).is_some()
    }

    /// The next line of a worker's run is due a while after this.
    fn restart(&self, worker: usize) {
        if let Some(last) = self.logged.lock().unwrap_or_else(PoisonError::into_inner).get_mut(worker) {
            *last = Instant::now();
        }
    }

    fn label(&self, worker: usize) -> String {
        self.workers.get(worker).map_or_else(String::new, ProgressBar::prefix)
    }
}

impl Observer for Watch {
    fn begins(&self, worker: usize, run: &PlannedRun) {
        if let Some(bar) = self.workers.get(worker) {
            bar.set_prefix(run.plan.label());
        }
        self.restart(worker);
        self.show(worker, &run.plan.label());
    }

    fn epoch(&self, worker: usize, done: usize, validation: f64) {
        self.show(worker, &format!("{}: epoch {done}, validation loss {validation:.4}", self.label(worker)));
    }

    fn evaluating(&self, worker: usize, split: &str) {
        self.show(worker, &format!("{}: evaluating {split}", self.label(worker)));
    }

    fn ends(&self, worker: usize, result: &RunResult, took: Duration, progress: Progress) {
        let width = self.total.to_string().len();
        let ending = match &result.ending {
            Ending::Failed { message } => format!("failed: {message}"),
            ending => format!("{}{}", ending.name(), after(result)),
        };
        // Protocols differ in their metrics, and most have one accuracy on their test split.
        let accuracy = |m: &&Measurement| m.split == "test" && m.metric.contains("_accuracy");
        let test = result.scores.iter().find(accuracy).and_then(|m| m.value);
        let test = test.map_or(String::new(), |x| format!(", test accuracy {x:.3}"));
        let left = if progress.done == progress.total { String::new() } else { left(progress.left) };
        self.say(&format!(
            "[{:width$}/{}] {}: {ending}{test} ({}){left}",
            progress.done,
            progress.total,
            self.label(worker),
            span(took)
        ));
    }

    fn note(&self, message: &str) {
        self.say(&format!("wug: {message}"));
    }
}

/// After how much training a run ended. Runs of several trainings have no epoch of their own.
fn after(result: &RunResult) -> String {
    let trainings = result.data.get("trainings").and_then(serde_json::Value::as_u64);
    match (trainings, result.curve.last()) {
        (Some(trainings), _) if trainings > 1 => format!(" after {trainings} trainings"),
        (Some(_), Some(last)) => format!(" after {} updates", last.steps),
        (None, Some(last)) if last.epoch == 1 => " after 1 epoch".to_owned(),
        (None, Some(last)) => format!(" after {} epochs", last.epoch),
        (_, None) => String::new(),
    }
}

/// The estimate of the time left, if there is one.
fn left(TimeLeft { time, at_least }: TimeLeft) -> String {
    match at_least {
        true if time < Duration::from_secs(1) => String::new(),
        true => format!(" · at least about {} left", span(time)),
        false => format!(" · about {} left", span(time)),
    }
}

fn span(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
