//! Which runs share a row, and which are as in the paper.

use serde_json::{Value as Json, json};
use wug_score::metric::{DESCRIPTION_LENGTH, EXACT_MATCH, PERFECT_AGREEMENT};
use wug_score::{
    Coordinates, Ending, FORMAT, Measurement, Metric, Ratio, Reading, Run, RunResult, Stratum, Totals,
};

use std::collections::BTreeMap;

use wug_score::plan::Recipe;

use super::group::SheetRuns;
use super::sheets::Sheet;
use super::tables;
use crate::cells::PaperCells;
use crate::report::reported;
use crate::run::{AnyRun, ReportedRun};

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
        plan: serde_json::from_value(json!({
            "subject": task, "reading": "published",
            "learner": { "name": learner, "settings": {
                "layers": 1, "hidden": 512, "embedding": 16, "heads": 8, "dropout": 0.5, "updates": 3000, "batch": "all",
                "learning_rate": 1e-3, "initial_learning_rate": 1e-5, "warmup": 1000, "clip": 25.0,
            } },
            "data": { "source": "named" }, "data_seed": 0,
            "measure": {
                "measures": measures, "block_size": 4, "optimizer_state": "carried", "output": [1, 200],
            },
            "seed": seed, "precision": "f32",
        }))
        .unwrap(),
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

const GROWTH: &str = "composition-or-memorization:primitives=1000,shown=120";

fn with(result: RunResult, changes: &[(&str, Json)]) -> RunResult {
    let mut plan = serde_json::to_value(&result.plan).unwrap();
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        plan.pointer_mut(parent).unwrap()[name] = value.clone();
    }
    RunResult { plan: serde_json::from_value(plan).unwrap(), ..result }
}

fn growth() -> RunResult {
    let own = [
        ("/measure/block_size", json!(880)),
        ("/learner/settings/embedding", json!(64)),
        ("/learner/settings/layers", json!(2)),
    ];
    with(run(GROWTH, "transformer", 1, &BOTH[1..]), &own)
}

fn dropped_out(dropout: f64) -> RunResult {
    with(run(NESTING, "transformer", 1, &BOTH), &[("/learner/settings/dropout", json!(dropout))])
}

/// What changes with the reading, and is no departure.
const CORRECTED: [(&str, &str); 2] = [("/measure/optimizer_state", "reset"), ("/reading", "corrected")];

fn corrected(result: RunResult) -> RunResult {
    let mut corrected = with(result, &CORRECTED.map(|(at, value)| (at, json!(value))));
    corrected = with(corrected, &[("/measure/output", json!([0, 200]))]);
    corrected.run.reading = Reading::Corrected;
    corrected
}

fn recipes() -> Vec<Recipe> {
    let recipe = |(table, run): (&str, RunResult)| Recipe {
        table: format!("find/{table}"),
        version: String::new(),
        protocol: "preference".to_owned(),
        plan: run.plan,
        drawn: BTreeMap::new(),
        runs: 20,
    };
    let base = run(NESTING, "transformer", 1, &BOTH);
    let all = [("1", base.clone()), ("1", corrected(base)), ("6", dropped_out(0.2)), ("figure-3", growth())];
    all.map(recipe).into()
}

/// What is true of the tables of some results.
fn of_groups<T>(results: &[RunResult], check: impl Fn(&[SheetRuns<'_>]) -> T) -> T {
    let recipes = recipes();
    let cells = PaperCells::of(&recipes);
    let reported = reported(results, &cells);
    let runs: Vec<AnyRun<'_>> = reported.iter().map(ReportedRun::any).collect();
    check(&SheetRuns::all(&cells, &runs))
}

fn sheets(result: &RunResult) -> Vec<Sheet> {
    of_groups(std::slice::from_ref(result), |groups| groups.iter().map(|group| group.sheet.clone()).collect())
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
        let mut results = results.to_vec();
        if reversed {
            results.reverse();
        }
        of_groups(&results, |groups| {
            let [group] = groups else { panic!("{} tables", groups.len()) };
            let row = &group.rows[0];
            assert_eq!(row.runs.len(), 3);
            assert_eq!(row.nats("hierar"), [31.0, 32.0, 33.0]);
            assert_eq!(row.fitting().len(), 2);
            assert_eq!(group.comparisons()[0].test.n, 3);
        });
    }
}

#[test]
fn only_runs_as_in_the_paper_are_beside_its_values() {
    let plain = run(NESTING, "transformer", 1, &BOTH);
    assert_eq!(sheets(&plain)[0], Sheet::Printed("1c".to_owned(), "hierarchical-or-linear"));
    let changes = [
        ("/measure/optimizer_state", json!("reset")),
        ("/precision", json!("f64")),
        ("/measure/output", json!([1, 5])),
        ("/measure/output", json!([0, 200])),
        ("/learner/settings/damped", json!(false)),
        ("/learner/settings/updates", json!(30)),
        ("/learner/settings/warmup", json!(0)),
    ];
    for change in changes {
        let other = with(plain.clone(), std::slice::from_ref(&change));
        assert_eq!(sheets(&other), [Sheet::Other(NESTING.to_owned())], "{change:?}");
    }
    // Other draws of the same data, and one of the two measures alone, are as in the paper.
    for change in [("/data_seed", json!(3)), ("/measure/measures", json!(["agreement"]))] {
        let same = with(plain.clone(), std::slice::from_ref(&change));
        assert_eq!(sheets(&same), sheets(&plain), "{change:?}");
    }
    assert_eq!(sheets(&corrected(plain))[0], Sheet::Printed("1c".to_owned(), "hierarchical-or-linear"));
}

#[test]
fn figure_3_has_only_runs_with_its_settings() {
    assert_eq!(sheets(&growth()), [Sheet::Growth]);
    let changes = [
        ("/measure/block_size", json!(1)),
        ("/learner/settings/embedding", json!(16)),
        ("/learner/settings/layers", json!(1)),
        ("/learner/settings/updates", json!(2)),
        ("/measure/optimizer_state", json!("reset")),
    ];
    for change in changes {
        let other = with(growth(), std::slice::from_ref(&change));
        assert_eq!(sheets(&other), [Sheet::Other(GROWTH.to_owned())], "{change:?}");
    }
}

#[test]
fn tables_say_what_is_wrong_with_the_papers_values() {
    of_groups(&[run(NESTING, "transformer", 1, &BOTH), dropped_out(0.2)], |groups| {
        let group = groups.iter().find(|group| group.sheet.id() == "6c").unwrap();
        let table = tables::main(group).unwrap();
        assert!(table.notes.iter().any(|note| note.contains("a quarter of the right values")));
        assert!(table.notes.iter().any(|note| note.contains("100 seeds")));
        let seeds: Vec<_> = table.rows.iter().map(|row| row.cells[0].paper_n).collect();
        assert_eq!(seeds, [Some(20), Some(100)], "dropout 0.2, and the row of Table 1");
        let main = groups.iter().find(|group| group.sheet.id() == "1c").unwrap();
        assert!(!tables::main(main).unwrap().notes.iter().any(|note| note.contains("quarter")));
    });
}
