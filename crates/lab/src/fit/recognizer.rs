//! Fitting recognizers.

use wug_dataset::Seed;
use wug_language::Alphabet;
use wug_learner::fit::{LabelledCorpus, fit_recognizer};
use wug_learner::interface::Recognizer;
use wug_learner::model::LabelledString;
use wug_learner::registry::Role;

use wug_score::plan::{PlannedLearner, Precision};

use super::{TrainingSummary, Watched, options, told};
use crate::LabError;
use crate::context::RunContext;
use crate::foreign::{self, Examples, ForeignRecognizer, Task};

/// What a recognizer is fitted to.
pub(crate) struct RecognizerCorpus<'a> {
    pub(crate) alphabet: &'a Alphabet,
    pub(crate) strings: LabelledCorpus<'a>,
    /// The number of parameters that the run is about, if it is about one.
    pub(crate) size: Option<usize>,
}

pub(crate) struct FittedRecognizer {
    pub(crate) model: Box<dyn Recognizer>,
    pub(crate) summary: TrainingSummary,
}

/// Fits a learner, by name, with some settings to a corpus.
pub(crate) fn fit(
    learner: &PlannedLearner,
    corpus: &RecognizerCorpus<'_>,
    precision: Precision,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<FittedRecognizer, LabError> {
    let LabelledCorpus { training, validation, .. } = corpus.strings;
    let PlannedLearner { name, settings, external, .. } = learner;
    if let Some(external) = external {
        let mut task =
            Task::new(Role::Recognizer, seed, settings, corpus.alphabet.tokens(), examples(training));
        task.validation = Some(examples(validation));
        task.budget.parameters = corpus.size;
        let (conversation, summary) = foreign::fit(name, external, &mut task, context)?;
        return Ok(FittedRecognizer { model: Box::new(ForeignRecognizer(conversation)), summary });
    }
    let options = options(precision, seed, context);
    let fit = fit_recognizer(name, settings, &corpus.strings, &options, &mut Watched(context))?;
    let (model, summary) = told(fit, context)?;
    Ok(FittedRecognizer { model, summary })
}

fn examples(strings: &[LabelledString<'_>]) -> Examples {
    Examples {
        strings: strings.iter().map(|string| string.string.to_vec()).collect(),
        labels: Some(strings.iter().map(|string| string.label).collect()),
        outputs: None,
    }
}
