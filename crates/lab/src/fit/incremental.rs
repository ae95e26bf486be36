//! Learners that are evaluated while they learn: what a protocol shows sequences to, and asks.

use wug_dataset::Seed;
use wug_learner::interface::Incremental;
use wug_learner::registry::{IncrementalTask, Learner, Settings};

use crate::LabError;

/// An incremental learner with some settings, before it has seen anything. A protocol drives what it gets here and knows nothing
/// else of it: how it learns, and whether it is a network, a reservoir or another program.
pub(crate) fn begin(
    learner: &Learner,
    settings: &Settings,
    task: IncrementalTask,
    seed: Seed,
) -> Result<Box<dyn Incremental>, LabError> {
    let role = learner.incremental.as_ref();
    let role =
        role.ok_or_else(|| LabError::Usage(format!("`{}` is no incremental learner", learner.name)))?;
    (role.build)(settings, task, seed).map_err(LabError::usage)
}
