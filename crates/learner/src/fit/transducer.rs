//! Transducers: networks by gradient descent, from pairs of strings.

use super::training::{Curve, TrainedParams, Training};
use super::{Fit, FitError, FitOptions, OptimizerStart, Watch, checked, played};
use crate::interface::{Trained, Transducer};
use crate::kernel::Real;
use crate::model::{Pair, TransducerModel};
use crate::registry::{Role, Settings, TransducerTask, transduction_spec};
use crate::train::Transduction;

/// What a transducer is fitted to.
#[derive(Clone, Copy, Debug)]
pub struct PairCorpus<'a> {
    pub pairs: &'a [Pair<'a>],
    pub task: TransducerTask,
    /// The state of the optimiser to begin with.
    pub optimizer: OptimizerStart<'a>,
}

/// A fitted transducer.
pub struct FittedPairs {
    pub fit: Fit<Box<dyn Transducer>>,
    /// The state of the optimiser, if it is to be carried on.
    pub optimizer: Option<Vec<u8>>,
}

/// Fits a learner, by name, as a transducer. The parameters after the last update are its own: there is no validation.
pub fn fit_transducer(
    learner: &str,
    settings: &Settings,
    corpus: &PairCorpus<'_>,
    options: &FitOptions,
    watch: &mut dyn Watch,
) -> Result<FittedPairs, FitError> {
    let role = played(learner, Role::Transducer, |learner| learner.transducer.as_ref())?;
    let model = TransducerModel::new((role.build)(settings, corpus.task))?;
    if options.double {
        trained::<f64>(model, settings, corpus, options, watch)
    } else {
        trained::<f32>(model, settings, corpus, options, watch)
    }
}

fn trained<R: Real>(
    model: TransducerModel,
    settings: &Settings,
    corpus: &PairCorpus<'_>,
    options: &FitOptions,
    watch: &mut dyn Watch,
) -> Result<FittedPairs, FitError> {
    // FIND's held-out inputs have no right answer, so nothing can be validated.
    let objective = Transduction::new(&model, corpus.pairs, &[])?;
    let training = Training {
        objective: &objective,
        spec: transduction_spec(settings),
        seed: options.seed,
        curve: Curve::Thinned,
        start: Some(corpus.optimizer),
    };
    let TrainedParams { last: params, curve, outcome, optimizer, .. } = training.run::<R>(watch)?;
    let outcome = checked(outcome, &params, &curve);
    let parameters = Some(model.layout().count());
    let trained = Trained::new(model, params);
    let saved = options.save.then(|| trained.save());
    let fit = Fit { model: Box::new(trained) as Box<dyn Transducer>, outcome, parameters, curve, saved };
    Ok(FittedPairs { fit, optimizer })
}
