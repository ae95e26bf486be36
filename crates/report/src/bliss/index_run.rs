//! One run of the index: a learner trained on 10ᴺ/b strings and evaluated, step by step, on others.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde_json::Value;
use wug_score::metric::{
    CATEGORICAL_ACCEPTANCE, CATEGORICAL_ACCURACY, DETERMINISTIC_ACCEPTANCE, DETERMINISTIC_ACCURACY,
    SOLVED_LENGTH,
};
use wug_score::plan::{Generalization, Plan, TestStart};
use wug_score::strata::Margin;
use wug_score::{Acceptance, Measurement, Metric, RunResult, StepRule, Stratum, StringSteps, index_sizes};

use crate::measured::TEST;
use crate::run::{AnyRun, Run};

/// A run of the index.
#[derive(Clone, Copy)]
pub(super) struct IndexRun<'a> {
    pub(super) run: Run<'a, Generalization>,
    pub(super) result: &'a RunResult,
    /// b: how many times fewer strings it was trained on, and more it was tested on.
    pub(super) factor: usize,
}

/// How a learner was set up, in the order in which the paper lists its grids: ties go to the first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Configuration {
    hidden: Option<usize>,
    regularization: usize,
    /// The bits of the constant, which are in the order of such numbers; the largest comes first.
    constant: Reverse<u64>,
    memory: Option<usize>,
    epochs: Option<usize>,
    /// All settings: what distinguishes configurations that are equal so far.
    text: String,
}

const REGULARIZATIONS: [&str; 2] = ["l1", "l2"];

impl<'a> IndexRun<'a> {
    /// The run as one of the index; `None` if it is of another protocol.
    pub(super) fn of(run: AnyRun<'a>) -> Option<Self> {
        let run = run.of::<Generalization>()?;
        Some(Self { run, result: run.result(), factor: run.plan.data.factor })
    }

    pub(super) fn plan(self) -> &'a Plan<Generalization> {
        self.run.plan
    }

    pub(super) fn language(self) -> &'a str {
        self.run.subject()
    }

    pub(super) fn learner(self) -> &'a str {
        self.run.learner()
    }

    /// Whether the test begins with the shortest string, and not after the longest training string.
    pub(super) fn is_from_first(self) -> bool {
        self.plan().data.test.from == TestStart::First
    }

    /// How many strings it was trained on.
    pub(super) fn training(self) -> usize {
        self.plan().data.training
    }

    /// The sizes of the training and test sets that the index has for a factor; `None` if its order has no such factor.
    pub(super) fn sizes(self, factor: usize) -> Option<(usize, usize)> {
        index_sizes(self.plan().data.order, factor)
    }

    /// Whether its sets have the sizes of the index.
    pub(super) fn has_sizes_of_index(self) -> bool {
        let data = &self.plan().data;
        let strings = whole(&self.result.data, "/evaluated/of").unwrap_or(data.test.strings);
        // Sets of other sizes test another claim than 10ᴺ/b and 10ᴺ·b, so they are in no index.
        self.sizes(self.factor) == Some((data.training, strings))
    }

    /// Whether it counts towards an index: tested on the strings after the longest, with sets of the sizes of the index.
    pub(super) fn has_index(self) -> bool {
        !self.is_from_first() && self.has_sizes_of_index()
    }

    /// Whether its learner has settings, which baselines have not.
    pub(super) fn is_trained(self) -> bool {
        !self.plan().learner.settings.is_empty()
    }

    /// Whether it was evaluated, if only until nothing could be solved any more.
    pub(super) fn is_evaluated(self) -> bool {
        self.stopped().is_some() || !self.margins().is_empty()
    }

    /// The length of the longest training string.
    pub(super) fn longest_trained(self) -> Option<usize> {
        whole(&self.result.data, "/longest")
    }

    /// The margins at which it was evaluated.
    pub(super) fn margins(self) -> BTreeSet<Margin> {
        let margin = |m: &Measurement| match m.stratum {
            Stratum::Margin(margin) if m.split == TEST => Some(margin),
            _ => None,
        };
        self.result.scores.iter().filter_map(margin).collect()
    }

    fn at(self, margin: Margin, metric: &Metric) -> Option<&'a Measurement> {
        let stratum = Stratum::Margin(margin);
        let is = |m: &&Measurement| m.split == TEST && m.metric == metric.name && m.stratum == stratum;
        self.result.scores.iter().find(is)
    }

    /// When a step is correct, the correct steps, and the accepted strings.
    fn scores(self, margin: Margin) -> Option<(StepRule, &'a Measurement, Option<&'a Measurement>)> {
        let value = margin.value();
        let scores = |rule, accuracy, acceptance| {
            Some((rule, self.at(margin, accuracy)?, self.at(margin, acceptance)))
        };
        let deterministic = StepRule::Deterministic { margin: value };
        // A language is scored by one rule. The deterministic one, M_det of the paper, covers all but Dyck.
        scores(deterministic, &DETERMINISTIC_ACCURACY, &DETERMINISTIC_ACCEPTANCE).or_else(|| {
            let categorical = StepRule::Categorical { margin: value };
            scores(categorical, &CATEGORICAL_ACCURACY, &CATEGORICAL_ACCEPTANCE)
        })
    }

    /// Whether only steps with a single possible symbol are scored, so that accuracy is the same at every margin.
    pub(super) fn is_deterministic(self) -> bool {
        self.result.scores.iter().any(|m| m.metric == DETERMINISTIC_ACCURACY.name)
    }

    /// The steps of all evaluated strings; `None` if no step was scored, or if a result says that more were correct.
    pub(super) fn steps(self, margin: Margin) -> Option<StringSteps> {
        let (_, accuracy, _) = self.scores(margin)?;
        let (correct, scored) = (accuracy.numerator?, accuracy.denominator?);
        // Results come from files: a damaged one must not underflow the count of errors.
        let counted = scored > 0.0 && correct <= scored;
        counted.then_some(StringSteps { scored: scored as usize, correct: correct as usize })
    }

    /// The share of correct steps.
    pub(super) fn accuracy(self, margin: Margin) -> Option<f64> {
        self.scores(margin)?.1.value
    }

    /// The chance level of that share, on the same strings.
    pub(super) fn chance(self, margin: Margin) -> Option<f64> {
        self.scores(margin)?.1.chance
    }

    /// The share of accepted strings.
    pub(super) fn accepted(self, margin: Margin) -> Option<f64> {
        self.scores(margin)?.2?.value
    }

    /// How far strings are accepted without exception: how many of them in tests from the first on, else up to which length.
    /// It is also known where evaluation was stopped: that is later than the first rejection.
    pub(super) fn solved_length(self, margin: Margin) -> Option<f64> {
        self.at(margin, &SOLVED_LENGTH)?.value
    }

    /// How many strings were evaluated, and of how many, if evaluation was stopped before the last.
    pub(super) fn stopped(self) -> Option<(usize, usize)> {
        let evaluated = self.result.data.get("evaluated")?;
        let stopped = evaluated.get("stopped").and_then(Value::as_bool) == Some(true);
        stopped.then(|| (whole(evaluated, "/strings").unwrap_or(0), whole(evaluated, "/of").unwrap_or(0)))
    }

    /// Whether it solved its test; `None` if it was not evaluated. Evaluation only stops where nothing can be solved any more.
    pub(super) fn solved(self, margin: Margin, acceptance: Acceptance) -> Option<bool> {
        if self.stopped().is_some() {
            return Some(false);
        }
        let (rule, _, accepted) = self.scores(margin)?;
        match acceptance {
            // Only this criterion, over all steps, fits Table 2: one wrong step at n = 21 is almost 5 % of its
            // string.
            Acceptance::AllSteps => Some(self.steps(margin)?.accepted(rule.forgiven())),
            Acceptance::EveryString => {
                let accepted = accepted?;
                // A test without scored steps is no success, though all of its strings are accepted.
                self.steps(margin)?;
                Some(accepted.numerator? >= accepted.denominator?)
            }
        }
    }

    pub(super) fn configuration(self) -> Configuration {
        let settings = &self.plan().learner.settings;
        let regularization = settings.text("regularization").unwrap_or_default();
        let constant =
            settings.get_value("lambda").and_then(wug_parameter::SettingValue::real).unwrap_or(0.0);
        let rank = REGULARIZATIONS.iter().position(|name| *name == regularization);
        let all = settings.iter().map(|(name, value)| format!("{name}={value}"));
        Configuration {
            hidden: settings.count("hidden"),
            regularization: rank.unwrap_or(REGULARIZATIONS.len()),
            // Bits of numbers that are not negative are in their order, and unlike `f64` they implement `Ord`.
            constant: Reverse(constant.max(0.0).to_bits()),
            memory: settings.count("memory"),
            epochs: settings.count("epochs"),
            text: all.collect::<Vec<_>>().join(","),
        }
    }
}

impl Configuration {
    /// In a few words; empty for a learner without settings.
    pub(super) fn shown(&self) -> String {
        let regularized = REGULARIZATIONS.get(self.regularization);
        let parts = [
            self.hidden.map(|n| format!("{n} units")),
            regularized.map(|name| format!("{} {}", name.to_uppercase(), f64::from_bits(self.constant.0))),
            self.memory.map(|n| format!("memory {n}")),
            self.epochs.map(|n| format!("{n} epochs")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

fn whole(value: &Value, at: &str) -> Option<usize> {
    value.pointer(at)?.as_u64().and_then(|n| usize::try_from(n).ok())
}
