//! The protocol against a naive computation of the same: every rule trained for by itself, every block anew.

use wug_dataset::transduction::holdout_order;
use wug_dataset::{RuleTask, Seed};
use wug_language::{Alphabet, Symbol};
use wug_learner::registry::SettingValue;
use wug_score::{RunResult, Stratum};

use super::data::Data;
use super::describe::Blocks;
use super::*;
use crate::LabError;
use crate::context::RunContext;
use crate::fit::transducer::{TransducerOptions, fit};
use crate::plan::{DataCache, RunEstimate, RunPlan};
use crate::protocol::Protocol as _;
use crate::spec::{Experiment, Scale};
use wug_learner::fit::OptimizerStart;

/// Saves the checkpoint of one call, and resumes from what it is given.
#[derive(Default)]
struct Context {
    calls: usize,
    save_at: usize,
    saved: Option<Vec<u8>>,
    resume: Option<Vec<u8>>,
    epochs: usize,
}

impl RunContext for Context {
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        self.resume.take()
    }
    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        self.calls += 1;
        if self.calls == self.save_at {
            self.saved = Some(bytes());
        }
        Ok(())
    }
    fn epoch(&mut self, _: usize, _: f64) {
        self.epochs += 1;
    }
    fn evaluating(&mut self, _: &str) -> Result<(), LabError> {
        Ok(())
    }
}

const SMALL: &str = r#"
title = "small"
[[preference]]
tasks = ["hierarchical-or-linear:depth=2"]
learners = ["transformer"]
seeds = 1
embedding = 8
heads = 2
hidden = 8
updates = 7
warmup = 3
learning_rate = 0.05
precision = "f64"
"#;

fn plans(text: &str, sets: &[(&str, &str)]) -> Result<Vec<PreferencePlan>, LabError> {
    let sets: Vec<(String, String)> =
        sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let experiment = Experiment::read("small", "small.toml", text, Scale::Paper, &sets)?;
    Ok(experiment.runs.iter().map(|run| run.of::<Preference>().unwrap().clone()).collect())
}

fn small(sets: &[(&str, &str)]) -> PreferencePlan {
    plans(SMALL, sets).unwrap().remove(0)
}

fn result(plan: &PreferencePlan, context: &mut Context) -> RunResult {
    RunPlan::new(plan.clone(), RunEstimate { cost: 1.0, seconds: None, memory: 0.0 })
        .execute(&mut DataCache::default(), context)
        .unwrap()
}

/// The nats of each block of each rule, without sharing anything.
fn naive(plan: &PreferencePlan) -> Vec<Vec<f64>> {
    let data = Data::of(plan).unwrap();
    let order = holdout_order(data.task.unseen().len(), plan.reading, Seed::new(plan.seed));
    let of_rule = |rule: &wug_dataset::CandidateRule| {
        let blocks = data.task.blocks_of(rule, &order, plan.measure.block_size);
        let encoded: Vec<Vec<_>> =
            blocks.iter().map(|block| block.iter().map(|pair| data.encoding.pair(pair)).collect()).collect();
        let mut carried: Option<Vec<u8>> = None;
        let mut nats = Vec::new();
        for sent in 1..blocks.len() {
            let pairs: Vec<_> =
                encoded[..sent].iter().flatten().map(super::data::EncodedPair::pair).collect();
            let optimizer = match plan.measure.optimizer_state {
                OptimizerState::Reset => OptimizerStart::Fresh,
                OptimizerState::Carried => OptimizerStart::Carried(carried.as_deref()),
            };
            let options = TransducerOptions {
                precision: plan.precision,
                seed: Preference::root(plan),
                size: plan.learner.size,
                optimizer,
            };
            let pairs = data.pairs(&pairs);
            let mut fitted = fit(&plan.learner, pairs, options, &mut Context::default()).unwrap();
            let next: Vec<_> = encoded[sent].iter().map(super::data::EncodedPair::pair).collect();
            nats.push(-fitted.model.log_probs(&next).unwrap().iter().sum::<f64>());
            carried = fitted.optimizer;
        }
        nats
    };
    data.task.rules.iter().map(of_rule).collect()
}

#[test]
fn shared_trainings_give_what_separate_ones_give() {
    for (reading, state) in [("corrected", "reset"), ("published", "carried")] {
        let plan = small(&[("reading", reading)]);
        assert_eq!(plan.measure.optimizer_state.name(), state);
        let data = Data::of(&plan).unwrap();
        let order = holdout_order(data.task.unseen().len(), plan.reading, Seed::new(plan.seed));
        let blocks = Blocks::of(&data.task, &order, plan.measure.block_size);
        let (trainings, without) = (blocks.trainings(), blocks.trainings_without_sharing());
        assert_eq!(without, 2 * 4);
        let mut context = Context::default();
        let result = result(&plan, &mut context);
        assert_eq!(context.epochs, trainings * 7, "{trainings} trainings of 7 updates");
        assert!(trainings < without - 2, "the first block is shared, and the last is not trained on");
        for (rule, expected) in ["hierar", "linear"].iter().zip(naive(&plan)) {
            let split = format!("holdout/{rule}");
            let of = |stratum: Stratum| {
                let score = |m: &&wug_score::Measurement| {
                    m.split == split && m.stratum == stratum && m.metric == "description_length"
                };
                result.scores.iter().find(score).and_then(|m| m.value).unwrap()
            };
            for (block, &nats) in expected.iter().enumerate() {
                assert!((of(Stratum::Block(block + 1)) - nats).abs() < 1e-12, "{rule} block {block}");
            }
            let total: f64 = expected.iter().sum();
            assert!((of(Stratum::All) - total).abs() < 1e-9);
            let per_example = result.value(&split, "description_length_per_example").unwrap();
            assert!((per_example - total / 12.0).abs() < 1e-9);
            let bits = result.value(&split, "description_length_bits").unwrap();
            assert!((bits * 2.0_f64.ln() - total).abs() < 1e-9);
        }
    }
}

#[test]
fn carried_moments_make_a_difference() {
    let [reset, carried] = ["reset", "carried"].map(|state| {
        let plan = small(&[("optimizer_state", state)]);
        result(&plan, &mut Context::default()).value("holdout/linear", "description_length").unwrap()
    });
    assert!((reset - carried).abs() > 1e-6, "{reset} {carried}");
}

#[test]
fn a_run_resumes_anywhere_with_the_same_result() {
    for reading in ["corrected", "published"] {
        let plan = small(&[("reading", reading)]);
        let whole = result(&plan, &mut Context::default());
        let mut calls = Context::default();
        result(&plan, &mut calls);
        for save_at in [1, 7, 8, 9, 20, calls.calls - 1, calls.calls] {
            let mut first = Context { save_at, ..Context::default() };
            result(&plan, &mut first);
            let mut second = Context { resume: first.saved, ..Context::default() };
            assert_eq!(result(&plan, &mut second), whole, "{reading}, resumed at {save_at}");
            assert!(second.epochs < first.epochs);
        }
        let mut damaged = Context { resume: Some(vec![7; 40]), ..Context::default() };
        assert_eq!(result(&plan, &mut damaged), whole);
    }
}

/// Three rules over four inputs: the first two agree on the first two inputs, the third with none.
fn task() -> RuleTask {
    let letters = Alphabet::new(["a", "b"]);
    let word = |text: &str| letters.parse(text).unwrap();
    let holdout = vec![word("a a"), word("a b"), word("b a"), word("b b")];
    let first = |w: &[Symbol]| vec![w[0]];
    let mostly = |w: &[Symbol]| if w.len() > 1 && w[0].0 == 1 { vec![] } else { vec![w[0]] };
    let twice = |w: &[Symbol]| if w.len() > 1 { vec![w[0], w[0]] } else { vec![w[0]] };
    let rules: [(&str, wug_dataset::transduction::RuleFunction<'_>); 3] =
        [("first", &first), ("mostly", &mostly), ("twice", &twice)];
    let letters = (letters.clone(), letters.clone());
    RuleTask::from_rules("t", letters, vec![word_of(0), word_of(1)], holdout, &rules, 1).unwrap()
}

fn word_of(symbol: u16) -> Vec<Symbol> {
    vec![Symbol(symbol)]
}

#[test]
fn rules_share_trainings_as_long_as_they_agree() {
    let task = task();
    let blocks = Blocks::of(&task, &[0, 1, 2, 3], 1);
    let leaders = |sent| (0..3).map(|rule| blocks.leader(rule, sent)).collect::<Vec<_>>();
    assert_eq!(leaders(0), [0, 0, 0]);
    assert_eq!(leaders(1), [0, 0, 2]);
    assert_eq!(leaders(2), [0, 0, 2]);
    assert_eq!(leaders(3), [0, 1, 2]);
    assert_eq!((blocks.trainings(), blocks.trainings_without_sharing()), (1 + 2 + 2 + 3, 15));
    assert_eq!((blocks.block(3), blocks.sent(2)), (&[3][..], &[0, 1][..]));
    let all = Blocks::of(&task, &[3, 2, 1, 0], 4);
    assert_eq!((all.count(), all.trainings(), all.block(0)), (1, 1, &[3, 2, 1, 0][..]));
}

#[test]
fn a_task_of_ones_own_is_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("task.toml");
    let text = r#"
name = "first-or-last"
[[train]]
input = "a b a"
output = "A"
[[holdout]]
input = "a b"
rules = { first = "A", last = "B" }
[[holdout]]
input = "b a"
rules = { first = "B", last = "A" }
"#;
    std::fs::write(&path, text).unwrap();
    let spec = SMALL.replace(
        r#"tasks = ["hierarchical-or-linear:depth=2"]"#,
        &format!("files = [{:?}]", path.display().to_string()),
    );
    let plan = plans(&spec, &[]).unwrap().remove(0);
    assert_eq!(plan.subject, "first-or-last");
    let done = result(&plan, &mut Context::default());
    assert!(done.value("holdout/first", "description_length").is_some());
    assert!(done.value("holdout", "agreement_with_none").is_some());
    // The run is identified by what is in the file, not by where it is.
    let id = |plan: &PreferencePlan| {
        RunPlan::new(plan.clone(), RunEstimate { cost: 1.0, seconds: None, memory: 0.0 }).id()
    };
    let other = folder.path().join("moved.json");
    let json = r#"{ "name": "first-or-last", "train": [{ "input": "a b a", "output": "A" }], "holdout": [
        { "input": "a b", "rules": { "first": "A", "last": "B" } }, { "input": "b a", "rules": { "first": "B", "last": "A" } }] }"#;
    std::fs::write(&other, json).unwrap();
    let moved = plans(&spec.replace("task.toml", "moved.json"), &[]).unwrap().remove(0);
    assert_eq!(id(&moved), id(&plan));
    // A file that has changed since is refused.
    std::fs::write(&path, text.replace("\"B\", last", "\"A\", last")).unwrap();
    assert!(Data::of(&plan).unwrap_err().to_string().contains("has changed since the run was planned"));
    std::fs::write(&path, "name = \"x\"\nrules = 1\n").unwrap();
    let error = plans(&spec, &[]).unwrap_err().to_string();
    assert!(error.contains("task.toml") && error.contains("unknown field `rules`"), "{error}");
}

#[test]
fn wrong_fields_are_named() {
    let error = |sets: &[(&str, &str)]| plans(SMALL, sets).unwrap_err().to_string();
    assert!(error(&[("tasks", "count-or-mm")]).contains("unknown task `count-or-mm`"));
    assert!(error(&[("block_size", "0")]).contains("cannot be 0"));
    for size in ["-1", "1.5", "half", "true"] {
        let message = error(&[("block_size", size)]);
        assert!(message.contains("must be all or a whole number from 1 on"), "{message}");
    }
    let message = error(&[("kernel", "5")]);
    assert_eq!(message, "--set kernel=5: `kernel`: none of the learners has this setting");
    assert!(error(&[("measures", "loss")]).contains("agreement, description-length"));
    assert!(error(&[("optimizer_state", "kept")]).contains("reset, carried"));
    assert!(error(&[("languages", "parity")]).contains("unknown field"));
    assert!(error(&[("max_output", "0")]).contains("from 1 to 100000"));
}

#[test]
fn readings_differ_in_vocabulary_and_output() {
    let of = |reading| {
        let plan = small(&[("reading", reading), ("tasks", "count-or-memorization:length=10")]);
        (Data::of(&plan).unwrap().encoding.vocabularies, plan.measure.output)
    };
    let (vocabularies, output) = of("published");
    assert_eq!((vocabularies.inputs, vocabularies.outputs, vocabularies.padding), (8, 8, Some(1)));
    assert_eq!(output, [1, 200]);
    let (vocabularies, output) = of("corrected");
    assert_eq!((vocabularies.inputs, vocabularies.outputs, output), (2, 2, [0, 200]));
}

/// An experiment with a task from a file.
fn with_file(learner: &str, file: &str, sets: &[(&str, &str)]) -> Result<Vec<PreferencePlan>, LabError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("task.toml");
    std::fs::write(&path, file).unwrap();
    let spec = SMALL
        .replace(r#"tasks = ["hierarchical-or-linear:depth=2"]"#, &format!("files = ['{}']", path.display()))
        .replace("[\"transformer\"]", &format!("[\"{learner}\"]"))
        .replace("heads = 2\n", "");
    plans(&spec, sets)
}

/// A task with one long string.
fn task_with(input: usize, output: usize) -> String {
    let long = |symbol: &str, n: usize| vec![symbol; n].join(" ");
    format!(
        "name = \"t\"\ntrain = [{{ input = \"a\", output = \"b\" }}]\n[[holdout]]\ninput = \"{}\"\nrules = {{ one = \"b\", many = \"{}\" }}\n",
        long("a", input),
        long("b", output)
    )
}

#[test]
fn strings_that_are_too_long_for_a_learner_are_refused_when_planning() {
    let error = |input, output, sets: &[(&str, &str)]| {
        with_file("cnn", &task_with(input, output), sets).unwrap_err().to_string()
    };
    let message = error(2, 1500, &[]);
    assert!(
        message.ends_with(
            "cnn on t: the longest output has 1501 symbols with its end, but the learner has only 1022 positions"
        ),
        "{message}"
    );
    assert!(error(1022, 2, &[]).contains("the longest input has 1023 symbols with its end"));
    assert!(error(2, 2, &[("max_output", "1023")]).contains("must be at most 1022 for cnn"));
    // Just as long as possible: all is measured, and no output is longer than the learner can write.
    let plan = with_file("cnn", &task_with(1021, 1021), &[("hidden", "4")]).unwrap().remove(0);
    assert_eq!(plan.measure.output, [0, 1022]);
    // Others have no positions that could be too few.
    let plan = with_file("lstm", &task_with(2, 1500), &[]).unwrap().remove(0);
    assert_eq!(plan.measure.output, [0, 3000]);
}

#[test]
fn rules_that_no_output_can_agree_with_are_refused() {
    let long = task_with(2, 201);
    let of = |sets: &[(&str, &str)]| with_file("lstm", &long, &[&[("reading", "published")], sets].concat());
    let message = of(&[]).unwrap_err().to_string();
    assert!(message.contains("an output of 201 symbols, but outputs have at most 200"), "{message}");
    assert_eq!(of(&[("max_output", "201")]).unwrap()[0].measure.output, [1, 201]);
    assert!(of(&[("measures", "description-length")]).is_ok());
}

#[test]
fn task_files_keep_their_order_and_name_their_lines() {
    let plan = |text: &str| with_file("lstm", text, &[]);
    let good = task_with(2, 3);
    let rules = |text: &str| {
        let file = tasks::from_toml(text).unwrap().task().unwrap();
        file.rules.into_iter().map(|rule| rule.name).collect::<Vec<_>>()
    };
    assert_eq!(rules(&good), ["one", "many"]);
    let message = plan(&good.replace("rules =", "rule =")).unwrap_err().to_string();
    assert!(message.contains("task.toml: line 5: unknown field `rule`"), "{message}");
}

#[test]
fn files_are_relative_to_the_experiment_and_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.toml", &task_with(2, 3));
    write("b.toml", &task_with(2, 4));
    let spec = SMALL.replace(r#"tasks = ["hierarchical-or-linear:depth=2"]"#, "files = [\"a.toml\"]");
    write("mine.toml", &spec);
    let load = || {
        let path = folder.path().join("mine.toml");
        Experiment::load(&path.display().to_string(), Scale::Paper, &[])
    };
    assert_eq!(load().unwrap().runs.len(), 1);
    write("mine.toml", &spec.replace("\"a.toml\"", "\"a.toml\", \"b.toml\""));
    let message = load().unwrap_err().to_string();
    assert!(message.contains("b.toml: the name `t` is that of"), "{message}");
}

#[test]
fn the_gradient_of_the_convolutional_network_follows_the_reading() {
    let text = SMALL.replace("[\"transformer\"]", "[\"cnn\"]").replace("heads = 2\n", "");
    let damped = |sets: &[(&str, &str)]| {
        plans(&text, sets).unwrap()[0].learner.settings.get_value("damped")
            == Some(&SettingValue::Switch(true))
    };
    assert!(damped(&[("reading", "published")]));
    assert!(!damped(&[("reading", "corrected")]));
    assert!(damped(&[("reading", "corrected"), ("damped", "true")]));
    assert!(!damped(&[("reading", "published"), ("damped", "false")]));
    let both = plans(&text, &[("damped", "[true, false]")]).unwrap();
    assert_eq!(
        both.iter()
            .map(|plan| plan.learner.settings.get_value("damped") == Some(&SettingValue::Switch(true)))
            .collect::<Vec<_>>(),
        [true, false]
    );
}

#[test]
fn the_estimate_includes_decoding() {
    let seconds = |sets: &[(&str, &str)]| {
        let sets =
            [&[("tasks", "scan:split=jump"), ("measures", "agreement"), ("updates", "1")], sets].concat();
        let sets: Vec<(String, String)> =
            sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let runs = Experiment::read("small", "small.toml", SMALL, Scale::Paper, &sets).unwrap().runs;
        runs[0].estimate.seconds.unwrap()
    };
    let [short, long] = ["1", "100"].map(|most| seconds(&[("max_output", most)]));
    assert!(long > 5.0 * short, "{short} {long}");
}
