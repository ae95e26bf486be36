//! Plans of the generalisation index.

use serde::{Deserialize, Serialize};
use wug_dataset::corpus::Slice;
use wug_parameter::choices;

use super::PlanKind;
use crate::StepRule;

/// Train on 10ᴺ/b strings, predict every step of the next 10ᴺ·b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generalization;

impl PlanKind for Generalization {
    const PROTOCOL: &'static str = "generalization";
    type Data = GeneralizationData;
    type Measure = StepMeasure;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneralizationData {
    /// N: sizes are multiples and fractions of 10ᴺ.
    pub order: u32,
    /// b: train on 10ᴺ/b strings, test on 10ᴺ·b.
    pub factor: usize,
    /// Strings to train on.
    pub training: usize,
    /// The prior probability in the language's distribution.
    pub prior: f64,
    pub test: TestPlan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestPlan {
    pub from: TestStart,
    /// Which strings come right after the longest training string.
    pub after: TestSlice,
    pub strings: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepMeasure {
    /// What a correct step is.
    pub criterion: Criterion,
    /// The values of ε, each evaluated apart.
    pub margins: Vec<f64>,
}

choices! {
    /// Where test strings begin.
    pub enum TestStart {
        /// After the longest training string.
        Longest = "longest",
        /// With the first string of the language.
        First = "first",
    }
}

choices! {
    /// How "right after the longest training string" is read.
    pub enum TestSlice {
        /// All strings that are longer.
        Longer = "longer",
        /// Released strings that come after the last training string in the released order.
        AfterLast = "after-last",
        /// For the language with two counts a square of pairs, which fits the paper's own figures; for others, as `longer`.
        Square = "square",
    }
}

choices! {
    /// What a correct step is.
    pub enum Criterion {
        /// Where only one symbol can follow, it has the highest probability.
        Deterministic = "deterministic",
        /// Exactly the symbols that can follow have a probability above the margin.
        Categorical = "categorical",
    }
}

impl TestSlice {
    /// The slice of a released test set.
    pub fn slice(self) -> Slice {
        match self {
            Self::Longer => Slice::Longer,
            Self::AfterLast => Slice::AfterLast,
            Self::Square => Slice::Square,
        }
    }
}

impl Criterion {
    /// The rule at a margin.
    pub fn rule(self, margin: f64) -> StepRule {
        match self {
            Self::Deterministic => StepRule::Deterministic { margin },
            Self::Categorical => StepRule::Categorical { margin },
        }
    }
}
