//! Fitting a foreign learner in a run: progress, checkpoints, resuming.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use wug_score::plan::External;
use wug_score::{Ending, Point};

use super::{Conversation, Event, Fitted, Limits, Task, go_on};
use crate::LabError;
use crate::context::RunContext;
use crate::fit::TrainingSummary;

/// A checkpoint of a run with a foreign learner.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    /// Whether it is fitted.
    fitted: bool,
    parameters: Option<usize>,
    curve: Vec<Point>,
    /// What the learner said.
    state: String,
}

/// The most points of a curve.
const POINTS: usize = 10_000;

/// Fits a foreign learner, or loads it from a checkpoint of the run.
pub(crate) fn fit(
    name: &str,
    plan: &External,
    task: &mut Task,
    context: &mut dyn RunContext,
) -> Result<(Box<dyn Conversation>, TrainingSummary), LabError> {
    task.budget.seconds = Limits::of(plan).fit.as_secs_f64();
    let mut conversation = context.host().begin(name, plan)?;
    // A learner without a state saves empty bytes: like damaged ones, they mean a new start.
    let saved: Option<Checkpoint> =
        context.load_checkpoint().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut curve = Vec::new();
    if let Some(saved) = saved {
        if saved.fitted {
            conversation.load(task, &saved.state)?;
            let summary = summary(saved.parameters, saved.curve);
            return Ok((conversation, summary));
        }
        task.checkpoint = Some(saved.state);
        curve = saved.curve;
    }
    let mut state = task.checkpoint.clone();
    let mut stopped = Ok(());
    let fitted = conversation.fit(task, &mut |event| {
        match event {
            Event::Waiting => {}
            Event::Checkpoint(said) => state = Some(said),
            Event::Progress { epoch, training, validation } => {
                // A child may report every update; the curve is part of every checkpoint and of the result.
                if curve.len() < POINTS {
                    curve.push(Point { epoch, steps: epoch as u64, training, validation });
                }
                context.epoch(epoch, validation.or(training).unwrap_or(f64::NAN));
            }
        }
        stopped = context.checkpoint(&mut || match &state {
            Some(state) => packed(false, None, &curve, state),
            // Nothing to go on from: the run starts again.
            None => Vec::new(),
        });
        if stopped.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    // Why the context stopped it says more than that it was stopped.
    stopped?;
    let fitted = fitted?;
    // The context takes bytes and no error: what went wrong while saving is told afterwards.
    let mut broken = None;
    let saved = context.trained(&mut || match conversation.save() {
        Ok(Some(state)) => packed(true, fitted.parameters, &curve, &state),
        Ok(None) => Vec::new(),
        Err(failure) => {
            broken = Some(failure);
            Vec::new()
        }
    });
    saved?;
    broken.map_or(Ok(()), |failure| Err(LabError::from(failure)))?;
    Ok((conversation, summary(fitted.parameters, curve)))
}

/// Begins with a learner that learns later; what it says of itself comes with it.
pub(crate) fn begin(
    name: &str,
    plan: &External,
    task: &mut Task,
    context: &mut dyn RunContext,
) -> Result<(Box<dyn Conversation>, Fitted), LabError> {
    task.budget.seconds = Limits::of(plan).fit.as_secs_f64();
    let mut conversation = context.host().begin(name, plan)?;
    let fitted = conversation.fit(task, &mut go_on)?;
    Ok((conversation, fitted))
}

fn packed(fitted: bool, parameters: Option<usize>, curve: &[Point], state: &str) -> Vec<u8> {
    let checkpoint = Checkpoint { fitted, parameters, curve: curve.to_vec(), state: state.to_owned() };
    serde_json::to_vec(&checkpoint).unwrap_or_default()
}

fn summary(parameters: Option<usize>, curve: Vec<Point>) -> TrainingSummary {
    TrainingSummary { ending: Ending::Finished, parameters, curve, found: None }
}
