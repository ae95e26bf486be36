//! Runs of the protocol, with what tables need of them.

use serde_json::Value as Json;
use wug_parameter::SettingValue as Setting;
use wug_score::metric::{AGREEMENT_WITH_NONE, DESCRIPTION_LENGTH, EXACT_MATCH, PERFECT_AGREEMENT};
use wug_score::plan::Preference;
use wug_score::{Metric, RunResult};

use crate::run::{AnyRun, Run};

#[derive(Clone, Copy)]
pub(super) struct PreferenceRun<'a> {
    pub(super) run: Run<'a, Preference>,
    /// Another run of the same seed and settings, with a measure that the first does not have.
    other: Option<Run<'a, Preference>>,
}

impl<'a> PreferenceRun<'a> {
    /// The run as one of the protocol, if it is one.
    pub(super) fn of(run: AnyRun<'a>) -> Option<Self> {
        Some(Self { run: run.of()?, other: None })
    }

    /// Adds a run of the same seed and settings, unless all that it measures is known. A measure is taken from one run alone.
    pub(super) fn join(&mut self, run: Self) {
        let measured =
            |metric: &Metric, result: &RunResult| result.scores.iter().any(|m| m.metric == metric.name);
        let new = [&PERFECT_AGREEMENT, &DESCRIPTION_LENGTH];
        // A second run of the same measure adds nothing: its seed is counted already.
        let adds = |own: &RunResult| new.iter().any(|m| measured(m, &run.run) && !measured(m, own));
        if self.other.is_none() && adds(&self.run) {
            self.other = Some(run.run);
        }
    }

    pub(super) fn runs(self) -> impl Iterator<Item = Run<'a, Preference>> {
        std::iter::once(self.run).chain(self.other)
    }

    /// The results of the run.
    pub(super) fn results(self) -> impl Iterator<Item = &'a RunResult> {
        self.runs().map(Run::result)
    }

    /// What was measured of a split.
    pub(super) fn value(self, split: &str, metric: &Metric) -> Option<f64> {
        self.results().find_map(|result| result.value(split, metric.name))
    }

    /// The task, as it is spelled.
    pub(super) fn task(self) -> &'a str {
        self.run.subject()
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
        self.run.learner()
    }

    /// The names of the rules, in the order of the task.
    pub(super) fn rules(self) -> Vec<&'a str> {
        let rules = self.run.result().data.get("rules").and_then(Json::as_array);
        rules.map(|rules| rules.iter().filter_map(Json::as_str).collect()).unwrap_or_default()
    }

    /// A setting of the learner.
    pub(super) fn setting(self, name: &str) -> Option<&'a Setting> {
        self.run.plan.learner.settings.get_value(name)
    }

    fn of_rule(self, rule: &str, metric: &Metric) -> Option<f64> {
        self.value(&format!("holdout/{rule}"), metric)
    }

    /// Whether all outputs are those of a rule.
    pub(super) fn agrees(self, rule: &str) -> Option<bool> {
        // Written as 0 or 1 of a single run, and compared without relying on exact equality.
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
