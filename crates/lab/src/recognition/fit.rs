//! From a plan to an outcome: train the recognizer, evaluate it on every split.

use wug_learner::fit::LabelledCorpus;
use wug_learner::model::{LabelledString, LossWeights};
use wug_score::plan::AuxiliaryWeights;

use super::RecognitionPlan;
use super::data::{Data, EncodedSplit};
use super::measure::{Detail, hardest, measure};
use super::training::{recognizer_task, root, train_spec};
use crate::LabError;
use crate::context::RunContext;
use crate::fit::recognizer::{FittedRecognizer, RecognizerCorpus, fit as fit_learner};
use crate::keep::Predictions;
use crate::protocol::Outcome;

pub(super) fn fit(
    plan: &RecognitionPlan,
    data: &Data,
    context: &mut dyn RunContext,
) -> Result<Outcome, LabError> {
    let training = labelled(data.split("training")?, plan)?;
    let validation = labelled(data.split(plan.measure.validation.split())?, plan)?;
    let alphabet = data.language.alphabet();
    let AuxiliaryWeights { language_modeling, next_symbols } = plan.measure.weights;
    let strings = LabelledCorpus {
        training: &training,
        validation: &validation,
        task: recognizer_task(plan.measure.loss, alphabet.len()),
        weights: LossWeights { language_modeling, next_symbols },
        spec: Some(train_spec(plan)),
    };
    let corpus = RecognizerCorpus { alphabet, strings, size: plan.learner.size };
    let FittedRecognizer { mut model, summary } =
        fit_learner(&plan.learner, &corpus, plan.precision, root(plan), context)?;
    let mut predictions = Predictions::begin(context.keeps())?;
    let (mut scores, mut hardest_strings, mut strings) = (Vec::new(), Vec::new(), Vec::new());
    let seed = root(plan).derive("bootstrap");
    for name in
        ["training", plan.measure.validation.split(), "test-short-held-out", "test", "test-edit-distance"]
    {
        // A split that could not be drawn is named in the facts of the data.
        let Ok(part) = data.split(name) else { continue };
        context.evaluating(name)?;
        // Training and validation show nothing about generalization: strata and intervals are for the tests.
        let detail = if name.starts_with("test") { Detail::Parts } else { Detail::Whole };
        let measured = measure(model.as_mut(), data, part, detail, seed, &mut predictions)?;
        scores.extend(measured.scores);
        match name {
            "test" => hardest_strings = hardest(measured.strings),
            "test-edit-distance" => strings = measured.strings,
            _ => {}
        }
    }
    predictions.finish(context)?;
    Ok(Outcome {
        ending: summary.ending,
        parameters: summary.parameters,
        data: data.facts.clone(),
        curve: summary.curve,
        scores,
        hardest: hardest_strings,
        strings,
    })
}

fn labelled<'a>(part: &'a EncodedSplit, plan: &RecognitionPlan) -> Result<Vec<LabelledString<'a>>, LabError> {
    let needed = plan.measure.loss.heads().1;
    let rows = part.split.examples.iter().zip(&part.strings).zip(&part.next);
    rows.map(|((example, string), next)| {
        if needed && example.label && next.len() != string.len() + 1 {
            return Err(LabError::Usage(format!(
                "{} needs next-symbol sets, but split `{}` has none for every member",
                plan.measure.loss.name(),
                part.split.name
            )));
        }
        Ok(LabelledString { string, label: example.label, next })
    })
    .collect()
}
