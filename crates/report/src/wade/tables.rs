//! Table 4, scores; Table 5, accuracies; and what the scores are made of.

use wug_score::metric::{
    Direction, HIGHEST_ACCURACY, LAST_ACCURACY, WADE, WADE_ABOVE_CHANCE, WADE_BEFORE_TRAINING,
};
use wug_score::{Aggregate, Measurement, Metric, Reading, RunResult};

use super::published::{ACCURACY, RULES, RUNS, SCORES, printed, tasks};
use super::runs::{PaperRuns, is_human, mean_curve};
use super::{batch, blank, shortened};
use crate::measured::TEST;
use crate::parameters;
use crate::published::PublishedTable;
use crate::table::{BOLD_NOTE, Cell, Column, Decimals, MEAN_NOTE, Row, Table, Value, set_ranks};

const TASK: &str = "task";
const STEPS: &str =
    "WADE: the weighted mean of 1/T over accuracies, T being the step at which each is first reached.";
const PUBLISHED_STEPS: &str = "As published: thresholds 0 to 0.99, strictly above; T in sequences for reservoirs, in updates of 8 sequences for the others; reservoirs choose among the answers of the training sequences, the others among all symbols. A constant accuracy c scores about c².";
const CORRECTED_STEPS: &str = "Equations 1 and 2: thresholds 0.01 to 1, reached or exceeded; T in sequences seen by every learner; every learner chooses among all symbols of the task. Batches of one, as the paper says, unless a column says otherwise.";
const LEAK: &str = "The published transformer sees the answer: its figures do not compare.";

const HUMAN: &str = "human: Equation 1 in either reading, with thresholds 0.1 to 1; a series of k right answers is an accuracy of k/10 at its first question, and T is in questions (Appendix A).";

/// What was measured of some runs by a metric.
fn measured<'a>(runs: &[&'a RunResult], metric: &Metric) -> Vec<&'a Measurement> {
    runs.iter().filter_map(|run| run.whole(TEST, metric.name)).filter(|m| m.value.is_some()).collect()
}

fn notes(runs: &PaperRuns<'_>) -> Vec<String> {
    let steps = match runs.reading {
        Reading::Published => PUBLISHED_STEPS,
        Reading::Corrected => CORRECTED_STEPS,
    };
    let human = runs.all.iter().any(|run| is_human(run)).then_some(HUMAN);
    [STEPS, steps, LEAK].into_iter().chain(human).map(str::to_owned).collect()
}

/// Table 4; `None` without runs.
pub(super) fn scores(runs: &PaperRuns<'_>) -> Option<Table> {
    let mut table = by_task(runs, "4", "Table 4: WADE", &WADE, SCORES)?;
    table.notes.splice(0..0, notes(runs));
    Some(table)
}

/// Table 4 in short.
pub(super) fn headline(runs: &PaperRuns<'_>) -> Option<Table> {
    Some(shortened(scores(runs)?, runs, &[STEPS, LEAK]))
}

/// WADE of what is above chance.
pub(super) fn above_chance(runs: &PaperRuns<'_>) -> Option<Table> {
    let nothing = PublishedTable { text: "" };
    let mut table = by_task(runs, "above-chance", "WADE above chance", &WADE_ABOVE_CHANCE, nothing)?;
    let note = "Of (accuracy - chance) / (1 - chance), chance being the accuracy of the commonest answer: what needs no learning counts for nothing.";
    table.notes.insert(0, note.to_owned());
    Some(table)
}

/// A metric by task and learner.
fn by_task(
    runs: &PaperRuns<'_>,
    name: &str,
    title: &str,
    metric: &'static Metric,
    paper: PublishedTable,
) -> Option<Table> {
    let (tasks, columns) = (runs.tasks(), runs.columns());
    let row = |task: &&'static str| {
        let mut cells: Vec<Cell> = columns
            .iter()
            .map(|column| {
                let paper = printed(paper, task, column);
                let paper_n = paper.as_ref().filter(|_| column != "human").map(|_| RUNS);
                let own = Cell::of_runs(&measured(runs.cell(task, column), metric), Decimals(2));
                Cell { paper, paper_n, ..own }
            })
            .collect();
        let values = |column: &String| -> Vec<f64> {
            measured(runs.cell(task, column), metric).iter().filter_map(|m| m.value).collect()
        };
        let values: Vec<Vec<f64>> = columns.iter().map(values).collect();
        let chance = runs.all.iter().filter(|run| run.run.language() == *task);
        let chance: Vec<f64> = chance.filter_map(|run| run.whole(TEST, metric.name)?.chance).collect();
        set_ranks(&mut cells, &values, Aggregate::Mean.of(&chance), Direction::Higher);
        Row { keys: vec![(*task).to_owned()], cells }
    };
    let mut table = blank(runs, name, title, &[TASK]);
    table.columns = columns.iter().map(Column::new).collect();
    table.rows = tasks.iter().map(row).collect();
    table.notes.extend([MEAN_NOTE.to_owned(), BOLD_NOTE.to_owned()]);
    table.notes.extend(batch::note(&runs.all));
    table.notes.extend(rule_note(runs));
    table.notes.extend(parameters::notes(&runs.all));
    table.notes.extend(table.interval_note());
    (!table.rows.is_empty() && !columns.is_empty()).then_some(table)
}

/// Which rule each task is shown with.
fn rule_note(runs: &PaperRuns<'_>) -> Option<String> {
    let rule = |task: &&'static str| {
        let own = runs.cell(task, "reca").first()?;
        Some(format!("{task} {}", own.run.coordinates.integer("rule")?))
    };
    let rules: Vec<String> = runs.tasks().iter().filter_map(rule).collect();
    (!rules.is_empty()).then(|| format!("Rules of the cellular automata: {}.", rules.join(", ")))
}

/// Table 5; `None` without runs.
pub(super) fn accuracies(runs: &PaperRuns<'_>) -> Option<Table> {
    let (tasks, columns) = (runs.tasks(), runs.columns());
    let columns: Vec<String> = columns.into_iter().filter(|column| column != "human").collect();
    let mut table = blank(runs, "5", "Table 5: accuracy", &[TASK]);
    table.columns = columns.iter().map(Column::new).collect();
    let cell = |task: &str, column: &str| {
        let own = runs.cell(task, column);
        let paper = printed(ACCURACY, task, column);
        let paper_n = paper.as_ref().map(|_| RUNS);
        let ours = match runs.reading {
            Reading::Published => highest_mean(own),
            Reading::Corrected => Value::of_runs(&measured(own, &LAST_ACCURACY), Decimals(2)),
        };
        Cell { ours, n: Some(own.len()), paper, paper_n, ..Cell::default() }
    };
    let row = |task: &&'static str| Row {
        keys: vec![(*task).to_owned()],
        cells: columns.iter().map(|column| cell(task, column)).collect(),
    };
    table.rows = tasks.iter().map(row).collect();
    let how = match runs.reading {
        Reading::Published => {
            "As published: the highest value of the mean curve of all runs; ±: the standard deviation at the last evaluation."
        }
        Reading::Corrected => {
            "Mean accuracy at the end ± population standard deviation over runs; in brackets the number of runs. The paper's figures are the highest value of the mean curve on the way."
        }
    };
    table.notes.extend([how, LEAK].map(str::to_owned));
    table.notes.extend(rule_note(runs));
    (!table.rows.is_empty() && !columns.is_empty()).then_some(table)
}

/// The highest value of the mean curve, and the deviation at its end.
fn highest_mean(runs: &[&RunResult]) -> Option<Value> {
    let curve = mean_curve(runs);
    let means: Vec<f64> = curve.iter().filter_map(|(_, accuracies)| Aggregate::Mean.of(accuracies)).collect();
    let highest = Aggregate::Max.of(&means)?;
    let std = curve.last().and_then(|(_, accuracies)| Aggregate::PopulationStd.of(accuracies));
    Some(Value::with_std(highest, std.filter(|_| runs.len() > 1), Decimals(2)))
}

/// The accuracies whose times are shown, as tenths.
const SHOWN: [usize; 4] = [5, 7, 8, 9];
/// The numbers of thresholds that are compared with the limit.
const REFINED: [&str; 4] = ["10", "20", "100", "1000"];

/// What each score is made of: chance, the floor before training, times to thresholds, convergence, leaks.
pub(super) fn detail(runs: &PaperRuns<'_>) -> Option<Table> {
    let mut table = blank(runs, "detail", "What the scores are made of", &[TASK, "learner"]);
    let scores = [
        ("WADE", &WADE),
        ("above chance", &WADE_ABOVE_CHANCE),
        ("before training", &WADE_BEFORE_TRAINING),
        ("highest accuracy", &HIGHEST_ACCURACY),
    ];
    table.columns = scores.iter().map(|(name, _)| Column::new(*name)).collect();
    table.columns.push(Column::new("chance"));
    table.columns.extend(SHOWN.map(|tenths| Column::of("median steps to", format!("0.{tenths}"))));
    table.columns.extend(REFINED.map(|n| Column::of("thresholds", n)));
    table.columns.push(Column::of("thresholds", "limit"));
    table.columns.push(Column::new("answers seen"));
    for task in runs.tasks() {
        for column in runs.columns().iter().filter(|column| !runs.cell(task, column).is_empty()) {
            let own = runs.cell(task, column);
            let mut cells: Vec<Cell> =
                scores.iter().map(|(_, metric)| mean_cell(&measured(own, metric))).collect();
            let chances: Vec<f64> = own.iter().filter_map(|run| run.whole(TEST, WADE.name)?.chance).collect();
            cells.push(Cell::maybe(Value::mean(&chances, true, Decimals(3)).map(without_interval)));
            cells.extend(SHOWN.map(|tenths| Cell::maybe(median_steps(own, tenths))));
            cells.extend((0..REFINED.len()).map(|k| refined(own, Some(REFINED[k]))));
            cells.push(refined(own, None));
            cells.push(Cell::maybe(leak(own)));
            table.rows.push(Row { keys: vec![task.to_owned(), column.clone()], cells });
        }
    }
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

fn median_steps(runs: &[&RunResult], tenths: usize) -> Option<Value> {
    let time = |run: &&RunResult| {
        let times = run.data.get("wade")?.get("time_to")?.as_array()?;
        Some(times.get(tenths - 1)?.get(1)?.as_f64().unwrap_or(f64::INFINITY))
    };
    let mut times: Vec<f64> = runs.iter().filter_map(time).collect();
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len().checked_sub(1)? / 2)?;
    median.is_finite().then(|| Value::number(*median, Decimals(0)))
}

/// The mean score with a number of thresholds, or its limit.
fn refined(runs: &[&RunResult], thresholds: Option<&str>) -> Cell {
    let value = |run: &&RunResult| {
        let wade = run.data.get("wade")?;
        let Some(n) = thresholds else { return wade.get("limit")?.as_f64() };
        let pairs = wade.get("refined")?.as_array()?;
        pairs.iter().find(|pair| pair[0].as_u64() == n.parse().ok())?.get(1)?.as_f64()
    };
    let values: Vec<f64> = runs.iter().filter_map(value).collect();
    Cell::maybe(Aggregate::Mean.of(&values).map(|mean| Value::number(mean, Decimals(3))))
}

/// The share of predictions that change with the answer.
fn leak(runs: &[&RunResult]) -> Option<Value> {
    let share = |run: &&RunResult| {
        let leak = run.data.get("leak")?;
        Some(leak.get("changed")?.as_f64()? / leak.get("of")?.as_f64()?)
    };
    let shares: Vec<f64> = runs.iter().filter_map(share).collect();
    Aggregate::Mean.of(&shares).map(|mean| Value::number(mean, Decimals(2)))
}

/// The rules that were chosen on other seeds than those of the tables.
pub(super) fn rules(runs: &PaperRuns<'_>) -> Option<Table> {
    let (chosen, accurate) = (runs.chosen_rules(), runs.most_accurate_rules());
    let mut table = blank(runs, "rules", "The rule of each task, chosen on seeds of its own", &[TASK]);
    table.columns = [
        Column::of("by WADE", "rule"),
        Column::of("by WADE", "WADE"),
        Column::of("by accuracy", "rule"),
        Column::of("by accuracy", "accuracy"),
        Column::new("rules tried"),
        Column::new("seeds"),
    ]
    .into();
    for (task, in_print) in tasks().into_iter().zip(RULES) {
        let (Some((rule, wade)), Some((other, accuracy))) = (chosen.get(task), accurate.get(task)) else {
            continue;
        };
        let own: Vec<_> = runs.selection.iter().filter(|run| run.run.language() == task).collect();
        let distinct = |f: &dyn Fn(&RunResult) -> Option<u64>| {
            own.iter().filter_map(|run| f(run)).collect::<std::collections::BTreeSet<_>>().len()
        };
        let tried = distinct(&|run| run.run.coordinates.integer("rule"));
        let seeds = distinct(&|run| Some(run.run.seed));
        let number = |x: f64| Cell::ours(Value::number(x, Decimals(3)));
        let whole = |n: u64| Cell::ours(Value::number(n as f64, Decimals(0)));
        let paper = Some(Value::number(in_print as f64, Decimals(0)));
        table.rows.push(Row {
            keys: vec![task.to_owned()],
            cells: vec![
                whole(*rule),
                number(*wade),
                Cell { paper, ..whole(*other) },
                number(*accuracy),
                whole(tried as u64),
                whole(seeds as u64),
            ],
        });
    }
    let accuracy = match runs.reading {
        Reading::Published => "the highest on the way",
        Reading::Corrected => "after the last sequence",
    };
    table.notes.push(format!("Means over the runs that serve to choose; accuracy is {accuracy}. The paper chose by the highest test accuracy, on the runs that it reports."));
    (!table.rows.is_empty()).then_some(table)
}
