//! Plans of rule preference.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wug_parameter::choices;

use super::{PlanKind, Reading};

/// Train on ambiguous pairs, see which of the named rules is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preference;

impl PlanKind for Preference {
    const PROTOCOL: &'static str = "preference";
    const SUBJECT: &'static str = "task";
    type Data = PreferenceData;
    type Measure = PreferenceMeasure;

    fn forget_paths(data: &mut PreferenceData) {
        if let RuleTaskSource::File { path, .. } = &mut data.source {
            path.clear();
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreferenceData {
    /// Where the task is from.
    pub source: RuleTaskSource,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RuleTaskSource {
    /// One with a name.
    Named,
    File {
        path: PathBuf,
        /// The hash of the task in it.
        hash: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreferenceMeasure {
    pub measures: Vec<RuleMeasure>,
    /// Examples per block of the description length.
    pub block_size: usize,
    /// The state of the optimiser when the learner is trained anew.
    pub optimizer_state: OptimizerState,
    /// The least and the most symbols of an output.
    pub output: [usize; 2],
}

choices! {
    pub enum RuleMeasure {
        /// Whether outputs agree with the rules.
        Agreement = "agreement",
        /// How many nats the rules' outputs take to send.
        DescriptionLength = "description-length",
    }
}

choices! {
    /// The state of the optimiser when the learner is trained anew on one more block.
    pub enum OptimizerState {
        /// As after no step.
        Reset = "reset",
        /// As after the training before it, as in the released code.
        Carried = "carried",
    }
}

impl OptimizerState {
    /// That of a reading unless another is given.
    pub fn usual(reading: Reading) -> Self {
        match reading {
            Reading::Published => Self::Carried,
            Reading::Corrected => Self::Reset,
        }
    }
}

impl PreferenceMeasure {
    /// Whether something is measured.
    pub fn has(&self, measure: RuleMeasure) -> bool {
        self.measures.contains(&measure)
    }
}
