//! Table 4, scores; Table 5, accuracies; and the rules of the cellular automata.

use std::collections::BTreeSet;

use wug_score::metric::{Direction, LAST_ACCURACY, WADE, WADE_ABOVE_CHANCE};
use wug_score::{Aggregate, Measurement, Metric, Reading};

use super::published::{ACCURACY, RULES, RUNS, SCORES, printed, tasks};
use super::runs::{WadeRun, WadeRuns, is_human, mean_curve, rule};
use super::{batch, blank, shortened};
use crate::departures::PaperFigure;
use crate::measured::TEST;
use crate::parameters;
use crate::pivot::Pivot;
use crate::published::PublishedTable;
use crate::table::{BOLD_NOTE, Cell, Column, Decimals, MEAN_NOTE, Table, Value, set_ranks};

pub(super) const TASK: &str = "task";
const STEPS: &str =
    "WADE: the weighted mean of 1/T over accuracies, T being the step at which each is first reached.";
const PUBLISHED_STEPS: &str = "As published: thresholds 0 to 0.99, strictly above; T in sequences for reservoirs, in updates of 8 sequences for the others; reservoirs choose among the answers of the training sequences, the others among all symbols. A constant accuracy c scores about c².";
const CORRECTED_STEPS: &str = "Equations 1 and 2: thresholds 0.01 to 1, reached or exceeded; T in sequences seen by every learner; every learner chooses among all symbols of the task. Batches of one, as the paper says, unless a column says otherwise.";
const LEAK: &str = "The published transformer sees the answer: its figures do not compare.";

const HUMAN: &str = "human: Equation 1 in either reading, with thresholds 0.1 to 1; a series of k right answers is an accuracy of k/10 at its first question, and T is in questions (Appendix A).";

/// What was measured of some runs by a metric.
pub(super) fn measured<'r>(runs: &[WadeRun<'r>], metric: &Metric) -> Vec<&'r Measurement> {
    runs.iter()
        .filter_map(|run| run.result().whole(TEST, metric.name))
        .filter(|m| m.value.is_some())
        .collect()
}

fn notes(runs: &WadeRuns<'_>) -> Vec<String> {
    let steps = match runs.reading {
        Reading::Published => PUBLISHED_STEPS,
        Reading::Corrected => CORRECTED_STEPS,
    };
    let human = runs.all.iter().any(|run| is_human(*run)).then_some(HUMAN);
    [STEPS, steps, LEAK].into_iter().chain(human).map(str::to_owned).collect()
}

/// Table 4; `None` without runs.
pub(super) fn scores(runs: &WadeRuns<'_>) -> Option<Table> {
    let mut table = by_task(runs, "4", "Table 4: WADE", &WADE, SCORES)?;
    table.notes.splice(0..0, notes(runs));
    Some(table)
}

/// Table 4 in short.
pub(super) fn headline(runs: &WadeRuns<'_>) -> Option<Table> {
    Some(shortened(scores(runs)?, runs, &[STEPS, LEAK]))
}

/// WADE of what is above chance.
pub(super) fn above_chance(runs: &WadeRuns<'_>) -> Option<Table> {
    let nothing = PublishedTable { text: "" };
    let mut table = by_task(runs, "above-chance", "WADE above chance", &WADE_ABOVE_CHANCE, nothing)?;
    let note = "Of (accuracy - chance) / (1 - chance), chance being the accuracy of the commonest answer: what needs no learning counts for nothing.";
    table.notes.insert(0, note.to_owned());
    Some(table)
}

/// A row per task, and a column per learner.
fn laid_out(
    runs: &WadeRuns<'_>,
    blank: Table,
    columns: &[String],
    cell: impl Fn(&str, &str) -> Cell,
) -> Option<Table> {
    let cell = &cell;
    let table = Pivot::new()
        .columns(
            columns,
            |column| Column::new(*column),
            move |task: &&'static str, column| cell(task, column),
        )
        .fill(blank, runs.tasks().into_iter().map(|task| (vec![task.to_owned()], task)));
    (!table.rows.is_empty() && !columns.is_empty()).then_some(table)
}

/// The paper's figure beside our runs of a task and column.
fn beside(runs: &WadeRuns<'_>, task: &str, column: &str, ours: Cell, paper: PublishedTable) -> Cell {
    let figure = printed(paper, task, column);
    // No recipe is of a person: a note says what people are asked.
    if column == "human" {
        return Cell { paper: figure, ..ours };
    }
    let figure = figure.map(|value| PaperFigure { value, n: Some(RUNS) });
    ours.with_paper(runs.cell(task, column).iter().copied(), figure)
}

/// A metric by task and learner.
fn by_task(
    runs: &WadeRuns<'_>,
    name: &str,
    title: &str,
    metric: &'static Metric,
    paper: PublishedTable,
) -> Option<Table> {
    let columns = runs.columns();
    let mut table = laid_out(runs, blank(runs, name, title, &[TASK]), &columns, |task, column| {
        let own = Cell::of_runs(&measured(runs.cell(task, column), metric), Decimals(2));
        beside(runs, task, column, own, paper)
    })?;
    for (task, row) in runs.tasks().into_iter().zip(&mut table.rows) {
        let values = |column: &String| -> Vec<f64> {
            measured(runs.cell(task, column), metric).iter().filter_map(|m| m.value).collect()
        };
        let values: Vec<Vec<f64>> = columns.iter().map(values).collect();
        let chance = runs.all.iter().filter(|run| run.subject() == task);
        let chance: Vec<f64> = chance.filter_map(|run| run.whole(TEST, metric.name)?.chance).collect();
        // Test sequences may differ between seeds, and chance with them.
        set_ranks(&mut row.cells, &values, Aggregate::Mean.of(&chance), Direction::Higher);
    }
    table.notes.extend([MEAN_NOTE.to_owned(), BOLD_NOTE.to_owned()]);
    table.notes.extend(batch::note(&runs.all));
    table.notes.extend(rule_note(runs));
    table.notes.extend(parameters::notes(&runs.all));
    table.notes.extend(table.interval_note());
    Some(table)
}

/// Which rule each task is shown with.
fn rule_note(runs: &WadeRuns<'_>) -> Option<String> {
    let of_task = |task: &&'static str| Some(format!("{task} {}", rule(*runs.cell(task, "reca").first()?)?));
    let rules: Vec<String> = runs.tasks().iter().filter_map(of_task).collect();
    (!rules.is_empty()).then(|| format!("Rules of the cellular automata: {}.", rules.join(", ")))
}

/// Table 5; `None` without runs.
pub(super) fn accuracies(runs: &WadeRuns<'_>) -> Option<Table> {
    let columns: Vec<String> = runs.columns().into_iter().filter(|column| column != "human").collect();
    let mut table =
        laid_out(runs, blank(runs, "5", "Table 5: accuracy", &[TASK]), &columns, |task, column| {
            let own = runs.cell(task, column);
            let ours = match runs.reading {
                Reading::Published => highest_mean(own),
                Reading::Corrected => Value::of_runs(&measured(own, &LAST_ACCURACY), Decimals(2)),
            };
            beside(runs, task, column, Cell { n: Some(own.len()), ..Cell::maybe(ours) }, ACCURACY)
        })?;
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
    Some(table)
}

/// The highest value of the mean curve, and the deviation at its end.
fn highest_mean(runs: &[WadeRun<'_>]) -> Option<Value> {
    let curve = mean_curve(runs);
    let means: Vec<f64> = curve.iter().filter_map(|(_, accuracies)| Aggregate::Mean.of(accuracies)).collect();
    let highest = Aggregate::Max.of(&means)?;
    // The notebook's ± is at the last evaluation, although the accuracy is the highest on the way.
    let std = curve.last().and_then(|(_, accuracies)| Aggregate::PopulationStd.of(accuracies));
    Some(Value::with_std(highest, std.filter(|_| runs.len() > 1), Decimals(2)))
}

/// The rules of a task that were chosen, and the printed one.
struct ChosenRules<'r> {
    own: Vec<WadeRun<'r>>,
    by_score: (usize, f64),
    by_accuracy: (usize, f64),
    printed: u64,
}

/// The rules that were chosen on other seeds than those of the tables.
pub(super) fn rules(runs: &WadeRuns<'_>) -> Option<Table> {
    let (scored, accurate) = (runs.chosen_rules(), runs.most_accurate_rules());
    let row = |(task, printed): (&'static str, u64)| {
        let own = runs.selection.iter().copied().filter(|run| run.subject() == task).collect();
        let (by_score, by_accuracy) = (*scored.get(task)?, *accurate.get(task)?);
        Some((vec![task.to_owned()], ChosenRules { own, by_score, by_accuracy, printed }))
    };
    let number = |x: f64, decimals| Cell::ours(Value::number(x, Decimals(decimals)));
    let whole = move |n: usize| number(n as f64, 0);
    let mut table = Pivot::new()
        .column(Column::of("by WADE", "rule"), |row: &ChosenRules<'_>| whole(row.by_score.0))
        .column(Column::of("by WADE", "WADE"), |row| number(row.by_score.1, 3))
        .column(Column::of("by accuracy", "rule"), |row| {
            let value = Value::number(row.printed as f64, Decimals(0));
            Cell { paper: Some(value), ..whole(row.by_accuracy.0) }
        })
        .column(Column::of("by accuracy", "accuracy"), |row| number(row.by_accuracy.1, 3))
        .column(Column::new("rules tried"), |row| {
            whole(row.own.iter().filter_map(|run| rule(*run)).collect::<BTreeSet<_>>().len())
        })
        .column(Column::new("seeds"), |row| {
            whole(row.own.iter().map(|run| run.plan.seed).collect::<BTreeSet<_>>().len())
        })
        .fill(
            blank(runs, "rules", "The rule of each task, chosen on seeds of its own", &[TASK]),
            tasks().into_iter().zip(RULES).filter_map(row),
        );
    let accuracy = match runs.reading {
        Reading::Published => "the highest on the way",
        Reading::Corrected => "after the last sequence",
    };
    table.notes.push(format!("Means over the runs that serve to choose; accuracy is {accuracy}. The paper chose by the highest test accuracy, on the runs that it reports."));
    (!table.rows.is_empty()).then_some(table)
}
