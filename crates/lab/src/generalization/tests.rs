use std::collections::BTreeMap;

use wug_learner::registry::NextSymbolLoss;
use wug_score::strata::Margin;
use wug_score::{Ending, RunResult, Stratum, generalization_index};

use super::*;
use crate::LabError;
use crate::context::RunContext;
use crate::plan::{DataCache, RunPlan};
use crate::spec::{Experiment, Scale};

fn read(text: &str) -> Result<Vec<RunPlan>, String> {
    let text = format!("title = \"x\"\n[[generalization]]\n{text}");
    let experiment = Experiment::read("x", "x.toml", &text, Scale::Paper, &[]);
    experiment.map(|experiment| experiment.runs).map_err(|error| error.to_string())
}

/// Saves the checkpoint of one epoch; the next run resumes from it.
#[derive(Default)]
struct OneCheckpoint {
    after: Option<usize>,
    epochs: usize,
    saved: Option<Vec<u8>>,
    evaluated: Vec<String>,
}

impl RunContext for OneCheckpoint {
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        self.saved.take()
    }

    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        if self.after == Some(self.epochs) {
            self.saved = Some(bytes());
        }
        Ok(())
    }

    fn epoch(&mut self, done: usize, _: f64) {
        self.epochs = done;
    }

    fn evaluating(&mut self, split: &str) -> Result<(), LabError> {
        self.evaluated.push(split.to_owned());
        Ok(())
    }
}

fn run(plan: &RunPlan) -> RunResult {
    plan.execute(&mut DataCache::default(), &mut OneCheckpoint::default()).unwrap()
}

fn plan(run: &RunPlan) -> &GeneralizationPlan {
    run.of::<Generalization>().unwrap()
}

/// A row of the test at a margin.
fn row<'r>(result: &'r RunResult, metric: &str, margin: f64) -> &'r wug_score::Measurement {
    let stratum = Stratum::Margin(Margin::new(margin).unwrap());
    let rows = &mut result.scores.iter().filter(|m| m.split == "test" && m.stratum == stratum);
    rows.find(|m| m.metric == metric).unwrap()
}

fn accuracy(result: &RunResult, margin: f64) -> (f64, f64) {
    let row = row(result, "deterministic_accuracy", margin);
    (row.numerator.unwrap(), row.denominator.unwrap())
}

/// The index at a margin, over all steps and over every string.
fn index(results: &BTreeMap<usize, RunResult>, margin: f64) -> [Option<usize>; 2] {
    let all_steps = |result: &RunResult| {
        let (correct, steps) = accuracy(result, margin);
        steps - correct <= margin * steps
    };
    let every_string =
        |result: &RunResult| row(result, "deterministic_acceptance", margin).value.unwrap() >= 1.0;
    [
        generalization_index(results.iter().map(|(&b, result)| (b, all_steps(result)))),
        generalization_index(results.iter().map(|(&b, result)| (b, every_string(result)))),
    ]
}

/// The line with all languages of a suite, unless it names others.
fn with_languages(line: &str) -> String {
    if line.starts_with("languages") { line.to_owned() } else { format!("{line}\nlanguages = \"bliss/*\"") }
}

#[test]
fn errors_name_the_field_and_the_line() {
    for (line, message) in [
        ("learner = \"lstm\"", "x.toml, line 3: `learner`: unknown field; did you mean `learners`?"),
        ("learners = \"lsmt\"", "x.toml, line 3: `learners`: unknown learner `lsmt`; did you mean `lstm`?"),
        ("factors = [1, 3]", "x.toml, line 3: `factors`: cannot be 3; it must be a number that divides 1000"),
        ("margins = [0.5, 1.5]", "x.toml, line 3: `margins`: cannot be 1.5; it must be a number from 0 to 1"),
        ("order = 9", "x.toml, line 3: `order`: cannot be 9; it must be a whole number from 1 to 6"),
        ("languages = \"parity\"", "x.toml, line 3: `languages`: parity has no distribution over strings"),
        ("priors = 1.5", "x.toml, line 3: `priors`: cannot be 1.5; it must be a number from"),
        ("batch = \"some\"", "x.toml, line 3: `batch`: cannot be some; it must be all or a whole number"),
        ("batch = 0", "x.toml, line 3: `batch`: cannot be 0; it must be all or a whole number from 1 on"),
        ("hidden = []", "x.toml, line 3: `hidden`: is empty; at least one is needed"),
        ("hidden = 0", "x.toml, line 3: `hidden`: cannot be 0; it must be a whole number from 1 to 1000000"),
        ("lambda = -1.0", "x.toml, line 3: `lambda`: cannot be -1; it must be a number above 0"),
        ("gate = \"hard\"", "x.toml, line 3: `gate`: cannot be hard; it must be one of softmax, temperature"),
        (
            "learners = [{ name = \"stack-lstm\", layers = 2 }]",
            "x.toml, line 3: `learners`: `stack-lstm` has no setting `layers`",
        ),
        (
            "test.from = \"fisrt\"",
            "x.toml, line 3: `test.from`: cannot be fisrt; it must be one of longest, first; did you mean `first`?",
        ),
        ("test.strings = 0", "x.toml, line 3: `test.strings`: cannot be 0"),
        (
            "test.after = \"square\"",
            "x.toml, line 3: `test.after`: `square` is a slice of the released tests",
        ),
        (
            "test_memory = 40",
            "x.toml, line 3: `test_memory`: cannot be 40; it must be at least the 50 rows of",
        ),
        ("temperature.least = 0", "x.toml, line 3: `temperature.least`: cannot be 0"),
        ("seeds = 0", "x.toml, line 3: `seeds`: cannot be 0; it must be a whole number from 1 on"),
    ] {
        let error = read(&with_languages(line)).unwrap_err();
        assert!(error.starts_with(message), "{error}");
    }
    let error = read("learners = \"lstm\"").unwrap_err();
    assert!(error.starts_with("x.toml: `languages`: at least one is needed"), "{error}");
    let published =
        |line: &str| read(&format!("{}\nreading = \"published\"", with_languages(line))).unwrap_err();
    assert!(published("languages = \"parity\"").contains("has no distribution"));
    assert!(published("data_seed = 5000000000").contains("up to 4294967295"));
    assert!(published("test.strings = 20000").contains("from 1 to 15000 released test strings"));
    assert!(
        published("factors = [1, 20]").contains("`factors`: cannot be 20; it must be such that 20000 test")
    );
    assert!(
        published("order = 5").contains("`order`: cannot be 5; it must be such that 100000 test strings")
    );
}

fn published() -> [(String, String); 1] {
    [("reading".to_owned(), "published".to_owned())]
}

#[test]
fn the_built_in_table_is_the_grid_of_the_paper() {
    let runs = Experiment::load("bliss_table2", Scale::Paper, &published()).unwrap().runs;
    let count = |learner| runs.iter().filter(|run| plan(run).learner.name == learner).count();
    let cells = 6 * 4 * 3;
    // Of 24 languages and factors, 11 have a training string that a stack of 50 rows is too small for; elsewhere 100 rows are
    // the same run.
    let stacks = (24 + 11) * 3;
    assert_eq!(count("lstm"), cells * 3 * 7);
    assert_eq!(
        (count("stack-lstm"), count("baby-ntm"), count("bigram")),
        (stacks * 2 * 2, cells * 2 * 2, cells / 3)
    );
    let lstm = runs.iter().map(plan).find(|plan| plan.learner.name == "lstm").unwrap();
    assert_eq!(
        (lstm.data.factor, lstm.data.training, lstm.data.test.strings, lstm.seed),
        (1, 1000, 1000, 100)
    );
    let last = plan(&runs[runs.len() - 1]);
    assert_eq!(
        (last.data.factor, last.data.training, last.data.test.strings, last.seed),
        (10, 100, 10_000, 102)
    );
    assert_eq!(last.measure.criterion, Criterion::Categorical);
}

#[test]
fn what_is_left_out_has_one_value() {
    let runs = read("languages = \"an-bn\"").unwrap();
    assert_eq!(runs.len(), 3 * 4 * 3); // learners, factors, seeds
    // A prior in a language's name replaces `priors`.
    let runs =
        read("languages = [\"an-bn:prior=0.4\", \"dyck-1\"]\npriors = [0.2, 0.3]\nlearners = \"uniform\"");
    let priors: Vec<(String, f64)> =
        runs.unwrap().iter().map(plan).map(|p| (p.subject.clone(), p.data.prior)).collect();
    assert_eq!(priors[0], ("an-bn".to_owned(), 0.4));
    assert!(priors[4..].iter().all(|(language, prior)| language == "dyck-1" && *prior < 0.35));
    assert_eq!(priors.len(), 4 + 2 * 4);
}

#[test]
fn ids_stay_what_they_are() {
    let runs = read("reading = \"published\"\nlanguages = \"an-bn\"\nseeds = 1\nfactors = 1").unwrap();
    let ids: Vec<String> = [0, 1, 2].map(|i| runs[i].id()).into();
    assert_eq!(ids, ["d9f96a4a3bf18e91", "676ccb65a74ab852", "0d845b7720d9cf0a"]);
}

#[test]
fn baselines_have_the_index_of_their_closed_forms() {
    let spec = "reading = \"published\"\nlanguages = \"an-bn\"\nfactors = [1, 2]\n";
    let results = |learner: &str| -> BTreeMap<usize, RunResult> {
        let runs = read(&format!("{spec}learners = \"{learner}\"")).unwrap();
        runs.iter().map(|r| (plan(r).data.factor, run(r))).collect()
    };
    let repeat = results("repeat-last");
    for (b, first) in [(1, 25), (2, 23)] {
        // The released mask scores n steps of the string of n; all but the end are correct.
        let steps = (first..first + 1000 * b).sum::<usize>() as f64;
        for margin in [0.005, 0.0] {
            assert_eq!(accuracy(&repeat[&b], margin), (steps - 1000.0 * b as f64, steps));
        }
        assert_eq!(row(&repeat[&b], "solved_length", 0.0).value, None);
        assert_eq!(repeat[&b].hardest[0].string.split(' ').count(), 2 * first);
        assert_eq!(repeat[&b].data["test"]["steps"], steps);
    }
    assert_eq!(index(&repeat, 0.005), [Some(2), None]);
    assert_eq!(index(&repeat, 0.0), [None, None]);
    let grammar = results("true-grammar");
    assert_eq!((index(&grammar, 0.005), index(&grammar, 0.0)), ([Some(2); 2], [Some(2); 2]));
    assert_eq!(row(&grammar[&2], "solved_length", 0.0).value, Some(2.0 * 2022.0));
    assert!(grammar[&2].hardest.is_empty() && grammar[&2].data["evaluated"]["stopped"] == false);
    let excess = |result: &RunResult| result.value("training", "language_modeling_symbol_excess");
    assert!(excess(&grammar[&1]).unwrap().abs() < 1e-12);
    // Optimal code lengths of the released corpora.
    assert!((grammar[&1].data["optimal_bits"].as_f64().unwrap() - 3016.19).abs() < 0.01);
    // Of equal probabilities the end comes first: one correct step per string, too few after some strings.
    let uniform = results("uniform");
    assert_eq!(index(&uniform, 0.005), [None, None]);
    let evaluated = &uniform[&2].data["evaluated"];
    assert!(
        evaluated["stopped"] == true && evaluated["strings"].as_u64() < evaluated["of"].as_u64(),
        "{evaluated}"
    );
    let (correct, steps) = accuracy(&uniform[&2], 0.0);
    let strings = evaluated["strings"].as_u64().unwrap();
    assert_eq!((correct, steps), (strings as f64, (23..23 + strings).sum::<u64>() as f64));
}

#[test]
fn readings_differ_in_strings_and_in_what_is_scored() {
    let facts = |spec: &str| {
        let runs = read(&format!("learners = \"true-grammar\"\n{spec}")).unwrap();
        let result = run(&runs[0]);
        assert_eq!(row(&result, "solved_length", 0.0).value.is_some(), result.data["test"]["strings"] != 0);
        result.data
    };
    let first = |reading: &str| {
        facts(&format!(
            "reading = \"{reading}\"\nlanguages = \"an-bn\"\nfactors = 1\ntest.from = \"first\"\ntest.strings = 9"
        ))
    };
    // n of each string, and the first step where it counts.
    assert_eq!(first("published")["test"]["steps"], 45);
    assert_eq!(first("corrected")["test"]["steps"], 45 + 9);
    let addition = |after: &str| {
        let spec = "reading = \"published\"\nlanguages = \"an-bm-cn-plus-m\"\nfactors = 10";
        facts(&format!("{spec}\ntest.after = \"{after}\""))["test"]["steps"].as_u64().unwrap()
    };
    // The square from 21 to 120: n + m steps of each pair.
    assert_eq!(addition("square"), 1_410_000);
    assert_eq!(addition("longer"), 1_007_330);
    assert_ne!(addition("after-last"), addition("longer"));
    // The released strings of Dyck-2 are no longer than its largest corpora.
    let dyck = |reading: &str| {
        facts(&format!("reading = \"{reading}\"\nlanguages = \"dyck-2\"\nfactors = 1"))["test"]["strings"]
            .clone()
    };
    assert_eq!((dyck("published"), dyck("corrected")), (0.into(), 1000.into()));
}

#[test]
fn every_learner_runs_in_every_way() {
    let networks = "languages = [\"an-bn\", \"dyck-1\"]\norder = 1\nfactors = 1\nseeds = 1\nepochs = 3\nhidden = 4\n\
                    learners = [\"lstm\", \"rnn\", \"gru\", \"stack-rnn\", \"stack-lstm\", \"baby-ntm\"]\nmemory = 6\n\
                    losses = [\"cross-entropy\", \"sigmoid-mse\"]\nlambda = 0.1\nregularization = [\"none\", \"l1\", \"l2\"]\n\
                    gates = [\"softmax\", \"temperature\", \"gumbel\"]\n";
    for more in ["", "batch = \"all\"\nprecision = \"f64\"\n", "batch = 3\nshuffle = true\n"] {
        let runs = read(&format!("{networks}{more}")).unwrap();
        assert_eq!(runs.len(), 2 * 2 * (3 * 3 + 3 * 3 * 3));
        let mut cache = DataCache::default();
        for run in &runs {
            let result = run.execute(&mut cache, &mut OneCheckpoint::default()).unwrap();
            assert_eq!((&result.ending, result.curve.len()), (&Ending::Finished, 3), "{}", run.label());
            let losses: Vec<f64> = result.curve.iter().map(|point| point.training.unwrap()).collect();
            assert!(result.curve.iter().all(|point| point.validation.is_none()), "{}", run.label());
            assert!(losses[2] < losses[0] + 0.1, "{}: {losses:?}", run.label());
            let rows = result.scores.iter().filter(|m| m.split == "test").count();
            assert_eq!(rows, 2 * 3);
            let modelled = result.value("training", "language_modeling_symbol_cross_entropy").is_some();
            assert_eq!(
                modelled,
                NextSymbolLoss::of(&plan(run).learner.settings) == NextSymbolLoss::CrossEntropy
            );
            assert_eq!(RunResult::from_text(&result.to_text().unwrap()).unwrap(), result);
        }
    }
}

#[test]
fn a_resumed_run_gives_the_same_bytes() {
    let spec = "languages = \"an-bn\"\norder = 2\nfactors = 1\nseeds = 1\nepochs = 12\nhidden = 5\nlambda = 0.01\nmemory = 50\n\
                learners = [\"lstm\", \"baby-ntm\"]\ngates = \"gumbel\"\nregularization = \"l1\"\n";
    for plan in read(spec).unwrap() {
        let mut context = OneCheckpoint { after: Some(7), ..OneCheckpoint::default() };
        let uninterrupted = plan.execute(&mut DataCache::default(), &mut context).unwrap();
        assert!(
            context.saved.is_some()
                && context.evaluated.iter().any(|text| text.starts_with("test, 64 of 100"))
        );
        let resumed = plan.execute(&mut DataCache::default(), &mut context).unwrap();
        assert_eq!(uninterrupted.to_text().unwrap(), resumed.to_text().unwrap());
    }
}

#[test]
fn a_network_can_learn_to_count_a_little() {
    let spec = "languages = \"an-bn\"\nfactors = 1\nseeds = 1\nepochs = 400\nhidden = 8\nlearners = \"lstm\"\n\
                regularization = \"none\"\nlearning_rate = 0.03\ntest.from = \"first\"\nmargins = 0.0\n";
    let runs = read(spec).unwrap();
    let result = run(&runs[0]);
    let solved = row(&result, "solved_length", 0.0).value.unwrap();
    assert!(solved >= 5.0, "{solved}");
    let excess = result.value("training", "language_modeling_symbol_excess_of_chance").unwrap();
    assert!((0.0..0.05).contains(&excess), "{excess}");
    assert_eq!(result.curve.len(), 100);
    assert_eq!(result.curve.last().unwrap().epoch, 400);
}

#[test]
fn a_capacity_that_no_string_exhausts_is_not_another_run() {
    let memories = |learner: &str, memory: &str| {
        let text = format!(
            "languages = [\"an-bn\"]\nlearners = [\"{learner}\"]\nseeds = 1\norder = 2\nfactors = 1\nepochs = 1\n\
             test_memory = 500\nmemory = {memory}\n"
        );
        read(&text).unwrap()
    };
    // a¹¹b¹¹ is about the longest of 100 strings; a rotating tape depends on its length whatever the strings.
    assert_eq!(memories("stack-lstm", "[50, 100]").len(), 1);
    assert_eq!(memories("stack-lstm", "[2, 50, 100]").len(), 2);
    assert_eq!(memories("baby-ntm", "[50, 100]").len(), 2);
    let scores = |rows: &str| {
        let [plan] = memories("stack-lstm", rows).try_into().unwrap();
        let result = run(&plan);
        (result.scores, result.curve)
    };
    assert_eq!(scores("50"), scores("100"));
    assert_ne!(scores("2"), scores("100"));
}
