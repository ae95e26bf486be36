//! The training loop: step by step, with a curve, and resumed from a checkpoint.

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;

use super::{EpochLoss, FitError, Watch};
use crate::kernel::Real;
use crate::train::{Objective, Progress, TrainOutcome, TrainSpec, Trainer, TrainerCheckpoint, TrainerState};

/// About how many points a curve has where epochs are single steps.
const POINTS: usize = 100;

/// Which epochs a curve has, beside the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    Whole,
    /// As many as a plot can show.
    Thinned,
}

/// The state of the optimiser before the first step.
#[derive(Clone, Copy, Debug)]
pub enum OptimizerStart<'a> {
    /// As after no step.
    Fresh,
    /// As it was after another training, if there was one; and it is to be carried on.
    Carried(Option<&'a [u8]>),
}

/// What came of training.
pub(super) struct TrainedParams<R> {
    /// The parameters with the lowest validation loss.
    pub(super) best: Vec<R>,
    /// The parameters after the last epoch.
    pub(super) last: Vec<R>,
    pub(super) curve: Vec<EpochLoss>,
    pub(super) outcome: TrainOutcome,
    /// The state of the optimiser after the last epoch, if it is to be carried on.
    pub(super) optimizer: Option<Vec<u8>>,
}

/// A training, and how it begins.
pub(super) struct Training<'a, O> {
    pub(super) objective: &'a O,
    pub(super) spec: TrainSpec,
    pub(super) seed: Seed,
    pub(super) curve: Curve,
    /// A state of the optimiser to begin with; the best parameters are then not kept, because the last ones are evaluated.
    pub(super) start: Option<OptimizerStart<'a>>,
}

impl<O> Training<'_, O> {
    /// Trains to the end.
    pub(super) fn run<R: Real>(&self, watch: &mut dyn Watch) -> Result<TrainedParams<R>, FitError>
    where
        O: Objective<R>,
    {
        let resumed = watch.load_checkpoint().and_then(|bytes| self.resume(&bytes));
        let (mut trainer, mut curve) = match resumed {
            Some(resumed) => resumed,
            None => (self.begin()?, Vec::new()),
        };
        if self.start.is_some() {
            trainer = trainer.without_best();
        }
        let outcome = loop {
            if let Some(outcome) = trainer.outcome() {
                break outcome;
            }
            let Some(progress) = trainer.step() else {
                watch.checkpoint(&mut || pack(&curve, trainer.save()))?;
                continue;
            };
            if self.shows(&progress) {
                curve.push(self.point(&progress));
            }
            watch.epoch(progress.epoch, progress.validation);
            let mut bytes = || pack(&curve, trainer.save());
            match progress.outcome {
                None => watch.checkpoint(&mut bytes)?,
                // Evaluation may take long and has no checkpoints: what was trained is worth saving before it.
                Some(_) => watch.trained(&mut bytes)?,
            }
        };
        let carried = matches!(self.start, Some(OptimizerStart::Carried(_)));
        let optimizer = carried.then(|| trainer.optimizer_state());
        let (best, last) = (trainer.best().to_vec(), trainer.params().to_vec());
        Ok(TrainedParams { best, last, curve, outcome, optimizer })
    }

    fn begin<R: Real>(&self) -> Result<Trainer<'_, R, O>, FitError>
    where
        O: Objective<R>,
    {
        let mut trainer = Trainer::new(self.objective, self.spec, self.seed)?;
        if let Some(OptimizerStart::Carried(Some(optimizer))) = self.start {
            trainer.carry(optimizer)?;
        }
        Ok(trainer)
    }

    /// The training of a checkpoint with its curve; none if the bytes are not of this training.
    fn resume<R: Real>(&self, bytes: &[u8]) -> Option<(Trainer<'_, R, O>, Vec<EpochLoss>)>
    where
        O: Objective<R>,
    {
        let (curve, saved) = unpack(bytes)?;
        Some((Trainer::resume(self.objective, self.spec, &saved).ok()?, curve))
    }

    fn shows(&self, progress: &Progress) -> bool {
        let stride = match self.curve {
            Curve::Whole => 1,
            Curve::Thinned => self.spec.max_epochs.div_ceil(POINTS),
        };
        progress.validation.is_finite()
            && (progress.epoch.is_multiple_of(stride) || progress.outcome.is_some())
    }

    /// Without validation examples, the trainer's validation loss is the training loss again.
    fn point<R: Real>(&self, progress: &Progress) -> EpochLoss
    where
        O: Objective<R>,
    {
        let [_, validation] = self.objective.lengths();
        let finite = |x: f64| x.is_finite().then_some(x);
        EpochLoss {
            epoch: progress.epoch,
            steps: progress.steps,
            training: finite(progress.training),
            validation: finite(progress.validation).filter(|_| !validation.is_empty()),
        }
    }
}

/// The head of a checkpoint; the tensors follow.
#[derive(Serialize, Deserialize)]
struct CheckpointHeader {
    curve: Vec<EpochLoss>,
    state: TrainerState,
}

fn pack(curve: &[EpochLoss], saved: TrainerCheckpoint) -> Vec<u8> {
    let header = CheckpointHeader { curve: curve.to_vec(), state: saved.state };
    // Numbers and strings alone: this cannot fail.
    let header = serde_json::to_vec(&header).unwrap_or_default();
    [&(header.len() as u64).to_le_bytes(), &header[..], &saved.tensors].concat()
}

fn unpack(bytes: &[u8]) -> Option<(Vec<EpochLoss>, TrainerCheckpoint)> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (header, tensors) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let CheckpointHeader { curve, state } = serde_json::from_slice(header).ok()?;
    Some((curve, TrainerCheckpoint { tensors: tensors.to_vec(), state }))
}
