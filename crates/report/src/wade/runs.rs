//! The runs of WADE by task and column, and their learning curves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wug_score::metric::{HIGHEST_ACCURACY, WADE};
use wug_score::{Aggregate, Reading, RunResult};

use super::PROTOCOL;
use super::published::{LEARNERS, tasks};
use crate::measured::TEST;

/// The sequences of the paper.
const SEQUENCES: u64 = 1200;
/// How often the paper shows each to networks that are trained.
const PASSES: u64 = 10;

/// A number of a plan.
pub(super) fn count(result: &RunResult, name: &str) -> Option<u64> {
    result.plan.get(name)?.as_u64()
}

/// A setting of the learner that is a name.
fn setting<'a>(result: &'a RunResult, name: &str) -> Option<&'a str> {
    result.plan.get("settings")?.get(name)?.as_str()
}

/// Whether a result is one of a person's.
pub(super) fn is_human(result: &RunResult) -> bool {
    result.run.learner() == "human"
}

/// Whether a run serves to choose a rule.
pub(super) fn is_selection(result: &RunResult) -> bool {
    result.plan.get("selection").and_then(Value::as_bool) == Some(true)
}

/// Whether a run is of a task and a budget of the paper, so that the tables have a cell for it.
pub(super) fn is_of_paper(result: &RunResult) -> bool {
    if result.run.protocol != PROTOCOL || !tasks().contains(&result.run.language()) {
        return false;
    }
    let reservoir = setting(result, "decoder").is_some();
    let passes = if reservoir { 1 } else { PASSES };
    is_human(result)
        || count(result, "sequences") == Some(SEQUENCES) && count(result, "passes") == Some(passes)
}

/// The runs of one reading.
pub(super) struct PaperRuns<'a> {
    pub(super) reading: Reading,
    /// Those that serve to choose a rule.
    pub(super) selection: Vec<&'a RunResult>,
    /// The others.
    pub(super) all: Vec<&'a RunResult>,
    by_cell: BTreeMap<(&'a str, String), Vec<&'a RunResult>>,
}

impl<'a> PaperRuns<'a> {
    pub(super) fn of(results: &[&'a RunResult], reading: Reading) -> Self {
        // A person's answers are the same in both readings.
        let own = |result: &&&'a RunResult| result.run.reading == reading || is_human(result);
        let own: Vec<&RunResult> = results.iter().filter(own).copied().collect();
        let (selection, all): (Vec<_>, Vec<_>) = own.into_iter().partition(|result| is_selection(result));
        let mut runs = Self { reading, selection, all, by_cell: BTreeMap::new() };
        for &result in &runs.all {
            if runs.shows(result) {
                let cell = (result.run.language(), column(result));
                runs.by_cell.entry(cell).or_default().push(result);
            }
        }
        runs
    }

    /// Whether there is anything but people's answers, or nothing else in any reading.
    pub(super) fn is_empty(&self) -> bool {
        self.all.iter().all(|result| is_human(result) && result.run.reading != self.reading)
            && self.selection.is_empty()
    }

    /// Of several rules on a task, only the one that was chosen on other seeds is shown.
    fn shows(&self, result: &RunResult) -> bool {
        let Some(rule) = result.run.coordinates.integer("rule") else { return true };
        let task = result.run.language();
        let same_task = self.all.iter().filter(|other| other.run.language() == task);
        let rules: BTreeSet<u64> =
            same_task.filter_map(|other| other.run.coordinates.integer("rule")).collect();
        rules.len() == 1 || self.chosen_rules().get(task).is_some_and(|(best, _)| *best == rule)
    }

    /// Of each task, the rule with the highest mean WADE over the runs that serve to choose one, and that mean. The first of equals.
    pub(super) fn chosen_rules(&self) -> BTreeMap<&'a str, (u64, f64)> {
        self.best_rules(WADE.name)
    }

    /// The same by the highest accuracy on the way, as the released notebook chooses.
    pub(super) fn most_accurate_rules(&self) -> BTreeMap<&'a str, (u64, f64)> {
        self.best_rules(HIGHEST_ACCURACY.name)
    }

    fn best_rules(&self, metric: &str) -> BTreeMap<&'a str, (u64, f64)> {
        let mut scores: BTreeMap<(&str, u64), Vec<f64>> = BTreeMap::new();
        for result in &self.selection {
            let (Some(rule), Some(value)) =
                (result.run.coordinates.integer("rule"), result.value(TEST, metric))
            else {
                continue;
            };
            scores.entry((result.run.language(), rule)).or_default().push(value);
        }
        let mut best: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
        for ((task, rule), values) in scores {
            let Some(mean) = Aggregate::Mean.of(&values) else { continue };
            if best.get(task).is_none_or(|(_, score)| mean > *score) {
                best.insert(task, (rule, mean));
            }
        }
        best
    }

    /// The tasks that were run, in the order of the paper.
    pub(super) fn tasks(&self) -> Vec<&'static str> {
        tasks().into_iter().filter(|task| self.by_cell.keys().any(|(own, _)| own == task)).collect()
    }

    /// The columns that were run, the paper's first.
    pub(super) fn columns(&self) -> Vec<String> {
        let own: BTreeSet<&String> = self.by_cell.keys().map(|(_, column)| column).collect();
        let rank = |column: &str| {
            let learner = column.split(' ').next().unwrap_or_default();
            LEARNERS.iter().position(|known| *known == learner).unwrap_or(LEARNERS.len())
        };
        let mut columns: Vec<String> = own.into_iter().cloned().collect();
        columns.sort_by_key(|column| (rank(column), column.clone()));
        columns
    }

    /// The runs of a cell.
    pub(super) fn cell(&self, task: &str, column: &str) -> &[&'a RunResult] {
        let found = self.by_cell.iter().find(|((t, c), _)| *t == task && c == column);
        found.map_or(&[], |(_, runs)| runs.as_slice())
    }
}

/// The column of a run: its learner, and what makes it another than the usual one of its reading.
fn column(result: &RunResult) -> String {
    let mut name = result.run.learner().to_owned();
    let mut with = |text: &str| {
        name.push(' ');
        name.push_str(text);
    };
    if result.run.reading == Reading::Published || is_human(result) {
        return name;
    }
    match setting(result, "attention") {
        Some("leaky") => with("that sees the answer"),
        Some("pooled") => with("pooled"),
        _ => {}
    }
    if setting(result, "dynamics") == Some("published") {
        with("as published");
    }
    match setting(result, "standardization") {
        Some("prior") => with("standardised before"),
        Some("none") => with("not standardised"),
        _ => {}
    }
    if let Some(batch) = count(result, "batch").filter(|batch| *batch > 1) {
        with(&format!("batch {batch}"));
    }
    name
}

/// A learning curve: sequences seen, and the accuracy then.
pub(super) fn curve(result: &RunResult) -> Vec<(f64, f64)> {
    let numbers = |name: &str| -> Vec<f64> {
        let list = result.data.get("curve").and_then(|curve| curve.get(name)).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let of = result.data.get("test_answers").and_then(Value::as_f64).unwrap_or(f64::NAN);
    numbers("seen").into_iter().zip(numbers("correct").into_iter().map(|correct| correct / of)).collect()
}

/// The curves of runs, evaluation by evaluation, as long as the shortest: mean sequences seen, and the accuracies.
pub(super) fn mean_curve(runs: &[&RunResult]) -> Vec<(f64, Vec<f64>)> {
    let curves: Vec<Vec<(f64, f64)>> =
        runs.iter().map(|run| curve(run)).filter(|curve| !curve.is_empty()).collect();
    let shortest = curves.iter().map(Vec::len).min().unwrap_or(0);
    let at = |i: usize| {
        let seen: Vec<f64> = curves.iter().map(|curve| curve[i].0).collect();
        let accuracies = curves.iter().map(|curve| curve[i].1).collect();
        (Aggregate::Mean.of(&seen).unwrap_or(0.0), accuracies)
    };
    (0..shortest).map(at).collect()
}
