//! Fitting transducers: networks by gradient descent.

use wug_dataset::Seed;
use wug_language::Alphabet;
use wug_learner::interface::{Trained, Transducer};
use wug_learner::kernel::Real;
use wug_learner::model::{Pair, TransducerModel, TransducerSpec};
use wug_learner::registry::{Role, Settings, TransducerTask, find, transduction_spec};
use wug_learner::train::Transduction;
use wug_score::Ending;

use super::TrainingSummary;
use crate::LabError;
use crate::context::RunContext;
use crate::foreign::{self, Examples, ForeignTransducer, Task};
use crate::keep::keep_model;
use crate::training::{OptimizerStart, TrainingOutcome, train_from};
use wug_score::plan::{External, PlannedLearner, Precision};

/// The number of points of a curve, about.
const POINTS: usize = 100;

/// What a transducer is fitted to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairData<'a> {
    pub(crate) pairs: &'a [Pair<'a>],
    pub(crate) task: TransducerTask,
    /// The alphabets of inputs and of outputs, and the number of the first symbol of either.
    pub(crate) alphabets: ([&'a Alphabet; 2], u32),
}

/// How it is fitted, beside the settings of the learner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FitOptions<'a> {
    pub(crate) precision: Precision,
    pub(crate) seed: Seed,
    /// The number of parameters that the run is about, if it is about one.
    pub(crate) size: Option<usize>,
    /// The state of the optimiser to begin with. Learners without one ignore it.
    pub(crate) optimizer: OptimizerStart<'a>,
}

pub(crate) struct Fitted {
    pub(crate) model: Box<dyn Transducer>,
    pub(crate) summary: TrainingSummary,
    /// The state of the optimiser, if it is to be carried on and the learner has one.
    pub(crate) optimizer: Option<Vec<u8>>,
}

/// Fits a learner, by name, with some settings to pairs.
pub(crate) fn fit(
    learner: &PlannedLearner,
    data: PairData<'_>,
    options: FitOptions<'_>,
    context: &mut dyn RunContext,
) -> Result<Fitted, LabError> {
    let PlannedLearner { name, settings, external, .. } = learner;
    if let Some(external) = external {
        return fit_foreign(learner, external, data, options, context);
    }
    let role = find(name, Role::Transducer).map_err(LabError::usage)?.transducer.as_ref();
    let role = role.ok_or_else(|| LabError::Usage(format!("`{name}` is no transducer")))?;
    let spec = (role.build)(settings, data.task);
    match options.precision {
        Precision::F32 => trained::<f32>(spec, settings, data, options, context),
        Precision::F64 => trained::<f64>(spec, settings, data, options, context),
    }
}

fn fit_foreign(
    learner: &PlannedLearner,
    external: &External,
    data: PairData<'_>,
    options: FitOptions<'_>,
    context: &mut dyn RunContext,
) -> Result<Fitted, LabError> {
    let ([inputs, outputs], first) = data.alphabets;
    let ids = |string: &[u32]| ForeignTransducer::ids(first, string);
    let training = Examples {
        strings: data.pairs.iter().map(|pair| ids(pair.input)).collect(),
        labels: None,
        outputs: Some(data.pairs.iter().map(|pair| ids(pair.output)).collect()),
    };
    let mut task = Task::new(Role::Transducer, options.seed, &learner.settings, inputs.tokens(), training);
    task.vocabulary = inputs.len().max(outputs.len()) + 1;
    task.budget.parameters = options.size;
    task.output_alphabet = Some(outputs.tokens().to_vec());
    let (conversation, summary) = foreign::fit(&learner.name, external, &mut task, context)?;
    let model = ForeignTransducer { conversation, outputs: outputs.len(), first };
    Ok(Fitted { model: Box::new(model), summary, optimizer: None })
}

fn trained<R: Real>(
    spec: TransducerSpec,
    settings: &Settings,
    data: PairData<'_>,
    options: FitOptions<'_>,
    context: &mut dyn RunContext,
) -> Result<Fitted, LabError> {
    let model = TransducerModel::new(spec).map_err(LabError::usage)?;
    let objective = Transduction::new(&model, data.pairs, &[]).map_err(LabError::usage)?;
    let spec = transduction_spec(settings);
    let stride = spec.max_epochs.div_ceil(POINTS);
    let start = Some(options.optimizer);
    let TrainingOutcome { last: params, curve, mut ending, optimizer, .. } =
        train_from::<R, _>(&objective, spec, options.seed, stride, start, context)?;
    // The update after the last finite loss may be the one that diverged.
    let diverged = params.iter().any(|x| !x.wide().is_finite());
    if diverged && ending == Ending::Finished {
        ending = Ending::Diverged { step: curve.last().map_or(0, |point| point.steps) };
    }
    let summary = TrainingSummary { ending, parameters: Some(model.layout().count()), curve, found: None };
    let trained = Trained::new(model, params);
    keep_model(context, || trained.save())?;
    Ok(Fitted { model: Box::new(trained), summary, optimizer })
}
