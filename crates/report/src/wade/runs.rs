//! The runs of WADE by task and column, and their learning curves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use wug_score::metric::{HIGHEST_ACCURACY, LAST_ACCURACY, WADE};
use wug_score::wade::{StepUnit, WadeMeasure as Wade};
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

/// Whether a run is of reviews.
pub(super) fn is_of_reviews(result: &RunResult) -> bool {
    result.run.protocol == PROTOCOL && result.plan.get("corpus").is_some_and(Value::is_object)
}

/// Whether a run is of a task and a budget of the paper, and was made and scored as its reading says: the tables have a cell for it, and
/// their notes are true of it.
pub(super) fn is_of_paper(result: &RunResult) -> bool {
    if result.run.protocol != PROTOCOL || !tasks().contains(&result.run.language()) {
        return false;
    }
    is_human(result) || has_budget(result) && is_as_read(result)
}

fn is_reservoir(result: &RunResult) -> bool {
    setting(result, "decoder").is_some()
}

fn has_budget(result: &RunResult) -> bool {
    let passes = if is_reservoir(result) { 1 } else { PASSES };
    count(result, "sequences") == Some(SEQUENCES) && count(result, "passes") == Some(passes)
}

/// Whether unit, evaluations, score, decoder, labels and matching are those that the notes of its reading name.
fn is_as_read(result: &RunResult) -> bool {
    let (published, reservoir) = (result.run.reading == Reading::Published, is_reservoir(result));
    let text = |name: &str| result.plan.get(name).and_then(Value::as_str);
    let unit = if published && reservoir { "answers" } else { "sequences" };
    let evaluations = if published {
        json!({ "before": false, "first": 0, "every": 8 })
    } else {
        json!({ "before": true, "first": 32, "every": 8 })
    };
    let decoder = if published { ("one-vs-rest", "training") } else { ("softmax", "all") };
    let own = (setting(result, "decoder"), setting(result, "labels"));
    let matching = if published { "published" } else { "nearest" };
    text("unit") == Some(unit)
        && result.plan.get("evaluations") == Some(&evaluations)
        && is_scored_as_read(result, reservoir)
        && (!reservoir || own == (Some(decoder.0), Some(decoder.1)))
        && text("matching").is_none_or(|own| own == matching)
}

/// Whether the score is the one of its reading.
fn is_scored_as_read(result: &RunResult, reservoir: bool) -> bool {
    let (variant, unit) = match (result.run.reading, reservoir) {
        (Reading::Corrected, _) => ("equation", StepUnit::Sequences),
        (Reading::Published, true) => ("benchmark", StepUnit::MeanSequences),
        (Reading::Published, false) => ("benchmark", StepUnit::Updates),
    };
    let own = result.plan.get("wade").and_then(|wade| serde_json::from_value(wade.clone()).ok());
    own.is_some() && own == Wade::named(variant, unit)
}

/// The runs of one reading.
pub(super) struct PaperRuns<'a> {
    pub(super) reading: Reading,
    /// Those that serve to choose a rule.
    pub(super) selection: Vec<&'a RunResult>,
    pub(super) all: Vec<&'a RunResult>,
    by_cell: BTreeMap<(&'a str, String), Vec<&'a RunResult>>,
}

impl<'a> PaperRuns<'a> {
    pub(super) fn of(results: &[&'a RunResult], reading: Reading) -> Self {
        // A person's answers are the same in both readings.
        let own = |result: &&&'a RunResult| {
            (result.run.reading == reading || is_human(result)) && !is_of_reviews(result)
        };
        let own: Vec<&RunResult> = results.iter().filter(own).copied().collect();
        let (mut selection, all): (Vec<_>, Vec<_>) = own.into_iter().partition(|result| is_selection(result));
        // A rule is chosen with the settings that it is shown with.
        selection.retain(|result| column(result) == "reca");
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

    /// The same by the accuracy that Table 5 shows: after the last sequence, or as the released notebook chooses, the highest on the way.
    pub(super) fn most_accurate_rules(&self) -> BTreeMap<&'a str, (u64, f64)> {
        self.best_rules(match self.reading {
            Reading::Published => HIGHEST_ACCURACY.name,
            Reading::Corrected => LAST_ACCURACY.name,
        })
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

/// The column of a run: its learner, and every setting in which it is another than the usual one of its reading.
fn column(result: &RunResult) -> String {
    let mut name = result.run.learner().to_owned();
    if is_human(result) {
        return name;
    }
    for difference in differences(result) {
        name.push(' ');
        name.push_str(&difference);
    }
    name
}

/// The features of a decoder in the paper, by which networks are given their size.
const FEATURES: u64 = 1800;

fn differences(result: &RunResult) -> Vec<String> {
    let plan = &result.plan;
    let published = result.run.reading == Reading::Published;
    let mut all = Vec::new();
    let settings = plan.get("settings").and_then(Value::as_object);
    for (name, value) in settings.into_iter().flatten() {
        let usual = usual(name, result.run.learner(), published);
        if !is_found(result, name) && !usual.is_some_and(|usual| is_same(&usual, value)) {
            all.push(described(name, value));
        }
    }
    let vocabulary = result.data.get("vocabulary").and_then(Value::as_u64);
    let other = |size: &u64| vocabulary.is_some_and(|vocabulary| *size != FEATURES * vocabulary);
    let size = count(result, "size").filter(other);
    all.extend(size.map(|size| format!("of {size} parameters")));
    let batch = if published && !is_reservoir(result) { 8 } else { 1 };
    all.extend(count(result, "batch").filter(|own| *own != batch).map(|own| format!("batch {own}")));
    all.extend(plan.get("precision").and_then(Value::as_str).filter(|p| *p != "f32").map(str::to_owned));
    all
}

/// Whether nobody gave a setting: a size decided it, or it was drawn. A rule has a note of its own.
fn is_found(result: &RunResult, name: &str) -> bool {
    let found = result.plan.get("found").and_then(Value::as_array);
    name == "rule" || found.is_some_and(|found| found.iter().any(|own| own == name))
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        _ => a == b,
    }
}

/// The value of a setting that the tables are of; none for dimensions that a size decides.
fn usual(name: &str, learner: &str, published: bool) -> Option<Value> {
    let either = |published_value: &str, corrected: &str| {
        Some(Value::from(if published { published_value } else { corrected }))
    };
    match name {
        "decoder" => either("one-vs-rest", "softmax"),
        "labels" => either("training", "all"),
        "standardization" => either("prior", "running"),
        "dynamics" => either("published", "given"),
        "attention" => either("leaky", "causal"),
        "dropout" => Some(json!(if published && learner == "transformer" { 0.5 } else { 0.0 })),
        "learning_rate" | "weight_decay" => Some(json!(0.001)),
        "optimizer" => Some(json!(if ["esn", "reca"].contains(&learner) { "sgd" } else { "adam" })),
        "redundancy" => Some(json!(15)),
        "projection" => Some(json!(60)),
        "iterations" => Some(json!(2)),
        "units" => Some(json!(FEATURES)),
        "connections" => Some(json!(10.0)),
        "spectral_radius" => Some(json!(0.95)),
        "leak" | "input_scale" | "layers" => Some(json!(1)),
        "bias" | "embedding" => Some(json!(0)),
        "skip" => Some(json!(false)),
        "heads" => Some(json!(8)),
        "feedforward_units" => Some(json!(50)),
        _ => None,
    }
}

/// A setting in the name of a column.
fn described(name: &str, value: &Value) -> String {
    match (name, value.as_str()) {
        ("attention", Some("leaky")) => "that sees the answer".to_owned(),
        ("attention", Some("pooled")) => "pooled".to_owned(),
        ("dynamics", Some("published")) => "as published".to_owned(),
        ("standardization", Some("prior")) => "standardised before".to_owned(),
        ("standardization", Some("none")) => "not standardised".to_owned(),
        (_, Some(text)) => format!("{} {text}", name.replace('_', " ")),
        _ => format!("{} {value}", name.replace('_', " ")),
    }
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
