//! What a run is, with nothing left open: one shape for all protocols, in plans, in results and in what reports read.
//!
//! A [`Plan`] has the same head for every protocol; what is measured on which data is the protocol's own, and its types are in a
//! module each. Where the protocol is known only at run time, as in a file of results, a plan is [`Untyped`], and
//! [`Plan::of`] gives the typed one.

mod generalization;
mod learner;
mod pairs;
mod preference;
mod recipe;
mod recognition;
mod speed;

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wug_parameter::choices;

pub use generalization::{
    Criterion, Generalization, GeneralizationData, StepMeasure, TestPlan, TestSlice, TestStart,
};
pub use learner::{External, LearnerPlace, PlannedLearner};
pub use pairs::{PairMeasure, PairStrings, Pairs};
pub use preference::{
    OptimizerState, Preference, PreferenceData, PreferenceMeasure, RuleMeasure, RuleTaskSource,
};
pub use recipe::{Departure, Recipe, fields};
pub use recognition::{
    AuxiliaryWeights, Loss, Recognition, RecognitionData, RecognitionMeasure, StringSource, Validation,
};
pub use speed::{CorpusFile, Evaluations, Speed, SpeedData, SpeedMeasure, TrainingUnit};
pub use wug_language::Reading;

choices! {
    pub enum Precision {
        F32 = "f32",
        F64 = "f64",
    }
}

/// A protocol, as far as its plans go: what its data and its measure are described by.
pub trait PlanKind: Clone + Copy + Debug + PartialEq + Send + Sync + 'static {
    /// The name of the protocol in experiments and results.
    const PROTOCOL: &'static str;
    /// The coordinate that a run's subject is: a language, or a task.
    const SUBJECT: &'static str = "language";
    /// What is drawn or read.
    type Data: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;
    /// What is measured, and all that the protocol alone can set.
    type Measure: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;

    /// Forgets the paths of data that are read: their content identifies them.
    fn forget_paths(_data: &mut Self::Data) {}
}

/// All that determines the result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Plan<K: PlanKind> {
    /// The language or task, in its canonical spelling.
    pub subject: String,
    pub reading: Reading,
    pub learner: PlannedLearner,
    pub data: K::Data,
    /// The seed of data that are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_seed: Option<u64>,
    pub measure: K::Measure,
    /// The seed of everything else: every stream of randomness derives from it and from what the run is.
    pub seed: u64,
    pub precision: Precision,
}

/// A protocol that is known only by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untyped {}

impl PlanKind for Untyped {
    const PROTOCOL: &'static str = "";
    type Data = Value;
    type Measure = Value;
}

impl<K: PlanKind> Plan<K> {
    /// The bytes that a run is identified by.
    pub fn identity(&self) -> Vec<u8> {
        let mut plan = self.clone();
        K::forget_paths(&mut plan.data);
        // Fields are written in the order in which they are declared, and nothing in them is without a form in JSON.
        serde_json::to_vec(&plan).unwrap_or_default()
    }

    /// The same as results have it.
    pub fn untyped(&self) -> Plan<Untyped> {
        let Self { subject, reading, learner, data, data_seed, measure, seed, precision } = self.clone();
        let (data, measure) = (json(&data), json(&measure));
        Plan { subject, reading, learner, data, data_seed, measure, seed, precision }
    }
}

fn json(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

impl Plan<Untyped> {
    /// The plan of a protocol, if it is one.
    pub fn of<K: PlanKind>(&self) -> Result<Plan<K>, serde_json::Error> {
        let Self { subject, reading, learner, data, data_seed, measure, seed, precision } = self.clone();
        let (data, measure) = (serde_json::from_value(data)?, serde_json::from_value(measure)?);
        Ok(Plan { subject, reading, learner, data, data_seed, measure, seed, precision })
    }
}
