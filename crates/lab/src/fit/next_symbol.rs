//! Fitting next-symbol models: networks by gradient descent, others by a search, baselines by counting or from the grammar.

use wug_dataset::Seed;
use wug_language::Reading;
use wug_learner::baseline::Grammar;
use wug_learner::interface::{AnyNextSymbol, Noisy, Sets, Trained};
use wug_learner::kernel::Real;
use wug_learner::model::{LanguageModel, LanguageModelSpec};
use wug_learner::registry::{
    Found, Knowledge, NextSymbolLoss, NextSymbolRole, Role, SearchRole, SearchTask, Settings, find, keys,
    train_spec, trains_output,
};
use wug_learner::train::{
    Average, BatchSize, Boundaries, LanguageModeling, NextSetString, NextSets, TrainSpec, WeightedString,
};
use wug_score::{Ending, Point};

use super::TrainingSummary;
use crate::LabError;
use crate::context::RunContext;
use crate::foreign::{self, Examples, ForeignNextSymbol, ForeignPlan, Task};
use crate::keep::{keep_found, keep_model};
use crate::names::Precision;
use crate::training::{TrainingOutcome, train};

/// The number of points of a curve, about.
const POINTS: usize = 100;

/// What a next-symbol model is fitted to.
pub(crate) struct Corpus<'a> {
    /// The training strings; with `true`, equal ones are merged into one with a weight.
    pub(crate) strings: &'a dyn Fn(bool) -> Vec<TrainingString>,
    /// Validation strings: the parameters with the lowest loss on them are kept. Those after the last epoch, if there are none.
    pub(crate) validation: &'a dyn Fn() -> Vec<TrainingString>,
    /// How often to validate in an epoch.
    pub(crate) validations: usize,
    /// The grammar of the language.
    pub(crate) grammar: Grammar<'a>,
    /// The number of symbols, the boundary (symbol 0) included.
    pub(crate) vocabulary: usize,
    /// As published, or corrected.
    pub(crate) reading: Reading,
    /// The number of parameters that the run is about, if it is about one.
    pub(crate) size: Option<usize>,
}

pub(crate) struct TrainingString {
    /// The symbols, between boundaries.
    pub(crate) symbols: Vec<u32>,
    /// The next-symbol set of each prefix, one bit per symbol, the boundary first.
    pub(crate) next: Vec<u64>,
    /// How often it occurs.
    pub(crate) weight: f64,
}

pub(crate) struct Fitted<'a> {
    pub(crate) model: AnyNextSymbol<'a>,
    /// The same without dropout, where it stays on.
    pub(crate) clean: Option<AnyNextSymbol<'a>>,
    pub(crate) summary: TrainingSummary,
}

/// Fits a learner, by name, with some settings to a corpus.
pub(crate) fn fit<'a>(
    name: &str,
    settings: &Settings,
    corpus: &Corpus<'a>,
    precision: Precision,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<Fitted<'a>, LabError> {
    if let Some(plan) = ForeignPlan::of(settings) {
        return fit_foreign(name, &plan, settings, corpus, seed, context);
    }
    let learner = find(name, Role::NextSymbol).map_err(LabError::usage)?;
    let role = learner.next_symbol.as_ref();
    let role = role.ok_or_else(|| LabError::Usage(format!("`{name}` is no next-symbol model")))?;
    match role {
        NextSymbolRole::Baseline(build) => {
            let strings = (corpus.strings)(false).into_iter().map(|string| string.symbols).collect();
            let (vocabulary, grammar) = (corpus.vocabulary, corpus.grammar);
            let known = Knowledge { vocabulary, strings, grammar, seed };
            let summary = TrainingSummary {
                ending: Ending::Finished,
                parameters: None,
                curve: Vec::new(),
                found: None,
            };
            Ok(Fitted { model: build(&known), clean: None, summary })
        }
        NextSymbolRole::Network(network) => {
            let spec = (network.build)(settings, corpus.vocabulary);
            match precision {
                Precision::F32 => trained_network::<f32>(spec, settings, corpus, seed, context),
                Precision::F64 => trained_network::<f64>(spec, settings, corpus, seed, context),
            }
        }
        NextSymbolRole::Search(role) => searched(role, settings, corpus, precision, seed, context),
    }
}

/// Runs a search to its end.
fn searched<'a>(
    role: &SearchRole,
    settings: &Settings,
    corpus: &Corpus<'a>,
    precision: Precision,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<Fitted<'a>, LabError> {
    let strings = (corpus.strings)(true).into_iter().map(|string| (string.symbols, string.weight)).collect();
    let task = SearchTask { vocabulary: corpus.vocabulary, strings, seed, reading: corpus.reading };
    let resumed = context.load_checkpoint().and_then(|bytes| (role.resume)(settings, &task, &bytes));
    // If the checkpoint cannot be read, the search starts from the beginning.
    let mut search = resumed.unwrap_or_else(|| (role.begin)(settings, &task));
    let stopped = loop {
        let progress = search.progress();
        if progress.over {
            break progress.stopped;
        }
        search.advance();
        let progress = search.progress();
        context.epoch(progress.step, progress.best);
        if progress.over {
            context.trained(&mut || search.save())?;
        } else {
            context.checkpoint(&mut || search.save())?;
        }
    };
    let point = |(step, evaluations, best)| Point {
        epoch: step,
        steps: evaluations,
        training: Some(best),
        validation: None,
    };
    let curve = search.curve().into_iter().map(point).collect();
    let Found { model, parameters, file } = search.found(precision == Precision::F32);
    keep_found(context, &file)?;
    let ending = if stopped { Ending::Stopped } else { Ending::Finished };
    let summary = TrainingSummary { ending, parameters: Some(parameters), curve, found: Some(file) };
    Ok(Fitted { model, clean: None, summary })
}

fn fit_foreign<'a>(
    name: &str,
    plan: &ForeignPlan,
    settings: &Settings,
    corpus: &Corpus<'a>,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<Fitted<'a>, LabError> {
    let examples = |strings: Vec<TrainingString>| Examples {
        strings: strings.into_iter().map(|string| string.symbols).collect(),
        ..Examples::default()
    };
    let training = examples((corpus.strings)(false));
    let validation = examples((corpus.validation)());
    let alphabet = corpus.grammar.alphabet().tokens();
    let mut task = Task::new(Role::NextSymbol, seed, settings, alphabet, training);
    task.validation = (!validation.strings.is_empty()).then_some(validation);
    task.budget.parameters = corpus.size;
    let (conversation, summary) = foreign::fit(name, plan, &mut task, context)?;
    let model = ForeignNextSymbol { conversation, vocabulary: corpus.vocabulary };
    Ok(Fitted { model: AnyNextSymbol::new(model), clean: None, summary })
}

fn trained_network<'a, R: Real>(
    spec: LanguageModelSpec,
    settings: &Settings,
    corpus: &Corpus<'a>,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<Fitted<'a>, LabError> {
    let model = LanguageModel::new(spec).map_err(LabError::usage)?;
    let validation = (corpus.validation)();
    let TrainingOutcome { best, last, curve, mut ending, .. } =
        trained::<R>(&model, settings, corpus, &validation, seed, context)?;
    // The update after the last finite loss may be the one that diverged.
    let diverged = last.iter().any(|x| !x.wide().is_finite());
    if diverged && ending == Ending::Finished {
        ending = Ending::Diverged { step: curve.last().map_or(0, |point| point.steps) };
    }
    let params = if ending == Ending::Finished && validation.is_empty() { last } else { best };
    let summary = TrainingSummary { ending, parameters: Some(model.layout().count()), curve, found: None };
    let model = match settings.find(&keys::TEST_ROWS) {
        Some(rows) => model.with_memory_rows(rows).map_err(LabError::usage)?,
        None => model,
    };
    let trained = Trained::new(model, params);
    keep_model(context, || trained.save())?;
    let (model, clean) = match NextSymbolLoss::of(settings) {
        NextSymbolLoss::CrossEntropy if settings.get(&keys::SCORING_DROPOUT) => {
            let clean = Trained::new(trained.model().clone(), trained.params().to_vec());
            let noisy = Noisy::new(trained, seed.derive("score/dropout"));
            (AnyNextSymbol::new(noisy), Some(AnyNextSymbol::new(clean)))
        }
        NextSymbolLoss::CrossEntropy => (AnyNextSymbol::new(trained), None),
        NextSymbolLoss::SigmoidMse => (AnyNextSymbol::new(Sets(trained)), None),
    };
    Ok(Fitted { model, clean, summary })
}

/// Whether equal strings may be merged into one with a weight. In one batch of all strings the loss is the same; only a
/// temperature and its noise depend on the number of strings.
fn merges(settings: &Settings) -> bool {
    train_spec(settings).batch == BatchSize::All && !settings.has(keys::TEMPERATURE_START.name())
}

fn trained<R: Real>(
    model: &LanguageModel,
    settings: &Settings,
    corpus: &Corpus<'_>,
    validation: &[TrainingString],
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<TrainingOutcome<R>, LabError> {
    let training = (corpus.strings)(merges(settings));
    let spec = TrainSpec { validations: corpus.validations, ..train_spec(settings) };
    let stride = spec.max_epochs.div_ceil(POINTS);
    match NextSymbolLoss::of(settings) {
        NextSymbolLoss::CrossEntropy => {
            let ends = Boundaries { start: Some(0), end: Some(0) };
            let (training, validation) = (weighted(&training), weighted(validation));
            let objective = LanguageModeling::new(model, &training, &validation, ends, Average::Symbols)
                .map_err(LabError::usage)?;
            let objective =
                if trains_output(settings) { objective } else { objective.with_untrained_output() };
            train(&objective, spec, seed, stride, context)
        }
        NextSymbolLoss::SigmoidMse => {
            let (training, validation) = (with_sets(&training), with_sets(validation));
            let objective = NextSets::new(model, &training, &validation).map_err(LabError::usage)?;
            let objective =
                if trains_output(settings) { objective } else { objective.with_untrained_output() };
            train(&objective, spec, seed, stride, context)
        }
    }
}

/// Strings without their boundaries, which are predicted or given.
fn weighted(strings: &[TrainingString]) -> Vec<WeightedString<'_>> {
    let inner = |string: &'_ TrainingString| 1..string.symbols.len() - 1;
    let all = strings.iter();
    all.map(|s| WeightedString { weight: s.weight, ..WeightedString::new(&s.symbols[inner(s)]) }).collect()
}

/// Strings with their next-symbol sets.
fn with_sets(strings: &[TrainingString]) -> Vec<NextSetString<'_>> {
    let all = strings.iter();
    all.map(|s| {
        let symbols = &s.symbols[..s.symbols.len() - 1];
        NextSetString { symbols, next: &s.next, weight: s.weight }
    })
    .collect()
}
