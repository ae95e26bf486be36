//! Recognizers: networks by gradient descent, from strings with labels.

use wug_language::Alphabet;

use super::training::{Curve, TrainedParams, Training};
use super::{Fit, FitError, FitOptions, Watch, played};
use crate::interface::{Recognizer, Trained};
use crate::kernel::Real;
use crate::model::{LabelledString, LossWeights, RecognizerModel};
use crate::registry::{RecognizerTask, Role, Settings, recognition_spec};
use crate::train::{Recognition, TrainSpec};

/// What a recognizer is fitted to.
#[derive(Clone, Copy, Debug)]
pub struct LabelledCorpus<'a> {
    pub training: &'a [LabelledString<'a>],
    /// The parameters with the lowest loss on these are kept.
    pub validation: &'a [LabelledString<'a>],
    /// Which heads there are.
    pub task: RecognizerTask,
    /// How much the losses of the auxiliary heads count.
    pub weights: LossWeights,
    /// How to train, if not as the settings say.
    pub spec: Option<TrainSpec>,
}

impl<'a> LabelledCorpus<'a> {
    /// Strings over an alphabet, from which labels alone are learned.
    pub fn new(
        alphabet: &Alphabet,
        training: &'a [LabelledString<'a>],
        validation: &'a [LabelledString<'a>],
    ) -> Self {
        let task = RecognizerTask::labels(alphabet.len());
        Self { training, validation, task, weights: LossWeights::default(), spec: None }
    }
}

/// Fits a learner, by name, as a recognizer.
pub fn fit_recognizer(
    learner: &str,
    settings: &Settings,
    corpus: &LabelledCorpus<'_>,
    options: &FitOptions,
    watch: &mut dyn Watch,
) -> Result<Fit<Box<dyn Recognizer>>, FitError> {
    let role = played(learner, Role::Recognizer, |learner| learner.recognizer.as_ref())?;
    let model = RecognizerModel::new((role.build)(settings, corpus.task))?;
    let spec = corpus.spec.unwrap_or_else(|| recognition_spec(settings));
    if options.double {
        trained::<f64>(model, corpus, spec, options, watch)
    } else {
        trained::<f32>(model, corpus, spec, options, watch)
    }
}

fn trained<R: Real>(
    model: RecognizerModel,
    corpus: &LabelledCorpus<'_>,
    spec: TrainSpec,
    options: &FitOptions,
    watch: &mut dyn Watch,
) -> Result<Fit<Box<dyn Recognizer>>, FitError> {
    let objective = Recognition::new(&model, corpus.training, corpus.validation, corpus.weights);
    let training =
        Training { objective: &objective, spec, seed: options.seed, curve: Curve::Whole, start: None };
    let TrainedParams { best, curve, outcome, .. } = training.run::<R>(watch)?;
    let parameters = Some(model.layout().count());
    // FLaRe evaluates the checkpoint with the lowest validation loss.
    let trained = Trained::new(model, best);
    let saved = options.save.then(|| trained.save());
    Ok(Fit { model: Box::new(trained), outcome, parameters, curve, saved })
}
