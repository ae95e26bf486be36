//! Sweeps and data sets survive damage, links, kills, and files that are not ours.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use wug_lab::LabError;
use wug_lab::data::{self, Request};
use wug_lab::score::{Ending, RunResult};
use wug_lab::spec::{Experiment, Scale};
use wug_lab::suite::DataFormat as Format;
use wug_lab::sweep::{PlannedRun, RunState, Sweep};
use wug_lab::work::{Observer, Progress, WorkSummary, WorkerOptions, work};

const SMALL: &str = r#"
title = "small"
[[recognition]]
languages = ["parity"]
learners = ["rnn", "lstm"]
losses = ["R"]
validation = ["short"]
sizes = [2000]
seeds = 2
max_epochs = 4
batch_symbols = 512
[recognition.data]
training = 60
validation = 20
test = 30
held_out = 10
distances = 5
longest = 60
"#;

fn experiment() -> Experiment {
    Experiment::read("small", "small.toml", SMALL, Scale::Paper, &[]).unwrap()
}

fn begin(root: &Path) -> Sweep {
    Sweep::begin(root, &experiment()).unwrap()
}

/// Sets a flag after so many epochs, and records labels and notes.
#[derive(Default)]
struct Watch {
    stop: Arc<AtomicBool>,
    after: usize,
    epochs: AtomicUsize,
    labels: Mutex<Vec<String>>,
    notes: Mutex<Vec<String>>,
}

impl Observer for Watch {
    fn begins(&self, _: usize, run: &PlannedRun) {
        self.labels.lock().unwrap().push(run.id.clone());
    }
    fn epoch(&self, _: usize, _: usize, _: f64) {
        if self.epochs.fetch_add(1, Ordering::SeqCst) + 1 == self.after {
            self.stop.store(true, Ordering::SeqCst);
        }
    }
    fn evaluating(&self, _: usize, _: &str) {}
    fn ends(&self, _: usize, _: &RunResult, _: Duration, _: Progress) {}
    fn note(&self, message: &str) {
        self.notes.lock().unwrap().push(message.to_owned());
    }
}

fn run_all(sweep: &Sweep) -> WorkSummary {
    work(sweep, WorkerOptions::new(1), &Watch::default()).unwrap()
}

/// Works for so many epochs: every run that was begun is left with a checkpoint.
fn interrupt(sweep: &Sweep, after: usize) -> WorkSummary {
    let watch = Watch { after, ..Watch::default() };
    let options = WorkerOptions { stop: Arc::clone(&watch.stop), ..WorkerOptions::new(1) };
    work(sweep, options, &watch).unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap())).collect()
}

fn uninterrupted() -> BTreeMap<String, String> {
    let dir = tempfile::tempdir().unwrap();
    run_all(&begin(dir.path()));
    files(&dir.path().join("results"))
}

fn write_data(what: &str, target: &Path, force: bool) -> Result<(), LabError> {
    let mut request = Request::parse(what).unwrap();
    // A layout with folders.
    request.format = Format::named("flare");
    request.options = [("training.size", "20"), ("test.size", "10")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    data::write(&request, target, force, &mut |_| {}).map(drop)
}

#[test]
fn a_manifest_cannot_delete_files_outside_its_directory() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::write(at("mine"), "mine").unwrap();
    for name in ["../mine".to_owned(), at("mine").to_str().unwrap().to_owned()] {
        let target = at("data");
        write_data("flare/parity", &target, true).unwrap();
        let manifest = fs::read_to_string(target.join("wug.json")).unwrap();
        let changed = manifest.replacen("\"name\": \"main.tok\"", &format!("\"name\": \"{name}\""), 1);
        assert_ne!(manifest, changed);
        fs::write(target.join("wug.json"), changed).unwrap();
        let _ = write_data("flare/majority", &target, true);
        assert_eq!(fs::read_to_string(at("mine")).unwrap(), "mine");
        fs::remove_dir_all(target).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn force_follows_no_link_out_of_the_directory() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().unwrap();
    let (target, outside) = (root.path().join("data"), root.path().join("outside"));
    write_data("flare/parity", &target, false).unwrap();
    fs::rename(target.join("datasets"), &outside).unwrap();
    symlink(&outside, target.join("datasets")).unwrap();
    let before = fs::read(outside.join("test/main.tok")).unwrap();
    let error = write_data("flare/majority", &target, true).unwrap_err().to_string();
    assert!(error.contains("data/datasets is a link"), "{error}");
    assert_eq!(fs::read(outside.join("test/main.tok")).unwrap(), before);
}

#[test]
fn force_swaps_whole_directories_and_deletes_no_foreign_files() {
    let root = tempfile::tempdir().unwrap();
    let (target, fresh) = (root.path().join("data"), root.path().join("fresh"));
    write_data("flare/parity", &target, false).unwrap();
    fs::write(target.join("notes.txt"), "mine").unwrap();
    let before = fs::read(target.join("main.tok")).unwrap();
    let error = write_data("flare/majority", &target, true).unwrap_err();
    assert!(matches!(&error, LabError::Usage(message) if message.contains("holds `notes.txt`")), "{error}");
    assert_eq!(fs::read(target.join("main.tok")).unwrap(), before);
    fs::remove_file(target.join("notes.txt")).unwrap();
    write_data("flare/majority", &target, true).unwrap();
    write_data("flare/majority", &fresh, false).unwrap();
    let names = |path: &Path| {
        let list = wug_lab::disk::Directory::open(path).unwrap();
        wug_lab::dataset::FileSource::names(&list).unwrap()
    };
    assert_eq!(names(&target), names(&fresh));
    assert_eq!(fs::read(target.join("main.tok")).unwrap(), fs::read(fresh.join("main.tok")).unwrap());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2);
}

#[test]
fn a_swap_that_was_killed_is_completed_by_the_next_command() {
    let root = tempfile::tempdir().unwrap();
    let (target, old) = (root.path().join("data"), root.path().join(".wug-old-data"));
    write_data("flare/parity", &target, false).unwrap();
    // Killed between the two renames: the old data are restored, and not replaced.
    fs::rename(&target, &old).unwrap();
    assert!(matches!(write_data("flare/majority", &target, false), Err(LabError::Exists { .. })));
    assert!(target.join("wug.json").exists() && !old.exists());
    // Killed before the old data were removed.
    fs::create_dir(&old).unwrap();
    fs::write(old.join("main.tok"), "old").unwrap();
    write_data("flare/parity", &target, false).unwrap();
    assert!(!old.exists());
}

#[test]
fn leftovers_of_killed_processes_are_removed_unless_they_are_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(&dir.path().join("sweep"));
    let (dead, live) = (sweep.root().join("results/.wug-part-dead"), sweep.root().join(".wug-part-live"));
    fs::write(&dead, "half").unwrap();
    let held = fs::File::create(&live).unwrap();
    held.lock().unwrap();
    Sweep::open(sweep.root()).unwrap();
    assert!(!dead.exists() && live.exists());
    drop(held);
    Sweep::open(sweep.root()).unwrap();
    assert!(!live.exists());

    let stage = dir.path().join(".wug-part-stage");
    fs::create_dir_all(stage.join("datasets")).unwrap();
    fs::write(stage.join("datasets/main.tok"), "half").unwrap();
    let held = fs::File::open(&stage).unwrap();
    held.lock().unwrap();
    write_data("flare/parity", &dir.path().join("data"), false).unwrap();
    assert!(stage.exists());
    drop(held);
    write_data("flare/parity", &dir.path().join("data"), false).unwrap();
    assert!(!stage.exists());
}

/// A process that is killed right after it wrote a result leaves what only an unfinished run needs.
#[test]
fn what_only_unfinished_runs_need_is_removed_of_runs_that_have_a_result() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(&dir.path().join("sweep"));
    let all = ["claims/", "attempts/", "checkpoints/"].map(|folder| sweep.root().join(folder));
    let left = |id: &str| {
        let mut paths: Vec<_> = all.iter().map(|folder| folder.join(id)).collect();
        paths.push(all[2].join(format!("{id}.spent")));
        paths
    };
    fs::write(sweep.root().join("results/done.json"), "{}").unwrap();
    for path in left("done").iter().chain(&left("open")) {
        fs::write(path, "x").unwrap();
    }
    // A worker to whom `wug retry` has just given the run: its files stay until it lets go.
    let claim = fs::File::open(all[0].join("done")).unwrap();
    claim.lock().unwrap();
    Sweep::open(sweep.root()).unwrap();
    assert!(left("done").iter().all(|path| path.exists()));
    claim.unlock().unwrap();
    Sweep::open(sweep.root()).unwrap();
    assert!(left("done").iter().all(|path| !path.exists()));
    assert!(left("open").iter().all(|path| path.exists()));
}

/// Threads whose stack is larger than the memory cannot be spawned. The variable is read once in a process, hence another one.
#[test]
fn a_sweep_goes_on_when_no_thread_can_be_spawned() {
    const CHILD: &str = "WUG_TEST_WITHOUT_THREADS";
    let name = "a_sweep_goes_on_when_no_thread_can_be_spawned";
    if std::env::var_os(CHILD).is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--test-threads=1", "--nocapture"])
            .env(CHILD, "1")
            .env("RUST_MIN_STACK", (1_u64 << 60).to_string())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    assert!(std::thread::Builder::new().spawn(|| {}).is_err());
    let dir = tempfile::tempdir().unwrap();
    let watch = Watch::default();
    let summary = work(&begin(dir.path()), WorkerOptions::new(3), &watch).unwrap();
    assert_eq!((summary.done, summary.failed), (4, 0));
    let notes = watch.notes.lock().unwrap();
    assert!(notes.len() == 1 && notes[0].contains("1 of 3 runs at a time"), "{notes:?}");
}

#[cfg(unix)]
#[test]
fn links_in_a_sweep_are_reported_and_not_followed() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let mine = outside.path().join("mine");
    let id = experiment().runs[0].id();
    let paths = [
        "claims/plan".to_owned(),
        "plan.json".to_owned(),
        "runs.jsonl".to_owned(),
        "report.html".to_owned(),
        format!("claims/{id}"),
        format!("attempts/{id}"),
        format!("logs/{id}.json"),
        format!("results/{id}.json"),
        format!("checkpoints/{id}"),
    ];
    for path in &paths {
        let dir = tempfile::tempdir().unwrap();
        let sweep = begin(dir.path());
        fs::write(&mine, "mine").unwrap();
        let link = dir.path().join(path);
        let _ = fs::remove_file(&link);
        symlink(&mine, &link).unwrap();
        let watch = Watch::default();
        let ended = Sweep::begin(dir.path(), &experiment())
            .and_then(|sweep| {
                work(&sweep, WorkerOptions { checkpoint: Duration::ZERO, ..WorkerOptions::new(1) }, &watch)
            })
            .and_then(|_| sweep.write_report("<html>"));
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine", "{path}");
        let message = match ended {
            Err(error) => {
                assert!(matches!(error, LabError::Corrupt { .. }), "{path}: {error}");
                error.to_string()
            }
            Ok(_) => watch.notes.lock().unwrap().concat(),
        };
        assert!(message.contains(path) && message.contains("is a link"), "{path}: {message}");
    }
}

#[cfg(unix)]
#[test]
fn folders_of_a_sweep_are_no_links() {
    use std::os::unix::fs::symlink;
    for folder in ["claims", "attempts", "checkpoints", "results", "logs", "aside"] {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let sweep = begin(dir.path());
        let id = &sweep.runs[0].id;
        let _ = fs::remove_dir_all(dir.path().join(folder));
        symlink(outside.path(), dir.path().join(folder)).unwrap();
        if folder == "aside" {
            fs::write(dir.path().join(format!("results/{id}.json")), "{}").unwrap();
        }
        for error in
            [sweep.retry().map(drop), Sweep::open(dir.path()).and_then(|sweep| sweep.retry()).map(drop)]
        {
            let Err(error) = error else { continue };
            assert!(error.to_string().contains(&format!("{folder} is a link")), "{error}");
        }
        if folder != "aside" {
            let error = Sweep::begin(dir.path(), &experiment()).unwrap_err().to_string();
            assert!(error.contains(&format!("{folder} is a link")), "{error}");
            assert!(work(&sweep, WorkerOptions::new(1), &Watch::default()).is_err());
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "{folder}");
    }
}

#[test]
fn a_damaged_or_foreign_checkpoint_is_set_aside_and_the_result_is_the_same() {
    let whole = uninterrupted();
    for damage in ["flipped", "cut", "another run's"] {
        let dir = tempfile::tempdir().unwrap();
        let sweep = begin(dir.path());
        assert_eq!(interrupt(&sweep, 2).interrupted, 1);
        let checkpoints = dir.path().join("checkpoints");
        let held: Vec<&str> =
            sweep.runs.iter().map(|run| run.id.as_str()).filter(|id| checkpoints.join(id).exists()).collect();
        let [id] = held[..] else { panic!("one run was begun: {held:?}") };
        let mut path = checkpoints.join(id);
        let mut bytes = fs::read(&path).unwrap();
        match damage {
            "flipped" => *bytes.last_mut().unwrap() ^= 1,
            "cut" => bytes.truncate(bytes.len() - 9),
            _ => {
                path = checkpoints
                    .join(sweep.runs.iter().map(|run| &run.id).find(|other| *other != id).unwrap());
            }
        }
        fs::write(&path, bytes).unwrap();
        let watch = Watch::default();
        work(&sweep, WorkerOptions::new(1), &watch).unwrap();
        assert_eq!(files(&dir.path().join("results")), whole, "{damage}");
        assert_eq!(fs::read_dir(dir.path().join("aside")).unwrap().count(), 1, "{damage}");
        let notes = watch.notes.lock().unwrap();
        assert!(notes.len() == 1 && notes[0].contains("the run starts again"), "{notes:?}");
    }
}

#[test]
fn a_sweep_of_another_build_is_reported_on_and_not_worked_on() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    run_all(&sweep);
    let log = fs::read_to_string(dir.path().join(format!("logs/{}.json", sweep.runs[0].id))).unwrap();
    assert!(log.contains(&format!("\"build\": \"{}\"", sweep.header.build)), "{log}");
    let path = dir.path().join("plan.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(&sweep.header.build, "0123456789abcdef")).unwrap();
    let there = Sweep::open(dir.path()).unwrap();
    for error in [
        Sweep::begin(dir.path(), &experiment()).map(drop),
        work(&there, WorkerOptions::new(1), &Watch::default()).map(drop),
        there.retry().map(drop),
    ] {
        let error = error.unwrap_err().to_string();
        assert!(error.contains("build 0123456789abcdef") && error.contains(&sweep.header.build), "{error}");
    }
    assert_eq!(there.status().unwrap().results().len(), 4);
}

fn attempts_of(dir: &Path, id: &str) -> PathBuf {
    dir.join("attempts").join(id)
}

/// The file that a process leaves when it dies in its nth attempt.
fn die(dir: &Path, id: &str, times: u32) {
    fs::write(attempts_of(dir, id), format!(r#"{{"begun":{times},"checkpoint":""}}"#)).unwrap();
}

#[test]
fn a_run_whose_process_dies_three_times_fails_and_the_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    let ids: Vec<&String> = sweep.runs.iter().map(|run| &run.id).collect();
    die(dir.path(), ids[0], 3);
    die(dir.path(), ids[1], 2);
    let watch = Watch::default();
    let summary = work(&sweep, WorkerOptions::new(1), &watch).unwrap();
    assert_eq!((summary.done, summary.failed), (4, 1));
    // Runs that have died come after those that have not.
    assert_eq!(*watch.labels.lock().unwrap(), [ids[2], ids[3], ids[1], ids[0]].map(Clone::clone));
    let RunState::Done(result) = sweep.state(ids[0]).unwrap() else { panic!("no result") };
    assert!(
        matches!(&result.ending, Ending::Failed { message } if message.contains("ended 3 times before the run had saved any progress: it was killed, or") && message.contains("`wug retry`"))
    );
    assert!(!attempts_of(dir.path(), ids[0]).exists());
    // After `retry` its attempts are counted from zero.
    assert_eq!(sweep.retry().unwrap().len(), 1);
    assert_eq!(run_all(&sweep).failed, 0);
    assert_eq!(files(&dir.path().join("results")), uninterrupted());
}

#[test]
fn a_run_that_makes_progress_between_kills_never_fails() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    for epoch in 1..4 {
        // Two processes that died without progress, then one that comes one epoch further.
        let id = sweep.runs[0].id.clone();
        let path = attempts_of(dir.path(), &id);
        assert_eq!(interrupt(&sweep, 1).interrupted, 1, "{epoch}");
        // As if it had been killed after its checkpoint instead: the attempt stays counted.
        fs::write(&path, r#"{"begun":3,"checkpoint":"an older one"}"#).unwrap();
    }
    let summary = run_all(&sweep);
    assert_eq!((summary.done, summary.failed), (4, 0));
    assert_eq!(files(&dir.path().join("results")), uninterrupted());
}

#[test]
fn a_run_that_has_died_twice_runs_alone() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    sweep.runs.iter().for_each(|run| die(dir.path(), &run.id, 2));
    let other = fs::File::create(dir.path().join("attempts/alone")).unwrap();
    other.lock_shared().unwrap();
    let summary = run_all(&sweep);
    assert_eq!((summary.done, summary.waiting), (0, 4));
    drop(other);
    assert_eq!(work(&sweep, WorkerOptions::new(3), &Watch::default()).unwrap().done, 4);
}

#[test]
fn an_interrupted_sweep_saves_its_runs_and_ends_with_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    let mut interrupted = 0;
    for after in [1, 2, 3, 1, 2] {
        let summary = interrupt(&sweep, after);
        interrupted += summary.interrupted;
        assert_eq!((summary.failed, summary.elsewhere), (0, 0));
        // A stopped run does not count as an attempt, and its claim is released.
        assert_eq!(fs::read_dir(dir.path().join("attempts")).unwrap().count(), 1);
    }
    assert!(interrupted >= 3, "{interrupted}");
    assert_eq!(run_all(&sweep).failed, 0);
    assert_eq!(files(&dir.path().join("results")), uninterrupted());
    assert_eq!(fs::read_dir(dir.path().join("checkpoints")).unwrap().count(), 0);
}

#[test]
fn a_lost_plan_is_written_again_by_the_same_experiment() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    run_all(&sweep);
    sweep.write_report("<html>").unwrap();
    let path = dir.path().join("plan.json");
    let text = fs::read_to_string(&path).unwrap();
    let before = files(&dir.path().join("results"));
    for damaged in [None, Some("{"), Some("")] {
        match damaged {
            None => fs::remove_file(&path).unwrap(),
            Some(text) => fs::write(&path, text).unwrap(),
        }
        let error = Sweep::open(dir.path()).unwrap_err();
        assert!(matches!(error, LabError::Corrupt { .. }), "{error}");
        assert!(error.to_string().contains("`wug run` of the same experiment"), "{error}");
        // Another experiment does not write it.
        let fewer = [("learners".to_owned(), "rnn".to_owned())];
        let other = Experiment::read("small", "small.toml", SMALL, Scale::Paper, &fewer).unwrap();
        assert!(Sweep::begin(dir.path(), &other).is_err());
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), damaged);
        assert_eq!(begin(dir.path()).runs, sweep.runs);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    // Results of another build are refused.
    let log = dir.path().join(format!("logs/{}.json", sweep.runs[0].id));
    let changed = fs::read_to_string(&log).unwrap().replace(&sweep.header.build, "0123456789abcdef");
    fs::write(&log, changed).unwrap();
    fs::remove_file(&path).unwrap();
    let error = Sweep::begin(dir.path(), &experiment()).unwrap_err().to_string();
    assert!(error.contains("build 0123456789abcdef"), "{error}");
    assert_eq!(files(&dir.path().join("results")), before);
}

#[test]
fn a_run_that_is_listed_twice_is_one_run() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    let path = dir.path().join("runs.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{}\n", text.lines().next().unwrap())).unwrap();
    assert_eq!(Sweep::open(dir.path()).unwrap().runs, sweep.runs);
    assert_eq!(run_all(&begin(dir.path())).done, 4);
}

#[test]
fn an_edited_result_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    run_all(&sweep);
    let path = dir.path().join(format!("results/{}.json", sweep.runs[0].id));
    let text = fs::read_to_string(&path).unwrap();
    let _: serde_json::Value = serde_json::from_str(&text).unwrap();
    for edited in [
        text.replacen("\"value\": 0.", "\"value\": 1.", 1),
        text.replace("\n  ", "\n "),
        text[..200].to_owned(),
    ] {
        assert_ne!(edited, text);
        fs::write(&path, edited).unwrap();
        let RunState::Broken(message) = sweep.state(&sweep.runs[0].id).unwrap() else {
            panic!("not noticed")
        };
        assert!(message.contains(path.to_str().unwrap()) && message.contains("checksum"), "{message}");
    }
    let error = work(&sweep, WorkerOptions::new(1), &Watch::default()).unwrap_err();
    assert!(matches!(error, LabError::Corrupt { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn retry_sets_aside_links_and_directories() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    let result = |i: usize| dir.path().join(format!("results/{}.json", sweep.runs[i].id));
    fs::write(dir.path().join("elsewhere"), "mine").unwrap();
    symlink(dir.path().join("elsewhere"), result(0)).unwrap();
    symlink(dir.path().join("nothing"), result(1)).unwrap();
    fs::create_dir(result(2)).unwrap();
    fs::write(result(2).join("file"), "x").unwrap();
    assert_eq!(sweep.retry().unwrap().len(), 3);
    // Again: the names in `aside` are taken, by a link to nothing too.
    symlink(dir.path().join("nothing"), result(1)).unwrap();
    assert_eq!(sweep.retry().unwrap().len(), 1);
    assert_eq!(fs::read_dir(dir.path().join("aside")).unwrap().count(), 4);
    assert_eq!(fs::read_to_string(dir.path().join("elsewhere")).unwrap(), "mine");
    assert_eq!(run_all(&sweep).done, 4);
}

/// Panics when a run ends, outside the run.
struct Breaks;

impl Observer for Breaks {
    fn begins(&self, _: usize, _: &PlannedRun) {}
    fn epoch(&self, _: usize, _: usize, _: f64) {}
    fn evaluating(&self, _: usize, _: &str) {}
    fn ends(&self, _: usize, _: &RunResult, _: Duration, _: Progress) {
        panic!("the observer broke");
    }
}

#[test]
fn a_panic_in_a_worker_is_an_internal_error() {
    let dir = tempfile::tempdir().unwrap();
    let error = work(&begin(dir.path()), WorkerOptions::new(2), &Breaks).unwrap_err();
    assert!(
        matches!(&error, LabError::Internal(message) if message.contains("the observer broke")),
        "{error}"
    );
}

/// The largest count there is: one more would be none at all.
#[test]
fn data_with_an_absurd_number_of_edits_can_be_read() {
    let root = tempfile::tempdir().unwrap();
    write_data("flare/parity", &root.path().join("parity"), false).unwrap();
    let edits = root.path().join("parity/datasets/test/num-edits.txt");
    let text = fs::read_to_string(&edits).unwrap();
    let changed: Vec<String> = text
        .lines()
        .map(|line| if line.is_empty() { String::new() } else { usize::MAX.to_string() })
        .collect();
    assert!(changed.iter().any(|line| !line.is_empty()));
    let read = || {
        let directory = root.path().display();
        let text = format!(
            "title = \"x\"\n[[recognition]]\nlanguages = \"parity\"\nlearners = \"lstm\"\ndata.directory = \"{directory}\""
        );
        Experiment::read("x", "x.toml", &text, Scale::Paper, &[]).unwrap().runs[0].id()
    };
    let before = read();
    fs::write(&edits, changed.join("\n") + "\n").unwrap();
    assert_ne!(read(), before, "other data, and the same run");
}
