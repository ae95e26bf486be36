//! Fitting next-symbol models.

use wug_dataset::Seed;
use wug_learner::fit::{FittedStrings, StringCorpus, TrainingString, fit_next_symbol};
use wug_learner::interface::AnyNextSymbol;
use wug_learner::registry::Role;

use wug_score::plan::{External, PlannedLearner, Precision};

use super::{TrainingSummary, Watched, options, told};
use crate::LabError;
use crate::context::RunContext;
use crate::foreign::{self, Examples, ForeignNextSymbol, Task};
use crate::keep::keep_found;

/// What a next-symbol model is fitted to.
pub(crate) struct NextSymbolCorpus<'a> {
    pub(crate) strings: StringCorpus<'a>,
    /// The number of parameters that the run is about, if it is about one.
    pub(crate) size: Option<usize>,
}

pub(crate) struct FittedNextSymbol<'a> {
    pub(crate) model: AnyNextSymbol<'a>,
    /// The same without dropout, where it stays on.
    pub(crate) clean: Option<AnyNextSymbol<'a>>,
    pub(crate) summary: TrainingSummary,
}

/// Fits a learner, by name, with some settings to a corpus.
pub(crate) fn fit<'a>(
    learner: &PlannedLearner,
    corpus: &NextSymbolCorpus<'a>,
    precision: Precision,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<FittedNextSymbol<'a>, LabError> {
    let PlannedLearner { name, settings, external, .. } = learner;
    if let Some(external) = external {
        return fit_foreign(learner, external, corpus, seed, context);
    }
    let options = options(precision, seed, context);
    let FittedStrings { fit, clean, found } =
        fit_next_symbol(name, settings, &corpus.strings, &options, &mut Watched(context))?;
    if let Some(file) = &found {
        keep_found(context, file)?;
    }
    let (model, summary) = told(fit, context)?;
    Ok(FittedNextSymbol { model, clean, summary: TrainingSummary { found, ..summary } })
}

fn fit_foreign<'a>(
    learner: &PlannedLearner,
    external: &External,
    corpus: &NextSymbolCorpus<'a>,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<FittedNextSymbol<'a>, LabError> {
    let examples = |strings: &[TrainingString]| Examples {
        strings: strings.iter().map(|string| string.symbols.clone()).collect(),
        ..Examples::default()
    };
    let StringCorpus { training, validation, grammar, .. } = corpus.strings;
    let mut task =
        Task::new(Role::NextSymbol, seed, &learner.settings, grammar.alphabet().tokens(), examples(training));
    task.validation = (!validation.is_empty()).then(|| examples(validation));
    task.budget.parameters = corpus.size;
    let vocabulary = task.vocabulary;
    let (conversation, summary) = foreign::fit(&learner.name, external, &mut task, context)?;
    let model = AnyNextSymbol::new(ForeignNextSymbol { conversation, vocabulary });
    // Dropout of a foreign learner is its own affair.
    Ok(FittedNextSymbol { model, clean: None, summary })
}
