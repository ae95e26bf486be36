//! Training a learner, given by its name, on strings: data and settings in, a trained model out.
//!
//! ```
//! use wug_dataset::{Seed, language::{Symbol, Word, registry}};
//! use wug_learner::fit::{FitOptions, LabelledCorpus, fit_recognizer, settings};
//! use wug_learner::{interface::Recognizer, model::LabelledString, registry::Role};
//! let parity = registry::build("parity").unwrap();
//! let words = |n| (0..1_u16 << n).map(move |bits| (0..n).map(|i| Symbol(bits >> i & 1)).collect::<Word>());
//! let strings: Vec<_> = (1..8).flat_map(words).map(|word| (wug_dataset::ids::encode(&word), parity.contains(&word))).collect();
//! let examples: Vec<_> = strings.iter().map(|(ids, label)| LabelledString::new(ids, *label)).collect();
//! // Parity is learned after a plateau: the learning rate must not decay before it ends.
//! let settings = settings("lstm", Role::Recognizer, "hidden=8,layers=1,dropout=0,learning_rate=0.02,decay=1,patience=500,max_epochs=500,batch_symbols=128").unwrap();
//! let corpus = LabelledCorpus::new(parity.alphabet(), &examples, &examples);
//! let mut lstm = fit_recognizer("lstm", &settings, &corpus, &FitOptions::seeded(Seed::new(1)), &mut ()).unwrap();
//! for length in [5, 6, 7] {
//!     let asked: Vec<_> = examples.iter().filter(|example| example.string.len() == length).collect();
//!     let odds = lstm.model.log_odds(&asked.iter().map(|example| example.string).collect::<Vec<_>>()).unwrap();
//!     assert!(odds.iter().zip(asked).all(|(z, example)| (*z >= 0.0) == example.label), "{length}");
//! }
//! ```
//!
//! A training may be watched ([`Watch`]): epochs are told, and checkpoints offered, from which it goes on to the same bits.

mod next_symbol;
mod recognizer;
mod training;
mod transducer;
mod watch;

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;
use wug_language::Reading;

use crate::interface::{Failure, SavedModel};
use crate::kernel::Real;
use crate::model::SpecError;
use crate::registry::{ParameterError, Role, Settings, UnknownLearner, find};
use crate::train::{CheckpointError, PairError, StringError, TrainError, TrainOutcome};

pub use next_symbol::{FittedStrings, StringCorpus, TrainingString, fit_next_symbol};
pub use recognizer::{LabelledCorpus, fit_recognizer};
pub use training::OptimizerStart;
pub use transducer::{FittedPairs, PairCorpus, fit_transducer};
pub use watch::Watch;

/// How a learner is fitted, beside its settings.
#[derive(Clone, Copy, Debug)]
pub struct FitOptions {
    /// The root of all its randomness.
    pub seed: Seed,
    /// Whether it calculates in double precision.
    pub double: bool,
    /// Whether the trained model is wanted as bytes too.
    pub save: bool,
}

impl FitOptions {
    /// In single precision.
    pub fn seeded(seed: Seed) -> Self {
        Self { seed, double: false, save: false }
    }
}

/// A learner that is fitted.
#[derive(Debug)]
pub struct Fit<M> {
    pub model: M,
    /// How training ended.
    pub outcome: TrainOutcome,
    /// The number of its parameters, where it has some.
    pub parameters: Option<usize>,
    /// The losses over time.
    pub curve: Vec<EpochLoss>,
    /// The model as bytes, if it was wanted and can be saved.
    pub saved: Option<SavedModel>,
}

/// The losses at the end of an epoch; absent where they are not finite, or there are no examples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochLoss {
    /// Epochs completed.
    pub epoch: usize,
    /// Steps of the optimiser.
    pub steps: u64,
    pub training: Option<f64>,
    pub validation: Option<f64>,
}

/// Why a learner could not be fitted.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    #[error(transparent)]
    Learner(#[from] UnknownLearner),
    #[error(transparent)]
    Settings(#[from] ParameterError),
    /// No network can be built from the settings.
    #[error(transparent)]
    Network(#[from] SpecError),
    #[error(transparent)]
    String(#[from] StringError),
    #[error(transparent)]
    Pair(#[from] PairError),
    #[error(transparent)]
    Training(#[from] TrainError),
    /// The state of an optimiser that was to be carried on is none of this learner's.
    #[error(transparent)]
    Optimizer(#[from] CheckpointError),
    /// Whoever watched the training ended it.
    #[error(transparent)]
    Watch(#[from] Failure),
}

/// The settings of a learner in a role: its defaults, but for what `text` says, as in `hidden=16,learning_rate=0.01`.
pub fn settings(learner: &str, role: Role, text: &str) -> Result<Settings, FitError> {
    let all = find(learner, role)?.settings(role).unwrap_or_default();
    Ok(Settings::read(all, Reading::Corrected, text)?)
}

/// What a learner has for a role.
fn played<T>(
    name: &str,
    role: Role,
    of: fn(&'static crate::registry::Learner) -> Option<&'static T>,
) -> Result<&'static T, UnknownLearner> {
    of(find(name, role)?).ok_or_else(|| UnknownLearner::unable(name, role))
}

/// The update after the last finite loss may be the one that diverged: no loss was taken after it.
fn checked<R: Real>(outcome: TrainOutcome, params: &[R], curve: &[EpochLoss]) -> TrainOutcome {
    // A finite loss and gradient do not rule out that the update itself overflows.
    let diverged = params.iter().any(|x| !x.wide().is_finite());
    if diverged && outcome == TrainOutcome::Finished {
        return TrainOutcome::Diverged { step: curve.last().map_or(0, |point| point.steps) };
    }
    outcome
}
