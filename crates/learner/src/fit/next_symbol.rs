//! Next-symbol models: networks by gradient descent, others by a search, baselines by counting or from the grammar.

use std::collections::BTreeMap;

use serde_json::Value;
use wug_dataset::ids;
use wug_language::{Language, Reading, Symbol};

use super::training::{Curve, TrainedParams, Training};
use super::{EpochLoss, Fit, FitError, FitOptions, Watch, checked, played};
use crate::baseline::Grammar;
use crate::interface::{AnyNextSymbol, Noisy, Sets, Trained};
use crate::kernel::Real;
use crate::model::{LanguageModel, LanguageModelSpec};
use crate::registry::{
    Found, Knowledge, NextSymbolLoss, NextSymbolRole, Role, SearchRole, SearchTask, Settings, keys,
    train_spec, trains_output,
};
use crate::train::{
    Average, BatchSize, Boundaries, LanguageModeling, NextSetString, NextSets, TrainOutcome, TrainSpec,
    WeightedString,
};

/// A string that a next-symbol model is trained on.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingString {
    /// Its ids, between boundaries.
    pub symbols: Vec<u32>,
    /// The next-symbol set of each prefix, as bits; for the loss that needs them.
    pub next: Vec<u64>,
    /// How often it occurs.
    pub weight: f64,
}

impl TrainingString {
    pub fn new(word: &[Symbol]) -> Self {
        Self { symbols: ids::between_boundaries(word), next: Vec::new(), weight: 1.0 }
    }

    /// The string without its boundaries, which are predicted or given.
    fn weighted(&self) -> WeightedString<'_> {
        let inner = &self.symbols[1..self.symbols.len() - 1];
        WeightedString { weight: self.weight, ..WeightedString::new(inner) }
    }

    fn with_sets(&self) -> NextSetString<'_> {
        // After the end nothing is predicted.
        let symbols = &self.symbols[..self.symbols.len() - 1];
        NextSetString { symbols, next: &self.next, weight: self.weight }
    }
}

/// What a next-symbol model is fitted to.
#[derive(Clone, Copy, Debug)]
pub struct StringCorpus<'a> {
    pub training: &'a [TrainingString],
    /// The parameters with the lowest loss on these are kept. Those after the last epoch, if there are none.
    pub validation: &'a [TrainingString],
    /// How often to validate in an epoch.
    pub validations: usize,
    /// Whether equal training strings are merged into one with a weight, where that changes only the order in which losses are
    /// added up.
    pub merges: bool,
    /// The grammar of the language, which gives its alphabet, and which some baselines know.
    pub grammar: Grammar<'a>,
    /// As published, or corrected.
    pub reading: Reading,
}

impl<'a> StringCorpus<'a> {
    /// Strings of a language.
    pub fn new(language: &'a dyn Language, training: &'a [TrainingString]) -> Self {
        let (grammar, reading) = (Grammar::of(language), Reading::Corrected);
        Self { training, validation: &[], validations: 1, merges: true, grammar, reading }
    }

    /// The number of ids.
    fn vocabulary(&self) -> usize {
        self.grammar.alphabet().len() + 1
    }

    /// The training strings: the distinct ones, shortest first, if they are merged.
    fn strings(&self, merged: bool) -> Vec<TrainingString> {
        if !(merged && self.merges) {
            return self.training.to_vec();
        }
        let mut distinct: BTreeMap<(usize, &[u32]), TrainingString> = BTreeMap::new();
        for string in self.training {
            // A sorted map: the order of sums, hence the bits, must not depend on the order of the corpus.
            let known = distinct.entry((string.symbols.len(), &string.symbols));
            let known = known.or_insert_with(|| TrainingString { weight: 0.0, ..string.clone() });
            known.weight += string.weight;
        }
        distinct.into_values().collect()
    }
}

/// A fitted next-symbol model.
#[derive(Debug)]
pub struct FittedStrings<'a> {
    pub fit: Fit<AnyNextSymbol<'a>>,
    /// The same model without dropout, where it stays on.
    pub clean: Option<AnyNextSymbol<'a>>,
    /// What a search found, as a file has it.
    pub found: Option<Value>,
}

/// Fits a learner, by name, as a next-symbol model.
///
/// ```
/// use wug_dataset::{Seed, language::registry};
/// use wug_learner::fit::{FitOptions, StringCorpus, TrainingString, fit_next_symbol, settings};
/// use wug_learner::{interface::NextSymbol, registry::Role};
/// let language = registry::build("an-bn").unwrap();
/// let strings: Vec<_> = (1..6).flat_map(|n| language.members(2 * n)).map(|word| TrainingString::new(&word)).collect();
/// let settings = settings("lstm", Role::NextSymbol, "hidden=4,epochs=200").unwrap();
/// let corpus = StringCorpus::new(&*language, &strings);
/// let mut lstm = fit_next_symbol("lstm", &settings, &corpus, &FitOptions::seeded(Seed::new(1)), &mut ()).unwrap();
/// assert!(lstm.fit.curve.last().unwrap().training < lstm.fit.curve[0].training);
/// // After `#aabb`, the end: id 0.
/// let log_probs = lstm.fit.model.log_probs(&[0, 1, 1, 2, 2, 0]).unwrap();
/// assert_eq!(log_probs.len(), 6);
/// ```
pub fn fit_next_symbol<'a>(
    learner: &str,
    settings: &Settings,
    corpus: &StringCorpus<'a>,
    options: &FitOptions,
    watch: &mut dyn Watch,
) -> Result<FittedStrings<'a>, FitError> {
    let role = played(learner, Role::NextSymbol, |learner| learner.next_symbol.as_ref())?;
    match role {
        NextSymbolRole::Baseline(build) => {
            let strings = corpus.training.iter().map(|string| string.symbols.clone()).collect();
            let (vocabulary, grammar) = (corpus.vocabulary(), corpus.grammar);
            let model = build(&Knowledge { vocabulary, strings, grammar, seed: options.seed });
            let outcome = TrainOutcome::Finished;
            let fit = Fit { model, outcome, parameters: None, curve: Vec::new(), saved: None };
            Ok(FittedStrings { fit, clean: None, found: None })
        }
        NextSymbolRole::Network(network) => {
            let spec = (network.build)(settings, corpus.vocabulary());
            if options.double {
                network_on::<f64>(spec, settings, corpus, options, watch)
            } else {
                network_on::<f32>(spec, settings, corpus, options, watch)
            }
        }
        NextSymbolRole::Search(role) => searched(role, settings, corpus, options, watch),
    }
}

/// Runs a search to its end.
fn searched<'a>(
    role: &SearchRole,
    settings: &Settings,
    corpus: &StringCorpus<'a>,
    options: &FitOptions,
    watch: &mut dyn Watch,
) -> Result<FittedStrings<'a>, FitError> {
    let strings = corpus.strings(true).into_iter().map(|string| (string.symbols, string.weight)).collect();
    let task =
        SearchTask { vocabulary: corpus.vocabulary(), strings, seed: options.seed, reading: corpus.reading };
    let resumed = watch.load_checkpoint().and_then(|bytes| (role.resume)(settings, &task, &bytes));
    let mut search = resumed.unwrap_or_else(|| (role.begin)(settings, &task));
    let stopped = loop {
        let progress = search.progress();
        if progress.over {
            break progress.stopped;
        }
        search.advance();
        let progress = search.progress();
        watch.epoch(progress.step, progress.best);
        if progress.over {
            watch.trained(&mut || search.save())?;
        } else {
            watch.checkpoint(&mut || search.save())?;
        }
    };
    let point = |(step, evaluations, best)| EpochLoss {
        epoch: step,
        steps: evaluations,
        training: Some(best),
        validation: None,
    };
    let curve = search.curve().into_iter().map(point).collect();
    let Found { model, parameters, file } = search.found(!options.double);
    let outcome = if stopped { TrainOutcome::Stopped } else { TrainOutcome::Finished };
    let fit = Fit { model, outcome, parameters: Some(parameters), curve, saved: None };
    Ok(FittedStrings { fit, clean: None, found: Some(file) })
}

fn network_on<'a, R: Real>(
    spec: LanguageModelSpec,
    settings: &Settings,
    corpus: &StringCorpus<'a>,
    options: &FitOptions,
    watch: &mut dyn Watch,
) -> Result<FittedStrings<'a>, FitError> {
    let model = LanguageModel::new(spec)?;
    let TrainedParams { best, last, curve, outcome, .. } =
        trained::<R>(&model, settings, corpus, options, watch)?;
    let outcome = checked(outcome, &last, &curve);
    // Lan et al. evaluate the last parameters. Those of a diverged run are useless, so its best ones count.
    let params = if outcome == TrainOutcome::Finished && corpus.validation.is_empty() { last } else { best };
    let parameters = Some(model.layout().count());
    let model = match settings.find(&keys::TEST_ROWS) {
        Some(rows) => model.with_memory_rows(rows)?,
        None => model,
    };
    let trained = Trained::new(model, params);
    let saved = options.save.then(|| trained.save());
    let (model, clean) = match NextSymbolLoss::of(settings) {
        NextSymbolLoss::CrossEntropy if settings.get(&keys::SCORING_DROPOUT) => {
            // TSE's released code scores in training mode. The clean copy tells what that costs.
            let clean = Trained::new(trained.model().clone(), trained.params().to_vec());
            let noisy = Noisy::new(trained, options.seed.derive("score/dropout"));
            (AnyNextSymbol::new(noisy), Some(AnyNextSymbol::new(clean)))
        }
        NextSymbolLoss::CrossEntropy => (AnyNextSymbol::new(trained), None),
        NextSymbolLoss::SigmoidMse => (AnyNextSymbol::new(Sets(trained)), None),
    };
    let fit = Fit { model, outcome, parameters, curve, saved };
    Ok(FittedStrings { fit, clean, found: None })
}

/// Whether equal strings may be merged into one with a weight. In one batch of all strings the loss is the same; only a
/// temperature and its noise depend on the number of strings.
fn may_merge(settings: &Settings) -> bool {
    train_spec(settings).batch == BatchSize::All && !settings.has(keys::TEMPERATURE_START.name())
}

fn trained<R: Real>(
    model: &LanguageModel,
    settings: &Settings,
    corpus: &StringCorpus<'_>,
    options: &FitOptions,
    watch: &mut dyn Watch,
) -> Result<TrainedParams<R>, FitError> {
    let (training, validation) = (corpus.strings(may_merge(settings)), corpus.validation);
    let spec = TrainSpec { validations: corpus.validations, ..train_spec(settings) };
    let (seed, curve) = (options.seed, Curve::Thinned);
    match NextSymbolLoss::of(settings) {
        NextSymbolLoss::CrossEntropy => {
            // BLISS has one symbol for both: it is read first and predicted last.
            let ends = Boundaries { start: Some(ids::BOUNDARY), end: Some(ids::BOUNDARY) };
            let [training, validation] = [&training[..], validation]
                .map(|strings| strings.iter().map(TrainingString::weighted).collect::<Vec<_>>());
            let objective = LanguageModeling::new(model, &training, &validation, ends, Average::Symbols)?;
            let objective =
                if trains_output(settings) { objective } else { objective.with_untrained_output() };
            Training { objective: &objective, spec, seed, curve, start: None }.run(watch)
        }
        NextSymbolLoss::SigmoidMse => {
            let [training, validation] = [&training[..], validation]
                .map(|strings| strings.iter().map(TrainingString::with_sets).collect::<Vec<_>>());
            let objective = NextSets::new(model, &training, &validation)?;
            let objective =
                if trains_output(settings) { objective } else { objective.with_untrained_output() };
            Training { objective: &objective, spec, seed, curve, start: None }.run(watch)
        }
    }
}
