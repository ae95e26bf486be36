//! Fitting recognizers: networks by gradient descent, and learners from elsewhere.

use wug_dataset::Seed;
use wug_language::Alphabet;
use wug_learner::interface::{Recognizer, Trained};
use wug_learner::kernel::Real;
use wug_learner::model::{LabelledString, LossWeights, RecognizerModel};
use wug_learner::registry::{RecognizerTask, Role, find};
use wug_learner::train::{Recognition, TrainSpec};

use super::TrainingSummary;
use crate::LabError;
use crate::context::RunContext;
use crate::foreign::{self, Examples, ForeignRecognizer, Task};
use crate::keep::keep_model;
use crate::training::{TrainingOutcome, train};
use wug_score::plan::{PlannedLearner, Precision};

/// What a recognizer is fitted to.
pub(crate) struct LabelledCorpus<'a> {
    pub(crate) alphabet: &'a Alphabet,
    pub(crate) training: &'a [LabelledString<'a>],
    pub(crate) validation: &'a [LabelledString<'a>],
    /// Which heads there are.
    pub(crate) task: RecognizerTask,
    /// How much the losses of the auxiliary heads count.
    pub(crate) weights: LossWeights,
    /// The number of parameters that the run is about, if it is about one.
    pub(crate) size: Option<usize>,
}

pub(crate) struct Fitted {
    pub(crate) model: Box<dyn Recognizer>,
    pub(crate) summary: TrainingSummary,
}

/// Fits a learner, by name, with some settings to a corpus.
pub(crate) fn fit(
    learner: &PlannedLearner,
    corpus: &LabelledCorpus<'_>,
    how: (TrainSpec, Precision),
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<Fitted, LabError> {
    let PlannedLearner { name, settings, external, .. } = learner;
    if let Some(external) = external {
        let mut task =
            Task::new(Role::Recognizer, seed, settings, corpus.alphabet.tokens(), examples(corpus.training));
        task.validation = Some(examples(corpus.validation));
        task.budget.parameters = corpus.size;
        let (conversation, summary) = foreign::fit(name, external, &mut task, context)?;
        return Ok(Fitted { model: Box::new(ForeignRecognizer(conversation)), summary });
    }
    let role = find(name, Role::Recognizer).map_err(LabError::usage)?.recognizer.as_ref();
    let role = role.ok_or_else(|| LabError::Usage(format!("`{name}` is no recognizer")))?;
    let model = RecognizerModel::new((role.build)(settings, corpus.task)).map_err(LabError::usage)?;
    match how {
        (spec, Precision::F32) => trained::<f32>(model, corpus, spec, seed, context),
        (spec, Precision::F64) => trained::<f64>(model, corpus, spec, seed, context),
    }
}

/// Symbols are numbered from 1 outside.
fn examples(strings: &[LabelledString<'_>]) -> Examples {
    let ids = |string: &LabelledString<'_>| string.string.iter().map(|id| id + 1).collect();
    Examples {
        strings: strings.iter().map(ids).collect(),
        labels: Some(strings.iter().map(|string| string.label).collect()),
        outputs: None,
    }
}

fn trained<R: Real>(
    model: RecognizerModel,
    corpus: &LabelledCorpus<'_>,
    spec: TrainSpec,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<Fitted, LabError> {
    let objective = Recognition::new(&model, corpus.training, corpus.validation, corpus.weights);
    let TrainingOutcome { best, curve, ending, .. } = train::<R, _>(&objective, spec, seed, 1, context)?;
    let parameters = Some(model.layout().count());
    let trained = Trained::new(model, best);
    keep_model(context, || trained.save())?;
    let summary = TrainingSummary { ending, parameters, curve, found: None };
    Ok(Fitted { model: Box::new(trained), summary })
}
