//! What runs keep beside their results: enough to compute the results again, and nothing that changes them.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use wug_lab::Keep;
use wug_lab::answers::load_model;
use wug_lab::score::RunResult;
use wug_lab::spec::{Experiment, Scale};
use wug_lab::sweep::{PlannedRun, Sweep};
use wug_lab::table::ColumnValue as Value;
use wug_lab::work::{Observer, Progress, WorkerOptions, work};
use wug_learner::interface::{Recognizer as _, SavedModel, Trained};
use wug_learner::model::RecognizerModel;

const SMALL: &str = r#"
title = "small"
[[recognition]]
languages = ["parity"]
learners = ["rnn", "lstm"]
losses = ["R+LM"]
validation = ["short"]
sizes = [2000]
seeds = 1
max_epochs = 3
batch_symbols = 512
[recognition.data]
training = 60
validation = 20
test = 30
held_out = 10
distances = 5
longest = 60
[[generalization]]
languages = ["an-bn"]
learners = ["lstm", "bigram"]
order = 2
factors = [1]
seeds = 1
hidden = 3
epochs = 3
"#;

const BOTH: Keep = Keep { predictions: true, models: true };
const PREDICTIONS: Keep = Keep { predictions: true, models: false };

/// Stops after so many epochs.
#[derive(Default)]
struct Stop {
    flag: Arc<AtomicBool>,
    after: usize,
    epochs: AtomicUsize,
}

impl Observer for Stop {
    fn begins(&self, _: usize, _: &PlannedRun) {}
    fn epoch(&self, _: usize, _: usize, _: f64) {
        if self.epochs.fetch_add(1, Ordering::SeqCst) + 1 == self.after {
            self.flag.store(true, Ordering::SeqCst);
        }
    }
    fn evaluating(&self, _: usize, _: &str) {}
    fn ends(&self, _: usize, _: &RunResult, _: Duration, _: Progress) {}
    fn note(&self, _: &str) {}
}

fn begin(root: &Path) -> Sweep {
    begin_with(root, SMALL)
}

fn begin_with(root: &Path, text: &str) -> Sweep {
    Sweep::begin(root, &Experiment::read("small", "small.toml", text, Scale::Paper, &[]).unwrap()).unwrap()
}

fn run(sweep: &Sweep, keep: Keep, after: usize) {
    let watch = Stop { after, ..Stop::default() };
    let options = WorkerOptions { keep, stop: Arc::clone(&watch.flag), ..WorkerOptions::new(1) };
    work(sweep, options, &watch).unwrap();
}

/// All files below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            all.extend(
                files(&entry.path()).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)),
            );
        } else {
            all.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    all
}

fn column(name: &str) -> usize {
    Sweep::prediction_columns().iter().position(|column| column.name == name).unwrap()
}

fn number(row: &[Value<'_>], name: &str) -> f64 {
    match row[column(name)] {
        Value::Float(x) => x,
        Value::Integer(n) => n as f64,
        ref other => panic!("{name} is {other:?}"),
    }
}

fn rows(sweep: &Sweep, id: &str, split: &str) -> Vec<Vec<Value<'static>>> {
    let mut rows = sweep.predictions(id).unwrap().unwrap();
    rows.retain(|row| row[column("split")] == Value::from(split));
    rows
}

fn close(a: f64, b: Option<f64>, tolerance: f64) {
    assert!((a - b.unwrap()).abs() < tolerance, "{a} is not {b:?}");
}

#[test]
fn results_can_be_computed_again_from_what_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    run(&sweep, BOTH, 0);
    assert!(sweep.lacking(BOTH).unwrap().is_empty());
    let mut protocols = Vec::new();
    for result in sweep.status().unwrap().results() {
        let id = &result.run.plan;
        protocols.push(result.run.protocol.clone());
        if result.run.protocol == "recognition" {
            let test = rows(&sweep, id, "test");
            let correct =
                |row: &&Vec<Value<'_>>| Value::from(number(row, "log_odds") >= 0.0) == row[column("label")];
            let accuracy = test.iter().filter(correct).count() as f64 / test.len() as f64;
            close(accuracy, result.value("test", "recognition_accuracy"), 1e-12);
            // Minus the log-probability of a member per symbol, the end counted as one.
            let members = test.iter().filter(|row| row[column("label")] == Value::from(true));
            let loss = |row: &Vec<Value<'_>>| -number(row, "log_prob") / (number(row, "length") + 1.0);
            let losses: Vec<f64> = members.map(loss).collect();
            let mean = losses.iter().sum::<f64>() / losses.len() as f64;
            close(mean, result.value("test", "language_modeling_cross_entropy"), 1e-9);
            // The model that is kept gives the same log-odds; sums in a batch are rounded otherwise.
            let kept = dir.path().join("kept").join(id);
            let [config, weights] =
                ["config.json", "model.safetensors"].map(|name| fs::read(kept.join(name)).unwrap());
            let mut model = Trained::<RecognizerModel, f32>::load(&SavedModel { config, weights }).unwrap();
            let Value::Text(string) = &test[0][column("string")] else { panic!() };
            let symbols: Vec<u32> =
                string.split_whitespace().map(|token| token.parse::<u32>().unwrap() + 1).collect();
            close(model.log_odds(&[&symbols]).unwrap()[0], Some(number(&test[0], "log_odds")), 1e-5);
        } else {
            for score in result.scores.iter().filter(|m| m.metric == "deterministic_accuracy") {
                let (margin, _) = score.stratum.bounds().unwrap();
                let mut test = rows(&sweep, id, "test");
                test.retain(|row| row[column("margin")] == Value::Float(margin));
                let sum = |name: &str| test.iter().map(|row| number(row, name)).sum::<f64>();
                close(sum("steps_correct"), score.numerator, 1e-9);
                close(sum("steps_scored"), score.denominator, 1e-9);
            }
            let training = rows(&sweep, id, "training");
            let sum = |of: &dyn Fn(&[Value<'_>]) -> f64| {
                training.iter().map(|row| number(row, "count") * of(row)).sum::<f64>()
            };
            let strings = sum(&|_| 1.0);
            assert_eq!(Some(strings as u64), result.plan.data["training"].as_u64());
            let nats = -sum(&|row| number(row, "log_prob")) / sum(&|row| number(row, "length") + 1.0);
            close(nats, result.value("training", "language_modeling_symbol_cross_entropy"), 1e-9);
        }
    }
    assert_eq!(protocols, ["recognition", "recognition", "generalization", "generalization"]);
}

#[test]
fn keeping_changes_no_result_and_survives_interruptions() {
    let [plain, kept, stopped] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    run(&begin(plain.path()), Keep::default(), 0);
    run(&begin(kept.path()), BOTH, 0);
    let sweep = begin(stopped.path());
    for after in 1..8 {
        run(&sweep, BOTH, after);
    }
    run(&sweep, BOTH, 0);
    assert!(!plain.path().join("kept").exists());
    let results = |dir: &tempfile::TempDir| files(&dir.path().join("results"));
    assert_eq!(results(&plain), results(&kept));
    assert_eq!(results(&plain), results(&stopped));
    let all = files(&kept.path().join("kept"));
    assert_eq!(all, files(&stopped.path().join("kept")));
    // The baseline has predictions and no model.
    let named = |name: &str| all.keys().filter(|key| key.ends_with(name)).count();
    assert_eq!((named("predictions.parquet"), named("model.safetensors"), named("kept.json")), (4, 3, 4));
}

#[test]
fn blocks_of_description_lengths_are_kept_symbol_by_symbol_after_interruptions() {
    let text = r#"
        title = "small"
        [[preference]]
        tasks = ["add-or-multiply:length=3"]
        learners = ["lstm"]
        seeds = 1
        hidden = 8
        embedding = 4
        updates = 2
    "#;
    let [whole, stopped] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let sweep = begin_with(whole.path(), text);
    run(&sweep, PREDICTIONS, 0);
    let [result] = sweep.status().unwrap().results().try_into().unwrap();
    let blocks = result.scores.iter().filter(|score| score.stratum.kind() == "block");
    assert_eq!(blocks.clone().count(), 3 * 6);
    for score in blocks {
        let block = score.stratum.bounds().unwrap().0;
        let mut sent = rows(&sweep, &result.run.plan, &score.split);
        sent.retain(|row| row[column("block")] == Value::Integer(block as i128));
        let nats: f64 = sent.iter().map(|row| -list(row, "log_probs").iter().sum::<f64>()).sum();
        close(nats, score.value, 1e-9);
        assert_eq!(sent.len(), score.n);
    }
    let sweep = begin_with(stopped.path(), text);
    for after in 1..6 {
        run(&sweep, PREDICTIONS, after);
    }
    run(&sweep, PREDICTIONS, 0);
    let kept = |dir: &tempfile::TempDir| files(&dir.path().join("kept"));
    assert!(kept(&whole) == kept(&stopped), "interruptions change what is kept");
}

fn list(row: &[Value<'_>], name: &str) -> Vec<f64> {
    let Value::List(values) = &row[column(name)] else { panic!("{name} is {:?}", row[column(name)]) };
    values.iter().map(|value| if let Value::Float(x) = value { *x } else { panic!("{value:?}") }).collect()
}

#[test]
fn strings_of_pairs_are_kept_with_number_role_and_dependency() {
    let text = r#"
        title = "small"
        [[pairs]]
        reading = "published"
        languages = ["nested:terminals=5"]
        learners = ["true-grammar"]
        seeds = 1
        data = { training = 40, validation = 10, test = 20, out_of_distribution = 20 }
    "#;
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin_with(dir.path(), text);
    run(&sweep, PREDICTIONS, 0);
    let [result] = sweep.status().unwrap().results().try_into().unwrap();
    let of = |split: &str| rows(&sweep, &result.run.plan, split);
    assert_eq!((of("validation").len(), of("test").len()), (10, 2 * 20));
    assert!(of("validation").iter().all(|row| row[column("role")] == Value::Null));
    let test = of("test");
    for (i, row) in test.iter().enumerate() {
        let role = if i % 2 == 0 { "good" } else { "bad" };
        assert_eq!((&row[column("pair")], &row[column("role")]), (&Value::from(i / 2), &role.into()));
    }
    assert!(test.iter().any(|row| row[column("dependency")] != Value::Null));
    // What the grammar cannot make is impossible, and not absent.
    let impossible = test.iter().filter(|row| row[column("log_prob")] == Value::Float(f64::NEG_INFINITY));
    assert!(impossible.clone().count() > 0);
    assert!(impossible.into_iter().all(|row| list(row, "log_probs").contains(&f64::NEG_INFINITY)));
}

#[test]
fn results_without_what_is_asked_for_are_named_and_done_again() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    let models = Keep { models: true, ..Keep::default() };
    run(&sweep, models, 0);
    let before = files(&dir.path().join("results"));
    assert!(sweep.lacking(models).unwrap().is_empty() && sweep.retry().unwrap().is_empty());
    assert_eq!(sweep.lacking(BOTH).unwrap().len(), 4);
    assert!(sweep.predictions(&sweep.runs[0].id).unwrap().is_none());
    assert_eq!(sweep.retry_keeping(BOTH).unwrap().len(), 4);
    run(&sweep, Keep { predictions: true, ..Keep::default() }, 0);
    assert_eq!(files(&dir.path().join("results")), before);
    // The models that were there still are.
    assert!(sweep.lacking(BOTH).unwrap().is_empty());
}

#[test]
fn kept_files_that_were_changed_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    run(&sweep, BOTH, 0);
    let [one, two, three, four] = [0, 1, 2, 3].map(|i| sweep.runs[i].id.as_str());
    let at = |id: &str, name: &str| dir.path().join("kept").join(id).join(name);
    let mut bytes = fs::read(at(one, "predictions.parquet")).unwrap();
    bytes[100] ^= 1;
    fs::write(at(one, "predictions.parquet"), bytes).unwrap();
    fs::copy(at(one, "kept.json"), at(two, "kept.json")).unwrap();
    fs::remove_file(at(three, "predictions.parquet")).unwrap();
    for (id, problem) in [(one, "checksum"), (two, "that of run"), (three, "is missing")] {
        let error = sweep.predictions(id).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    assert!(sweep.predictions(four).unwrap().is_some());
    assert_eq!(sweep.lacking(BOTH).unwrap().len(), 2, "the swapped manifest and the missing file");
}

#[test]
fn kept_models_that_were_changed_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(dir.path());
    run(&sweep, BOTH, 0);
    let kept = dir.path().join("kept").join(&sweep.runs[0].id);
    load_model(&kept).unwrap();
    let weights = kept.join("model.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&weights, bytes).unwrap();
    let error = load_model(&kept).unwrap_err().to_string();
    assert!(error.contains("model.safetensors does not match its checksum"), "{error}");
    // From elsewhere: there are no checksums.
    fs::remove_file(kept.join("kept.json")).unwrap();
    load_model(&kept).unwrap();
}

#[cfg(unix)]
#[test]
fn links_in_the_place_of_kept_folders_are_not_followed() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let sweep = begin(&dir.path().join("sweep"));
    run(&sweep, BOTH, 0);
    let (kept, outside) = (sweep.root().join("kept"), dir.path().join("outside"));
    fs::rename(&kept, &outside).unwrap();
    let [one, two] = [0, 1].map(|i| sweep.runs[i].id.as_str());
    let part = outside.join(one).join(".wug-part-x");
    fs::write(&part, "x").unwrap();
    symlink(&outside, &kept).unwrap();
    Sweep::open(sweep.root()).unwrap();
    assert!(part.exists(), "removed through a link");
    let error = sweep.predictions(one).unwrap_err().to_string();
    assert!(error.contains("kept is a link"), "{error}");
    assert_eq!(sweep.lacking(BOTH).unwrap().len(), 4);
    fs::remove_file(&kept).unwrap();
    fs::create_dir(&kept).unwrap();
    symlink(outside.join(two), kept.join(two)).unwrap();
    assert!(sweep.predictions(two).unwrap_err().to_string().contains("is a link"));
}
