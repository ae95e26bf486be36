//! Fitting a learner in one of its roles, ours or an external one: data and settings in, a trained model out. Protocols know
//! nothing else about how a learner is trained.

pub(crate) mod incremental;
pub(crate) mod next_symbol;
pub(crate) mod recognizer;
pub(crate) mod transducer;

use serde_json::Value;
use wug_dataset::Seed;
use wug_learner::fit::{EpochLoss, Fit, FitOptions, Watch};
use wug_learner::interface::Failure;
use wug_learner::train::TrainOutcome;
use wug_score::{Ending, Point};

use crate::LabError;
use crate::context::RunContext;
use crate::keep::keep_model;
use wug_score::plan::Precision;

#[derive(Debug)]
pub(crate) struct TrainingSummary {
    pub(crate) ending: Ending,
    pub(crate) parameters: Option<usize>,
    pub(crate) curve: Vec<Point>,
    /// What a search found, as a file has it.
    pub(crate) found: Option<Value>,
}

/// A run context, as a training sees it.
struct Watched<'c>(&'c mut dyn RunContext);

/// A context ends a training only because the run is to stop.
fn stopped(_: LabError) -> Failure {
    Failure::Stopped
}

impl Watch for Watched<'_> {
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        self.0.load_checkpoint()
    }

    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), Failure> {
        self.0.checkpoint(bytes).map_err(stopped)
    }

    fn trained(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), Failure> {
        self.0.trained(bytes).map_err(stopped)
    }

    fn epoch(&mut self, done: usize, validation: f64) {
        self.0.epoch(done, validation);
    }
}

fn options(precision: Precision, seed: Seed, context: &dyn RunContext) -> FitOptions {
    // A saved model is a copy of all parameters: it is made only where it is kept.
    FitOptions { seed, double: precision == Precision::F64, save: context.keeps().models }
}

/// Keeps a model of ours if it is to be kept. The model, and what is told of its training.
fn told<M>(fit: Fit<M>, context: &mut dyn RunContext) -> Result<(M, TrainingSummary), LabError> {
    if let Some(saved) = fit.saved {
        keep_model(context, &saved)?;
    }
    let ending = match fit.outcome {
        TrainOutcome::Finished => Ending::Finished,
        TrainOutcome::Stopped => Ending::Stopped,
        TrainOutcome::Diverged { step } => Ending::Diverged { step },
    };
    let point =
        |EpochLoss { epoch, steps, training, validation }| Point { epoch, steps, training, validation };
    let curve = fit.curve.into_iter().map(point).collect();
    Ok((fit.model, TrainingSummary { ending, parameters: fit.parameters, curve, found: None }))
}
