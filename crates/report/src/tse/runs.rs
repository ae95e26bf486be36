//! The runs of TSE by the cells of its table, and which of them a cell shows.

use std::collections::BTreeMap;

use serde_json::Value;
use wug_score::metric::{PAIR_ACCURACY_MEAN_PROBABILITY, PAIR_ACCURACY_SUM, PERPLEXITY};
use wug_score::select::best_by_validation;
use wug_score::{Metric, Reading, RunResult};

use super::departures::departures;
use super::published::{LEARNERS, STACK_RNN, STACK_RNN_SGD, rows};
use crate::pairs::PROTOCOL;
use crate::parameters;
use crate::table::distinct;

/// Which runs a cell is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellKey<'a> {
    pub(super) language: &'a str,
    pub(super) terminals: usize,
    pub(super) learner: &'a str,
    pub(super) reading: Reading,
}

/// The runs that are as in the paper, by their cells.
pub(super) struct PaperRuns<'a> {
    all: Vec<&'a RunResult>,
    /// The indices of those of a cell.
    by_cell: BTreeMap<CellKey<'a>, Vec<usize>>,
    learners: Vec<&'a str>,
}

/// The language and the number of terminals of each class; `None` if there are other settings.
fn language(result: &RunResult) -> Option<(&str, usize)> {
    let (name, settings) =
        result.run.language().split_once(':').unwrap_or((result.run.language(), "terminals=10"));
    Some((name, settings.strip_prefix("terminals=")?.parse().ok()?))
}

/// The learner whose cells a run belongs to. What trains the Stack-RNN changes what it learns, so that each has cells of its own.
pub(super) fn learner(result: &RunResult) -> &str {
    let optimizer = result.plan.pointer("/settings/optimizer").and_then(Value::as_str);
    match (result.run.learner(), optimizer) {
        (STACK_RNN, Some("sgd")) => STACK_RNN_SGD,
        (name, _) => name,
    }
}

/// Whether a run is as in the paper, so that its table has a cell for it.
pub(super) fn is_of_paper(result: &RunResult) -> bool {
    result.run.protocol == PROTOCOL
        && language(result).is_some_and(|at| rows().contains(&at))
        && result.run.coordinates.integer("size").is_none()
        && departures(result).is_empty()
}

/// The metric by which pairs of a language are compared: as the paper says in the published reading, by the probability of the whole
/// string in the corrected one.
pub(super) fn comparison(language: &str, reading: Reading) -> &'static Metric {
    match (language, reading) {
        ("np-vp", Reading::Published) => &PAIR_ACCURACY_MEAN_PROBABILITY,
        _ => &PAIR_ACCURACY_SUM,
    }
}

/// The accuracy of a run.
pub(super) fn accuracy(run: &RunResult, key: CellKey<'_>, split: &str) -> Option<f64> {
    run.value(split, comparison(key.language, key.reading).name)
}

/// The perplexity by which the paper chooses a model.
pub(super) fn validation_perplexity(run: &RunResult) -> Option<f64> {
    run.value("validation", PERPLEXITY.name)
}

/// The run with the lowest perplexity on the validation strings.
pub(super) fn selected<'a>(runs: &[&'a RunResult]) -> Option<&'a RunResult> {
    best_by_validation(runs, |run| validation_perplexity(run)).copied()
}

impl<'a> PaperRuns<'a> {
    /// In the order of their seeds, on which ties depend.
    pub(super) fn of(results: &[&'a RunResult]) -> Self {
        let mut all = results.to_vec();
        all.sort_by_key(|r| (r.run.seed, &r.run.plan));
        let mut by_cell: BTreeMap<CellKey<'a>, Vec<usize>> = BTreeMap::new();
        for (i, run) in all.iter().enumerate() {
            if let Some((language, terminals)) = language(run) {
                let (learner, reading) = (learner(run), run.run.reading);
                by_cell.entry(CellKey { language, terminals, learner, reading }).or_default().push(i);
            }
        }
        let mut learners = distinct(results.iter().map(|run| learner(run)));
        let place = |name: &str| LEARNERS.iter().position(|(learner, _)| *learner == name);
        learners.sort_by_key(|learner| place(learner).unwrap_or(LEARNERS.len()));
        Self { all, by_cell, learners }
    }

    /// All of them.
    pub(super) fn all(&self) -> &[&'a RunResult] {
        &self.all
    }

    /// Those of a cell.
    pub(super) fn at(&self, key: CellKey<'_>) -> Vec<&'a RunResult> {
        self.by_cell.get(&key).into_iter().flatten().map(|i| self.all[*i]).collect()
    }

    /// The runs of each cell.
    pub(super) fn cells(&self) -> impl Iterator<Item = Vec<&'a RunResult>> {
        self.by_cell.keys().map(|key| self.at(*key))
    }

    /// The languages that were run with their terminals, in the order of the paper.
    pub(super) fn rows(&self) -> Vec<(&'static str, usize)> {
        let run = |(language, terminals): &(&str, usize)| {
            self.by_cell.keys().any(|key| key.language == *language && key.terminals == *terminals)
        };
        rows().into_iter().filter(run).collect()
    }

    /// The learners of the paper that were run, and then the others, in the order of the results.
    pub(super) fn learners(&self) -> &[&'a str] {
        &self.learners
    }

    /// A learner with the parameters of its runs, as a legend names it.
    pub(super) fn label(&self, name: &str) -> String {
        parameters::label(name, self.all.iter().copied().filter(|run| learner(run) == name))
    }

    /// The readings that were run, corrected first.
    pub(super) fn readings(&self) -> Vec<Reading> {
        let run = |reading: &Reading| self.all.iter().any(|run| run.run.reading == *reading);
        [Reading::Corrected, Reading::Published].into_iter().filter(run).collect()
    }
}
