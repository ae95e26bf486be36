//! Which runs share a row, and which are as in the paper.

use serde_json::{Value as Json, json};
use wug_score::metric::{DESCRIPTION_LENGTH, EXACT_MATCH, PERFECT_AGREEMENT};
use wug_score::{
    Coordinates, Ending, FORMAT, Measurement, Metric, Ratio, Reading, Run, RunResult, Stratum, Totals,
};

use super::group::Group;
use super::runs::PreferenceRun;
use super::sheets::{Sheet, places};
use super::tables;

fn run(task: &str, learner: &str, seed: u64, measures: &[&str]) -> RunResult {
    let score = |split: &str, metric: &'static Metric, value: f64| {
        Measurement::new(split, Stratum::All, &metric.measured(Totals::of(&[Ratio::once(value)]), None))
    };
    let mut scores = Vec::new();
    // Differences of the two differ from seed to seed, so that they can be tested.
    for (rule, nats) in [("hierar", 30.0), ("linear", 60.0 + seed as f64)] {
        let split = format!("holdout/{rule}");
        if measures.contains(&"agreement") {
            scores.push(score("training", &PERFECT_AGREEMENT, 1.0));
            scores.push(score(&split, &PERFECT_AGREEMENT, f64::from(rule == "hierar")));
            scores.push(score(&split, &EXACT_MATCH, 1.0));
        }
        if measures.contains(&"description-length") {
            scores.push(score(&split, &DESCRIPTION_LENGTH, nats + seed as f64));
        }
    }
    RunResult {
        format: FORMAT,
        run: Run {
            plan: format!("{task}-{learner}-{seed}-{measures:?}"),
            protocol: "preference".to_owned(),
            coordinates: Coordinates::default().with("task", task).with("learner", learner),
            seed,
            reading: Reading::Published,
            version: "0.1.0".to_owned(),
            build: "0123456789abcdef".to_owned(),
            instructions: "avx2".to_owned(),
            data_hash: "data".to_owned(),
        },
        plan: json!({
            "task": task, "reading": "published", "data_seed": 0, "measures": measures, "block_size": 4,
            "optimizer_state": "carried", "output": [1, 200], "learner": learner, "seed": seed, "precision": "f32",
            "settings": {
                "layers": 1, "hidden": 512, "embedding": 16, "heads": 8, "dropout": 0.5, "updates": 3000, "batch": "all",
                "learning_rate": 1e-3, "initial_learning_rate": 1e-5, "warmup": 1000, "clip": 25.0,
            },
        }),
        ending: Ending::Finished,
        parameters: Some(37_632),
        data: json!({ "rules": ["hierar", "linear"] }),
        curve: Vec::new(),
        scores,
        hardest: Vec::new(),
        strings: Vec::new(),
    }
}

const NESTING: &str = "hierarchical-or-linear:depth=4";
const BOTH: [&str; 2] = ["agreement", "description-length"];

fn with(mut result: RunResult, changes: &[(&str, Json)]) -> RunResult {
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        result.plan.pointer_mut(parent).unwrap()[name] = value.clone();
    }
    result
}

fn sheets(result: &RunResult) -> Vec<Sheet> {
    places(PreferenceRun::of(result).unwrap()).into_iter().map(|place| place.sheet).collect()
}

#[test]
fn a_seed_counts_once_for_each_measure() {
    let results = [
        run(NESTING, "transformer", 1, &BOTH[..1]),
        run(NESTING, "transformer", 1, &BOTH),
        run(NESTING, "transformer", 2, &BOTH[..1]),
        run(NESTING, "transformer", 2, &BOTH[1..]),
        run(NESTING, "transformer", 3, &BOTH[1..]),
    ];
    for reversed in [false, true] {
        let mut results: Vec<&RunResult> = results.iter().collect();
        if reversed {
            results.reverse();
        }
        let groups = Group::all(&results);
        let [group] = &groups[..] else { panic!("{} tables", groups.len()) };
        let row = &group.rows[0];
        assert_eq!(row.runs.len(), 3);
        assert_eq!(row.nats("hierar"), [31.0, 32.0, 33.0]);
        assert_eq!(row.fitting().len(), 2);
        assert_eq!(group.comparisons()[0].test.n, 3);
    }
}

#[test]
fn only_runs_as_in_the_paper_are_beside_its_values() {
    let plain = run(NESTING, "transformer", 1, &BOTH);
    assert_eq!(sheets(&plain)[0], Sheet::Printed("1c".to_owned(), "hierarchical-or-linear"));
    let changes = [
        ("/optimizer_state", json!("reset")),
        ("/precision", json!("f64")),
        ("/output", json!([1, 5])),
        ("/output", json!([0, 200])),
        ("/data_seed", json!(3)),
        ("/settings/damped", json!(false)),
        ("/settings/updates", json!(30)),
        ("/settings/warmup", json!(0)),
    ];
    for change in changes {
        let other = with(plain.clone(), std::slice::from_ref(&change));
        assert_eq!(sheets(&other), [Sheet::Other(NESTING.to_owned())], "{change:?}");
    }
    let mut corrected = with(plain, &[("/optimizer_state", json!("reset")), ("/output", json!([0, 200]))]);
    corrected.run.reading = Reading::Corrected;
    assert_eq!(sheets(&corrected)[0], Sheet::Printed("1c".to_owned(), "hierarchical-or-linear"));
}

#[test]
fn figure_3_has_only_runs_with_its_settings() {
    let task = "composition-or-memorization:primitives=1000,shown=120";
    let own =
        [("/block_size", json!(880)), ("/settings/embedding", json!(64)), ("/settings/layers", json!(2))];
    let growth = with(run(task, "transformer", 1, &BOTH[1..]), &own);
    assert_eq!(sheets(&growth), [Sheet::Growth]);
    let changes = [
        ("/block_size", json!(1)),
        ("/settings/embedding", json!(16)),
        ("/settings/layers", json!(1)),
        ("/settings/updates", json!(2)),
        ("/optimizer_state", json!("reset")),
    ];
    for change in changes {
        let other = with(growth.clone(), std::slice::from_ref(&change));
        assert_eq!(sheets(&other), [Sheet::Other(task.to_owned())], "{change:?}");
    }
}

#[test]
fn tables_say_what_is_wrong_with_the_papers_values() {
    let base = run(NESTING, "transformer", 1, &BOTH);
    let other = with(run(NESTING, "transformer", 1, &BOTH), &[("/settings/dropout", json!(0.2))]);
    let groups = Group::all(&[&base, &other]);
    let group = groups.iter().find(|group| group.sheet.id() == "6c").unwrap();
    let table = tables::main(group).unwrap();
    assert!(table.notes.iter().any(|note| note.contains("a quarter of the right values")));
    assert!(table.notes.iter().any(|note| note.contains("100 seeds")));
    let seeds: Vec<_> = table.rows.iter().map(|row| row.cells[0].paper_n).collect();
    assert_eq!(seeds, [Some(20), Some(100)], "dropout 0.2, and the row of Table 1");
    let main = groups.iter().find(|group| group.sheet.id() == "1c").unwrap();
    assert!(!tables::main(main).unwrap().notes.iter().any(|note| note.contains("quarter")));
}
