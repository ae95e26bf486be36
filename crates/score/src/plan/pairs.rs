//! Plans of minimal pairs.

use serde::{Deserialize, Serialize};
use wug_dataset::pairs::PairSizes;
use wug_parameter::Span;

use super::PlanKind;

/// Train on strings, then prefer the grammatical one of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairs;

impl PlanKind for Pairs {
    const PROTOCOL: &'static str = "pairs";
    type Data = PairStrings;
    type Measure = PairMeasure;
}

/// How many strings and pairs, and how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairStrings {
    pub training: usize,
    pub validation: usize,
    /// Pairs at the lengths of training.
    pub test: usize,
    /// Pairs at greater lengths.
    pub out_of_distribution: usize,
    /// The lengths of training.
    pub lengths: Span,
    pub greater_lengths: Span,
    /// Whether no string is drawn twice.
    pub distinct: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairMeasure {
    /// How often to validate in an epoch.
    pub validations: usize,
}

impl PairStrings {
    /// The same as the generator takes it.
    pub fn sizes(&self) -> PairSizes {
        PairSizes {
            training: self.training,
            validation: self.validation,
            test: self.test,
            out_of_distribution: self.out_of_distribution,
            lengths: self.lengths.range(),
            greater_lengths: self.greater_lengths.range(),
            distinct: self.distinct,
        }
    }
}
