//! From a plan to a result: train, judge every split, keep what was seen.

use serde::{Deserialize, Serialize};
use wug_learner::interface::Trained;
use wug_learner::kernel::Real;
use wug_learner::model::{Labelled, RecognizerModel};
use wug_learner::train::{Outcome, Progress, Recognition, Saved, Trainer};
use wug_score::{Ending, FORMAT, Point, Run, RunResult};

use super::data::{Data, Prepared};
use super::measure::{Detail, hardest, measure};
use super::plan::{Plan, Precision};
use crate::LabError;
use crate::desk::Desk;

/// Runs a plan.
pub(crate) fn fit(plan: &Plan, run: Run, data: &Data, desk: &mut dyn Desk) -> Result<RunResult, LabError> {
    match plan.precision {
        Precision::F32 => fit_as::<f32>(plan, run, data, desk),
        Precision::F64 => fit_as::<f64>(plan, run, data, desk),
    }
}

fn fit_as<R: Real>(plan: &Plan, run: Run, data: &Data, desk: &mut dyn Desk) -> Result<RunResult, LabError> {
    let model =
        plan.model(data.language.alphabet().len()).map_err(|error| LabError::Usage(error.to_string()))?;
    let training = labelled(data.split("training")?, plan)?;
    let validation = labelled(data.split(plan.validation.split())?, plan)?;
    let (params, curve, ending) = train::<R>(plan, &model, &training, &validation, desk)?;
    let parameters = model.layout().count();
    let mut trained = Trained::new(model, params);
    let (mut scores, mut hard, mut strings) = (Vec::new(), Vec::new(), Vec::new());
    let seed = plan.root().derive("bootstrap");
    for name in ["training", plan.validation.split(), "test-short-held-out", "test", "test-edit-distance"] {
        // What could not be made is named in the facts of the data.
        let Ok(part) = data.split(name) else { continue };
        desk.judging(name);
        let detail = if name.starts_with("test") { Detail::Parts } else { Detail::Whole };
        let measured = measure(&mut trained, data, part, detail, seed)?;
        scores.extend(measured.scores);
        match name {
            "test" => hard = hardest(measured.strings),
            "test-edit-distance" => strings = measured.strings,
            _ => {}
        }
    }
    Ok(RunResult {
        format: FORMAT,
        run,
        plan: plan.value(),
        ending,
        parameters: Some(parameters),
        data: data.facts.clone(),
        curve,
        scores,
        hardest: hard,
        strings,
    })
}

fn labelled<'a>(part: &'a Prepared, plan: &Plan) -> Result<Vec<Labelled<'a>>, LabError> {
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
        Ok(Labelled { string, label: example.label, next })
    })
    .collect()
}

/// What is kept between epochs beside the trainer's own bytes.
#[derive(Serialize, Deserialize)]
struct Header {
    curve: Vec<Point>,
    state: String,
}

type Learned<R> = (Vec<R>, Vec<Point>, Ending);

fn train<R: Real>(
    plan: &Plan,
    model: &RecognizerModel,
    training: &[Labelled<'_>],
    validation: &[Labelled<'_>],
    desk: &mut dyn Desk,
) -> Result<Learned<R>, LabError> {
    let objective = Recognition::new(model, training, validation, plan.weights);
    let fresh = || {
        let trainer = Trainer::<R, _>::new(&objective, plan.training(), plan.root());
        trainer.map_err(|error| LabError::Usage(error.to_string()))
    };
    let kept = desk.taken_up().and_then(|bytes| unpack(&bytes));
    let taken_up = kept.and_then(|(header, saved)| {
        Some((Trainer::resume(&objective, plan.training(), &saved).ok()?, header.curve))
    });
    // A checkpoint that cannot be read costs time, not the run.
    let (mut trainer, mut curve) = match taken_up {
        Some(kept) => kept,
        None => (fresh()?, Vec::new()),
    };
    let outcome = loop {
        if let Some(outcome) = trainer.outcome() {
            break outcome;
        }
        let progress = trainer.epoch();
        if progress.validation.is_finite() {
            curve.push(point(&progress));
        }
        desk.epoch(progress.epoch, progress.validation);
        desk.checkpoint(&mut || pack(&curve, &trainer.save()));
    };
    let ending = match outcome {
        Outcome::Finished => Ending::Finished,
        Outcome::Stopped => Ending::Stopped,
        Outcome::Diverged { step } => Ending::Diverged { step },
    };
    Ok((trainer.best().to_vec(), curve, ending))
}

fn point(progress: &Progress) -> Point {
    let finite = |x: f64| x.is_finite().then_some(x);
    Point {
        epoch: progress.epoch,
        steps: progress.steps,
        training: finite(progress.training),
        validation: finite(progress.validation),
    }
}

fn pack(curve: &[Point], saved: &Saved) -> Vec<u8> {
    let header = Header { curve: curve.to_vec(), state: saved.state.clone() };
    let header = serde_json::to_vec(&header).unwrap_or_default();
    [&(header.len() as u64).to_le_bytes(), &header[..], &saved.tensors].concat()
}

fn unpack(bytes: &[u8]) -> Option<(Header, Saved)> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (header, tensors) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let header: Header = serde_json::from_slice(header).ok()?;
    let saved = Saved { tensors: tensors.to_vec(), state: header.state.clone() };
    Some((header, saved))
}
