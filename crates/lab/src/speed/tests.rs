//! The protocol on small data: what it shows, when, and that nothing leaks.

use wug_learner::registry::{Role, with_role};
use wug_score::metric::{ANSWERS_SEEN, HIGHEST_ACCURACY, WADE, WADE_ABOVE_CHANCE, WADE_BEFORE_TRAINING};
use wug_score::wade::{StepUnit, ThresholdRule as Comparison, Weighting};

use super::*;
use crate::LabError;
use crate::context::RunContext;
use crate::plan::RunPlan;
use crate::protocol::{Outcome, Protocol as _, RunData as _};
use crate::spec::{Experiment, Scale};

struct Quiet;

impl RunContext for Quiet {
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        None
    }
    fn checkpoint(&mut self, _: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        Ok(())
    }
    fn epoch(&mut self, _: usize, _: f64) {}
    fn evaluating(&mut self, _: &str) -> Result<(), LabError> {
        Ok(())
    }
}

fn runs(section: &str) -> Vec<RunPlan> {
    let text = format!("title = \"t\"\n[[speed]]\n{section}");
    Experiment::read("t", "t.toml", &text, Scale::Paper, &[]).unwrap().runs
}

fn plans(section: &str) -> Vec<SpeedPlan> {
    runs(section).iter().map(|run| run.of::<Speed>().unwrap().clone()).collect()
}

fn refused(section: &str) -> String {
    let text = format!("title = \"t\"\n[[speed]]\n{section}");
    match Experiment::read("t", "t.toml", &text, Scale::Paper, &[]) {
        Err(LabError::Usage(message)) => message,
        other => panic!("{other:?}"),
    }
}

fn run(plan: &SpeedPlan) -> Outcome {
    Speed::execute(plan, &Data::of(plan).unwrap(), &mut Quiet).unwrap()
}

fn value(outcome: &Outcome, metric: &wug_score::Metric) -> f64 {
    outcome.scores.iter().find(|score| score.metric == metric.name).unwrap().value.unwrap()
}

fn curve(outcome: &Outcome) -> (Vec<f64>, Vec<f64>) {
    let numbers = |name: &str| -> Vec<f64> {
        let list = outcome.data["curve"][name].as_array().unwrap();
        list.iter().map(|x| x.as_f64().unwrap()).collect()
    };
    (numbers("seen"), numbers("correct"))
}

#[test]
fn evaluations_come_when_they_are_due() {
    let small = "languages = \"qa\"\nseeds = 1\nsequences = 100\nlearners = \"bag-of-words\"\n";
    let at = |more: &str| curve(&run(&plans(&format!("{small}{more}"))[0])).0;
    // 80 training sequences: before, after each of the first four, then every 16.
    let expected = [0.0, 1.0, 2.0, 3.0, 4.0, 20.0, 36.0, 52.0, 68.0, 80.0];
    assert_eq!(at("evaluate = { first = 4, every = 16 }"), expected);
    // As published: after every update, none before, and the incomplete batch is never used.
    let published = at("reading = \"published\"\nbatch = 9\npasses = 2\nevaluate = { every = 1 }");
    assert_eq!(published.len(), 17);
    assert_eq!((published[0], published[16]), (9.0, 153.0));
    // Answers one by one: the first alone, then blocks of eight, the first among them again.
    let answers = at("reading = \"published\"\nunit = \"answers\"");
    assert_eq!(answers, [1.0, 8.0, 16.0, 24.0, 32.0, 40.0, 48.0, 56.0, 64.0, 72.0, 80.0]);
}

#[test]
fn readings_decide_the_variant_and_the_unit_of_the_score() {
    let plan = |more: &str| plans(&format!("languages = \"qa\"\nseeds = 1\n{more}")).remove(0);
    assert_eq!(plan("").measure.wade.unit, StepUnit::Sequences);
    let reservoir = plan("reading = \"published\"");
    assert_eq!(
        (reservoir.measure.wade.unit, reservoir.measure.unit),
        (StepUnit::MeanSequences, TrainingUnit::Answers)
    );
    let published =
        ["decoder", "standardization", "labels"].map(|name| reservoir.learner.settings.text(name));
    assert_eq!(published, [Some("one-vs-rest"), Some("prior"), Some("training")]);
    let network = plan("reading = \"published\"\nlearners = \"rnn\"");
    assert_eq!(
        (network.measure.wade.unit, network.measure.unit),
        (StepUnit::Updates, TrainingUnit::Sequences)
    );
    let explicit = plan("reading = \"published\"\nunit = \"sequences\"\nlabels = \"all\"");
    assert_eq!(
        (explicit.measure.unit, explicit.learner.settings.text("labels")),
        (TrainingUnit::Sequences, Some("all"))
    );
    let given = plan("wade = { variant = \"imdb\", step = \"evaluations\", thresholds = 20 }");
    assert_eq!(
        (given.measure.wade.unit, given.measure.wade.thresholds.values().len()),
        (StepUnit::Evaluations, 20)
    );
    assert!(refused("languages = \"qa\"\nwade = { variant = \"mine\" }").contains("benchmark"));
    assert!(refused("languages = \"quiz\"").contains("quiz"));
    assert!(refused("languages = \"qa\"\nlearners = \"true-grammar\"").contains("incremental"));
    assert!(refused("languages = []").contains("at least one"));
    assert!(refused("languages = \"qa\"\nunit = \"words\"").contains("answers"));
}

#[test]
fn every_part_of_the_score_can_be_set_and_what_means_nothing_is_refused() {
    let plan = |wade: &str| {
        plans(&format!("languages = \"qa\"\nseeds = 1\nwade = {{ {wade} }}")).remove(0).measure.wade
    };
    let own = plan(
        "comparison = \"above\", weighting = \"one-to-ten\", thresholds = { from = 0.2, to = 0.8, step = 0.2 }",
    );
    assert_eq!((own.comparison, own.weighting), (Comparison::Above, Weighting::OneToTen));
    assert_eq!(own.thresholds.values(), [0.2, 0.4, 0.6, 0.8]);
    assert!(plan("thresholds = { from = 0.1, to = 1, step = 0.1 }").converges() && !own.converges());
    let refused = |more: &str| refused(&format!("languages = \"qa\"\n{more}"));
    assert!(refused("wade = { comparison = \"above\" }").contains("above 1"));
    assert!(refused("wade = { thresholds = { from = 0, to = 0, step = 0.1 } }").contains("no weight"));
    assert!(refused("wade = { thresholds = { from = 0.9, to = 0.1, step = 0.1 } }").contains("up to 1"));
    assert!(refused("wade = { step = \"mean-sequences\" }").contains("answers"));
    // Nothing is ignored: neither a batch of single answers nor one that never comes.
    assert!(refused("unit = \"answers\"\nbatch = [1, 8]").contains("batch"));
    assert!(refused("unit = \"answers\"\nevaluate = { first = 5 }").contains("evaluate.first"));
    let small = "reading = \"published\"\nlearners = \"rnn\"\nsequences = 8\nbatch = 8";
    assert!(refused(small).contains("at most 6"));
}

/// Runs that differ in what was asked for differ in their coordinates, and so have rows of their own.
#[test]
fn whatever_is_listed_is_a_coordinate() {
    let rows = |section: &str| {
        let runs = runs(&format!("languages = \"qa\"\n{section}"));
        runs.iter().map(RunPlan::coordinates).collect::<std::collections::BTreeSet<_>>().len()
    };
    let seeds = "seeds = 3\n";
    assert_eq!(rows(&format!("{seeds}learners = \"rnn\"\nsizes = [8000, 64000]")), 2);
    assert_eq!(rows(&format!("{seeds}learners = \"rnn\"\nlearning_rate = [0.001, 0.01]\nbatch = [1, 8]")), 4);
    let transformers =
        "learners = { name = \"transformer\", attention = [\"causal\", \"pooled\", \"leaky\"] }";
    assert_eq!(rows(&format!("{seeds}{transformers}")), 3);
    // What is drawn or found tells no runs apart.
    assert_eq!(rows(&format!("{seeds}learners = \"rnn\"\nlearning_rate = {{ from = 0.001, to = 0.1 }}")), 1);
    let usual = runs("languages = \"qa\"\nlearners = \"lstm\"\nsizes = 8000\nseeds = 1").remove(0);
    let names: Vec<String> = usual.coordinates().iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, ["language", "learner", "size", "batch"]);
}

#[test]
fn sizes_are_met_by_reservoirs_and_refused_where_nothing_can_be_sized() {
    for plan in plans("languages = \"qa\"\nlearners = [\"reca\", \"esn\"]\nsizes = [8000, 64000]\nseeds = 1")
    {
        let size = plan.learner.size.unwrap();
        assert!(
            plan.learner.parameters.unwrap().abs_diff(size) * 20 <= size,
            "{}: {} for {size}",
            plan.learner.name,
            plan.learner.parameters.unwrap()
        );
    }
    let message = refused("languages = \"qa\"\nlearners = \"bag-of-words\"\nsizes = 8000");
    assert!(message.contains("bag-of-words") && message.contains("no dimensions"), "{message}");
    let message = refused("languages = \"qa\"\nlearners = [\"reca\", \"rnn\"]\ndecoder_features = 100");
    assert!(message.contains("1800"), "{message}");
}

/// The hidden sizes of the released code, and true ones: as many parameters as the decoder of 1,800 features has.
#[test]
fn sizes_follow_the_decoder() {
    let sizes = |matching: &str| -> Vec<(usize, usize)> {
        let all = plans(&format!(
            "languages = [\"periodic\", \"qa\"]\nlearners = [\"rnn\", \"lstm\"]\nseeds = 1\ndecoder_features = 1800\nmatching = \"{matching}\""
        ));
        all.iter()
            .map(|plan| (plan.learner.settings.count("hidden").unwrap(), plan.learner.parameters.unwrap()))
            .collect()
    };
    assert_eq!(sizes("published"), [(62, 4218), (62, 16494), (186, 40936), (186, 154_768)]);
    for ((_, parameters), size) in sizes("nearest").into_iter().zip([3600, 3600, 28_800, 28_800]) {
        assert!(parameters.abs_diff(size) * 20 <= size, "{parameters} for {size}");
    }
}

/// Changing the answer, and all that follows, must not change a prediction. The published transformer shows that this is noticed.
#[test]
fn no_learner_sees_the_answer_but_the_published_transformer() {
    let changed = |learner: &str, settings: &str| {
        let all = plans(&format!(
            "languages = [\"qa\", \"sym-ct\"]\nlearners = {{ name = \"{learner}\" {settings} }}\nseeds = 1\nsequences = 300\nbatch = 4\npasses = 4\nevaluate = {{ every = 400 }}"
        ));
        all.iter().map(|plan| run(plan).data["leak"]["changed"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    for learner in with_role(Role::Incremental) {
        let small = match learner.name {
            "esn" => ", units = 60",
            "reca" => ", projection = 10",
            "bag-of-words" => "",
            _ => ", hidden = 16",
        };
        assert_eq!(changed(learner.name, small), [0, 0], "{}", learner.name);
    }
    assert_eq!(changed("transformer", ", hidden = 16, attention = \"pooled\""), [0, 0]);
    let leaky = changed("transformer", ", hidden = 32, attention = \"leaky\", learning_rate = 0.01");
    assert!(leaky.iter().all(|changed| *changed > 0), "{leaky:?}");
}

/// On a task with many answers, where the likeliest answer hardly ever changes, and in the score that every table shows.
#[test]
fn a_leak_shows_in_the_scores_of_every_answer() {
    let seen = |attention: &str| {
        let all = plans(&format!(
            "languages = \"periodic\"\nreading = \"published\"\nlearners = {{ name = \"transformer\", attention = \"{attention}\", hidden = 16 }}\nseeds = 1\nbatch = 8\npasses = 2\nevaluate = {{ every = 400 }}"
        ));
        value(&run(&all[0]), &ANSWERS_SEEN)
    };
    assert_eq!((seen("causal"), seen("pooled")), (0.0, 0.0));
    assert!(seen("leaky") > 0.5);
}

#[test]
fn a_reservoir_learns_a_period_and_any_language_will_do() {
    let outcome = run(&plans(
        "languages = \"periodic\"\nreading = \"published\"\nlearners = { name = \"reca\", rule = 34, decoder = \"one-vs-rest\", standardization = \"prior\", labels = \"training\" }\nseeds = 1\nunit = \"answers\"",
    )[0]);
    assert!(value(&outcome, &HIGHEST_ACCURACY) > 0.9 && value(&outcome, &WADE) > 0.5);
    let plans = plans(
        "languages = [\"an-bn\", \"dyck-2-3\"]\nlearners = [\"reca\", \"lstm\"]\nseeds = 1\nsequences = 100\nhidden = 16\nprojection = 10",
    );
    for plan in plans {
        let (one, other) = (run(&plan), run(&plan));
        assert_eq!((&one.scores, &one.data), (&other.scores, &other.data), "{}", plan.learner.name);
        assert!(value(&one, &WADE) >= value(&one, &WADE_ABOVE_CHANCE));
        assert!((0.0..=1.0).contains(&value(&one, &WADE_BEFORE_TRAINING)));
        assert_eq!(Data::of(&plan).unwrap().hash(), one.data["hash"].as_str().unwrap());
    }
}

/// All learners of a seed see the same sequences.
#[test]
fn data_do_not_depend_on_the_learner() {
    let all = plans("languages = \"qa\"\nlearners = [\"reca\", \"esn\", \"rnn\"]\nseeds = 2\nsequences = 50");
    let hash = |plan: &SpeedPlan| Data::of(plan).unwrap().hash().to_owned();
    assert_eq!(hash(&all[0]), hash(&all[1]));
    assert_eq!(hash(&all[0]), hash(&all[2]));
    assert_ne!(hash(&all[0]), hash(&all[3]));
}

fn fixture_reviews() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/reviews.csv").to_owned()
}

/// The five classifiers on a small corpus that was made up.
#[test]
fn reviews_are_learned_and_pieces_come_from_the_training_part() {
    let corpus = format!("corpus = {{ path = {:?}, pieces = 300, longest = 60 }}", fixture_reviews());
    let common =
        "seeds = 1\npasses = 6\nbatch = 8\nevaluate = { first = 0, every = 120 }\nlearning_rate = 0.01";
    let learners = "learners = [{ name = \"rnn\", embedding = 16 }, { name = \"lstm\", embedding = 16 }, { name = \"gru\", embedding = 16 }, { name = \"transformer\", attention = \"pooled\", hidden = 16, feedforward_units = 32 }, { name = \"bag-of-words\", learning_rate = 0.2 }]\nhidden = 24";
    let all = plans(&format!("{corpus}\n{common}\n{learners}"));
    assert_eq!(all.len(), 5);
    for plan in &all {
        let outcome = run(plan);
        assert_eq!((outcome.data["train"].as_u64(), outcome.data["test"].as_u64()), (Some(120), Some(40)));
        assert_eq!(outcome.data["leak"]["changed"], 0, "{}", plan.learner.name);
        let highest = value(&outcome, &HIGHEST_ACCURACY);
        if ["bag-of-words", "transformer"].contains(&plan.learner.name.as_str()) {
            assert!(highest > 0.8, "{}: {highest}", plan.learner.name);
        }
    }
    let data = Data::of(&all[0]).unwrap();
    assert!(data.vocabulary <= 302 && data.tokens[2] == "[UNK]");
}

#[test]
fn a_directory_of_reviews_is_read_by_name_and_errors_say_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    for (split, label) in [("train", "pos"), ("train", "neg"), ("test", "pos"), ("test", "neg")] {
        let inner = folder.path().join(split).join(label);
        std::fs::create_dir_all(&inner).unwrap();
        for i in 0..3 {
            std::fs::write(inner.join(format!("{i}_7.txt")), format!("{label} film number {i}")).unwrap();
        }
        std::fs::write(inner.join("notes.md"), "no review").unwrap();
    }
    let section = |path: &std::path::Path| {
        format!(
            "corpus = {{ path = {:?}, pieces = 50 }}\nlearners = \"bag-of-words\"\nseeds = 1",
            path.display().to_string()
        )
    };
    let plan = &plans(&section(folder.path()))[0];
    let data = Data::of(plan).unwrap();
    assert_eq!((data.train.len(), data.test.len()), (6, 6));
    assert_eq!(data.train[0].symbols.last(), Some(&1));
    // The same reviews elsewhere are the same run; reviews that were changed are not.
    let (again, mut moved) = (plans(&section(folder.path())).remove(0), plan.clone());
    moved.data.corpus.as_mut().unwrap().path = "elsewhere".to_owned();
    assert_eq!((plan, plan.identity()), (&again, moved.identity()));
    std::fs::write(folder.path().join("train/pos/0_7.txt"), "another film").unwrap();
    assert!(Data::of(plan).map(drop).unwrap_err().to_string().contains("changed"));
    assert_ne!(plans(&section(folder.path()))[0].identity(), plan.identity());
    std::fs::remove_dir_all(folder.path().join("test/neg")).unwrap();
    assert!(Data::of(plan).map(drop).unwrap_err().to_string().contains("neg"));
    assert!(refused(&format!("{}\nlanguages = \"qa\"", section(folder.path()))).contains("corpus"));
    // What is wrong with a file is found when runs are planned.
    let table = folder.path().join("bad.csv");
    std::fs::write(&table, "text,label\nfine,maybe\n").unwrap();
    assert!(refused(&section(&table)).contains("line 2"));
    assert!(refused("corpus = { pieces = 50 }").contains("--set corpus.path="));
}

/// A file says where reviews are from its own folder; a path on the command line is from where wug runs.
#[test]
fn paths_in_a_file_are_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture_reviews(), folder.path().join("mine.csv")).unwrap();
    let file = folder.path().join("own.toml");
    let text = "title = \"t\"\n[[speed]]\ncorpus = { path = \"mine.csv\", pieces = 50 }\nlearners = \"bag-of-words\"\nseeds = 1";
    std::fs::write(&file, text).unwrap();
    let load = |sets: &[(String, String)]| Experiment::load(file.to_str().unwrap(), Scale::Paper, sets);
    assert_eq!(load(&[]).unwrap().runs.len(), 1);
    let set = [("corpus.path".to_owned(), "nowhere.csv".to_owned())];
    assert!(load(&set).unwrap_err().to_string().contains("nowhere.csv"));
}

/// The experiment that needs reviews says so, and runs with them.
#[test]
fn the_experiment_on_reviews_can_be_planned() {
    let load = |sets: &[(String, String)]| Experiment::load("wade_table2", Scale::Smoke, sets);
    assert!(load(&[]).unwrap_err().to_string().contains("--set corpus.path="));
    let set = [("corpus.path".to_owned(), "nowhere".to_owned())];
    let message = load(&set).unwrap_err().to_string();
    assert!(message.starts_with("--set corpus.path=nowhere: `corpus.path`: there is nothing at nowhere"));
    let set = [("corpus.path".to_owned(), fixture_reviews())];
    assert_eq!(load(&set).unwrap().runs.len(), 10);
}

/// As published, accuracies of the linear learner on reviews are smoothed before they are scored, and no other learner's.
#[test]
fn the_curve_of_the_linear_learner_is_smoothed_as_published() {
    let section = |reading: &str| {
        let path = fixture_reviews();
        format!(
            "corpus = {{ path = {path:?}, pieces = 60, longest = 30 }}\nreading = {reading:?}\nseeds = 1\npasses = 2\nbatch = 8\n\
             evaluate = {{ first = 8, every = 16 }}\nlearners = [\"bag-of-words\", {{ name = \"rnn\", hidden = 4, embedding = 4 }}]"
        )
    };
    let windows = |reading: &str| -> Vec<Option<usize>> {
        plans(&section(reading)).iter().map(|plan| plan.measure.wade.smoothing).collect()
    };
    assert_eq!(windows("published"), [Some(10), None]);
    assert_eq!(windows("corrected"), [None, None]);
    let plan = &plans(&section("published"))[0];
    assert!(!Speed::coordinates(plan).iter().any(|(name, _)| name == "wade"), "it is the usual score");
    let outcome = run(plan);
    let of = outcome.data["test_answers"].as_f64().unwrap();
    let accuracies: Vec<f64> = curve(&outcome).1.iter().map(|correct| correct / of).collect();
    // The exponential moving average of the released notebook, from the curve that was stored.
    let mut average = accuracies[0];
    let mut next = |accuracy: &f64| {
        average = 2.0 / 11.0 * accuracy + 9.0 / 11.0 * average;
        average
    };
    let smoothed: Vec<f64> = accuracies.iter().map(&mut next).collect();
    let highest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    assert!((value(&outcome, &HIGHEST_ACCURACY) - highest(&smoothed)).abs() < 1e-9);
    assert!(highest(&accuracies) > highest(&smoothed) + 1e-6, "smoothing makes a difference here");
    // Thresholds 0.50 to 0.99, weights from 1 to 10, T in evaluations.
    let weight = |k: usize| 1.0 + 9.0 * k as f64 / 49.0;
    let term = |k: usize| {
        let reached = smoothed.iter().position(|accuracy| *accuracy > 0.5 + 0.01 * k as f64);
        reached.map_or(0.0, |i| weight(k) / (i + 1) as f64)
    };
    let expected = (0..50).map(term).sum::<f64>() / (0..50).map(weight).sum::<f64>();
    assert!(expected > 0.0 && (value(&outcome, &WADE) - expected).abs() < 1e-9, "{expected}");
}
