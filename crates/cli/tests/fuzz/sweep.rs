//! Readers of experiments, sweeps, plans, results and checkpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wug_lab::LabError;
use wug_lab::context::RunContext;
use wug_lab::dataset::MemoryFiles;
use wug_lab::plan::{DataCache, RunPlan};
use wug_lab::score::RunResult;
use wug_lab::spec::{BUILT_IN, Experiment, Scale};
use wug_lab::sweep::{PlannedRun, Status, Sweep};
use wug_lab::work::{Observer, Progress, WorkSummary, WorkerOptions, work};
use wug_report::{Format, Logs, RecordFormat, TableFormat, records, render};

use super::{Fuzzed, file, load, scratch, text, write};

/// Every protocol, in seconds.
const SMALL: &str = include_str!("../../../../testdata/fuzz/small.toml");

pub(crate) fn small(sets: &[(&str, &str)]) -> Experiment {
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Experiment::read("small", "small.toml", SMALL, Scale::Paper, &sets).unwrap()
}

/// Data for an epoch that takes less than reading its checkpoint.
pub(crate) const TINY: &[(&str, &str)] = &[
    ("recognition.data.training", "8"),
    ("recognition.data.validation", "4"),
    ("recognition.data.test", "4"),
    ("recognition.data.held_out", "2"),
    ("recognition.data.distances", "1"),
    ("recognition.data.short", "8"),
    ("recognition.data.long", "10"),
    ("recognition.data.longest", "12"),
];

/// A number that an input determines, to choose one of several things to do with it.
fn number(files: &MemoryFiles) -> usize {
    files.0.values().map(Vec::len).sum()
}

/// An experiment in TOML, and beside it the values of `--set`, one per line, and the scale.
pub(crate) fn experiment() -> Fuzzed {
    let case = |(text, sets, scale): (&str, &str, Scale)| {
        let mut files = file("experiment.toml", text.as_bytes());
        files.0.insert("set".to_owned(), sets.as_bytes().to_vec());
        files.0.insert("scale".to_owned(), scale.name().as_bytes().to_vec());
        files
    };
    let sets =
        ["seeds=1", "seeds=2\nhidden=8", "learners=[\"lstm\"]\nmax_epochs=3", "recognition.data.longest=200"];
    // One is about reviews that the user has.
    let reviews = concat!("corpus.path=", env!("CARGO_MANIFEST_DIR"), "/../../testdata/reviews.csv");
    let needed = |name: &str| if name == "wade_table2" { reviews } else { "" };
    let built_in =
        BUILT_IN.iter().flat_map(|(name, text)| Scale::ALL.map(|scale| (*text, needed(name), scale)));
    let small = Scale::ALL.into_iter().flat_map(|scale| sets.map(|sets| (SMALL, sets, scale)));
    // The large grids are a third of the inputs, and most of the time.
    let cases = built_in.chain(small.clone()).chain(small).map(case).collect();
    Fuzzed::new(cases, |files| {
        let sets = text(files, "set");
        let sets: Vec<(String, String)> = sets
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        let scale = text(files, "scale");
        let scale = Scale::ALL.into_iter().find(|s| s.name() == scale).unwrap_or(Scale::Smoke);
        let read = Experiment::read("fuzz", "fuzz.toml", &text(files, "experiment.toml"), scale, &sets);
        read.map(|experiment| describe(&experiment.runs)).is_ok()
    })
}

fn describe(runs: &[RunPlan]) {
    for plan in runs.iter().step_by(runs.len().div_ceil(5).max(1)) {
        let text = serde_json::to_string(plan).unwrap();
        let again: RunPlan =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text} is not read back: {error}"));
        assert_eq!((again.id(), again.label()), (plan.id(), plan.label()));
    }
}

pub(crate) fn plan() -> Fuzzed {
    let plans = small(&[]).runs;
    let corpus = plans.iter().map(|plan| file("plan.json", &serde_json::to_vec(plan).unwrap())).collect();
    Fuzzed::new(corpus, |files| {
        let Ok(plan) =
            serde_json::from_slice::<RunPlan>(&files.0.get("plan.json").cloned().unwrap_or_default())
        else {
            return false;
        };
        plan.id();
        plan.label();
        plan.untyped();
        plan.run(String::new());
        true
    })
}

/// The experiment with a few of its runs: a recognizer, a baseline, a next-symbol network, a search, and one of each other
/// protocol. The fewer files, the more damage to each.
fn smaller() -> Experiment {
    let mut experiment = small(TINY);
    let mut kinds = std::collections::BTreeSet::new();
    experiment.runs.retain(|run| {
        let run = run.run(String::new());
        let learner = run.coordinates.show("learner");
        let own = run.protocol == "generalization";
        kinds.insert((run.protocol, if own { learner } else { String::new() }))
    });
    experiment
}

/// Watches without a word.
pub(crate) struct Quiet;

impl Observer for Quiet {
    fn begins(&self, _: usize, _: &PlannedRun) {}
    fn epoch(&self, _: usize, _: usize, _: f64) {}
    fn evaluating(&self, _: usize, _: &str) {}
    fn ends(&self, _: usize, _: &RunResult, _: Duration, _: Progress) {}
}

/// Stops a sweep when a run begins, after two epochs, or never.
#[derive(Clone, Copy, PartialEq)]
enum When {
    Begins,
    Epochs,
    Never,
}

struct Stop(Arc<AtomicBool>, When);

impl Observer for Stop {
    fn begins(&self, _: usize, _: &PlannedRun) {
        self.0.fetch_or(self.1 == When::Begins, Ordering::Relaxed);
    }
    fn epoch(&self, _: usize, done: usize, _: f64) {
        self.0.fetch_or(self.1 == When::Epochs && done >= 2, Ordering::Relaxed);
    }
    fn evaluating(&self, _: usize, _: &str) {}
    fn ends(&self, _: usize, _: &RunResult, _: Duration, _: Progress) {}
}

/// Works on a sweep until it is stopped.
fn work_until(sweep: &Sweep, when: When, stopped: bool) -> Result<WorkSummary, LabError> {
    let stop = Arc::new(AtomicBool::new(stopped));
    let options =
        WorkerOptions { checkpoint: Duration::ZERO, stop: Arc::clone(&stop), ..WorkerOptions::new(1) };
    work(sweep, options, &Stop(stop, when))
}

/// The files of a sweep that is over, and of one that was stopped in the middle.
fn sweeps(experiment: &Experiment) -> [MemoryFiles; 2] {
    [When::Never, When::Epochs].map(|when| {
        let dir = scratch();
        let sweep = Sweep::begin(dir.path(), experiment).unwrap();
        work_until(&sweep, when, false).unwrap();
        load(dir.path())
    })
}

/// One of the formats of `report`, or all of `export`.
fn report(results: &[RunResult], number: usize) {
    match Format::ALL.get(number % (Format::ALL.len() + TableFormat::ALL.len())) {
        Some(format) => drop(render(results, *format)),
        None => {
            for format in TableFormat::ALL {
                for rows in [RecordFormat::Scores, RecordFormat::Curves, RecordFormat::Strings] {
                    // A number that no column can hold is an error, and no panic.
                    let _ = records(results, &[], &Logs::new(), rows, format, std::io::sink());
                }
            }
        }
    }
}

/// What `status`, `report`, `export`, `retry`, `run` and `worker` do with a directory.
pub(crate) fn sweep() -> Fuzzed {
    let experiment = smaller();
    let corpus = sweeps(&experiment).to_vec();
    let whole = corpus.clone();
    let known =
        move |name: &String, bytes: &Vec<u8>| whole.iter().any(|files| files.0.get(name) == Some(bytes));
    let mut reported = Vec::new();
    Fuzzed::new(corpus, move |files| {
        let dir = scratch();
        write(files, dir.path());
        let opened = Sweep::open(dir.path());
        if let Ok(sweep) = &opened {
            let results = sweep.status().map(Status::results).unwrap_or_default();
            // The same results have the same report.
            if results != reported {
                report(&results, number(files));
                reported = results;
            }
            let _ = sweep.retry();
        }
        if let Ok(sweep) = Sweep::begin(dir.path(), &experiment) {
            sweep.status().unwrap();
            // Training takes long: it is rare, and begins from something damaged.
            let resumed = |name: &String| name.starts_with("checkpoints/") || name.starts_with("attempts/");
            let damaged = files.0.iter().any(|(name, bytes)| resumed(name) && !known(name, bytes))
                && number(files).is_multiple_of(4);
            let _ = work_until(&sweep, When::Begins, !damaged);
        }
        opened.is_ok()
    })
}

/// Results without their checksums, through every format of a report.
pub(crate) fn result() -> Fuzzed {
    let [mut done, _] = sweeps(&small(TINY));
    done.0.retain(|name, _| name.starts_with("results/"));
    let one = |(name, bytes): (&String, &Vec<u8>)| file(name, bytes);
    let corpus = done.0.iter().map(one).chain([done.clone()]).collect();
    Fuzzed::new(corpus, |files| {
        let opened = files.0.values().filter_map(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            let open = |(body, _): (&str, &str)| format!("{body}\n}}\n");
            RunResult::from_text(&text.rsplit_once(",\n  \"checksum\"").map_or(text.to_string(), open)).ok()
        });
        let results: Vec<RunResult> = opened.collect();
        report(&results, number(files));
        !results.is_empty()
    })
}

/// Hands out a checkpoint, and keeps one or stops the run at the next.
struct Context {
    given: Option<Vec<u8>>,
    /// How many checkpoints are passed before one is kept.
    passes: usize,
    kept: Option<Vec<u8>>,
}

impl RunContext for Context {
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        self.given.take()
    }
    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        if self.passes == 0 {
            self.kept = Some(bytes());
            return Err(LabError::Stopped);
        }
        self.passes -= 1;
        Ok(())
    }
    fn epoch(&mut self, _: usize, _: f64) {}
    fn evaluating(&mut self, _: &str) -> Result<(), LabError> {
        Err(LabError::Stopped)
    }
}

/// The bytes that runs resume from, past the checksum of their file.
pub(crate) fn checkpoint() -> Fuzzed {
    let mut plans = Vec::new();
    let mut corpus = Vec::new();
    for plan in small(TINY).runs {
        // Each has its own: a cache holds the data of one run.
        let mut cache = DataCache::default();
        let mut context = Context { given: None, passes: 1, kept: None };
        let _ = plan.execute(&mut cache, &mut context);
        if let Some(bytes) = context.kept {
            corpus.push(file(&format!("{}.checkpoint", plans.len()), &bytes));
            plans.push((plan, cache));
        }
    }
    Fuzzed::new(corpus, move |files| {
        for (name, bytes) in &files.0 {
            let plan = name.split('.').next().and_then(|n| plans.get_mut(n.parse::<usize>().ok()?));
            let Some((plan, cache)) = plan else { continue };
            let mut context = Context { given: Some(bytes.clone()), passes: 0, kept: None };
            let _ = plan.execute(cache, &mut context);
        }
        true
    })
}
