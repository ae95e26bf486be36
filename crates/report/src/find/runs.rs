//! Runs of the protocol, with what tables need of them.

use serde_json::Value as Json;
use wug_score::metric::{AGREEMENT_WITH_NONE, DESCRIPTION_LENGTH, EXACT_MATCH, PERFECT_AGREEMENT};
use wug_score::{Metric, RunResult};

/// The protocol of its runs.
pub(super) const PROTOCOL: &str = "preference";

#[derive(Clone, Copy, Debug)]
pub(super) struct PreferenceRun<'a> {
    pub(super) result: &'a RunResult,
    /// Another run of the same seed and settings, with a measure that the first does not have.
    other: Option<&'a RunResult>,
}

impl<'a> PreferenceRun<'a> {
    /// The result as a run of the protocol, if it is one.
    pub(super) fn of(result: &'a RunResult) -> Option<Self> {
        (result.run.protocol == PROTOCOL).then_some(Self { result, other: None })
    }

    /// Adds a run of the same seed and settings, unless all that it measures is known. A measure is taken from one run alone.
    pub(super) fn join(&mut self, run: Self) {
        let measured =
            |metric: &Metric, result: &RunResult| result.scores.iter().any(|m| m.metric == metric.name);
        let new = [&PERFECT_AGREEMENT, &DESCRIPTION_LENGTH];
        let adds = |result: &RunResult| new.iter().any(|m| measured(m, run.result) && !measured(m, result));
        if self.other.is_none() && adds(self.result) {
            self.other = Some(run.result);
        }
    }

    /// The results of the run.
    pub(super) fn results(self) -> impl Iterator<Item = &'a RunResult> {
        std::iter::once(self.result).chain(self.other)
    }

    /// What was measured of a split.
    pub(super) fn value(self, split: &str, metric: &Metric) -> Option<f64> {
        self.results().find_map(|result| result.value(split, metric.name))
    }

    /// The task, as it is spelled.
    pub(super) fn task(self) -> &'a str {
        self.result.run.coordinates.text("task").unwrap_or_default()
    }

    /// The task without its parameters.
    pub(super) fn family(self) -> &'a str {
        self.task().split(':').next().unwrap_or_default()
    }

    /// A parameter of the task.
    pub(super) fn parameter(self, name: &str) -> Option<&'a str> {
        let (_, all) = self.task().split_once(':')?;
        all.split(',').find_map(|one| one.strip_prefix(name)?.strip_prefix('='))
    }

    pub(super) fn learner(self) -> &'a str {
        self.result.run.learner()
    }

    /// The names of the rules, in the order of the task.
    pub(super) fn rules(self) -> Vec<&'a str> {
        let rules = self.result.data.get("rules").and_then(Json::as_array);
        rules.map(|rules| rules.iter().filter_map(Json::as_str).collect()).unwrap_or_default()
    }

    /// A number of the plan.
    pub(super) fn planned(self, name: &str) -> Option<f64> {
        self.result.plan.get(name)?.as_f64()
    }

    /// A setting of the learner.
    pub(super) fn setting(self, name: &str) -> Option<&'a Json> {
        self.result.plan.get("settings")?.get(name)
    }

    /// A setting that is a number.
    pub(super) fn number(self, name: &str) -> Option<f64> {
        self.setting(name)?.as_f64()
    }

    fn of_rule(self, rule: &str, metric: &Metric) -> Option<f64> {
        self.value(&format!("holdout/{rule}"), metric)
    }

    /// Whether all outputs are those of a rule.
    pub(super) fn agrees(self, rule: &str) -> Option<bool> {
        self.of_rule(rule, &PERFECT_AGREEMENT).map(|value| value > 0.5)
    }

    /// The share of outputs that are those of a rule.
    pub(super) fn accuracy(self, rule: &str) -> Option<f64> {
        self.of_rule(rule, &EXACT_MATCH)
    }

    /// Whether the outputs are those of no rule.
    pub(super) fn agrees_with_none(self) -> Option<bool> {
        self.value("holdout", &AGREEMENT_WITH_NONE).map(|value| value > 0.5)
    }

    /// Whether the training pairs were learned.
    pub(super) fn fits(self) -> Option<bool> {
        self.value("training", &PERFECT_AGREEMENT).map(|value| value > 0.5)
    }

    /// The description length of a rule, in nats.
    pub(super) fn nats(self, rule: &str) -> Option<f64> {
        self.of_rule(rule, &DESCRIPTION_LENGTH)
    }
}
