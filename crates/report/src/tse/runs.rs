//! The runs of TSE by the cells of its table, and which of them a cell shows.

use std::collections::BTreeMap;

use serde_json::Value;
use wug_score::metric::{PAIR_ACCURACY_MEAN_PROBABILITY, PAIR_ACCURACY_SUM, PERPLEXITY};
use wug_score::select::best_by_validation;
use wug_score::{Metric, Reading, RunResult};

use super::departures::departures;
use super::published::{LEARNERS, SEARCHED_BATCH, STACK_RNN, STACK_RNN_SEARCHED, STACK_RNN_SGD, rows};
use super::version::{Group, Version};
use crate::pairs::PROTOCOL;
use crate::parameters;
use crate::table::distinct;

/// Which runs a cell is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellKey<'a> {
    pub(super) language: &'a str,
    pub(super) terminals: usize,
    pub(super) learner: &'a str,
    pub(super) version: Version,
}

/// The runs of a group of tables, by their cells.
pub(super) struct PaperRuns<'a> {
    pub(super) group: Group,
    all: Vec<&'a RunResult>,
    /// The indices of those of a cell.
    by_cell: BTreeMap<CellKey<'a>, Vec<usize>>,
    learners: Vec<&'a str>,
}

/// How terminals are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    Uniform,
    Normal,
}

/// A language with the parameters that tables tell apart.
pub(super) struct TseLanguage<'a> {
    pub(super) name: &'a str,
    /// Terminals of each class.
    pub(super) terminals: usize,
    pub(super) law: Law,
}

/// The language of a run; `None` if it has other parameters.
pub(super) fn language(result: &RunResult) -> Option<TseLanguage<'_>> {
    let (name, parameters) = result.run.language().split_once(':').unwrap_or((result.run.language(), ""));
    let mut language = TseLanguage { name, terminals: 10, law: Law::Uniform };
    for parameter in parameters.split(',').filter(|text| !text.is_empty()) {
        match parameter.split_once('=')? {
            ("terminals", count) => language.terminals = count.parse().ok()?,
            ("law", "normal") => language.law = Law::Normal,
            _ => return None,
        }
    }
    Some(language)
}

/// The learner whose cells a run belongs to. What trains the Stack-RNN changes what it learns, so that each has cells of its own.
pub(super) fn learner(result: &RunResult) -> &str {
    let setting = |name: &str| result.plan.get("settings")?.get(name);
    let searched = || setting("batch").and_then(Value::as_f64) == Some(SEARCHED_BATCH);
    match (result.run.learner(), setting("optimizer").and_then(Value::as_str)) {
        (STACK_RNN, Some("sgd")) if searched() => STACK_RNN_SEARCHED,
        (STACK_RNN, Some("sgd")) => STACK_RNN_SGD,
        (name, _) => name,
    }
}

/// Whether a run is as in the paper or has the settings of another group, so that a table has a cell for it.
pub(super) fn is_of_paper(result: &RunResult) -> bool {
    result.run.protocol == PROTOCOL
        && Group::of(result).is_some()
        && language(result).is_some_and(|language| rows().contains(&(language.name, language.terminals)))
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
    run.value(split, comparison(key.language, key.version.reading()).name)
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
    pub(super) fn of(results: &[&'a RunResult], group: Group) -> Self {
        let mut all: Vec<&RunResult> =
            results.iter().copied().filter(|run| Group::of(run) == Some(group)).collect();
        let mut learners = distinct(all.iter().map(|run| learner(run)));
        let place = |name: &str| LEARNERS.iter().position(|(learner, _)| *learner == name);
        learners.sort_by_key(|learner| place(learner).unwrap_or(LEARNERS.len()));
        all.sort_by_key(|r| (r.run.seed, &r.run.plan));
        let mut by_cell: BTreeMap<CellKey<'a>, Vec<usize>> = BTreeMap::new();
        for (i, run) in all.iter().enumerate() {
            if let Some(TseLanguage { name, terminals, .. }) = language(run) {
                let (learner, version) = (learner(run), Version::of(run));
                by_cell.entry(CellKey { language: name, terminals, learner, version }).or_default().push(i);
            }
        }
        Self { group, all, by_cell, learners }
    }

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

    /// The versions that were run.
    pub(super) fn versions(&self) -> Vec<Version> {
        self.versions_where(|_| true)
    }

    /// The versions that a learner was run in; of one of the paper, at least one that its figures can stand beside.
    pub(super) fn versions_of(&self, learner: &str) -> Vec<Version> {
        let mut own = self.versions_where(|key| key.learner == learner);
        let printed = LEARNERS.iter().any(|(name, _)| *name == learner);
        if printed && own == [Version::Corrected] {
            own.push(Version::Described);
        }
        own
    }

    fn versions_where(&self, own: impl Fn(&CellKey<'a>) -> bool) -> Vec<Version> {
        let run = |version: &Version| self.by_cell.keys().any(|key| key.version == *version && own(key));
        Version::ALL.into_iter().filter(run).collect()
    }
}
