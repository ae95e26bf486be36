//! One run with nothing left open.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;
use wug_dataset::recognition::{SplitSpec, default_splits};
use wug_language::Reading;
use wug_learner::model::{LossWeights, RecognizerModel, SpecError};
use wug_learner::registry::{
    self, Matching, RecognizerRole, RecognizerTask, Role, Settings, UnknownLearner, optimizer_spec,
};
use wug_learner::train::{BatchSize, Schedule, TrainSpec};
use wug_score::Coordinates;

use super::data::Data;
use super::fit::fit;
use super::memory::memory;
use crate::LabError;
use crate::context::RunContext;
use crate::names::{Precision, named};
use crate::plan::three_digits;
use crate::protocol::{self, Outcome, Planned};
use crate::spec::sizes;

/// The number of parameters if neither `sizes` nor `hidden` is given.
pub(super) const SIZE: usize = 64_000;

/// All that determines a run's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The language, in its canonical spelling.
    pub language: String,
    /// As published, or corrected.
    pub reading: Reading,
    /// Where the strings come from.
    pub data: DataPlan,
    pub learner: String,
    /// Its settings, with all dimensions.
    pub settings: Settings,
    /// The number of parameters that was asked for. Learners from elsewhere have none unless the section gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// How its dimensions were found from that number.
    pub matching: Matching,
    /// The number of parameters that it has. Plans of earlier versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<usize>,
    pub loss: Loss,
    pub validation: Validation,
    /// The seed of this run: every stream of randomness derives from it and from what the run is.
    pub seed: u64,
    /// The learning rate; which optimiser it is of is one of the settings.
    pub learning_rate: f64,
    /// Symbols in a batch.
    pub batch_symbols: usize,
    /// The weights of the auxiliary losses.
    pub weights: LossWeights,
    /// Gradients are clipped to this norm.
    pub clip: f64,
    /// The factor of the learning rate when the validation loss no longer falls.
    pub decay: f64,
    /// Bad checkpoints before that.
    pub decay_patience: usize,
    /// Bad checkpoints before the end.
    pub patience: usize,
    pub max_epochs: usize,
    pub precision: Precision,
}

/// Where the strings come from, and how many of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataPlan {
    pub source: Source,
    pub training: usize,
    pub validation: usize,
    /// Strings of the long test.
    pub test: usize,
    /// Strings of the short test, none of which is in the training set.
    pub held_out: usize,
    /// Negatives with their distance from the language.
    pub distances: usize,
    /// The longest training string.
    pub short: usize,
    /// The longest string of the long validation set.
    pub long: usize,
    /// The longest string of the long test.
    pub longest: usize,
}

/// Where strings come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Source {
    /// From the language's samplers.
    Drawn { seed: u64 },
    /// From a directory in the published layout.
    Directory {
        path: PathBuf,
        /// What was in it when the run was planned.
        hash: String,
    },
}

named! {
    /// The training loss of a recognizer.
    Loss {
        R = "R",
        /// Recognition, and language modelling on members.
        Lm = "R+LM",
        /// Recognition, and next-symbol sets of members.
        Ns = "R+NS",
        LmNs = "R+LM+NS",
    }
}

named! {
    /// Which set stops training and chooses the model.
    Validation {
        /// Strings as long as the training strings.
        Short = "short",
        /// Strings up to twice as long.
        Long = "long",
    }
}

impl Loss {
    /// Whether there is a language-modelling head, and whether there is a next-symbol head.
    pub fn heads(self) -> (bool, bool) {
        match self {
            Self::R => (false, false),
            Self::Lm => (true, false),
            Self::Ns => (false, true),
            Self::LmNs => (true, true),
        }
    }

    /// What a recognizer with this loss is built for.
    pub(super) fn task(self, alphabet: usize) -> RecognizerTask {
        let (language_modeling, next_symbols) = self.heads();
        RecognizerTask { alphabet, language_modeling, next_symbols }
    }
}

impl Validation {
    /// The name of the split.
    pub fn split(self) -> &'static str {
        match self {
            Self::Short => "validation-short",
            Self::Long => "validation-long",
        }
    }
}

impl DataPlan {
    /// The same, drawn with this seed; data that are read stay the same.
    pub(super) fn drawn_with(mut self, data_seed: u64) -> Self {
        if let Source::Drawn { seed } = &mut self.source {
            *seed = data_seed;
        }
        self
    }

    /// The splits to draw: the published ones, in their order, with these sizes and lengths.
    pub fn splits(&self) -> Vec<SplitSpec> {
        let ours = [
            (self.training, self.short),
            (self.validation, self.short),
            (self.validation, self.long),
            (self.test, self.longest),
            (self.held_out, self.short),
            (self.distances, self.longest),
        ];
        let with = |(split, (size, longest))| SplitSpec { size, lengths: 0..=longest, ..split };
        default_splits().into_iter().zip(ours).map(with).collect()
    }
}

/// Why a plan has no model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The learner is not known, or is no recognizer.
    #[error(transparent)]
    Unknown(#[from] UnknownLearner),
    /// The learner plays another role.
    #[error("the learner is no recognizer")]
    NoRole,
    /// The settings make no model.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl Plan {
    /// The seed of everything in this run. Runs that differ in language, learner, size, loss or validation share no randomness.
    pub fn root(&self) -> Seed {
        let size = self.size_or_usual().to_string();
        let what = [&self.language, &self.learner, &size, self.loss.name(), self.validation.name()];
        Seed::new(self.seed).derive(&what.join("/"))
    }

    /// The size, or the usual one for a run that has none: the names of streams are part of every result and stay as they are.
    pub(super) fn size_or_usual(&self) -> usize {
        self.size.unwrap_or(SIZE)
    }

    /// The model, for an alphabet of so many symbols.
    pub fn model(&self, alphabet: usize) -> Result<RecognizerModel, ModelError> {
        let spec = (self.role()?.build)(&self.settings, self.loss.task(alphabet));
        Ok(RecognizerModel::new(spec)?)
    }

    /// How the learner is built.
    pub(super) fn role(&self) -> Result<&'static RecognizerRole, ModelError> {
        let learner = registry::find(&self.learner, Role::Recognizer)?;
        learner.recognizer.as_ref().ok_or(ModelError::NoRole)
    }

    pub fn training(&self) -> TrainSpec {
        TrainSpec {
            optimizer: optimizer_spec(&self.settings).clipped(self.clip),
            schedule: Schedule::Plateau {
                rate: self.learning_rate,
                factor: self.decay,
                patience: self.decay_patience,
            },
            batch: BatchSize::Symbols(self.batch_symbols),
            max_epochs: self.max_epochs,
            patience: self.patience,
            validations: 1,
        }
    }
}

impl Planned for Plan {
    fn label(&self) -> String {
        let count = self.parameters.map_or_else(String::new, |n| format!(" {}", sizes::count(self.size, n)));
        let (learner, loss, validation) = (&self.learner, self.loss.name(), self.validation.name());
        let mut parts = vec![format!("{} {learner}{count} {loss}", self.language)];
        let weights = [self.weights.language_modeling, self.weights.next_symbols];
        let others =
            weights.into_iter().filter(|weight| *weight > 0.0 && (weight - 1.0).abs() > f64::EPSILON);
        parts.extend(others.map(|weight| format!("×{}", three_digits(weight))));
        parts.push(format!("{validation} seed {}", self.seed));
        if let Source::Drawn { seed } = self.data.source
            && seed != self.seed
        {
            parts.push(format!("data {seed}"));
        }
        parts.join(" ")
    }

    fn cost(&self) -> f64 {
        let learner = if self.learner == "transformer" { 3.0 } else { 1.0 };
        // Few runs take more epochs before early stopping.
        let epochs = self.max_epochs.clamp(1, 60) as f64;
        let DataPlan { training, short, test, longest, .. } = self.data;
        // Small batches have an overhead per step; evaluation is a forward pass, a third of a step.
        let training_cost =
            epochs * (training as f64 * short as f64) * (1.0 + 500.0 / self.batch_symbols.max(1) as f64);
        let evaluation_cost = test as f64 * longest as f64 / 3.0;
        learner * self.size_or_usual() as f64 * (training_cost + evaluation_cost)
    }

    fn memory(&self) -> f64 {
        memory(self)
    }

    fn coordinates(&self) -> Coordinates {
        Coordinates::default()
            .with("language", self.language.as_str())
            .with("learner", self.learner.as_str())
            .with_some("size", self.size)
            .with("loss", self.loss.name())
            .with("validation", self.validation.name())
    }

    /// The weight of the auxiliary losses, if there are any and all have the same.
    fn setting(&self, name: &str) -> Option<serde_json::Value> {
        let (lm, ns) = self.loss.heads();
        let LossWeights { language_modeling, next_symbols } = self.weights;
        let weight = if lm { language_modeling } else { next_symbols };
        let same = !(lm && ns) || language_modeling.to_bits() == next_symbols.to_bits();
        (name == "loss_weight" && (lm || ns) && same).then(|| weight.into())
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

    /// Data that are read are identified by their content, not by their path.
    fn identity(&self) -> Self {
        let mut plan = self.clone();
        if let Source::Directory { path, .. } = &mut plan.data.source {
            path.clear();
        }
        plan
    }

    fn data(&self) -> Result<Data, LabError> {
        Data::of(self)
    }

    fn execute(&self, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
        fit(self, data, context)
    }
}
