//! From a plan to an outcome: fit the learner, evaluate it step by step.

use serde_json::{Value, json};
use wug_dataset::{corpus, ids};
use wug_language::Word;
use wug_learner::baseline::Grammar;
use wug_learner::fit::{StringCorpus, TrainingString};
use wug_learner::registry::NextSymbolLoss;

use super::data::Data;
use super::measure::{evaluated, training_scores};
use super::{Generalization, GeneralizationPlan};
use crate::LabError;
use crate::context::RunContext;
use crate::fit::next_symbol::{FittedNextSymbol, NextSymbolCorpus, fit as fit_learner};
use crate::keep::Predictions;
use crate::protocol::{Outcome, Protocol as _};

pub(super) fn fit(
    plan: &GeneralizationPlan,
    data: &Data,
    context: &mut dyn RunContext,
) -> Result<Outcome, LabError> {
    // The generator that drew the strings: its prior is the chance to stop in counting languages, to go on in Dyck's.
    let grammar = match data.released() {
        Some(released) => Grammar::published(&*data.language, released, plan.data.prior),
        None => Grammar::of(&*data.language),
    };
    let string = |word: &Word| {
        let next = data.language.next_sets(word).iter().map(ids::bits).collect();
        TrainingString { next, ..TrainingString::new(word) }
    };
    let training: Vec<TrainingString> = data.corpus.iter().map(string).collect();
    let strings = StringCorpus {
        training: &training,
        validation: &[],
        validations: 1,
        merges: true,
        grammar,
        reading: plan.reading,
    };
    let corpus = NextSymbolCorpus { strings, size: plan.learner.size };
    let FittedNextSymbol { mut model, summary, .. } =
        fit_learner(&plan.learner, &corpus, plan.precision, Generalization::root(plan), context)?;
    let mut predictions = Predictions::begin(context.keeps())?;
    let mut scores = Vec::new();
    // With the loss `sigmoid-mse`, outputs are sets of symbols, and strings have no probability.
    if NextSymbolLoss::of(&plan.learner.settings) == NextSymbolLoss::CrossEntropy {
        scores = training_scores(&mut model, data, context, &mut predictions)?;
    }
    let evaluated = evaluated(&mut model, plan, data, context, &mut predictions)?;
    predictions.finish(context)?;
    scores.extend(evaluated.scores);
    let mut facts = data.facts.clone();
    if let Value::Object(facts) = &mut facts {
        facts.insert("evaluated".to_owned(), evaluated.facts);
        if let Some(mut found) = summary.found {
            found["symbols"] = json!(corpus::vocabulary(data.language.alphabet()).tokens());
            facts.insert("found".to_owned(), found);
        }
    }
    Ok(Outcome {
        ending: summary.ending,
        parameters: summary.parameters,
        data: facts,
        curve: summary.curve,
        scores,
        hardest: evaluated.hardest,
        strings: Vec::new(),
    })
}
