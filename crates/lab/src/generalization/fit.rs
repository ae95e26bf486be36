//! From a plan to an outcome: fit the learner, evaluate it step by step.

use serde_json::{Value, json};
use wug_dataset::corpus;
use wug_learner::baseline::Grammar;
use wug_learner::registry::NextSymbolLoss;

use super::data::{Data, between_boundaries};
use super::measure::{evaluated, training_scores};
use super::{Generalization, GeneralizationPlan};
use crate::LabError;
use crate::context::RunContext;
use crate::fit::next_symbol::{Corpus, Fitted, TrainingString, fit as fit_learner};
use crate::keep::Predictions;
use crate::protocol::{Outcome, Protocol as _};

pub(super) fn fit(
    plan: &GeneralizationPlan,
    data: &Data,
    context: &mut dyn RunContext,
) -> Result<Outcome, LabError> {
    let grammar = match data.released() {
        Some(released) => Grammar::published(&*data.language, released, plan.data.prior),
        None => Grammar::of(&*data.language),
    };
    let string = |(word, count): (&wug_language::Word, usize)| TrainingString {
        symbols: between_boundaries(word),
        next: next_sets(data, word),
        weight: count as f64,
    };
    let corpus = Corpus {
        strings: &|merged: bool| {
            if merged {
                data.distinct().into_iter().map(string).collect()
            } else {
                data.corpus.iter().map(|word| string((word, 1))).collect()
            }
        },
        validation: &Vec::new,
        validations: 1,
        grammar,
        vocabulary: data.language.alphabet().len() + 1,
        reading: plan.reading,
        size: plan.learner.size,
    };
    let Fitted { mut model, summary, .. } =
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

/// The next-symbol set of each prefix, one bit per symbol of the vocabulary, the end first.
fn next_sets(data: &Data, word: &wug_language::Word) -> Vec<u64> {
    let sets = data.language.next_sets(word);
    let bits = |set: &wug_language::NextSet| {
        set.symbols().fold(u64::from(set.end()), |bits, symbol| bits | 1 << (symbol.index() + 1))
    };
    sets.iter().map(bits).collect()
}
