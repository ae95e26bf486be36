//! The training loop: batches, gradients, optimiser steps, validation after every epoch, early stopping.
//!
//! A [`Trainer`] takes one step at a time. Between steps it can be saved as bytes and resumed with bit-identical results:
//! every random choice is drawn from a stream named after the epoch or step it is for. It reads no files and no clock.

mod batch;
mod checkpoint;
mod incremental;
mod language_modeling;
mod next_sets;
mod recognition;
mod schedule;
mod transduction;

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;

pub(crate) use batch::eval_batches;
pub use batch::{BatchSize, batches, parts};
pub(crate) use checkpoint::load_weights_exact;
pub use checkpoint::{CheckpointError, TrainerCheckpoint, load_weights, save_weights};
pub use incremental::IncrementalNetwork;
pub use language_modeling::{
    Average, Boundaries, LanguageModeling, StringError, StringProblem, WeightedString,
};
pub use next_sets::{NextSetString, NextSets};
pub use recognition::Recognition;
pub use schedule::{Rate, Schedule};
pub(crate) use transduction::symbols as pair_symbols;
pub use transduction::{PairError, PairProblem, Transduction};

use crate::aligned::Aligned;
use crate::kernel::Real;
use crate::optim::{Optimizer, OptimizerSpec};
use crate::params::Layout;
use crate::tape::{Mode, Recording, Tape};

/// Training examples with their loss, and a validation loss.
pub trait Objective<R: Real> {
    fn layout(&self) -> &Layout;

    /// The lengths of training and of validation examples.
    fn lengths(&self) -> &[Vec<usize>; 2];

    /// How many of the parameters are trained: these come first in the layout, and the others stay as initialised.
    fn trained(&self) -> usize {
        self.layout().count()
    }

    /// How many examples of up to `max_len` symbols to record in one forward pass. A larger batch is divided into parts,
    /// whose gradients are summed; see [`parts`].
    fn max_batch(&self, max_len: usize) -> usize;

    /// The denominator of the loss of a batch: the number of its examples, or of its predicted symbols.
    fn size(&self, batch: &[usize]) -> f64;

    /// Records the loss of examples of a batch, summed and divided by the size of the batch.
    fn loss(&self, record: &mut Recording<'_, R>, examples: &[usize], size: f64);

    /// The denominator of the validation loss.
    fn validation_size(&self) -> f64;

    /// Records the loss of validation examples, summed.
    fn validation_loss(&self, record: &mut Recording<'_, R>, examples: &[usize]);

    /// Sets parameters that are a function of the number of training examples seen, and have no gradient.
    fn anneal(&self, _params: &mut [R], _examples: u64) {}

    fn validate(&self, tape: &mut Tape<R>, params: &[R]) -> f64 {
        let ([_, lengths], mut loss) = (self.lengths(), 0.0);
        for batch in eval_batches(lengths, |max_len| self.max_batch(max_len)) {
            let mut record = tape.record(params, Mode::Eval);
            self.validation_loss(&mut record, &batch);
            loss += record.loss();
        }
        loss / self.validation_size()
    }
}

/// The lengths of training and of validation examples.
fn lengths_of<T>(examples: [&[T]; 2], length: impl Fn(&T) -> usize) -> [Vec<usize>; 2] {
    examples.map(|examples| examples.iter().map(&length).collect())
}

/// How to train, as written in a config.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSpec {
    pub optimizer: OptimizerSpec,
    /// The learning rate schedule.
    pub schedule: Schedule,
    pub batch: BatchSize,
    /// The maximum number of epochs.
    pub max_epochs: usize,
    /// Stop after this number of epochs in a row without a strictly smaller validation loss. Without validation examples it
    /// must be `usize::MAX`, and the training loss takes the place of the validation loss.
    pub patience: usize,
    /// How often to validate in an epoch: at its end, and before it at equal distances. Only the parameters with the smallest
    /// loss are kept in between; patience and learning rate depend on whole epochs.
    #[serde(default = "once")]
    pub validations: usize,
}

fn once() -> usize {
    1
}

impl TrainSpec {
    /// Whether to validate within an epoch, after so many of its batches.
    fn validates_after(&self, done: usize, batches: usize) -> bool {
        // Rounded down. In epochs of few batches two of these points coincide and count once.
        done < batches && (1..self.validations).any(|k| k * batches / self.validations == done)
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum TrainOutcome {
    /// All epochs were run.
    Finished,
    /// Early stopping: the validation loss no longer decreased.
    Stopped,
    /// A loss or gradient was not finite. The best parameters so far are kept.
    Diverged { step: u64 },
}

/// What happened in one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Epochs completed, this one included.
    pub epoch: usize,
    pub steps: u64,
    /// The mean training loss, weighted by [`Objective::size`].
    pub training: f64,
    pub validation: f64,
    /// Whether the validation loss was the smallest so far, at the end of the epoch or within it.
    pub best: bool,
    /// Set if the run has ended.
    pub outcome: Option<TrainOutcome>,
}

/// A run that cannot start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    #[error("there are no training examples; at least one is needed")]
    NoTraining,
    /// No validation examples, but early stopping.
    #[error("there are no validation examples; at least one is needed for early stopping")]
    NoValidation,
    /// Batches of size 0.
    #[error("the batch size is 0; it must be at least 1")]
    NoBatch,
}

/// The state of a run without its tensors, as written in a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainerState {
    seed: u64,
    epoch: usize,
    rate: Rate,
    /// The smallest validation loss so far.
    best: Option<f64>,
    best_epoch: usize,
    /// Epochs in a row without a smaller validation loss.
    bad: usize,
    optimizer_steps: u64,
    /// Steps that the optimiser had taken before this run, if its state was carried over.
    #[serde(default, skip_serializing_if = "is_zero")]
    carried_steps: u64,
    /// The epoch that is under way, if it has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partial_epoch: Option<PartialEpoch>,
    outcome: Option<TrainOutcome>,
}

/// What is done of an epoch that is not over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartialEpoch {
    /// Batches that are done.
    batches: usize,
    #[serde(skip)]
    // Follows from the number of batches, so it is computed again on resumption.
    examples: usize,
    /// Their losses, each weighted by its size, summed.
    loss: f64,
    size: f64,
    /// Whether a validation in this epoch had the smallest loss so far.
    improved: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(steps: &u64) -> bool {
    *steps == 0
}

/// A run in progress.
#[derive(Debug)]
pub struct Trainer<'a, R, O> {
    objective: &'a O,
    spec: TrainSpec,
    state: TrainerState,
    params: Aligned<R>,
    best_params: Vec<R>,
    keep_best: bool,
    optimizer: Optimizer<R>,
    gradients: Vec<R>,
    tape: Tape<R>,
    /// The batches of the epoch that is under way; empty between epochs.
    batches: Vec<Vec<usize>>,
}

impl<'a, R: Real, O: Objective<R>> Trainer<'a, R, O> {
    /// A new run. Parameters are initialised from the seed.
    pub fn new(objective: &'a O, spec: TrainSpec, seed: Seed) -> Result<Self, TrainError> {
        let [training, validation] = objective.lengths();
        if training.is_empty() {
            return Err(TrainError::NoTraining);
        }
        // Without validation the training loss would stand in, and it nearly always falls: nothing would stop early.
        if validation.is_empty() && spec.patience < usize::MAX {
            return Err(TrainError::NoValidation);
        }
        if spec.batch.is_empty() {
            return Err(TrainError::NoBatch);
        }
        let params: Vec<R> = objective.layout().initialise(seed.derive("init"));
        let state = TrainerState {
            seed: seed.value(),
            epoch: 0,
            rate: Rate::new(spec.schedule),
            best: None,
            best_epoch: 0,
            bad: 0,
            optimizer_steps: 0,
            carried_steps: 0,
            partial_epoch: None,
            outcome: None,
        };
        Ok(Self {
            objective,
            spec,
            state,
            best_params: params.clone(),
            keep_best: true,
            optimizer: Optimizer::new(spec.optimizer, objective.trained()),
            gradients: vec![R::ZERO; params.len()],
            tape: Tape::default(),
            batches: Vec::new(),
            params: params.into(),
        })
    }

    /// Leaves [`best`](Self::best) as it is from here on: a copy of all parameters after most epochs costs a tenth of the time
    /// where an epoch is a single step.
    #[must_use]
    pub fn without_best(mut self) -> Self {
        self.keep_best = false;
        self
    }

    /// The parameters with the smallest validation loss so far (before the first epoch, the initial ones).
    pub fn best(&self) -> &[R] {
        &self.best_params
    }

    pub fn params(&self) -> &[R] {
        &self.params
    }

    /// Steps of this run.
    fn steps(&self) -> u64 {
        self.optimizer.steps() - self.state.carried_steps
    }

    /// Set if the run has ended.
    pub fn outcome(&self) -> Option<TrainOutcome> {
        self.state.outcome
    }

    /// Runs to the end. `observe` is called after every epoch.
    pub fn run(&mut self, mut observe: impl FnMut(&Progress)) -> TrainOutcome {
        loop {
            if let Some(outcome) = self.state.outcome {
                return outcome;
            }
            observe(&self.epoch());
        }
    }

    /// Trains to the end of an epoch and validates.
    pub fn epoch(&mut self) -> Progress {
        loop {
            if let Some(progress) = self.step() {
                return progress;
            }
        }
    }

    /// Takes one step, and validates where that is due. Gives what happened in the epoch if it is over.
    pub fn step(&mut self) -> Option<Progress> {
        let [lengths, validated] = self.objective.lengths();
        if self.batches.is_empty() {
            self.batches = self.epoch_batches();
        }
        // Taken while `update` borrows the trainer. It stays empty at the end of an epoch, so the next draws its own.
        let batches = std::mem::take(&mut self.batches);
        let mut partial = self.state.partial_epoch.take().unwrap_or_default();
        let batch = &batches[partial.batches];
        let size = self.objective.size(batch);
        let Some(loss) = self.update(batch, size) else { return Some(self.diverged()) };
        partial.batches += 1;
        partial.examples += batch.len();
        partial.loss += loss * size;
        partial.size += size;
        // From the position in the run and not from a counter: a resumed run has the same temperature.
        self.objective.anneal(&mut self.params, (self.state.epoch * lengths.len() + partial.examples) as u64);
        let over = partial.batches == batches.len();
        if over || (self.spec.validates_after(partial.batches, batches.len()) && !validated.is_empty()) {
            let training = partial.loss / partial.size;
            let validation = match validated.len() {
                0 => training,
                _ => self.objective.validate(&mut self.tape, &self.params),
            };
            if !validation.is_finite() {
                return Some(self.diverged());
            }
            partial.improved |= self.improve(validation);
            if over {
                return Some(self.end_epoch(training, validation, partial.improved));
            }
        }
        self.batches = batches;
        self.state.partial_epoch = Some(partial);
        None
    }

    /// The batches of this epoch.
    fn epoch_batches(&self) -> Vec<Vec<usize>> {
        let order = Seed::new(self.state.seed).derive("train/shuffle").nth(self.state.epoch);
        self.spec.batch.epoch(&self.objective.lengths()[0], order)
    }

    /// One update of the parameters. Gives the loss; none, and no update, if the loss or the gradient is not finite.
    fn update(&mut self, batch: &[usize], size: f64) -> Option<f64> {
        let done = self.steps();
        // A stream per step and part: a run that resumes within an epoch draws the same masks.
        let dropout = Seed::new(self.state.seed).derive("train/dropout").nth(done as usize);
        let parts = parts(batch, &self.objective.lengths()[0], |max_len| self.objective.max_batch(max_len));
        let mut loss = 0.0;
        for (p, part) in parts.iter().enumerate() {
            let mode = Mode::Train { seed: dropout.nth(p).value() };
            let mut record = self.tape.record(&self.params, mode);
            self.objective.loss(&mut record, part, size);
            loss += record.loss();
            // The first part overwrites the gradients, which saves clearing them.
            if p == 0 {
                record.backward_fresh(&mut self.gradients);
            } else {
                record.backward(&mut self.gradients);
            }
        }
        // Checked before the update, so that the parameters stay those of the last finite loss.
        if !loss.is_finite() {
            return None;
        }
        let rate = self.state.rate.at(done);
        // An untrained output layer is the end of the layout. TSE's released optimiser is made before that layer
        // exists.
        let trained = self.objective.trained();
        self.optimizer.step(&mut self.params[..trained], &self.gradients[..trained], rate, 1.0).ok()?;
        Some(loss)
    }

    /// Keeps the parameters if the validation loss is the smallest so far.
    fn improve(&mut self, validation: f64) -> bool {
        // Strictly smaller: of equal losses the first stays, as with FLaRe's threshold of 0.
        let improved = self.state.best.is_none_or(|best| validation < best);
        if improved {
            self.state.best = Some(validation);
            self.state.best_epoch = self.state.epoch + 1;
            if self.keep_best {
                self.best_params.copy_from_slice(&self.params);
            }
        }
        improved
    }

    fn end_epoch(&mut self, training: f64, validation: f64, best: bool) -> Progress {
        let state = &mut self.state;
        state.epoch += 1;
        state.rate.end_epoch(validation);
        state.bad = if best { 0 } else { state.bad + 1 };
        // Patience first: a run whose patience ends with its last epoch counts as stopped.
        state.outcome = if state.bad >= self.spec.patience {
            Some(TrainOutcome::Stopped)
        } else {
            (state.epoch >= self.spec.max_epochs).then_some(TrainOutcome::Finished)
        };
        let (epoch, outcome) = (state.epoch, state.outcome);
        Progress { epoch, steps: self.steps(), training, validation, best, outcome }
    }

    fn diverged(&mut self) -> Progress {
        let steps = self.steps();
        self.state.outcome = Some(TrainOutcome::Diverged { step: steps });
        Progress {
            epoch: self.state.epoch,
            steps,
            training: f64::NAN,
            validation: f64::NAN,
            best: false,
            outcome: self.state.outcome,
        }
    }
}

#[cfg(test)]
mod tests;
