//! The training loop: batches, gradients in parts, clipped steps, a checkpoint per epoch, early
//! stopping, the best parameters kept.
//!
//! A [`Trainer`] moves one epoch at a time and between epochs is a value that can be saved as bytes and taken up again,
//! with the same bytes as result as if nothing had happened: every random choice is drawn from a stream named after the
//! epoch or step it is for. It knows no files and no clock.

mod batch;
mod checkpoint;
mod language_modeling;
mod next_sets;
mod recognition;
mod schedule;
mod transduction;

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;

pub(crate) use batch::judged_parts;
pub use batch::{BatchSize, batches};
pub(crate) use checkpoint::load_weights_as_they_are;
pub use checkpoint::{CheckpointError, Saved, load_weights, save_weights};
pub use language_modeling::{Average, Boundaries, LanguageModeling, Text, TextError, TextProblem};
pub use next_sets::{Followed, NextSets};
pub use recognition::Recognition;
pub use schedule::{Rate, Schedule};
pub(crate) use transduction::symbols as pair_symbols;
pub use transduction::{PairError, PairProblem, Transduction};

use crate::kernel::Real;
use crate::optim::{Optimizer, OptimizerSpec};
use crate::params::Layout;
use crate::tape::{Mode, Recording, Tape};

/// What is learned from what: examples, their loss, and a validation loss to stop by.
pub trait Objective<R: Real> {
    /// The model's parameters.
    fn layout(&self) -> &Layout;

    /// The length of every training example; their number is that of the examples.
    fn lengths(&self) -> &[usize];

    /// How many examples up to this length to record at once.
    fn max_batch(&self, longest: usize) -> usize;

    /// What the loss of a batch is an average over: its examples, or its symbols.
    fn size(&self, batch: &[usize]) -> f64;

    /// Records the share of some examples in the loss of a batch of this size.
    fn loss(&self, record: &mut Recording<'_, R>, examples: &[usize], size: f64);

    /// How many validation examples there are.
    fn validated(&self) -> usize;

    /// Sets parameters that change by the number of examples learned from, not by gradients.
    fn anneal(&self, _params: &mut [R], _examples: u64) {}

    /// The loss by which checkpoints are compared.
    fn validate(&self, tape: &mut Tape<R>, params: &[R]) -> f64;
}

/// How to train, as written in a config.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSpec {
    /// What to do with gradients.
    pub optimizer: OptimizerSpec,
    /// Learning rates.
    pub schedule: Schedule,
    /// How many examples share a step.
    pub batch: BatchSize,
    /// Epochs at most.
    pub max_epochs: usize,
    /// Stop after so many checkpoints in a row without a strictly smaller validation loss. Without validation examples
    /// nothing can stop a run: then it must be the largest number there is, and the training loss stands in.
    pub patience: usize,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Outcome {
    /// All epochs were run.
    Finished,
    /// The validation loss no longer fell.
    Stopped,
    /// A loss or gradient was not finite at this step. The best parameters so far are still there.
    Diverged {
        /// Steps done before.
        step: u64,
    },
}

/// What happened in one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Epochs done, this one included.
    pub epoch: usize,
    /// Steps done.
    pub steps: u64,
    /// The mean training loss, over what the objective averages over.
    pub training: f64,
    /// The validation loss.
    pub validation: f64,
    /// Whether it is the smallest so far.
    pub best: bool,
    /// Set if the run is over.
    pub outcome: Option<Outcome>,
}

/// A run that cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    /// There is nothing to learn from.
    #[error("there are no training examples; at least one is needed")]
    NoTraining,
    /// There is nothing to stop by.
    #[error("there are no validation examples; at least one is needed to stop by")]
    NoValidation,
    /// There is nothing in a batch.
    #[error("batches of 0 are asked for; at least 1 is needed")]
    NoBatch,
}

/// Where a run stands, apart from its tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrainerState {
    seed: u64,
    epoch: usize,
    rate: Rate,
    best: Option<f64>,
    best_epoch: usize,
    bad: usize,
    optimizer_steps: u64,
    outcome: Option<Outcome>,
}

/// A run in progress.
#[derive(Debug)]
pub struct Trainer<'a, R, O> {
    objective: &'a O,
    spec: TrainSpec,
    standing: TrainerState,
    params: Vec<R>,
    best_params: Vec<R>,
    optimizer: Optimizer<R>,
    gradients: Vec<R>,
    tape: Tape<R>,
}

impl<'a, R: Real, O: Objective<R>> Trainer<'a, R, O> {
    /// A run that has not begun: parameters are drawn from the seed.
    pub fn new(objective: &'a O, spec: TrainSpec, seed: Seed) -> Result<Self, TrainError> {
        if objective.lengths().is_empty() {
            return Err(TrainError::NoTraining);
        }
        if objective.validated() == 0 && spec.patience < usize::MAX {
            return Err(TrainError::NoValidation);
        }
        if spec.batch.is_empty() {
            return Err(TrainError::NoBatch);
        }
        let params: Vec<R> = objective.layout().initialise(seed.derive("init"));
        let standing = TrainerState {
            seed: seed.value(),
            epoch: 0,
            rate: Rate::new(spec.schedule),
            best: None,
            best_epoch: 0,
            bad: 0,
            optimizer_steps: 0,
            outcome: None,
        };
        Ok(Self {
            objective,
            spec,
            standing,
            best_params: params.clone(),
            optimizer: Optimizer::new(spec.optimizer, params.len()),
            gradients: vec![R::ZERO; params.len()],
            tape: Tape::default(),
            params,
        })
    }

    /// The parameters of the best checkpoint so far (at first, those drawn).
    pub fn best(&self) -> &[R] {
        &self.best_params
    }

    /// The parameters of this moment.
    pub fn params(&self) -> &[R] {
        &self.params
    }

    /// How the run ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        self.standing.outcome
    }

    /// Runs to the end, telling an observer of every epoch.
    pub fn run(&mut self, mut observe: impl FnMut(&Progress)) -> Outcome {
        loop {
            if let Some(outcome) = self.standing.outcome {
                return outcome;
            }
            observe(&self.epoch());
        }
    }

    /// One epoch and its checkpoint.
    pub fn epoch(&mut self) -> Progress {
        let seed = Seed::new(self.standing.seed);
        let order = seed.derive("train/shuffle").nth(self.standing.epoch);
        let lengths = self.objective.lengths();
        let batches = self.spec.batch.epoch(lengths, order);
        let (mut total, mut sizes) = (0.0, 0.0);
        let mut examples = self.standing.epoch * lengths.len();
        for batch in &batches {
            let size = self.objective.size(batch);
            match self.step(batch, size) {
                Some(loss) => total += loss * size,
                None => return self.diverged(),
            }
            sizes += size;
            examples += batch.len();
            self.objective.anneal(&mut self.params, examples as u64);
        }
        let training = total / sizes;
        let validation = match self.objective.validated() {
            0 => training,
            _ => self.objective.validate(&mut self.tape, &self.params),
        };
        if !validation.is_finite() {
            return self.diverged();
        }
        self.checkpoint(training, validation)
    }

    /// One update. None if it would have been nonsense.
    fn step(&mut self, batch: &[usize], size: f64) -> Option<f64> {
        let done = self.optimizer.steps();
        let dropout = Seed::new(self.standing.seed).derive("train/dropout").nth(done as usize);
        let longest = batch.iter().map(|&i| self.objective.lengths()[i]).max().unwrap_or(0);
        let mut loss = 0.0;
        for (p, part) in batch.chunks(self.objective.max_batch(longest)).enumerate() {
            let mode = Mode::Train { seed: dropout.nth(p).value() };
            let mut record = self.tape.record(&self.params, mode);
            self.objective.loss(&mut record, part, size);
            loss += record.loss();
            if p == 0 {
                record.backward_fresh(&mut self.gradients);
            } else {
                record.backward(&mut self.gradients);
            }
        }
        if !loss.is_finite() {
            return None;
        }
        let rate = self.standing.rate.at(done);
        self.optimizer.step(&mut self.params, &self.gradients, rate, 1.0).ok()?;
        Some(loss)
    }

    fn checkpoint(&mut self, training: f64, validation: f64) -> Progress {
        let standing = &mut self.standing;
        standing.epoch += 1;
        standing.rate.checkpoint(validation);
        let best = standing.best.is_none_or(|best| validation < best);
        if best {
            standing.best = Some(validation);
            standing.best_epoch = standing.epoch;
            standing.bad = 0;
            self.best_params.copy_from_slice(&self.params);
        } else {
            standing.bad += 1;
        }
        standing.outcome = if standing.bad >= self.spec.patience {
            Some(Outcome::Stopped)
        } else {
            (standing.epoch >= self.spec.max_epochs).then_some(Outcome::Finished)
        };
        let (epoch, outcome) = (standing.epoch, standing.outcome);
        Progress { epoch, steps: self.optimizer.steps(), training, validation, best, outcome }
    }

    fn diverged(&mut self) -> Progress {
        let steps = self.optimizer.steps();
        self.standing.outcome = Some(Outcome::Diverged { step: steps });
        Progress {
            epoch: self.standing.epoch,
            steps,
            training: f64::NAN,
            validation: f64::NAN,
            best: false,
            outcome: self.standing.outcome,
        }
    }
}

#[cfg(test)]
mod tests;
