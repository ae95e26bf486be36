//! One run with nothing left open.

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;
use wug_dataset::corpus::Slice;
use wug_language::Reading;
use wug_language::registry::{self, BuildError, Named};
use wug_learner::registry::{Learner, NextSymbolLoss, NextSymbolRole, Role, Settings, find, keys};
use wug_score::{Coordinates, StepRule};

use super::data::Data;
use super::fit::fit;
use super::memory::memory;
use crate::LabError;
use crate::context::RunContext;
use crate::names::{Precision, named};
use crate::protocol::{self, Outcome, Planned};
use crate::spec::sizes;

/// All that determines a run's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The language, in its canonical spelling, without its prior.
    pub language: String,
    /// As published, or corrected.
    pub reading: Reading,
    /// N: sizes are multiples and fractions of 10ᴺ.
    pub order: u32,
    /// b: train on 10ᴺ/b strings, test on 10ᴺ·b.
    pub factor: usize,
    /// Strings to train on.
    pub training: usize,
    /// The prior probability in the language's distribution.
    pub prior: f64,
    /// The seed of the training strings.
    pub data_seed: u64,
    pub test: TestPlan,
    /// What a correct step is.
    pub measure: Measure,
    /// The values of ε, each evaluated by itself.
    pub margins: Vec<f64>,
    /// The seed of this run: every stream of randomness but the strings derives from it.
    pub seed: u64,
    pub precision: Precision,
    pub learner: String,
    /// Its settings, including those of training.
    pub settings: Settings,
    /// The number of parameters that was asked for, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// The number of parameters that it has; none for baselines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestPlan {
    pub from: TestStart,
    /// Which strings come right after the longest training string.
    pub after: TestSlice,
    pub strings: usize,
}

named! {
    /// Where test strings begin.
    TestStart {
        /// After the longest training string.
        Longest = "longest",
        /// With the first string of the language.
        First = "first",
    }
}

named! {
    /// How "right after the longest training string" is read.
    TestSlice {
        /// All strings that are longer.
        Longer = "longer",
        /// Released strings that come after the last training string in the released order.
        AfterLast = "after-last",
        /// For the language with two counts a square of pairs, which fits the paper's own figures; for others, as `longer`.
        Square = "square",
    }
}

named! {
    /// What a correct step is.
    Measure {
        /// Where only one symbol can follow, it has the highest probability.
        Deterministic = "deterministic",
        /// Exactly the symbols that can follow have a probability above the margin.
        Categorical = "categorical",
    }
}

impl TestSlice {
    /// The slice of a released test set.
    pub(crate) fn slice(self) -> Slice {
        match self {
            Self::Longer => Slice::Longer,
            Self::AfterLast => Slice::AfterLast,
            Self::Square => Slice::Square,
        }
    }
}

impl Measure {
    /// The rule at a margin.
    pub(crate) fn rule(self, margin: f64) -> StepRule {
        match self {
            Self::Deterministic => StepRule::Deterministic { margin },
            Self::Categorical => StepRule::Categorical { margin },
        }
    }
}

impl Plan {
    /// The language with its prior.
    pub(super) fn named(&self) -> Result<Named, BuildError> {
        registry::find(&with_prior(&self.language, self.prior))
    }

    /// The seed of everything but the strings. Runs that differ in regularization alone start from the same weights. The
    /// names of streams are part of every result: they stay as they are.
    pub(super) fn root(&self) -> Seed {
        let what = [self.language.as_str(), &self.learner, &self.training.to_string()];
        Seed::new(self.seed).derive("index").derive(&what.join("/"))
    }
}

impl Planned for Plan {
    fn label(&self) -> String {
        let label = format!("{} b={} {}", self.language, self.factor, self.learner);
        // Baselines have neither parameters nor seeds; what a search will find is not known.
        let Some(parameters) = self.parameters else {
            let deterministic = find(&self.learner, Role::NextSymbol).is_ok_and(Learner::is_deterministic);
            return if deterministic { label } else { format!("{label} seed {}", self.seed) };
        };
        format!("{label} {} seed {}", sizes::count(self.size, parameters), self.seed)
    }

    /// About microseconds, from runs on an ordinary machine.
    fn cost(&self) -> f64 {
        let evaluated = self.test.strings as f64 * self.test.strings.min(2000) as f64;
        let role =
            find(&self.learner, Role::NextSymbol).ok().and_then(|learner| learner.next_symbol.as_ref());
        if let Some(NextSymbolRole::Search(search)) = role {
            return 4.0 * (search.evaluations)(&self.settings) + 0.05 * evaluated;
        }
        let count = |name: &str| self.settings.count(name);
        let Some(epochs) = count("epochs") else { return 0.05 * evaluated };
        let [layers, hidden] = ["layers", "hidden"].map(|name| count(name).unwrap_or(1) as f64);
        let unit = 1.0 + layers * hidden * hidden / 1000.0;
        // One batch of all strings has few distinct ones; in smaller batches every string costs time.
        let trained = match count("batch") {
            None => 600.0 * unit,
            Some(_) => self.training as f64 * 100.0 * unit,
        };
        // Networks with a memory are evaluated string by string.
        let per_step = if count("memory").is_some() { 3.0 } else { 0.3 } * unit;
        epochs as f64 * trained + per_step * evaluated
    }

    fn memory(&self) -> f64 {
        memory(self)
    }

    fn coordinates(&self) -> Coordinates {
        Coordinates::default()
            .with("language", self.language.as_str())
            .with("learner", self.learner.as_str())
            .with_some("size", self.size)
            .with("factor", self.factor)
            .with_some("loss", self.settings.find(&keys::LOSS).map(NextSymbolLoss::name))
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn reading(&self) -> Reading {
        self.reading
    }

    /// The same for runs with the same training and test strings, measure and margins.
    fn data_key(&self) -> String {
        let strings = (&self.language, self.reading.name(), self.prior, self.data_seed, self.training);
        format!("{strings:?} {:?} {:?} {:?}", self.test, self.measure, self.margins)
    }
}

impl protocol::Plan for Plan {
    type Data = Data;

    fn data(&self) -> Result<Data, LabError> {
        Data::of(self)
    }

    fn execute(&self, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
        fit(self, data, context)
    }
}

/// A language's name with its prior, as the registry reads it.
pub(super) fn with_prior(language: &str, prior: f64) -> String {
    let sign = if language.contains(':') { ',' } else { ':' };
    format!("{language}{sign}prior={prior}")
}
