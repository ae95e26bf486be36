//! From a plan to an outcome: train the recognizer, evaluate it on every split.

use wug_learner::interface::Trained;
use wug_learner::kernel::Real;
use wug_learner::model::LabelledString;
use wug_learner::train::Recognition;

use super::data::{Data, Prepared};
use super::measure::{Detail, hardest, measure};
use super::plan::Plan;
use crate::LabError;
use crate::context::RunContext;
use crate::keep::{Predictions, keep_model};
use crate::names::Precision;
use crate::protocol::Outcome;
use crate::training::{TrainingOutcome, train};

/// Runs a plan.
pub(super) fn fit(plan: &Plan, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
    match plan.precision {
        Precision::F32 => fit_as::<f32>(plan, data, context),
        Precision::F64 => fit_as::<f64>(plan, data, context),
    }
}

fn fit_as<R: Real>(plan: &Plan, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
    let model =
        plan.model(data.language.alphabet().len()).map_err(|error| LabError::Usage(error.to_string()))?;
    let training = labelled(data.split("training")?, plan)?;
    let validation = labelled(data.split(plan.validation.split())?, plan)?;
    let objective = Recognition::new(&model, &training, &validation, plan.weights);
    let TrainingOutcome { best, curve, ending, .. } =
        train::<R, _>(&objective, plan.training(), plan.root(), 1, context)?;
    let parameters = model.layout().count();
    let mut trained = Trained::new(model, best);
    keep_model(context, || trained.save())?;
    let mut predictions = Predictions::begin(context.keeps())?;
    let (mut scores, mut hardest_strings, mut strings) = (Vec::new(), Vec::new(), Vec::new());
    let seed = plan.root().derive("bootstrap");
    for name in ["training", plan.validation.split(), "test-short-held-out", "test", "test-edit-distance"] {
        // A split that could not be drawn is named in the facts of the data.
        let Ok(part) = data.split(name) else { continue };
        context.evaluating(name);
        let detail = if name.starts_with("test") { Detail::Parts } else { Detail::Whole };
        let measured = measure(&mut trained, data, part, detail, seed, &mut predictions)?;
        scores.extend(measured.scores);
        match name {
            "test" => hardest_strings = hardest(measured.strings),
            "test-edit-distance" => strings = measured.strings,
            _ => {}
        }
    }
    predictions.finish(context)?;
    Ok(Outcome {
        ending,
        parameters: Some(parameters),
        data: data.facts.clone(),
        curve,
        scores,
        hardest: hardest_strings,
        strings,
    })
}

fn labelled<'a>(part: &'a Prepared, plan: &Plan) -> Result<Vec<LabelledString<'a>>, LabError> {
    let needed = plan.loss.heads().1;
    let rows = part.split.examples.iter().zip(&part.strings).zip(&part.next);
    rows.map(|((example, string), next)| {
        if needed && example.label && next.len() != string.len() + 1 {
            return Err(LabError::Usage(format!(
                "{} needs next-symbol sets, but split `{}` has none for every member",
                plan.loss.name(),
                part.split.name
            )));
        }
        Ok(LabelledString { string, label: example.label, next })
    })
    .collect()
}
