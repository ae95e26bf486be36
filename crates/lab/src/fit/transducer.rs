//! Fitting transducers.

use wug_dataset::Seed;
use wug_language::Alphabet;
use wug_learner::fit::{FittedPairs, OptimizerStart, PairCorpus, fit_transducer};
use wug_learner::interface::Transducer;
use wug_learner::model::Pair;
use wug_learner::registry::{Role, TransducerTask};

use wug_score::plan::{External, PlannedLearner, Precision};

use super::{TrainingSummary, Watched, told};
use crate::LabError;
use crate::context::RunContext;
use crate::foreign::{self, Examples, ForeignTransducer, Task};

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
pub(crate) struct TransducerOptions<'a> {
    pub(crate) precision: Precision,
    pub(crate) seed: Seed,
    /// The number of parameters that the run is about, if it is about one.
    pub(crate) size: Option<usize>,
    /// The state of the optimiser to begin with. Learners without one ignore it.
    pub(crate) optimizer: OptimizerStart<'a>,
}

pub(crate) struct FittedTransducer {
    pub(crate) model: Box<dyn Transducer>,
    pub(crate) summary: TrainingSummary,
    /// The state of the optimiser, if it is to be carried on and the learner has one.
    pub(crate) optimizer: Option<Vec<u8>>,
}

/// Fits a learner, by name, with some settings to pairs.
pub(crate) fn fit(
    learner: &PlannedLearner,
    data: PairData<'_>,
    options: TransducerOptions<'_>,
    context: &mut dyn RunContext,
) -> Result<FittedTransducer, LabError> {
    let PlannedLearner { name, settings, external, .. } = learner;
    if let Some(external) = external {
        return fit_foreign(learner, external, data, options, context);
    }
    let TransducerOptions { precision, seed, optimizer, .. } = options;
    let corpus = PairCorpus { pairs: data.pairs, task: data.task, optimizer };
    let options = super::options(precision, seed, context);
    let FittedPairs { fit, optimizer } =
        fit_transducer(name, settings, &corpus, &options, &mut Watched(context))?;
    let (model, summary) = told(fit, context)?;
    Ok(FittedTransducer { model, summary, optimizer })
}

fn fit_foreign(
    learner: &PlannedLearner,
    external: &External,
    data: PairData<'_>,
    options: TransducerOptions<'_>,
    context: &mut dyn RunContext,
) -> Result<FittedTransducer, LabError> {
    let ([inputs, outputs], first) = data.alphabets;
    let ids = |string: &[u32]| ForeignTransducer::ids(first, string);
    let training = Examples {
        strings: data.pairs.iter().map(|pair| ids(pair.input)).collect(),
        labels: None,
        outputs: Some(data.pairs.iter().map(|pair| ids(pair.output)).collect()),
    };
    let mut task = Task::new(Role::Transducer, options.seed, &learner.settings, inputs.tokens(), training);
    // One number for both sides: a learner may have one table of ids.
    task.vocabulary = inputs.len().max(outputs.len()) + 1;
    task.budget.parameters = options.size;
    task.output_alphabet = Some(outputs.tokens().to_vec());
    let (conversation, summary) = foreign::fit(&learner.name, external, &mut task, context)?;
    let model = ForeignTransducer { conversation, outputs: outputs.len(), first };
    Ok(FittedTransducer { model: Box::new(model), summary, optimizer: None })
}
