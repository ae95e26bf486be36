//! How runs with foreign learners are planned: heard together, each once, with no size that nobody gave.

use serde_json::json;

use super::*;
use crate::plan::RunPlan;

fn planned(text: &str) -> Experiment {
    Experiment::read("x", "x.toml", text, Scale::Paper, &[]).unwrap()
}

#[test]
fn commands_are_greeted_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    // Each says hello only once all of them have been started, in one section or in several.
    let script = r#"
touch "$0/$1"; while [ $(ls "$0" | wc -l) -lt 5 ]; do sleep 0.05; done
read hello; echo '{"hello": {"protocol": 1, "roles": ["recognizer"], "version": "heard"}}'; read goodbye"#;
    let learner = |i: usize| {
        let command = json!(["sh", "-c", script, dir.path(), i.to_string()]);
        format!("{{ name = \"mine-{i}\", command = {command}, answer_seconds = 60 }}")
    };
    let section = |learners: String| {
        format!(
            "[[recognition]]\nlanguages = [\"parity\"]\nvalidation = [\"short\"]\nseeds = 1\nlearners = [{learners}]\n"
        )
    };
    let (first, second) = ([0, 1, 2].map(learner).join(", "), [3, 4].map(learner).join(", "));
    let experiment = planned(&format!("title = \"x\"\n{}{}", section(first), section(second)));
    let versions: Vec<_> =
        experiment.runs.iter().map(|run| run.learner().external.clone().unwrap().version).collect();
    assert_eq!(versions, vec!["heard"; 5]);
}

const MINE: &str = r#"{ name = "mine", host = "test", version = "1", roles = ["recognizer", "next-symbol", "transducer", "incremental"] }"#;

#[test]
fn a_foreign_learner_is_planned_once_where_only_fields_differ_that_it_ignores() {
    let sets = [("learners".to_owned(), format!("[{MINE}]"))];
    for (scale, languages, seeds) in [(Scale::Smoke, 2, 1), (Scale::Paper, 20, 10)] {
        let table = Experiment::load("tse_table3", scale, &sets).unwrap();
        // The baselines have sections of their own on the same strings. The two readings have different pairs.
        assert_eq!(table.runs.len(), languages * 2 * seeds, "{scale:?}");
    }
    // The same twice, but for what a foreign learner is not told.
    for (protocol, shared, differs) in [
        ("pairs", "languages = \"nested\"", "validations = 3\nprecision = \"f64\"\ntrain_output = false"),
        (
            "recognition",
            "languages = \"parity\"\nvalidation = \"short\"",
            "losses = \"R+LM\"\nprecision = \"f64\"\nmatching = \"published\"\nmax_epochs = 3",
        ),
        ("generalization", "languages = \"an-bn\"\nfactors = 1", "precision = \"f64\"\nepochs = 3"),
        (
            "preference",
            "tasks = \"count-or-memorization\"",
            "precision = \"f64\"\noptimizer_state = \"carried\"",
        ),
        ("speed", "languages = \"qa\"", "precision = \"f64\""),
    ] {
        let learners = |more: &str| format!("learners = [{MINE}{more}]");
        let both = |more: &str| {
            let section = |also: &str| {
                format!(
                    "[[{protocol}]]\nreading = \"corrected\"\nseeds = 1\n{shared}\n{}\n{also}\n",
                    learners(more)
                )
            };
            planned(&format!("title = \"x\"\n{}{}", section(""), section(differs)))
        };
        let mine = |run: &&RunPlan| run.learner().name == "mine";
        // One of ours takes the settings.
        let experiment = both(", \"lstm\"");
        assert_eq!(experiment.runs.iter().filter(mine).count(), 1, "{protocol}");
        assert!(experiment.runs.iter().filter(|run| !mine(run)).count() >= 2, "{protocol}");
    }
}

#[test]
fn data_that_really_differ_remain_distinct() {
    let text =
        |data: &str| format!("[[pairs]]\nlanguages = \"nested\"\nseeds = 1\nlearners = [{MINE}]\n{data}\n");
    let readings = ["reading = \"published\"", "reading = \"corrected\"", "data.training = 1000"].map(text);
    assert_eq!(planned(&format!("title = \"x\"\n{}", readings.join(""))).runs.len(), 3);
}

#[test]
fn settings_of_ours_are_no_coordinates_of_a_foreign_learner() {
    let runs = planned(&format!(
        "title = \"x\"\n[[recognition]]\nlanguages = \"parity\"\nvalidation = \"short\"\nseeds = 1\nlosses = \"R\"\n\
         learning_rate = [0.1, 0.01]\nlearners = [\"lstm\", {MINE}]\n"
    ))
    .runs;
    let rate = |run: &RunPlan| run.coordinates().get("learning_rate").is_some();
    let (mine, ours): (Vec<&RunPlan>, Vec<_>) = runs.iter().partition(|run| run.learner().name == "mine");
    assert_eq!((mine.len(), ours.len()), (1, 2));
    assert!(!rate(mine[0]) && ours.into_iter().all(rate), "{:?}", mine[0].coordinates());
}

/// Says as its number of parameters one more than it may have.
struct Sized;

impl Conversation for Sized {
    fn fit(&mut self, task: &Task, _: Hear<'_>) -> Result<Fitted, Failure> {
        Ok(Fitted { parameters: task.budget.parameters.map(|n| n + 1) })
    }

    fn ask(&mut self, question: Question<'_>) -> Result<Vec<f64>, Failure> {
        // Two ids and the end, or one number per string.
        let answer = if matches!(question, Question::NextSymbols(..)) { 1.0 / 3.0 } else { 0.5 };
        Ok(vec![answer; question.all_numbers()])
    }
}

#[test]
fn a_foreign_learner_has_a_size_only_if_it_is_told_one() {
    for protocol in [
        "[[recognition]]\nlanguages = \"parity\"\nvalidation = \"short\"\n\
         data = { training = 51, validation = 20, test = 30, held_out = 10, distances = 5, longest = 60 }\n",
        "[[pairs]]\nreading = \"corrected\"\nlanguages = \"parity\"\ndata.distinct = false\ndata.lengths = \"4..12\"\ndata.greater_lengths = \"13..20\"\n\
         data.training = 60\ndata.validation = 20\ndata.test = 20\ndata.out_of_distribution = 20\n",
    ] {
        for (sizes, told) in [("", None), ("sizes = [4000]\n", Some(4000))] {
            let dir = tempfile::tempdir().unwrap();
            let text = format!("title = \"x\"\n{protocol}seeds = 1\n{sizes}learners = [{MINE}]\n");
            let experiment = planned(&text);
            let sweep = Sweep::begin(&dir.path().join("runs"), &experiment).unwrap();
            let begin: Box<Begin> = Box::new(|| Ok(Box::new(Sized) as Box<dyn Conversation>));
            let learners = Arc::new(BTreeMap::from([("mine".to_owned(), begin)]));
            work(&sweep, WorkerOptions { learners, ..WorkerOptions::new(1) }, &Notes::default()).unwrap();
            let results = sweep.status().unwrap().results();
            let [result] = &results[..] else { panic!("{} results", results.len()) };
            assert_eq!(result.ending, wug_score::Ending::Finished);
            assert_eq!(result.run.coordinates.integer("size"), told, "{text}");
            assert_eq!(result.parameters, told.map(|n| n as usize + 1), "{text}");
        }
    }
}
