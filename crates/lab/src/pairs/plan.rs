//! One run with nothing left open.

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;
use wug_dataset::pairs::PairSizes as Sizes;
use wug_language::{LengthRange, Reading};
use wug_learner::registry::{Learner, Role, Settings, find, keys};
use wug_score::Coordinates;

use super::data::Data;
use super::fit::fit;
use super::memory::memory;
use crate::LabError;
use crate::context::RunContext;
use crate::names::Precision;
use crate::protocol::{self, Outcome, Planned};
use crate::spec::sizes;

/// All that determines a run's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The language, in its canonical spelling.
    pub language: String,
    /// As published, or corrected.
    pub reading: Reading,
    /// The strings and pairs.
    pub data: DataPlan,
    /// How often to validate in an epoch.
    pub validations: usize,
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

/// How many strings and pairs, and how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataPlan {
    /// The seed of all strings and pairs.
    pub seed: u64,
    pub training: usize,
    pub validation: usize,
    /// Pairs at the lengths of training.
    pub test: usize,
    /// Pairs at greater lengths.
    pub out_of_distribution: usize,
    /// The least and the greatest length of training.
    pub lengths: [usize; 2],
    /// The least and the greatest of the greater lengths.
    pub greater_lengths: [usize; 2],
    /// Whether no string is drawn twice.
    pub distinct: bool,
}

impl DataPlan {
    /// The same as the generator takes it.
    pub(super) fn sizes(&self) -> Sizes {
        let range = |[least, greatest]: [usize; 2]| -> LengthRange { least..=greatest };
        Sizes {
            training: self.training,
            validation: self.validation,
            test: self.test,
            out_of_distribution: self.out_of_distribution,
            lengths: range(self.lengths),
            greater_lengths: range(self.greater_lengths),
            distinct: self.distinct,
        }
    }
}

impl Plan {
    /// The seed of everything but the strings.
    pub(super) fn root(&self) -> Seed {
        Seed::new(self.seed).derive("pairs").derive(&[self.language.as_str(), &self.learner].join("/"))
    }
}

impl Planned for Plan {
    fn label(&self) -> String {
        let label = format!("{} {}", self.language, self.learner);
        // Baselines have neither parameters nor seeds; what a search will find is not known.
        let Some(parameters) = self.parameters else {
            let deterministic = find(&self.learner, Role::NextSymbol).is_ok_and(Learner::is_deterministic);
            return if deterministic { label } else { format!("{label} seed {}", self.seed) };
        };
        format!("{label} {} seed {}", sizes::count(self.size, parameters), self.seed)
    }

    /// About microseconds, from runs on an ordinary machine.
    fn cost(&self) -> f64 {
        let DataPlan { training, test, out_of_distribution, lengths, greater_lengths, .. } = &self.data;
        let symbols = |[least, greatest]: [usize; 2]| f64::midpoint(least as f64, greatest as f64);
        let evaluated = 2.0
            * (*test as f64 * symbols(*lengths) + *out_of_distribution as f64 * symbols(*greater_lengths));
        let Some(parameters) = self.parameters else { return evaluated };
        let epochs = self.settings.get(&keys::EPOCHS) as f64;
        let trained = 3.0 * epochs * *training as f64 * symbols(*lengths);
        (trained + evaluated) * (1.0 + parameters as f64 / 20_000.0)
    }

    fn memory(&self) -> f64 {
        memory(self)
    }

    /// Whether the output layer is trained decides what is learned: a run in which that is not as its reading has it is another one.
    fn coordinates(&self) -> Coordinates {
        let trained = self.settings.find(&keys::TRAIN_OUTPUT);
        let usual = self.reading == Reading::Corrected;
        Coordinates::default()
            .with("language", self.language.as_str())
            .with("learner", self.learner.as_str())
            .with_some("size", self.size)
            .with_some(keys::TRAIN_OUTPUT.name(), trained.filter(|trained| *trained != usual))
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn reading(&self) -> Reading {
        self.reading
    }

    fn data_key(&self) -> String {
        format!("{} {} {:?}", self.language, self.reading, self.data)
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
