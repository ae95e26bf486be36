use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wug_score::RunResult;

use std::fs::File;

use super::claim::Claim;
use super::*;
use crate::plan::PLAN_FORMAT;
use crate::recognition::Recognition;
use crate::spec::{Experiment, Scale};
use crate::work::{Observer, Progress, WorkerOptions, work};

const SMALL: &str = r#"
title = "small"
[[recognition]]
languages = ["parity", "majority"]
learners = ["rnn", "lstm"]
losses = ["R", "R+LM+NS"]
validation = ["short"]
sizes = [2000]
seeds = 1
max_epochs = 2
batch_symbols = 512
[recognition.data]
training = 60
validation = 20
test = 30
held_out = 10
distances = 5
longest = 60
"#;

fn experiment(sets: &[(&str, &str)]) -> Experiment {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Experiment::read("small", "small.toml", SMALL, Scale::Paper, &sets).unwrap()
}

/// Counts the runs that end.
#[derive(Default)]
struct Count(AtomicUsize);

impl Observer for Count {
    fn begins(&self, _: usize, _: &PlannedRun) {}
    fn epoch(&self, _: usize, _: usize, _: f64) {}
    fn evaluating(&self, _: usize, _: &str) {}
    fn ends(&self, _: usize, _: &RunResult, _: Duration, _: Progress) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn results(root: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(root.join("results")).unwrap().map(|e| e.unwrap());
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap())).collect()
}

fn swept(root: &Path, jobs: usize) -> BTreeMap<String, String> {
    let sweep = Sweep::begin(root, &experiment(&[])).unwrap();
    let summary = work(&sweep, WorkerOptions::new(jobs), &Count::default()).unwrap();
    assert_eq!((summary.failed, summary.elsewhere), (0, 0));
    results(root)
}

#[test]
fn the_same_bytes_with_one_worker_and_with_two_and_again() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let one = swept(dirs[0].path(), 1);
    let two = swept(dirs[1].path(), 2);
    assert_eq!(one.len(), 8);
    assert_eq!(one, two);
    // A sweep that is done is left alone.
    assert_eq!(swept(dirs[0].path(), 2), one);
    assert!(fs::read_dir(dirs[0].path().join("claims")).unwrap().all(|e| e.unwrap().file_name() == "plan"));
}

#[test]
fn two_workers_on_one_directory_do_each_run_once() {
    let dir = tempfile::tempdir().unwrap();
    let count = Count::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
                work(&sweep, WorkerOptions::new(1), &count).unwrap();
            });
        }
    });
    assert_eq!(count.0.load(Ordering::SeqCst), 8);
    assert_eq!(results(dir.path()).len(), 8);
}

#[test]
fn a_claimed_run_is_left_alone_and_a_released_one_is_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    let id = &sweep.runs[0].id;
    let held = sweep.claim(id).unwrap().unwrap();
    assert!(sweep.claim(id).unwrap().is_none());
    assert_eq!(sweep.state(id).unwrap(), RunState::Running);
    let summary = work(&sweep, WorkerOptions::new(2), &Count::default()).unwrap();
    assert_eq!((summary.done, summary.elsewhere, summary.waiting), (7, 1, 0));
    drop(held);
    assert_eq!(work(&sweep, WorkerOptions::new(1), &Count::default()).unwrap().done, 1);
}

#[test]
fn a_sweep_grows_and_never_changes_into_another() {
    let dir = tempfile::tempdir().unwrap();
    let small = Sweep::begin(dir.path(), &experiment(&[("languages", "parity")])).unwrap();
    work(&small, WorkerOptions::new(2), &Count::default()).unwrap();
    let before = results(dir.path());
    let grown = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    assert_eq!((small.runs.len(), grown.runs.len()), (4, 8));
    work(&grown, WorkerOptions::new(2), &Count::default()).unwrap();
    assert!(before.iter().all(|(name, text)| results(dir.path())[name] == *text));
    let error = Sweep::begin(dir.path(), &experiment(&[("max_epochs", "3")])).unwrap_err().to_string();
    assert!(error.contains("holds another sweep") && error.contains("nothing was changed"), "{error}");
    assert_eq!(Sweep::open(dir.path()).unwrap().runs, grown.runs);
}

#[test]
fn truncated_results_and_other_versions_are_named_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    work(&sweep, WorkerOptions::new(2), &Count::default()).unwrap();
    let all = results(dir.path());
    let id = &sweep.runs[3].id;
    let path = sweep.result_path(id);
    fs::write(&path, &all[&format!("{id}.json")][..100]).unwrap();
    let error = work(&sweep, WorkerOptions::new(1), &Count::default()).unwrap_err().to_string();
    assert!(error.contains(&format!("{id}.json: not a result")) && error.contains("wug retry"), "{error}");
    assert!(matches!(sweep.state(id).unwrap(), RunState::Broken(_)));
    assert_eq!(sweep.retry().unwrap().len(), 1);
    assert!(dir.path().join("aside").join(format!("{id}.json")).exists());
    work(&sweep, WorkerOptions::new(1), &Count::default()).unwrap();
    assert_eq!(results(dir.path()), all);

    let plan = dir.path().join("plan.json");
    let text = fs::read_to_string(&plan).unwrap();
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&plan, text.replace(&version, "\"version\": \"0.0.7\"")).unwrap();
    let error = Sweep::begin(dir.path(), &experiment(&[])).unwrap_err().to_string();
    assert!(error.contains("was made by wug 0.0.7"), "{error}");
    assert_eq!(Sweep::open(dir.path()).unwrap().status().unwrap().results().len(), 8);
    fs::write(&plan, text.replace(&format!("\"format\": {PLAN_FORMAT}"), "\"format\": 99")).unwrap();
    assert!(Sweep::open(dir.path()).unwrap_err().to_string().contains("format 99"));
    fs::write(&plan, &text[..20]).unwrap();
    assert!(Sweep::open(dir.path()).unwrap_err().to_string().contains("plan.json cannot be read"));
    let none = Sweep::open(&dir.path().join("results")).unwrap_err().to_string();
    assert!(none.contains("is no sweep"), "{none}");
}

#[test]
fn looking_at_a_sweep_keeps_no_worker_from_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    let id = &sweep.runs[0].id;
    let claim = dir.path().join("claims").join(id);
    let look = File::create(&claim).unwrap();
    look.lock_shared().unwrap();
    assert_eq!(sweep.state(id).unwrap(), RunState::Waiting);
    assert!(sweep.claim(id).unwrap().is_none());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(3));
            look.unlock().unwrap();
        });
        // As a worker does, in passes.
        assert!((0..100).any(|_| sweep.claim(id).unwrap().is_some()));
    });
}

/// Releases a run once another is over: a worker that passed it by finds it in the next pass.
struct Releases(std::sync::Mutex<Option<Claim>>);

impl Observer for Releases {
    fn begins(&self, _: usize, _: &PlannedRun) {}
    fn epoch(&self, _: usize, _: usize, _: f64) {}
    fn evaluating(&self, _: usize, _: &str) {}
    fn ends(&self, _: usize, _: &RunResult, _: Duration, progress: Progress) {
        assert!(progress.done > 0 && progress.done <= progress.total);
        self.0.lock().unwrap().take();
    }
}

#[test]
fn a_run_that_was_released_meanwhile_is_done_in_the_next_pass() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    let held = sweep.claim(&sweep.runs[0].id).unwrap();
    let summary = work(&sweep, WorkerOptions::new(1), &Releases(held.into())).unwrap();
    assert_eq!((summary.done, summary.elsewhere, summary.waiting), (8, 0, 0));
}

#[test]
fn a_list_that_is_cut_or_changed_is_named_and_the_same_experiment_writes_it_again() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    let path = dir.path().join(RUNS);
    let text = fs::read_to_string(&path).unwrap();
    let first = &sweep.runs[0].id;
    let other = text.replacen(first, &"0".repeat(16), 1);
    let short: String = text.split_inclusive('\n').take(3).collect();
    for (bad, word) in [(&text[..700], "line"), (&short, "3 of 8 runs"), (&other, "0000000000000000")] {
        fs::write(&path, bad).unwrap();
        let error = Sweep::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("runs.jsonl cannot be read") && error.contains(word), "{error}");
        assert_eq!(Sweep::begin(dir.path(), &experiment(&[])).unwrap().runs, sweep.runs);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    // A result of another plan: the list may have been anything.
    fs::write(dir.path().join("results").join("0123456789abcdef.json"), "").unwrap();
    fs::write(&path, &short).unwrap();
    assert!(Sweep::begin(dir.path(), &experiment(&[])).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), short);
}

#[test]
fn a_directory_with_something_else_in_it_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("results")).unwrap(); // as one that was killed at once leaves it
    fs::write(dir.path().join("thesis.tex"), "x").unwrap();
    let error = Sweep::begin(dir.path(), &experiment(&[])).unwrap_err().to_string();
    assert!(error.contains("is not empty: it holds `thesis.tex`"), "{error}");
    assert!(!dir.path().join("claims").exists());
    fs::remove_file(dir.path().join("thesis.tex")).unwrap();
    Sweep::begin(dir.path(), &experiment(&[])).unwrap();
}

#[test]
fn plans_that_json_cannot_hold_are_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut experiment = experiment(&[]);
    let mut plan = experiment.runs[0].of::<Recognition>().unwrap().clone();
    plan.measure.weights.next_symbols = f64::INFINITY;
    experiment.runs[0] = RunPlan::new(plan, experiment.runs[0].estimate);
    let error = Sweep::begin(dir.path(), &experiment).unwrap_err().to_string();
    assert!(error.contains("would not be read back"), "{error}");
    assert!(!dir.path().join(RUNS).exists());
}

#[test]
fn a_directory_in_the_place_of_a_result_is_broken_and_can_be_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    let id = &sweep.runs[0].id;
    fs::create_dir(sweep.result_path(id)).unwrap();
    assert!(matches!(sweep.state(id).unwrap(), RunState::Broken(_)));
    assert_eq!(sweep.retry().unwrap().len(), 1);
    assert_eq!(sweep.state(id).unwrap(), RunState::Waiting);
}

#[test]
fn the_log_of_a_run_counts_its_starts_and_their_time() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    let id = &sweep.runs[0].id;
    fs::write(sweep.spent_path(id), r#"{"seconds":1000.0,"cpu_seconds":500.0,"starts":2}"#).unwrap();
    work(&sweep, WorkerOptions { checkpoint: Duration::ZERO, ..WorkerOptions::new(1) }, &Count::default())
        .unwrap();
    let log = |id: &str| {
        let text = fs::read_to_string(dir.path().join("logs").join(format!("{id}.json"))).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    assert_eq!((log(id)["starts"].as_u64(), log(&sweep.runs[1].id)["starts"].as_u64()), (Some(3), Some(1)));
    assert!(log(id)["seconds"].as_f64() > Some(1000.0) && log(id)["cpu_seconds"].as_f64() > Some(500.0));
    assert_eq!(fs::read_dir(dir.path().join("checkpoints")).unwrap().count(), 0);
}

#[test]
fn a_run_that_cannot_be_done_is_a_record() {
    let dir = tempfile::tempdir().unwrap();
    let mut sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    // As if the language had been taken away since.
    let mut plan = sweep.runs[0].plan.of::<Recognition>().unwrap().clone();
    plan.subject = "gone".to_owned();
    sweep.runs[0].plan = RunPlan::new(plan, sweep.runs[0].plan.estimate);
    sweep.runs[0].id = sweep.runs[0].plan.id();
    let summary = work(&sweep, WorkerOptions::new(2), &Count::default()).unwrap();
    assert_eq!((summary.done, summary.failed), (8, 1));
    let RunState::Done(result) = sweep.state(&sweep.runs[0].id).unwrap() else { panic!("no result") };
    assert!(
        matches!(&result.ending, wug_score::Ending::Failed { message } if message.contains("unknown language `gone`"))
    );
    let RunState::Done(other) = sweep.state(&sweep.runs[1].id).unwrap() else { panic!("no result") };
    assert_eq!(result.plan.learner.name, other.plan.learner.name);
    assert_eq!(sweep.retry().unwrap().len(), 1);
}

// A checkpoint resumed in the middle gives the bytes of a run that was never interrupted.
#[test]
fn a_run_resumed_between_steps_ends_with_the_same_bytes() {
    struct Killed {
        after: usize,
        bytes: Option<Vec<u8>>,
    }
    impl crate::context::RunContext for Killed {
        fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
            self.bytes.clone()
        }
        fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
            if self.after == 1 {
                self.bytes = Some(bytes());
            }
            self.after = self.after.saturating_sub(1);
            Ok(())
        }
        fn epoch(&mut self, _: usize, _: f64) {}
        fn evaluating(&mut self, _: &str) -> Result<(), LabError> {
            Ok(())
        }
    }
    for run in experiment(&[("max_epochs", "4")]).runs {
        let mut cache = crate::plan::DataCache::default();
        for after in 1..4 {
            let mut context = Killed { after, bytes: None };
            let whole = run.execute(&mut cache, &mut context).unwrap();
            assert!(context.bytes.is_some());
            let resumed = run.execute(&mut cache, &mut context).unwrap();
            assert_eq!(resumed.to_text().unwrap(), whole.to_text().unwrap());
            context.bytes = Some(b"no checkpoint".to_vec());
            assert_eq!(run.execute(&mut cache, &mut context).unwrap(), whole);
        }
    }
}

#[test]
fn a_claim_is_removed_once_and_last() {
    let path = |text: &str| PathBuf::from(text);
    let claim = path("claims/x");
    let left = vec![path("attempts/x"), claim.clone(), path("checkpoints/x")];
    let expected = [path("attempts/x"), path("checkpoints/x"), claim.clone()];
    assert_eq!(claim_last(left, claim.clone()), expected);
    assert_eq!(claim_last(Vec::new(), claim.clone()), [claim]);
}

/// Claims and ends a run again and again beside processes that open the sweep: nobody loses its claim.
#[test]
fn no_claim_is_removed_from_under_its_worker() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    let id = &sweep.runs[0].id;
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    tidy(dir.path());
                }
            });
        }
        for _ in 0..200 {
            let Some(claim) = sweep.claim(id).unwrap() else { continue };
            std::thread::yield_now();
            assert!(is_there(&sweep.claim_path(id)), "a claim was removed");
            fs::write(sweep.result_path(id), "{}").unwrap();
            drop(claim);
            std::thread::yield_now();
            fs::remove_file(sweep.result_path(id)).unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_result_whose_claim_is_held_or_no_claim_is_not_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = Sweep::begin(dir.path(), &experiment(&[])).unwrap();
    let id = &sweep.runs[0].id;
    fs::write(sweep.result_path(id), "{}").unwrap();
    let worker = File::create(sweep.claim_path(id)).unwrap();
    worker.lock().unwrap();
    let error = sweep.retry().unwrap_err().to_string();
    assert!(error.contains("is held by a worker"), "{error}");
    assert!(sweep.result_path(id).exists());
    drop(worker);
    fs::remove_file(sweep.claim_path(id)).unwrap();
    fs::create_dir(sweep.claim_path(id)).unwrap();
    let error = sweep.retry().unwrap_err().to_string();
    assert!(error.contains("is a directory"), "{error}");
    fs::remove_dir(sweep.claim_path(id)).unwrap();
    assert_eq!(sweep.retry().unwrap().len(), 1);
}
