//! Readers of experiments, sweeps, plans, results and checkpoints.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wug_lab::context::RunContext;
use wug_lab::dataset::MemoryFiles;
use wug_lab::plan::{DataCache, RunPlan};
use wug_lab::score::RunResult;
use wug_lab::spec::{BUILT_IN, Experiment, Scale};
use wug_lab::sweep::{PlannedRun, Sweep};
use wug_lab::work::{Observer, Progress, WorkerOptions, work};
use wug_report::{Format, Logs, Rows, TableFormat, records, render};

use super::{Fuzzed, Stopped, file, load, text};

/// Both protocols, in seconds.
const SMALL: &str = include_str!("../../../../testdata/fuzz/small.toml");

fn small(scale: Scale) -> Experiment {
    Experiment::read("small", "small.toml", SMALL, scale, &[]).unwrap()
}

/// An experiment in TOML, and below it the values of `--set`, one per line.
pub(crate) fn experiment() -> Fuzzed {
    let case = |(text, sets): (&str, &str)| {
        let mut files = file("experiment.toml", text.as_bytes());
        files.0.insert("set".to_owned(), sets.as_bytes().to_vec());
        files
    };
    let sets = ["seeds=1", "seeds=2\nhidden=8", "learners=[\"lstm\"]\nmax_epochs=3", "data.longest=200"];
    let built_in = BUILT_IN.iter().map(|(_, text)| (*text, ""));
    let cases = built_in.chain(sets.map(|sets| (SMALL, sets))).map(case).collect();
    Fuzzed::new(cases, |files| {
        let sets = text(files, "set");
        let sets: Vec<(String, String)> = sets
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        let read =
            |scale| Experiment::read("fuzz", "fuzz.toml", &text(files, "experiment.toml"), scale, &sets);
        Scale::ALL
            .into_iter()
            .filter_map(|scale| read(scale).ok())
            .map(|experiment| describe(&experiment.runs))
            .count()
            > 0
    })
}

fn describe(runs: &[RunPlan]) {
    for plan in runs.iter().take(50) {
        let text = serde_json::to_string(plan).unwrap();
        let again: RunPlan =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text} is not read back: {error}"));
        assert_eq!((again.id(), again.label()), (plan.id(), plan.label()));
        plan.cost();
    }
}

pub(crate) fn plan() -> Fuzzed {
    let plans = small(Scale::Paper).runs;
    let corpus = plans.iter().map(|plan| file("plan.json", &serde_json::to_vec(plan).unwrap())).collect();
    Fuzzed::new(corpus, |files| {
        let Ok(plan) =
            serde_json::from_slice::<RunPlan>(&files.0.get("plan.json").cloned().unwrap_or_default())
        else {
            return false;
        };
        plan.id();
        plan.label();
        plan.cost();
        plan.value();
        plan.run(String::new());
        true
    })
}

/// Stops a sweep after so many epochs, or never.
struct Stop(Arc<AtomicBool>, bool);

impl Observer for Stop {
    fn begins(&self, _: usize, _: &PlannedRun) {}
    fn epoch(&self, _: usize, done: usize, _: f64) {
        self.0.fetch_or(self.1 && done >= 2, Ordering::Relaxed);
    }
    fn evaluating(&self, _: usize, _: &str) {}
    fn ends(&self, _: usize, _: &RunResult, _: Duration, _: Progress) {}
}

/// The files of a sweep that is over, and of one that was stopped in the middle.
fn sweeps() -> [MemoryFiles; 2] {
    [false, true].map(|stops| {
        let dir = tempfile::tempdir().unwrap();
        let sweep = Sweep::begin(dir.path(), &small(Scale::Paper)).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let options =
            WorkerOptions { checkpoint: Duration::ZERO, stop: Arc::clone(&stop), ..WorkerOptions::new(1) };
        work(&sweep, options, &Stop(stop, stops)).unwrap();
        load(dir.path())
    })
}

fn report(results: &[RunResult]) {
    for format in Format::ALL {
        let _ = render(results, format);
    }
    for format in TableFormat::ALL {
        for rows in [Rows::Scores, Rows::Curves, Rows::Strings] {
            records(results, &Logs::new(), rows, format, std::io::sink()).unwrap();
        }
    }
}

/// What `status`, `report`, `export`, `retry` and `run` do with a directory.
pub(crate) fn sweep() -> Fuzzed {
    let experiment = small(Scale::Paper);
    Fuzzed::new(sweeps().to_vec(), move |files| {
        let dir = tempfile::tempdir().unwrap();
        write(files, dir.path());
        let opened = Sweep::open(dir.path());
        if let Ok(sweep) = &opened {
            if let Ok(status) = sweep.status() {
                report(&status.results());
            }
            let _ = sweep.retry();
        }
        let begun = Sweep::begin(dir.path(), &experiment);
        if let Ok(sweep) = begun {
            sweep.status().unwrap();
        }
        opened.is_ok()
    })
}

fn write(files: &MemoryFiles, root: &Path) {
    for (name, bytes) in &files.0 {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Results without their checksums, through every format of a report.
pub(crate) fn result() -> Fuzzed {
    let [mut done, _] = sweeps();
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
        report(&results);
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
    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) {
        if self.passes == 0 {
            self.kept = Some(bytes());
            std::panic::resume_unwind(Box::new(Stopped));
        }
        self.passes -= 1;
    }
    fn epoch(&mut self, _: usize, _: f64) {}
    fn evaluating(&mut self, _: &str) {
        std::panic::resume_unwind(Box::new(Stopped));
    }
}

/// The bytes that runs resume from, past the checksum of their file.
pub(crate) fn checkpoint() -> Fuzzed {
    let mut cache = DataCache::default();
    let mut plans = Vec::new();
    let mut corpus = Vec::new();
    for plan in small(Scale::Paper).runs {
        let mut context = Context { given: None, passes: 1, kept: None };
        super::stopped(|| drop(plan.execute(&mut cache, &mut context)));
        if let Some(bytes) = context.kept {
            corpus.push(file(&format!("{}.checkpoint", plans.len()), &bytes));
            plans.push(plan);
        }
    }
    Fuzzed::new(corpus, move |files| {
        for (name, bytes) in &files.0 {
            let Some(plan) = name.split('.').next().and_then(|n| plans.get(n.parse::<usize>().ok()?)) else {
                continue;
            };
            let mut context = Context { given: Some(bytes.clone()), passes: 0, kept: None };
            super::stopped(|| drop(plan.execute(&mut cache, &mut context)));
        }
        true
    })
}
