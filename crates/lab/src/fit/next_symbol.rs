//! Fitting next-symbol models: networks by gradient descent, baselines from what they are given.

use wug_dataset::Seed;
use wug_learner::baseline::Grammar;
use wug_learner::interface::{AnyNextSymbol, Sets, Trained};
use wug_learner::kernel::Real;
use wug_learner::model::{LanguageModel, LanguageModelSpec};
use wug_learner::registry::{Knowledge, Learner, NextSymbolBuild, NextSymbolLoss, Settings, train_spec};
use wug_learner::train::{
    Average, BatchSize, Boundaries, LanguageModeling, NextSetString, NextSets, WeightedString,
};
use wug_score::Ending;

use super::TrainingSummary;
use crate::LabError;
use crate::context::RunContext;
use crate::names::Precision;
use crate::training::{Learned, train};

/// Curves have about so many points.
const POINTS: usize = 100;

/// What a next-symbol model is fitted to.
pub(crate) struct Corpus<'a> {
    /// The training strings; if asked, equal ones as one with a weight.
    pub(crate) strings: &'a dyn Fn(bool) -> Vec<TrainingString>,
    /// The language that they are from.
    pub(crate) grammar: Grammar<'a>,
    /// Symbols, the boundary (symbol 0) included.
    pub(crate) vocabulary: usize,
}

/// A string to train on.
pub(crate) struct TrainingString {
    /// Between boundaries.
    pub(crate) symbols: Vec<u32>,
    /// What may follow each prefix, one bit per symbol, the boundary first.
    pub(crate) next: Vec<u64>,
    /// How often it is there.
    pub(crate) weight: f64,
}

/// A model and how it came to be.
pub(crate) struct Fitted<'a> {
    pub(crate) model: AnyNextSymbol<'a>,
    pub(crate) summary: TrainingSummary,
}

/// Fits a learner with some settings to a corpus.
pub(crate) fn fit<'a>(
    learner: &Learner,
    settings: &Settings,
    corpus: &Corpus<'a>,
    precision: Precision,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<Fitted<'a>, LabError> {
    let role = learner.next_symbol.as_ref();
    let role = role.ok_or_else(|| LabError::Usage(format!("`{}` is no next-symbol model", learner.name)))?;
    match role.build {
        NextSymbolBuild::Baseline(build) => {
            let strings = (corpus.strings)(false).into_iter().map(|string| string.symbols).collect();
            let known = Knowledge { vocabulary: corpus.vocabulary, strings, grammar: corpus.grammar };
            let summary = TrainingSummary { ending: Ending::Finished, parameters: None, curve: Vec::new() };
            Ok(Fitted { model: build(&known), summary })
        }
        NextSymbolBuild::Network(build) => {
            let spec = build(settings, corpus.vocabulary);
            match precision {
                Precision::F32 => network::<f32>(spec, settings, corpus, seed, context),
                Precision::F64 => network::<f64>(spec, settings, corpus, seed, context),
            }
        }
    }
}

fn network<'a, R: Real>(
    spec: LanguageModelSpec,
    settings: &Settings,
    corpus: &Corpus<'a>,
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<Fitted<'a>, LabError> {
    let model = LanguageModel::new(spec).map_err(LabError::usage)?;
    let Learned { best, last, curve, mut ending } =
        trained::<R>(&model, settings, &(corpus.strings)(merges(settings)), seed, context)?;
    // The update after the last finite loss may be the one that diverged.
    let diverged = last.iter().any(|x| !x.wide().is_finite());
    if diverged && ending == Ending::Finished {
        ending = Ending::Diverged { step: curve.last().map_or(0, |point| point.steps) };
    }
    let params = if ending == Ending::Finished { last } else { best };
    let summary = TrainingSummary { ending, parameters: Some(model.layout().count()), curve };
    let model = match settings.count("test_memory") {
        Some(rows) => model.with_memory_rows(rows).map_err(LabError::usage)?,
        None => model,
    };
    let trained = Trained::new(model, params);
    let model = match NextSymbolLoss::of(settings) {
        NextSymbolLoss::CrossEntropy => AnyNextSymbol::new(trained),
        NextSymbolLoss::SigmoidMse => AnyNextSymbol::new(Sets(trained)),
    };
    Ok(Fitted { model, summary })
}

/// Whether equal strings may stand as one with a weight. The sum is the same if all are in one batch; only what depends on the
/// number of strings, a temperature and its noise, would differ.
fn merges(settings: &Settings) -> bool {
    train_spec(settings).batch == BatchSize::All && settings.real("temperature.start").is_none()
}

fn trained<R: Real>(
    model: &LanguageModel,
    settings: &Settings,
    strings: &[TrainingString],
    seed: Seed,
    context: &mut dyn RunContext,
) -> Result<Learned<R>, LabError> {
    let spec = train_spec(settings);
    let stride = spec.max_epochs.div_ceil(POINTS);
    match NextSymbolLoss::of(settings) {
        NextSymbolLoss::CrossEntropy => {
            let inner = |string: &'_ TrainingString| 1..string.symbols.len() - 1;
            let texts: Vec<WeightedString<'_>> = strings
                .iter()
                .map(|string| WeightedString {
                    weight: string.weight,
                    ..WeightedString::new(&string.symbols[inner(string)])
                })
                .collect();
            let ends = Boundaries { start: Some(0), end: Some(0) };
            let objective =
                LanguageModeling::new(model, &texts, &[], ends, Average::Symbols).map_err(LabError::usage)?;
            train(&objective, spec, seed, stride, context)
        }
        NextSymbolLoss::SigmoidMse => {
            let texts: Vec<NextSetString<'_>> = strings
                .iter()
                .map(|string| NextSetString {
                    symbols: &string.symbols[..string.symbols.len() - 1],
                    next: &string.next,
                    weight: string.weight,
                })
                .collect();
            let objective = NextSets::new(model, &texts, &[]).map_err(LabError::usage)?;
            train(&objective, spec, seed, stride, context)
        }
    }
}
