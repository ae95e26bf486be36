//! One run with nothing left open.

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;
use wug_dataset::corpus::Slice;
use wug_language::Reading;
use wug_language::registry::{self, BuildError, Named};
use wug_learner::train::BatchSize;
use wug_score::{StepRule, reading_name};

use super::learner::{Learner, Settings};
use crate::names::{Precision, named};

/// All that determines a run's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The language, in its canonical spelling, without its prior.
    pub language: String,
    /// As published, or corrected.
    #[serde(with = "reading_name")]
    pub reading: Reading,
    /// N: sizes are counted from 10ᴺ.
    pub order: u32,
    /// b: so many times fewer strings to train on, and more to test on.
    pub factor: usize,
    /// Strings to train on.
    pub training: usize,
    /// The prior probability in the language's distribution.
    pub prior: f64,
    /// The seed of the training strings.
    pub data_seed: u64,
    /// The test strings.
    pub test: TestPlan,
    /// What is right at a step.
    pub measure: Measure,
    /// ε, each by itself.
    pub margins: Vec<f64>,
    /// The seed of this run: every stream of randomness but the strings derives from it.
    pub seed: u64,
    /// Of the arithmetic.
    pub precision: Precision,
    /// What is put to the test.
    pub kind: Learner,
    /// How it is built and trained; nothing for a baseline.
    pub learner: Option<Settings>,
}

/// The test strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestPlan {
    /// Where they begin.
    pub from: TestStart,
    /// What comes after the longest training string.
    pub after: Place,
    /// How many there are to be.
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
    Place {
        /// All strings that are longer.
        Longer = "longer",
        /// Released strings that stand after the last training string in the released order.
        AfterLast = "after-last",
        /// Of the two-count language a square of pairs, which is what the paper's own figures fit; of others, `longer`.
        Square = "square",
    }
}

named! {
    /// What is right at a step.
    Measure {
        /// Where only one thing can come, it is the likeliest.
        Deterministic = "deterministic",
        /// Exactly what can come is above the margin.
        Categorical = "categorical",
    }
}

impl Place {
    /// The slice of a released test set.
    pub(super) fn slice(self) -> Slice {
        match self {
            Self::Longer => Slice::Longer,
            Self::AfterLast => Slice::AfterLast,
            Self::Square => Slice::Square,
        }
    }
}

impl Measure {
    /// The rule at a margin.
    pub(super) fn rule(self, margin: f64) -> StepRule {
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

    /// The seed of everything but the strings. Runs that differ in regularization alone begin alike, as in the paper.
    pub(super) fn root(&self) -> Seed {
        let what = [&self.language, self.kind.name(), &self.training.to_string()];
        Seed::new(self.seed).derive("index").derive(&what.join("/"))
    }

    /// Of runs with the same training and test strings, marked by the same rules.
    pub(crate) fn data_key(&self) -> String {
        let strings = (&self.language, self.reading.name(), self.prior, self.data_seed, self.training);
        format!("{strings:?} {:?} {:?} {:?}", self.test, self.measure, self.margins)
    }

    /// What somebody who watches is told that this run is.
    pub fn label(&self) -> String {
        let mut parts = vec![format!("{} b={} {}", self.language, self.factor, self.kind.name())];
        if let Some(settings) = &self.learner {
            parts.push(settings.hidden.to_string());
            if settings.lambda > 0.0 {
                parts.push(format!("{} {}", settings.regularization.name(), settings.lambda));
            }
            parts.extend(settings.memory.map(|rows| format!("memory {rows}")));
            parts.push(format!("epochs {}", settings.epochs));
            parts.push(format!("seed {}", self.seed));
        }
        parts.join(" ")
    }

    /// The plan as results keep it; there is nothing in it that JSON cannot write.
    pub(crate) fn value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// About how long this takes beside other runs.
    pub fn cost(&self) -> f64 {
        // About microseconds, from runs on an ordinary machine.
        let marked = (self.test.strings * self.test.strings.min(2000)) as f64;
        let Some(settings) = &self.learner else { return 0.05 * marked };
        let unit = 1.0 + (settings.layers * settings.hidden * settings.hidden) as f64 / 1000.0;
        // In one batch there are few different strings; alone, every one costs an update.
        let learned = match settings.batch {
            BatchSize::All => 600.0 * unit,
            _ => self.training as f64 * 100.0 * unit,
        };
        // Networks with a memory are asked one by one.
        let asked = if settings.memory.is_some() { 3.0 } else { 0.3 } * unit;
        settings.epochs as f64 * learned + asked * marked
    }
}

/// A language's name with its prior, as the registry reads it.
pub(super) fn with_prior(language: &str, prior: f64) -> String {
    let sign = if language.contains(':') { ',' } else { ':' };
    format!("{language}{sign}prior={prior}")
}
