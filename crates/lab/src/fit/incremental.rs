//! Learners that are evaluated while they learn: what a protocol shows sequences to, and asks.

use wug_dataset::Seed;
use wug_learner::interface::Incremental;
use wug_learner::registry::{IncrementalTask, Role, find};

use crate::LabError;
use crate::context::RunContext;
use crate::foreign::{self, Examples, ForeignIncremental, Task};
use wug_score::plan::PlannedLearner;

/// A learner that has not learned yet.
pub(crate) struct Begun {
    pub(crate) learner: Box<dyn Incremental>,
    /// How many parameters it trains, where that is known.
    pub(crate) parameters: Option<usize>,
}

/// An incremental learner, by name, with some settings, before it has seen anything. A protocol drives what it gets here and
/// knows nothing else of it: how it learns, and whether it is a network, a reservoir or another program.
pub(crate) fn begin(
    learner: &PlannedLearner,
    task: IncrementalTask,
    tokens: &[String],
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<Begun, LabError> {
    let PlannedLearner { name, settings, external, .. } = learner;
    if let Some(external) = external {
        let mut asked = Task::new(Role::Incremental, seed, settings, tokens, Examples::default());
        // There is nothing to learn from yet: this says what the task is. What was learned is not saved, so that a run that is
        // interrupted starts again.
        let (conversation, fitted) = foreign::begin(name, external, &mut asked, context)?;
        let learner = Box::new(ForeignIncremental { conversation, vocabulary: task.vocabulary });
        return Ok(Begun { learner, parameters: fitted.parameters });
    }
    let learner = find(name, Role::Incremental).map_err(LabError::usage)?;
    let role = learner.incremental.as_ref();
    let role = role.ok_or_else(|| LabError::Usage(format!("`{name}` is no incremental learner")))?;
    let parameters = Some((role.parameters)(settings, task).map_err(LabError::usage)?);
    Ok(Begun { learner: (role.build)(settings, task, seed).map_err(LabError::usage)?, parameters })
}
