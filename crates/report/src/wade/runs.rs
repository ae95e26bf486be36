//! The runs of WADE by task and column, and their learning curves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wug_score::metric::{HIGHEST_ACCURACY, LAST_ACCURACY, WADE};
use wug_score::plan::{Departure, Speed};
use wug_score::{Aggregate, Reading};

use super::NAME;
use super::published::{LEARNERS, tasks};
use crate::cells::PaperCells;
use crate::departures::reading_note;
use crate::measured::TEST;
use crate::run::{AnyRun, Run, of_kind};

pub(super) type WadeRun<'r> = Run<'r, Speed>;

/// Whether a run is one of a person's.
pub(super) fn is_human(run: WadeRun<'_>) -> bool {
    run.learner() == "human"
}

/// Whether a run is of reviews.
pub(super) fn is_of_reviews(run: WadeRun<'_>) -> bool {
    run.plan.data.corpus.is_some()
}

/// The run as one that the tables have a cell for: of the paper's sequences of a task, of reviews, or a person's.
pub(super) fn claimed(run: AnyRun<'_>) -> Option<WadeRun<'_>> {
    let run = run.of::<Speed>()?;
    let of_task = tasks().contains(&run.subject()) && (is_human(run) || run.has_data_of(NAME));
    (of_task || is_of_reviews(run)).then_some(run)
}

/// The runs of one reading.
pub(super) struct WadeRuns<'r> {
    pub(super) reading: Reading,
    pub(super) reading_note: Option<String>,
    /// Those that serve to choose a rule.
    pub(super) selection: Vec<WadeRun<'r>>,
    pub(super) all: Vec<WadeRun<'r>>,
    by_cell: BTreeMap<(&'r str, String), Vec<WadeRun<'r>>>,
}

impl<'r> WadeRuns<'r> {
    pub(super) fn of(cells: &PaperCells<'_>, runs: &[AnyRun<'r>], reading: Reading) -> Self {
        let mut own = of_kind::<Speed>(runs);
        // A person's answers are the same in both readings.
        own.retain(|run| (run.plan.reading == reading || is_human(*run)) && !is_of_reviews(*run));
        let (mut selection, all): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|run| run.plan.measure.selection);
        // A rule is chosen with the settings that it is shown with.
        selection.retain(|run| column(cells, *run) == "reca");
        let reading_note = reading_note(cells, reading, all.iter().copied());
        let mut runs = Self { reading, reading_note, selection, all, by_cell: BTreeMap::new() };
        for &run in &runs.all {
            if runs.shows(run) {
                runs.by_cell.entry((run.subject(), column(cells, run))).or_default().push(run);
            }
        }
        runs
    }

    /// Whether the reading has no runs of its own: people's answers in the other reading do not count.
    pub(super) fn is_empty(&self) -> bool {
        self.all.iter().all(|run| is_human(*run) && run.plan.reading != self.reading)
            && self.selection.is_empty()
    }

    /// Of several rules on a task, only the one that was chosen on other seeds is shown.
    fn shows(&self, run: WadeRun<'_>) -> bool {
        let Some(own) = rule(run) else { return true };
        let same_task = self.all.iter().filter(|other| other.subject() == run.subject());
        let rules: BTreeSet<usize> = same_task.filter_map(|other| rule(*other)).collect();
        rules.len() == 1 || self.chosen_rules().get(run.subject()).is_some_and(|(best, _)| *best == own)
    }

    /// Of each task, the rule with the highest mean WADE over the runs that serve to choose one, and that mean. The first of equals.
    pub(super) fn chosen_rules(&self) -> BTreeMap<&'r str, (usize, f64)> {
        self.best_rules(WADE.name)
    }

    /// The same by the accuracy that Table 5 shows: after the last sequence, or as the released notebook chooses, the highest on the way.
    pub(super) fn most_accurate_rules(&self) -> BTreeMap<&'r str, (usize, f64)> {
        self.best_rules(match self.reading {
            Reading::Published => HIGHEST_ACCURACY.name,
            Reading::Corrected => LAST_ACCURACY.name,
        })
    }

    fn best_rules(&self, metric: &str) -> BTreeMap<&'r str, (usize, f64)> {
        let mut scores: BTreeMap<(&'r str, usize), Vec<f64>> = BTreeMap::new();
        for run in &self.selection {
            let (Some(rule), Some(value)) = (rule(*run), run.value(TEST, metric)) else { continue };
            scores.entry((run.subject(), rule)).or_default().push(value);
        }
        let mut best: BTreeMap<&'r str, (usize, f64)> = BTreeMap::new();
        for ((task, rule), values) in scores {
            // A mean over seeds of their own: the best of 256 rules on the shown runs would be chosen by luck too.
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
    pub(super) fn cell(&self, task: &str, column: &str) -> &[WadeRun<'r>] {
        let found = self.by_cell.iter().find(|((t, c), _)| *t == task && c == column);
        found.map_or(&[], |(_, runs)| runs.as_slice())
    }
}

/// The rule of a cellular automaton.
pub(super) fn rule(run: WadeRun<'_>) -> Option<usize> {
    run.plan.learner.settings.count("rule")
}

/// The column of a run: its learner, and everything in which it is not as the first cell that the tables have of the learner.
fn column(cells: &PaperCells<'_>, run: WadeRun<'_>) -> String {
    // A rule has a note of its own, and other data make no column.
    let is_shown = |name: &str| !["rule", "selection"].contains(&name);
    let described: Vec<String> = if let Some(usual) = cells.departures_of_first(run) {
        let has = |one: &&Departure| one.ours.is_some() && !one.is_of_data() && is_shown(&one.name());
        usual.iter().filter(has).map(described).collect()
    } else {
        // A learner that the paper does not have is told apart by what its experiment lists.
        let coordinates = run.result().run.coordinates.iter();
        let listed = coordinates.filter(|(name, _)| is_shown(name) && !OF_COLUMN.contains(name));
        listed.map(|(name, value)| format!("{} {value}", name.replace('_', " "))).collect()
    };
    std::iter::once(run.learner().to_owned()).chain(described).collect::<Vec<_>>().join(" ")
}

/// The coordinates that need no words in the name of a column.
const OF_COLUMN: [&str; 4] = ["language", "learner", "size", "sequences"];

/// A departure in the name of a column.
fn described(one: &Departure) -> String {
    let name = one.name();
    let text = one.ours.as_ref().and_then(Value::as_str);
    match (name.as_str(), text, &one.ours) {
        ("attention", Some("leaky"), _) => "that sees the answer".to_owned(),
        ("attention", Some("pooled"), _) => "pooled".to_owned(),
        ("dynamics", Some("published"), _) => "as published".to_owned(),
        ("standardization", Some("prior"), _) => "standardised before".to_owned(),
        ("standardization", Some("none"), _) => "not standardised".to_owned(),
        ("size", _, Some(size)) => format!("of {size} parameters"),
        ("precision", Some(precision), _) => precision.to_owned(),
        (_, Some(text), _) => format!("{name} {text}"),
        (_, None, value) => format!("{name} {}", value.as_ref().unwrap_or(&Value::Null)),
    }
}

/// A learning curve: sequences seen, and the accuracy then.
pub(super) fn curve(run: WadeRun<'_>) -> Vec<(f64, f64)> {
    let numbers = |name: &str| -> Vec<f64> {
        let list = run.data.get("curve").and_then(|curve| curve.get(name)).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let of = run.data.get("test_answers").and_then(Value::as_f64).unwrap_or(f64::NAN);
    numbers("seen").into_iter().zip(numbers("correct").into_iter().map(|correct| correct / of)).collect()
}

/// The curves of runs, evaluation by evaluation, as long as the shortest: mean sequences seen, and the accuracies.
pub(super) fn mean_curve(runs: &[WadeRun<'_>]) -> Vec<(f64, Vec<f64>)> {
    let curves: Vec<Vec<(f64, f64)>> =
        runs.iter().map(|run| curve(*run)).filter(|curve| !curve.is_empty()).collect();
    // As in the released notebook: a mean over fewer runs at the end would not be of the same ones.
    let shortest = curves.iter().map(Vec::len).min().unwrap_or(0);
    let at = |i: usize| {
        let seen: Vec<f64> = curves.iter().map(|curve| curve[i].0).collect();
        let accuracies = curves.iter().map(|curve| curve[i].1).collect();
        (Aggregate::Mean.of(&seen).unwrap_or(0.0), accuracies)
    };
    (0..shortest).map(at).collect()
}
