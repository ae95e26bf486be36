//! Settings of everything that is trained by gradient descent.

use super::setting::{Default, Limits, Setting, Settings};
use crate::optim::{OptimizerSpec, Rule};
use crate::train::{BatchSize, Schedule, TrainSpec};

/// What a next-symbol model is trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextSymbolLoss {
    /// The cross-entropy of a softmax over what comes next.
    CrossEntropy,
    /// The squared error of a sigmoid per symbol that may come next (Suzgun et al. 2019).
    SigmoidMse,
}

impl NextSymbolLoss {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::CrossEntropy, Self::SigmoidMse];

    /// Its name in experiments and plans.
    pub fn name(self) -> &'static str {
        match self {
            Self::CrossEntropy => "cross-entropy",
            Self::SigmoidMse => "sigmoid-mse",
        }
    }

    /// The loss of some settings.
    pub fn of(settings: &Settings) -> Self {
        let given = settings.name("loss");
        Self::ALL.into_iter().find(|loss| given == Some(loss.name())).unwrap_or(Self::CrossEntropy)
    }
}

/// The update rule of a learner that is trained by gradient descent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateRule {
    /// Adam; with weight decay, `AdamW`.
    Adam,
    /// Stochastic gradient descent without momentum.
    Sgd,
}

impl UpdateRule {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Adam, Self::Sgd];

    /// Its name in experiments and plans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adam => "adam",
            Self::Sgd => "sgd",
        }
    }

    /// The rule that settings name. They do not where it is the default of a role whose plans leave that out.
    pub fn of(settings: &Settings) -> Option<Self> {
        let given = settings.name(OPTIMIZER.name)?;
        Self::ALL.into_iter().find(|rule| given == rule.name())
    }
}

/// The optimiser of a network with some settings, without regularisation or clipping.
pub fn optimizer_spec(settings: &Settings) -> OptimizerSpec {
    match UpdateRule::of(settings) {
        None | Some(UpdateRule::Adam) => OptimizerSpec::adam(),
        Some(UpdateRule::Sgd) => OptimizerSpec::sgd(),
    }
}

/// The most epochs, units, rows and so on that can be asked for.
pub(super) const MAX: u64 = 1_000_000;
const LARGE: u64 = 1_000_000_000;

pub(super) const LOSS: Setting = Setting::new(
    "loss",
    "what it is trained on",
    Limits::Names(&["cross-entropy", "sigmoid-mse"]),
    Default::Name("cross-entropy"),
);
pub(super) const REGULARIZATION: Setting = Setting::new(
    "regularization",
    "what is added to the loss: nothing, or λ·Σ|w| or λ·Σw²",
    Limits::Names(&["none", "l1", "l2"]),
    Default::Name("none"),
);
pub(super) const LAMBDA: Setting =
    Setting::new("lambda", "how much of it", Limits::Positive, Default::Real(0.1))
        .unless("regularization", "none");
pub(super) const EPOCHS: Setting =
    Setting::new("epochs", "passes over the training strings", Limits::Count(1, MAX), Default::Count(1000));
pub(super) const LEARNING_RATE: Setting =
    Setting::new("learning_rate", "step size of the optimiser", Limits::Positive, Default::Real(0.001));
pub(super) const OPTIMIZER: Setting = Setting::new(
    "optimizer",
    "the update rule; Adam with `weight_decay` is AdamW",
    Limits::Names(&[UpdateRule::Adam.name(), UpdateRule::Sgd.name()]),
    Default::Name(UpdateRule::Adam.name()),
);
/// The same in roles whose plans did not have it at first.
pub(super) const LATER_OPTIMIZER: Setting = OPTIMIZER.implied();
pub(super) const WEIGHT_DECAY: Setting = Setting::new(
    "weight_decay",
    "decoupled weight decay: each step multiplies parameters by 1 − learning_rate·weight_decay",
    Limits::NotNegative,
    Default::Real(0.0),
);
pub(super) const TRAIN_OUTPUT: Setting = Setting::new(
    "train_output",
    "whether the output layer is trained, or stays as it was initialised",
    Limits::Switch,
    Default::Switch(true),
);
pub(super) const BATCH_SYMBOLS: Setting =
    Setting::new("batch_symbols", "symbols per update", Limits::Count(1, LARGE), Default::Count(1024));
pub(super) const LOSS_WEIGHT: Setting = Setting::new(
    "loss_weight",
    "weight of each auxiliary loss; recognition has weight 1",
    Limits::Positive,
    Default::Real(1.0),
);
pub(super) const CLIP: Setting =
    Setting::new("clip", "norm to which gradients are clipped", Limits::Positive, Default::Real(5.0));
pub(super) const DECAY: Setting = Setting::new(
    "decay",
    "factor of the learning rate when the validation loss no longer falls",
    Limits::Factor,
    Default::Real(0.5),
);
pub(super) const DECAY_PATIENCE: Setting = Setting::new(
    "decay_patience",
    "epochs without a lower validation loss, before one more of them lowers the learning rate",
    Limits::Count(0, LARGE),
    Default::Count(4),
);
pub(super) const PATIENCE: Setting = Setting::new(
    "patience",
    "epochs without a lower validation loss, after which training ends",
    Limits::Count(1, LARGE),
    Default::Count(10),
);
pub(super) const MAX_EPOCHS: Setting =
    Setting::new("max_epochs", "epochs at most", Limits::Count(1, LARGE), Default::Count(1000));
pub(super) const BATCH: Setting =
    Setting::new("batch", "strings per update", Limits::NamesOrCount(&["all"]), Default::Name("all"));
pub(super) const SHUFFLE: Setting = Setting::new(
    "shuffle",
    "whether strings are shuffled anew in each epoch, or come in the order of the corpus: by length",
    Limits::Switch,
    Default::Switch(false),
)
.unless("batch", "all");

pub(super) const UPDATES: Setting =
    Setting::new("updates", "steps of the optimiser", Limits::Count(1, MAX), Default::Count(3000));
pub(super) const PAIRS: Setting = Setting::new(
    "batch",
    "pairs per update, drawn with replacement; `all` is every pair",
    Limits::NamesOrCount(&["all"]),
    Default::Name("all"),
);
pub(super) const PEAK_RATE: Setting = Setting::new(
    "learning_rate",
    "largest step size, which falls with the square root of the updates after it",
    Limits::Positive,
    Default::Real(0.001),
);
pub(super) const INITIAL_RATE: Setting = Setting::new(
    "initial_learning_rate",
    "step size of the first update",
    Limits::Positive,
    Default::Real(1e-5),
);
pub(super) const WARMUP: Setting = Setting::new(
    "warmup",
    "updates until the largest step size; with 0 it is always that",
    Limits::Count(0, MAX),
    Default::Count(1000),
);
pub(super) const CLIP_PAIRS: Setting = CLIP.or(Default::Real(25.0));

/// How to train a transducer with some settings: as fairseq does.
pub fn transduction_spec(settings: &Settings) -> TrainSpec {
    let real = |setting: Setting, default: f64| settings.real(setting.name).unwrap_or(default);
    let peak = real(PEAK_RATE, 0.001);
    let schedule = match settings.count(WARMUP.name) {
        Some(0) => Schedule::Constant { rate: peak },
        warmup => Schedule::InverseRoot {
            first: real(INITIAL_RATE, 1e-5),
            peak,
            warmup: warmup.unwrap_or(1000) as u64,
        },
    };
    let mut optimizer = optimizer_spec(settings).clipped(real(CLIP_PAIRS, 25.0));
    if let Rule::Adam { epsilon_first, .. } = &mut optimizer.rule {
        *epsilon_first = true;
    }
    TrainSpec {
        optimizer,
        schedule,
        batch: settings.count(PAIRS.name).map_or(BatchSize::All, BatchSize::Drawn),
        max_epochs: settings.count(UPDATES.name).unwrap_or(1),
        patience: usize::MAX,
        validations: 1,
    }
}

/// How to train a next-symbol model with some settings.
pub fn train_spec(settings: &Settings) -> TrainSpec {
    let lambda = settings.real(LAMBDA.name).unwrap_or(0.0);
    let of = |kind: &str| if settings.name(REGULARIZATION.name) == Some(kind) { lambda } else { 0.0 };
    let batch = match settings.count(BATCH.name) {
        None => BatchSize::All,
        Some(count) if settings.is_on(SHUFFLE.name) => BatchSize::Examples(count),
        Some(count) => BatchSize::InOrder(count),
    };
    let weight_decay = settings.real(WEIGHT_DECAY.name).unwrap_or(0.0);
    TrainSpec {
        optimizer: OptimizerSpec { l1: of("l1"), l2: of("l2"), weight_decay, ..optimizer_spec(settings) },
        schedule: Schedule::Constant { rate: settings.real(LEARNING_RATE.name).unwrap_or(0.001) },
        batch,
        max_epochs: settings.count(EPOCHS.name).unwrap_or(1),
        patience: usize::MAX,
        validations: 1,
    }
}

/// Whether the output layer of a next-symbol model with some settings is trained.
pub fn trains_output(settings: &Settings) -> bool {
    settings.get(TRAIN_OUTPUT.name).is_none() || settings.is_on(TRAIN_OUTPUT.name)
}
