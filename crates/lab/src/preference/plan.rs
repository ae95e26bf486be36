//! One run with nothing left open.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;
use wug_language::Reading;
use wug_learner::registry::Settings;
use wug_score::Coordinates;

use super::cost;
use super::data::Data;
use super::run::execute;
use crate::LabError;
use crate::context::RunContext;
use crate::names::{Precision, named};
use crate::protocol::{self, Outcome, Planned};
use crate::spec::sizes;

/// All that determines a run's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The task, in its canonical spelling.
    pub task: String,
    /// Where it is from.
    pub source: Source,
    /// As published, or corrected.
    pub reading: Reading,
    /// The seed of tasks that are drawn.
    pub data_seed: u64,
    pub measures: Vec<Measure>,
    /// Examples per block of the description length.
    pub block_size: usize,
    /// The state of the optimiser when the learner is trained anew.
    pub optimizer_state: OptimizerState,
    /// The least and the most symbols of an output.
    pub output: [usize; 2],
    pub learner: String,
    /// Its settings, including those of training.
    pub settings: Settings,
    /// The number of parameters that was asked for, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// The number of parameters that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<usize>,
    /// The seed of this run: every stream of randomness derives from it.
    pub seed: u64,
    pub precision: Precision,
    /// What training costs, for estimates; follows from the task.
    pub work: Work,
}

/// Where a task is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// One with a name.
    Named,
    File {
        path: PathBuf,
        /// The hash of the task in it.
        hash: String,
    },
}

/// How much there is to train on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    pub pairs: usize,
    pub holdout: usize,
    pub rules: usize,
    /// Symbols of a training pair, with its ends, on the average.
    pub symbols: f64,
    /// Symbols of a hold-out pair, with its ends, on the average over rules.
    pub holdout_symbols: f64,
    /// Trainings of the description length, those that rules share counted once; without sharing, and with the last one.
    pub trainings: [usize; 2],
}

named! {
    Measure {
        /// Whether outputs agree with the rules.
        Agreement = "agreement",
        /// How many nats the rules' outputs take to send.
        DescriptionLength = "description-length",
    }
}

named! {
    /// The state of the optimiser when the learner is trained anew on one more block.
    OptimizerState {
        /// As after no step.
        Reset = "reset",
        /// As after the training before it, as in the released code.
        Carried = "carried",
    }
}

impl OptimizerState {
    /// That of a reading unless another is given.
    pub(super) fn usual(reading: Reading) -> Self {
        match reading {
            Reading::Published => Self::Carried,
            Reading::Corrected => Self::Reset,
        }
    }
}

impl Plan {
    /// The root of the streams of randomness of this run: the same for every block, so that each training starts from the same
    /// parameters.
    pub fn root(&self) -> Seed {
        let what = [self.task.as_str(), &self.learner];
        Seed::new(self.seed).derive("preference").derive(&what.join("/"))
    }

    /// Whether something is measured.
    pub fn has(&self, measure: Measure) -> bool {
        self.measures.contains(&measure)
    }
}

impl Planned for Plan {
    fn label(&self) -> String {
        let label = format!("{} {}", self.task, self.learner);
        let Some(parameters) = self.parameters else { return format!("{label} seed {}", self.seed) };
        format!("{label} {} seed {}", sizes::count(self.size, parameters), self.seed)
    }

    fn cost(&self) -> f64 {
        1e6 * cost::seconds(self)
    }

    fn seconds(&self) -> Option<f64> {
        Some(cost::seconds(self))
    }

    fn memory(&self) -> f64 {
        cost::memory(self)
    }

    fn coordinates(&self) -> Coordinates {
        Coordinates::default()
            .with("task", self.task.as_str())
            .with("learner", self.learner.as_str())
            .with_some("size", self.size)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn reading(&self) -> Reading {
        self.reading
    }

    fn data_key(&self) -> String {
        format!("{} {:?} {} {}", self.task, self.source, self.reading, self.data_seed)
    }
}

impl protocol::Plan for Plan {
    type Data = Data;

    /// A task that is read is identified by its content, not by its path.
    fn identity(&self) -> Self {
        let mut plan = self.clone();
        if let Source::File { path, .. } = &mut plan.source {
            path.clear();
        }
        plan
    }

    fn data(&self) -> Result<Data, LabError> {
        Data::of(self)
    }

    fn execute(&self, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
        execute(self, data, context)
    }
}
