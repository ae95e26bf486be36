//! Fitting next-symbol models.

use wug_dataset::Seed;
use wug_learner::fit::{FittedStrings, StringCorpus, TrainingString, fit_next_symbol};
use wug_learner::interface::AnyNextSymbol;
use wug_learner::registry::{Role, Settings};

use super::{TrainingSummary, Watched, options, told};
use crate::LabError;
use crate::context::RunContext;
use crate::foreign::{self, Examples, ForeignNextSymbol, ForeignPlan, Task};
use crate::keep::keep_found;
use crate::names::Precision;

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
    name: &str,
    settings: &Settings,
    corpus: &NextSymbolCorpus<'a>,
    precision: Precision,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<FittedNextSymbol<'a>, LabError> {
    if let Some(plan) = ForeignPlan::of(settings) {
        return fit_foreign(name, &plan, settings, corpus, seed, context);
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
    name: &str,
    plan: &ForeignPlan,
    settings: &Settings,
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
        Task::new(Role::NextSymbol, seed, settings, grammar.alphabet().tokens(), examples(training));
    task.validation = (!validation.is_empty()).then(|| examples(validation));
    task.budget.parameters = corpus.size;
    let vocabulary = task.vocabulary;
    let (conversation, summary) = foreign::fit(name, plan, &mut task, context)?;
    let model = AnyNextSymbol::new(ForeignNextSymbol { conversation, vocabulary });
    Ok(FittedNextSymbol { model, clean: None, summary })
}
