//! Checkpoints of a run with many trainings: what is done, what is carried on, and the training that is under way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wug_score::{Ending, Point};

use crate::LabError;
use crate::context::RunContext;
use crate::foreign::Host;
use crate::keep::Keep;

/// What has been done of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Done {
    /// Trainings that are over.
    pub(super) trainings: usize,
    /// What was found after the first of them.
    pub(super) first: Option<First>,
    /// Of each rule, the nats of each block that was sent; none where they are not finite.
    pub(super) nats: Vec<Vec<Option<f64>>>,
    /// Of each rule, how its outputs were coded, in the order in which they were sent.
    pub(super) coded: Vec<Vec<Coded>>,
    /// The first training that did not end well, and how.
    pub(super) bad: Option<(usize, Ending)>,
}

/// The log-probability of an output that was sent, its end included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Coded {
    /// None where it is not finite.
    pub(super) log_prob: Option<f64>,
    /// Of its symbols and its end, where the learner tells them and all are finite.
    pub(super) symbols: Option<Vec<f64>>,
}

/// What was found after training on the training pairs alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct First {
    pub(super) ending: Ending,
    pub(super) parameters: Option<usize>,
    pub(super) curve: Vec<Point>,
    /// The outputs for the training inputs.
    pub(super) training: Vec<Vec<u32>>,
    /// The outputs for the hold-out inputs.
    pub(super) holdout: Vec<Vec<u32>>,
}

/// Which of its trainings a run is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TrainingStep {
    /// How many blocks were sent before it.
    pub(super) sent: usize,
    /// The first of the rules that share it.
    pub(super) leader: usize,
}

/// States of optimisers by the training that they are of.
pub(super) type Carried = BTreeMap<TrainingStep, Vec<u8>>;

#[derive(Debug, Default)]
pub(super) struct SavedTrainings {
    pub(super) done: Done,
    pub(super) carried: Carried,
    /// The checkpoint of the training that was under way, if there was one.
    pub(super) training: Option<Vec<u8>>,
}

#[derive(Serialize, Deserialize)]
struct CheckpointHead {
    done: Done,
    /// The keys of what is carried, and how many bytes each has.
    carried: Vec<(usize, usize, usize)>,
}

/// Done and carried as bytes; the checkpoint of a training may follow.
pub(super) fn pack(done: &Done, carried: &Carried) -> Vec<u8> {
    let keys = carried.iter().map(|(step, bytes)| (step.sent, step.leader, bytes.len())).collect();
    let head = serde_json::to_vec(&CheckpointHead { done: done.clone(), carried: keys }).unwrap_or_default();
    // States follow the head as raw bytes: in JSON they would be several times as long.
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend(head);
    carried.values().for_each(|state| bytes.extend_from_slice(state));
    bytes
}

pub(super) fn unpack(bytes: &[u8]) -> Option<SavedTrainings> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (head, mut rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let CheckpointHead { done, carried: keys } = serde_json::from_slice(head).ok()?;
    let mut carried = Carried::new();
    for (sent, leader, length) in keys {
        let (state, after) = rest.split_at_checked(length)?;
        carried.insert(TrainingStep { sent, leader }, state.to_vec());
        rest = after;
    }
    let training = (!rest.is_empty()).then(|| rest.to_vec());
    Some(SavedTrainings { done, carried, training })
}

/// The context of one training among many.
pub(super) struct TrainingContext<'a> {
    pub(super) inner: &'a mut dyn RunContext,
    /// What is saved before the checkpoint of the training.
    pub(super) before: Vec<u8>,
    /// The checkpoint to resume from.
    pub(super) resumed: Option<Vec<u8>>,
    /// Updates of the trainings before it.
    pub(super) updates: usize,
    /// Whether its model is the one to keep.
    pub(super) keep: bool,
}

impl RunContext for TrainingContext<'_> {
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        self.resumed.take()
    }

    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        let before = &self.before;
        self.inner.checkpoint(&mut || [before.as_slice(), &bytes()].concat())
    }

    fn trained(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        let before = &self.before;
        self.inner.trained(&mut || [before.as_slice(), &bytes()].concat())
    }

    fn epoch(&mut self, done: usize, validation: f64) {
        self.inner.epoch(self.updates + done, validation);
    }

    fn evaluating(&mut self, split: &str) -> Result<(), LabError> {
        self.inner.evaluating(split)
    }

    fn host(&self) -> Host {
        self.inner.host()
    }

    fn keeps(&self) -> Keep {
        // One model per run, that of the training pairs alone: its outputs are compared with the rules.
        if self.keep { self.inner.keeps() } else { Keep::default() }
    }

    fn keep(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), LabError> {
        self.inner.keep(name, bytes)
    }
}
