//! What the scores are made of: chance, the floor before training, times to thresholds, convergence, leaks.

use wug_score::metric::{HIGHEST_ACCURACY, WADE, WADE_ABOVE_CHANCE, WADE_BEFORE_TRAINING};
use wug_score::{Aggregate, Measurement};

use super::blank;
use super::runs::{WadeRun, WadeRuns};
use super::tables::{TASK, measured};
use crate::measured::TEST;
use crate::pivot::Pivot;
use crate::table::{Cell, Column, Decimals, Table, Value};

/// The accuracies whose times are shown, as tenths.
const SHOWN: [usize; 4] = [5, 7, 8, 9];
/// The numbers of thresholds that are compared with the limit.
const REFINED: [&str; 4] = ["10", "20", "100", "1000"];

/// The table; `None` without runs.
pub(super) fn table(runs: &WadeRuns<'_>) -> Option<Table> {
    let scores = [
        ("WADE", &WADE),
        ("above chance", &WADE_ABOVE_CHANCE),
        ("before training", &WADE_BEFORE_TRAINING),
        ("highest accuracy", &HIGHEST_ACCURACY),
    ];
    let mut rows = Vec::new();
    for task in runs.tasks() {
        for column in runs.columns().into_iter().filter(|column| !runs.cell(task, column).is_empty()) {
            let own = runs.cell(task, &column);
            rows.push((vec![task.to_owned(), column], own));
        }
    }
    let mut table = Pivot::new()
        .columns(
            scores,
            |(name, _)| Column::new(*name),
            |own: &&[WadeRun<'_>], (_, metric)| mean_cell(&measured(own, metric)),
        )
        .column(Column::new("chance"), |own| {
            let chances: Vec<f64> = own.iter().filter_map(|run| run.whole(TEST, WADE.name)?.chance).collect();
            Cell::maybe(Value::mean(&chances, true, Decimals(3)).map(without_interval))
        })
        .columns(
            SHOWN,
            |tenths| Column::of("median steps to", format!("0.{tenths}")),
            |own, tenths| Cell::maybe(median_steps(own, *tenths)),
        )
        .columns(REFINED, |n| Column::of("thresholds", *n), |own, n| refined(own, Some(n)))
        .column(Column::of("thresholds", "limit"), |own| refined(own, None))
        .column(Column::new("answers seen"), |own| Cell::maybe(leak(own)))
        .fill(blank(runs, "detail", "What the scores are made of", &[TASK, "learner"]), rows);
    table.notes.extend(
        [
            "Chance: WADE of always giving the commonest answer. Before training: WADE of an accuracy that stays as it was before the first step.",
            "Median steps to an accuracy, over all runs; – if half of the runs or more never reach it.",
            "Thresholds: the score with so many even thresholds up to 1, and what it converges to as they are refined; – where the score is defined otherwise.",
            "Answers seen: the share of predictions on the test sequences whose scores change with the answer or with what follows it. It must be 0.",
        ]
        .map(str::to_owned),
    );
    (!table.rows.is_empty()).then_some(table)
}

fn without_interval(value: Value) -> Value {
    match value {
        Value::Number { value, std, decimals, .. } => Value::Number { value, std, interval: None, decimals },
        words @ Value::Text(_) => words,
    }
}

fn mean_cell(measured: &[&Measurement]) -> Cell {
    Cell::maybe(Value::of_runs(measured, Decimals(3)).map(without_interval))
}

fn median_steps(runs: &[WadeRun<'_>], tenths: usize) -> Option<Value> {
    let time = |run: &WadeRun<'_>| {
        let times = run.data.get("wade")?.get("time_to")?.as_array()?;
        // A threshold that is never reached counts as infinite: leaving it out would flatter slow learners.
        Some(times.get(tenths - 1)?.get(1)?.as_f64().unwrap_or(f64::INFINITY))
    };
    let mut times: Vec<f64> = runs.iter().filter_map(time).collect();
    times.sort_by(f64::total_cmp);
    // The lower middle: with an even number of runs no mean with infinity is formed.
    let median = times.get(times.len().checked_sub(1)? / 2)?;
    median.is_finite().then(|| Value::number(*median, Decimals(0)))
}

/// The mean score with a number of thresholds, or its limit.
fn refined(runs: &[WadeRun<'_>], thresholds: Option<&str>) -> Cell {
    let value = |run: &WadeRun<'_>| {
        let wade = run.data.get("wade")?;
        let Some(n) = thresholds else { return wade.get("limit")?.as_f64() };
        let pairs = wade.get("refined")?.as_array()?;
        pairs.iter().find(|pair| pair[0].as_u64() == n.parse().ok())?.get(1)?.as_f64()
    };
    let values: Vec<f64> = runs.iter().filter_map(value).collect();
    Cell::maybe(Aggregate::Mean.of(&values).map(|mean| Value::number(mean, Decimals(3))))
}

/// The share of predictions that change with the answer.
fn leak(runs: &[WadeRun<'_>]) -> Option<Value> {
    let share = |run: &WadeRun<'_>| {
        let leak = run.data.get("leak")?;
        Some(leak.get("changed")?.as_f64()? / leak.get("of")?.as_f64()?)
    };
    let shares: Vec<f64> = runs.iter().filter_map(share).collect();
    Aggregate::Mean.of(&shares).map(|mean| Value::number(mean, Decimals(2)))
}
