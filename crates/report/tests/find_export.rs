//! Runs of rule preference: what is derived from several of them, and when there is a figure.

mod fixtures;

use fixtures::{figures, recognition};
use serde_json::json;
use wug_report::{Logs, RecordFormat, TableFormat, records};
use wug_score::metric::PERFECT_AGREEMENT;
use wug_score::{Coordinates, Measurement, Ratio, RunResult, Stratum, Totals};

/// A run that fits its training pairs or not, and agrees with the rule `count` or not.
fn run(task: &str, seed: u64, fits: bool, counts: bool) -> RunResult {
    let agreement = |split: &str, agrees: bool| {
        let score = PERFECT_AGREEMENT.measured(Totals::of(&[Ratio::correct(agrees)]), None);
        Measurement::new(split, Stratum::All, &score)
    };
    let scores = vec![agreement("training", fits), agreement("holdout/count", counts)];
    let mut result = recognition(["", "lstm", "", ""], seed, scores);
    "preference".clone_into(&mut result.run.protocol);
    result.run.plan = format!("{task} {seed}");
    result.run.coordinates = Coordinates::default().with("task", task).with("learner", "lstm");
    result.plan = fixtures::plan(json!({
        "subject": task, "reading": "published", "learner": { "name": "lstm" }, "data": { "source": "named" },
        "measure": {
            "measures": ["agreement"], "block_size": 1, "optimizer_state": "carried", "output": [1, 200],
        },
        "seed": seed, "precision": "f32",
    }));
    result.data = json!({ "rules": ["count"] });
    result
}

#[test]
fn agreement_over_seeds_is_exported() {
    let results = [(true, true), (true, false), (false, true)]
        .into_iter()
        .enumerate()
        .map(|(seed, (fits, counts))| run("mine", seed as u64, fits, counts));
    let results: Vec<RunResult> = results.collect();
    let mut out = Vec::new();
    records(&results, &[], &Logs::new(), RecordFormat::Scores, TableFormat::Jsonl, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let derived: Vec<_> = rows
        .filter(|row| row["derived"] == true)
        .map(|row| {
            (row["metric"].as_str().unwrap().to_owned(), row["numerator"].as_f64(), row["runs"].as_u64())
        })
        .collect();
    let expected = [("fpa_of_fitting", Some(1.0), Some(2)), ("fpa_of_all", Some(2.0), Some(3))];
    assert_eq!(derived, expected.map(|(name, value, runs)| (name.to_owned(), value, runs)));
}

#[test]
fn single_facts_about_the_data_are_columns_of_every_export() {
    let mut result = run("mine", 1, true, true);
    result.data =
        json!({ "answers_per_sequence": 2.5, "leak": { "changed": 0, "of": 9 }, "curve": { "seen": [1] } });
    for rows in [RecordFormat::Scores, RecordFormat::Curves, RecordFormat::Strings] {
        let mut out = Vec::new();
        records(&[result.clone()], &[], &Logs::new(), rows, TableFormat::Csv, &mut out).unwrap();
        let head = String::from_utf8(out).unwrap().lines().next().unwrap().to_owned();
        let facts: Vec<&str> = head.split(',').filter(|name| name.starts_with("facts.")).collect();
        assert_eq!(facts, ["facts.answers_per_sequence", "facts.leak.changed", "facts.leak.of"]);
    }
}

#[test]
fn one_setting_has_no_figure() {
    assert!(figures(&[run("mine", 1, true, true), run("mine", 2, true, false)]).is_empty());
}
