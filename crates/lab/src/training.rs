//! Training in a run context: step by step, with a curve, and resumed from a checkpoint.

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;
use wug_learner::kernel::Real;
use wug_learner::train::{Objective, Outcome, Progress, Saved, TrainSpec, Trainer};
use wug_score::{Ending, Point};

use crate::LabError;
use crate::context::RunContext;

/// The head of a checkpoint; the tensors follow.
#[derive(Serialize, Deserialize)]
struct Header {
    curve: Vec<Point>,
    state: String,
}

/// The result of training.
pub(crate) struct TrainingOutcome<R> {
    /// The parameters of the best checkpoint.
    pub(crate) best: Vec<R>,
    /// The parameters after the last epoch.
    pub(crate) last: Vec<R>,
    /// The loss over time.
    pub(crate) curve: Vec<Point>,
    pub(crate) ending: Ending,
    /// The state of the optimiser after the last epoch, if it is to be carried on.
    pub(crate) optimizer: Option<Vec<u8>>,
}

/// The state of the optimiser before the first step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OptimizerStart<'a> {
    /// As after no step.
    Fresh,
    /// As it was after another training, if there was one; and it is to be carried on.
    Carried(Option<&'a [u8]>),
}

/// Trains to the end. The curve has every `stride`-th epoch, and the last.
pub(crate) fn train<R: Real, O: Objective<R>>(
    objective: &O,
    spec: TrainSpec,
    seed: Seed,
    stride: usize,
    context: &mut dyn RunContext,
) -> Result<TrainingOutcome<R>, LabError> {
    train_from(objective, spec, seed, stride, None, context)
}

/// [`train`], with a state of the optimiser to begin with; the best parameters are then not kept.
pub(crate) fn train_from<R: Real, O: Objective<R>>(
    objective: &O,
    spec: TrainSpec,
    seed: Seed,
    stride: usize,
    start: Option<OptimizerStart<'_>>,
    context: &mut dyn RunContext,
) -> Result<TrainingOutcome<R>, LabError> {
    let fresh = || {
        let mut trainer = Trainer::new(objective, spec, seed).map_err(LabError::usage)?;
        if let Some(OptimizerStart::Carried(Some(optimizer))) = start {
            trainer.carry(optimizer).map_err(LabError::internal)?;
        }
        Ok::<_, LabError>(trainer)
    };
    let checkpoint = context.load_checkpoint().and_then(|bytes| unpack(&bytes));
    let resumed = checkpoint
        .and_then(|(header, saved)| Some((Trainer::resume(objective, spec, &saved).ok()?, header.curve)));
    // If the checkpoint cannot be read, training starts from the beginning.
    let (mut trainer, mut curve) = match resumed {
        Some(resumed) => resumed,
        None => (fresh()?, Vec::new()),
    };
    // Who gives an optimiser to begin with evaluates the last parameters.
    if start.is_some() {
        trainer = trainer.without_best();
    }
    let [_, validation] = objective.lengths();
    let outcome = loop {
        if let Some(outcome) = trainer.outcome() {
            break outcome;
        }
        let Some(progress) = trainer.step() else {
            context.checkpoint(&mut || pack(&curve, &trainer.save()))?;
            continue;
        };
        let shown = progress.epoch.is_multiple_of(stride) || progress.outcome.is_some();
        if progress.validation.is_finite() && shown {
            curve.push(point(&progress, !validation.is_empty()));
        }
        context.epoch(progress.epoch, progress.validation);
        let mut bytes = || pack(&curve, &trainer.save());
        match progress.outcome {
            None => context.checkpoint(&mut bytes)?,
            Some(_) => context.trained(&mut bytes)?,
        }
    };
    let ending = match outcome {
        Outcome::Finished => Ending::Finished,
        Outcome::Stopped => Ending::Stopped,
        Outcome::Diverged { step } => Ending::Diverged { step },
    };
    let carried = matches!(start, Some(OptimizerStart::Carried(_)));
    let optimizer = carried.then(|| trainer.optimizer_state());
    let (best, last) = (trainer.best().to_vec(), trainer.params().to_vec());
    Ok(TrainingOutcome { best, last, curve, ending, optimizer })
}

/// Without validation examples, the trainer's validation loss is the training loss again.
fn point(progress: &Progress, validated: bool) -> Point {
    let finite = |x: f64| x.is_finite().then_some(x);
    Point {
        epoch: progress.epoch,
        steps: progress.steps,
        training: finite(progress.training),
        validation: finite(progress.validation).filter(|_| validated),
    }
}

fn pack(curve: &[Point], saved: &Saved) -> Vec<u8> {
    let header = Header { curve: curve.to_vec(), state: saved.state.clone() };
    let header = serde_json::to_vec(&header).unwrap_or_default();
    [&(header.len() as u64).to_le_bytes(), &header[..], &saved.tensors].concat()
}

fn unpack(bytes: &[u8]) -> Option<(Header, Saved)> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (header, tensors) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let header: Header = serde_json::from_slice(header).ok()?;
    let saved = Saved { tensors: tensors.to_vec(), state: header.state.clone() };
    Some((header, saved))
}
