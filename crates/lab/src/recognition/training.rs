//! How the recognizer of a run is built and trained.

use wug_dataset::Seed;
use wug_learner::model::{RecognizerModel, SpecError};
use wug_learner::registry::{self, RecognizerTask, Role, UnknownLearner, keys, optimizer_spec};
use wug_learner::train::{BatchSize, Schedule, TrainSpec};
use wug_score::plan::Loss;

use super::RecognitionPlan;

/// The number of parameters if neither `sizes` nor `hidden` is given.
pub(super) const SIZE: usize = 64_000;

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

/// What a recognizer with this loss is built for.
pub(super) fn recognizer_task(loss: Loss, alphabet: usize) -> RecognizerTask {
    let (language_modeling, next_symbols) = loss.heads();
    RecognizerTask { alphabet, language_modeling, next_symbols }
}

/// The seed of everything in a run but its strings. Runs that differ in language, learner, size, loss or validation share no
/// randomness.
pub(super) fn root(plan: &RecognitionPlan) -> Seed {
    let size = size_or_usual(plan).to_string();
    let (loss, validation) = (plan.measure.loss.name(), plan.measure.validation.name());
    let what = [plan.subject.as_str(), &plan.learner.name, &size, loss, validation];
    Seed::new(plan.seed).derive(&what.join("/"))
}

/// The size, or the usual one for a run that has none: the names of streams are part of every result and stay as they are.
pub(super) fn size_or_usual(plan: &RecognitionPlan) -> usize {
    plan.learner.size.unwrap_or(SIZE)
}

/// The model of a run, for an alphabet of so many symbols.
pub fn model(plan: &RecognitionPlan, alphabet: usize) -> Result<RecognizerModel, ModelError> {
    let learner = registry::find(&plan.learner.name, Role::Recognizer)?;
    let role = learner.recognizer.as_ref().ok_or(ModelError::NoRole)?;
    let spec = (role.build)(&plan.learner.settings, recognizer_task(plan.measure.loss, alphabet));
    Ok(RecognizerModel::new(spec)?)
}

pub(super) fn train_spec(plan: &RecognitionPlan) -> TrainSpec {
    let settings = &plan.learner.settings;
    TrainSpec {
        optimizer: optimizer_spec(settings).clipped(settings.get(&keys::CLIP)),
        schedule: Schedule::Plateau {
            rate: settings.get(&keys::LEARNING_RATE),
            factor: settings.get(&keys::DECAY),
            patience: settings.get(&keys::DECAY_PATIENCE),
        },
        batch: BatchSize::Symbols(settings.get(&keys::BATCH_SYMBOLS)),
        max_epochs: settings.get(&keys::MAX_EPOCHS),
        patience: settings.get(&keys::PATIENCE),
        validations: 1,
    }
}
