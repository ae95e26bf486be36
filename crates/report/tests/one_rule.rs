//! The one rule of all suites: a paper's figure stands beside runs that are as in the paper, and beside no others.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod fixtures;

use std::collections::BTreeMap;

use fixtures::generalization::evaluated;
use fixtures::{accuracy, plan, recognition, set};
use serde_json::{Value, json};
use wug_parameter::Range;
use wug_report::{Format, Report};
use wug_score::metric::{PAIR_ACCURACY_SUM, PAIR_CEILING, PERFECT_AGREEMENT, PERPLEXITY, WADE};
use wug_score::plan::{Departure, Recipe, fields};
use wug_score::{Measurement, Metric, RunResult, Stratum, Totals};

/// A cell of each suite, as its experiment plans it.
fn recipes() -> Vec<Recipe> {
    let all: Vec<Value> = serde_json::from_str(include_str!("fixtures/recipes.json")).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let recipe = |json: Value| {
        let drawn = json["drawn"].as_object().unwrap().iter();
        let range = |of: &Value| {
            let number = |i: usize| of[i].as_f64().unwrap();
            Range { from: number(0), to: number(1), log: of[2] == true }
        };
        Recipe {
            table: text(&json["table"]),
            version: text(&json["version"]),
            protocol: text(&json["protocol"]),
            plan: plan(json["plan"].clone()),
            drawn: drawn.map(|(name, of)| (name.clone(), range(of))).collect::<BTreeMap<_, _>>(),
            runs: 1,
        }
    };
    all.into_iter().map(recipe).collect()
}

/// A run that is as its recipe, with a value in a cell for which the paper has a figure.
fn run(recipe: &Recipe) -> RunResult {
    let mut result = recognition(["", "", "", ""], 1, Vec::new());
    result.plan = recipe.plan.clone();
    result.run.protocol.clone_from(&recipe.protocol);
    result.run.coordinates =
        wug_score::Coordinates::default().with("learner", recipe.plan.learner.name.as_str());
    let subject = if recipe.protocol == "preference" { "task" } else { "language" };
    result.run.coordinates.set(subject, recipe.plan.subject.as_str());
    let measured = |split: &str, metric: &'static Metric| {
        let totals = Totals { numerator: 1.0, denominator: 1.0, n: 1 };
        Measurement::new(split, Stratum::All, &metric.measured(totals, Some(0.5)))
    };
    match recipe.protocol.as_str() {
        "recognition" => result.scores.push(accuracy("test", 0.9)),
        "generalization" => {
            let counts = [("0.005", [1, 1], [1, 1]), ("0", [1, 1], [1, 1])];
            result = evaluated(result, &counts);
        }
        "speed" => {
            result.scores.push(measured("test", &WADE));
            result.data = json!({ "train": 25_000, "test": 25_000 });
        }
        "pairs" => {
            result.scores.push(measured("validation", &PERPLEXITY));
            for split in ["test", "out-of-distribution"] {
                result
                    .scores
                    .extend([&PAIR_ACCURACY_SUM, &PAIR_CEILING].map(|metric| measured(split, metric)));
            }
        }
        _ => {
            result.data = json!({ "rules": ["hierar", "linear"] });
            let splits = ["training", "holdout/hierar", "holdout/linear"];
            result.scores.extend(splits.map(|split| measured(split, &PERFECT_AGREEMENT)));
        }
    }
    result
}

/// How many cells of ours have the paper's figure beside them.
fn beside(report: &Report) -> usize {
    let cells = report.tables.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells);
    cells.filter(|cell| cell.ours.is_some() && cell.paper.is_some()).count()
}

/// Another value of the same kind, beyond every range that is drawn from; of a choice the other one, or none.
fn other(value: &Value) -> Value {
    match value {
        Value::Bool(on) => (!on).into(),
        Value::Number(n) => {
            n.as_u64().map_or_else(|| (n.as_f64().unwrap() + 1000.0).into(), |n| (n + 100_000).into())
        }
        Value::String(text) => match text.as_str() {
            "f32" => "f64".into(),
            "published" => "nearest".into(),
            "square" => "longer".into(),
            "longest" => "first".into(),
            "deterministic" => "categorical".into(),
            text => format!("{text}0").into(),
        },
        Value::Array(all) => {
            let mut all = all.clone();
            let last = all.pop().unwrap();
            all.push(other(&last));
            all.into()
        }
        _ => unreachable!("a field is flat"),
    }
}

#[test]
fn a_run_that_departs_in_nothing_has_the_papers_figure() {
    let recipes = recipes();
    for recipe in &recipes {
        let report = Report::new(&[run(recipe)], &recipes).unwrap();
        assert!(beside(&report) > 0, "{}", recipe.table);
        assert!(
            !report.render(Format::Markdown).unwrap().contains("not as in the paper"),
            "{}",
            recipe.table
        );
        // Without recipes nobody knows that it is as in the paper.
        assert_eq!(beside(&Report::new(&[run(recipe)], &[]).unwrap()), 0, "{}", recipe.table);
    }
}

/// Whatever field it is: no list of fields is here, and none is in the suites.
#[test]
fn a_run_that_departs_in_any_one_field_has_no_figure_and_names_the_field() {
    let recipes = recipes();
    for recipe in &recipes {
        for (path, value) in fields(&recipe.plan) {
            let mut departing = run(recipe);
            if path == "reading" {
                continue;
            }
            set(&mut departing, &path, other(&value));
            let report = Report::new(&[departing], &recipes).unwrap();
            assert_eq!(beside(&report), 0, "{} {path}", recipe.table);
            let named = Departure { field: path.clone(), ours: None, paper: None }.name() + " ";
            let text = report.render(Format::Markdown).unwrap();
            // Of a language or a learner that no paper has there is no cell to depart from.
            let is_cell = path != "subject" && path != "learner.name";
            let said = text.lines().any(|line| {
                line.contains(&named)
                    && (line.contains("≠: not as in the paper") || line.contains("Not to be compared"))
            });
            assert_eq!(said, is_cell, "{} {path}: {text}", recipe.table);
        }
    }
}

/// What there was counts, and not what was asked for.
#[test]
fn invented_reviews_are_not_those_of_the_paper() {
    let recipes = recipes();
    let reviews = recipes.iter().find(|recipe| recipe.table == "wade/2").unwrap();
    let mut few = run(reviews);
    few.data["train"] = 120.into();
    let report = Report::new(&[few], &recipes).unwrap();
    assert_eq!(beside(&report), 0);
    assert!(report.render(Format::Markdown).unwrap().contains("data reviews training 120 (paper: 25000)"));
}
