//! From a plan to an outcome: fit the learner, ask it which string of each pair it prefers.

use serde_json::Value;
use wug_language::Reading;
use wug_learner::baseline::Grammar;
use wug_learner::fit::{StringCorpus, TrainingString};
use wug_learner::registry::TRUE_GRAMMAR;
use wug_score::plan::Precision;

use super::data::Data;
use super::measure::{Scorer, TrueGrammar, measured};
use super::{Pairs, PairsPlan};
use crate::LabError;
use crate::context::RunContext;
use crate::fit::next_symbol::{FittedNextSymbol, NextSymbolCorpus, fit as fit_learner};
use crate::keep::Predictions;
use crate::protocol::{Outcome, Protocol as _};

pub(super) fn fit(plan: &PairsPlan, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
    // The loss is the cross-entropy, which needs no next-symbol sets.
    let training: Vec<TrainingString> = data.training.iter().map(|word| TrainingString::new(word)).collect();
    let validation: Vec<TrainingString> =
        data.validation.words.iter().map(|word| TrainingString::new(word)).collect();
    let strings = StringCorpus {
        training: &training,
        validation: &validation,
        validations: plan.measure.validations,
        merges: false,
        grammar: Grammar::of(&*data.language),
        reading: plan.reading,
    };
    let corpus = NextSymbolCorpus { strings, size: plan.learner.size };
    let FittedNextSymbol { mut model, mut clean, summary } =
        fit_learner(&plan.learner, &corpus, plan.precision, Pairs::root(plan), context)?;
    // The released code takes the logarithm of a probability in single precision, which may be zero.
    let underflows = plan.reading == Reading::Published && plan.precision == Precision::F32;
    let mut predictions = Predictions::begin(context.keeps())?;
    let scores = if plan.learner.name == TRUE_GRAMMAR {
        measured(&mut TrueGrammar(data.laws()?), data, context, &mut predictions)?
    } else {
        let mut scorer = Scorer { model: &mut model, clean: clean.as_mut(), underflows };
        measured(&mut scorer, data, context, &mut predictions)?
    };
    predictions.finish(context)?;
    let mut facts = data.facts.clone();
    if let (Value::Object(facts), Some(found)) = (&mut facts, summary.found) {
        facts.insert("found".to_owned(), found);
    }
    Ok(Outcome {
        ending: summary.ending,
        parameters: summary.parameters,
        data: facts,
        curve: summary.curve,
        scores,
        hardest: Vec::new(),
        strings: Vec::new(),
    })
}
