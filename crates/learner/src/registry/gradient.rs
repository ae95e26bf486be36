//! Settings of everything that is trained by gradient descent.

use wug_parameter::{Constant, Key, Parameter, Settings, ValueLimits as Limits, choices};

use crate::optim::{OptimizerRule, OptimizerSpec};
use crate::train::{BatchSize, Schedule, TrainSpec};

choices! {
    /// What a next-symbol model is trained on.
    pub enum NextSymbolLoss {
        /// The cross-entropy of a softmax over what comes next.
        CrossEntropy = "cross-entropy",
        /// The squared error of a sigmoid per symbol that may come next (Suzgun et al. 2019).
        SigmoidMse = "sigmoid-mse",
    }
}

impl NextSymbolLoss {
    pub fn of(settings: &Settings) -> Self {
        settings.get(&LOSS)
    }
}

choices! {
    /// The update rule of a learner that is trained by gradient descent.
    pub enum UpdateRule {
        /// Adam; with weight decay, `AdamW`.
        Adam = "adam",
        /// Stochastic gradient descent without momentum.
        Sgd = "sgd",
    }
}

choices! {
    /// What is added to the loss.
    pub enum Regularization {
        None = "none",
        L1 = "l1",
        L2 = "l2",
    }
}

/// The optimiser of a network with some settings, without regularisation or clipping.
pub fn optimizer_spec(settings: &Settings) -> OptimizerSpec {
    match settings.get(&OPTIMIZER) {
        UpdateRule::Adam => OptimizerSpec::adam(),
        UpdateRule::Sgd => OptimizerSpec::sgd(),
    }
}

/// The most epochs, units, rows and so on that can be asked for.
pub(super) const MAX: u64 = 1_000_000;
const LARGE: u64 = 1_000_000_000;

pub const LOSS: Key<NextSymbolLoss> = Key::choice("loss", "what it is trained on", "cross-entropy");
pub(super) const REGULARIZATION: Key<Regularization> =
    Key::choice("regularization", "what is added to the loss: nothing, or λ·Σ|w| or λ·Σw²", "none");
pub(super) const LAMBDA: Key<f64> =
    Key::real("lambda", "how much of it", Limits::Positive, 0.1).unless("regularization", "none");
pub const EPOCHS: Key<usize> = Key::count("epochs", "passes over the training strings", 1..=MAX, 1000);
pub const LEARNING_RATE: Key<f64> =
    Key::real("learning_rate", "step size of the optimiser", Limits::Positive, 0.001);
pub const OPTIMIZER: Key<UpdateRule> =
    Key::choice("optimizer", "the update rule; Adam with `weight_decay` is AdamW", UpdateRule::Adam.name());
/// In roles where tables do not tell optimisers apart by columns of their own.
pub(super) const TELLING_OPTIMIZER: Key<UpdateRule> = OPTIMIZER.telling();
pub(super) const WEIGHT_DECAY: Key<f64> = Key::real(
    "weight_decay",
    "decoupled weight decay: each step multiplies parameters by 1 − learning_rate·weight_decay",
    Limits::NotNegative,
    0.0,
);
pub const TRAIN_OUTPUT: Key<bool> =
    Key::switch("train_output", "whether the output layer is trained, or stays as it was initialised", true);
pub const BATCH_SYMBOLS: Key<usize> = Key::count("batch_symbols", "symbols per update", 1..=LARGE, 1024);
pub const LOSS_WEIGHT: Key<f64> = Key::real(
    "loss_weight",
    "weight of each auxiliary loss; recognition has weight 1",
    Limits::Positive,
    1.0,
);
pub const CLIP: Key<f64> = Key::real("clip", "norm to which gradients are clipped", Limits::Positive, 5.0);
pub const DECAY: Key<f64> = Key::real(
    "decay",
    "factor of the learning rate when the validation loss no longer falls",
    Limits::Factor,
    0.5,
);
pub const DECAY_PATIENCE: Key<usize> = Key::count(
    "decay_patience",
    "epochs without a lower validation loss, before one more of them lowers the learning rate",
    0..=LARGE,
    4,
);
pub const PATIENCE: Key<usize> = Key::count(
    "patience",
    "epochs without a lower validation loss, after which training ends",
    1..=LARGE,
    10,
);
pub const MAX_EPOCHS: Key<usize> = Key::count("max_epochs", "epochs at most", 1..=LARGE, 1000);
pub const BATCH: Key<Option<usize>> =
    Key::count_or("batch", "strings per update", &["all"], Constant::Name("all"));
pub(super) const SHUFFLE: Key<bool> = Key::switch(
    "shuffle",
    "whether strings are shuffled anew in each epoch, or come in the order of the corpus: by length",
    false,
)
.unless("batch", "all");

pub const UPDATES: Key<usize> = Key::count("updates", "steps of the optimiser", 1..=MAX, 3000);
pub(super) const PAIRS: Key<Option<usize>> = Key::count_or(
    "batch",
    "pairs per update, drawn with replacement; `all` is every pair",
    &["all"],
    Constant::Name("all"),
);
pub(super) const PEAK_RATE: Key<f64> = Key::real(
    "learning_rate",
    "largest step size, which falls with the square root of the updates after it",
    Limits::Positive,
    0.001,
);
pub(super) const INITIAL_RATE: Key<f64> =
    Key::real("initial_learning_rate", "step size of the first update", Limits::Positive, 1e-5);
pub(super) const WARMUP: Key<usize> =
    Key::count("warmup", "updates until the largest step size; with 0 it is always that", 0..=MAX, 1000);
pub(super) const CLIP_PAIRS: Key<f64> = CLIP.or(Constant::Real(25.0));

/// How to train a recognizer with some settings: as Butoi et al. do.
pub fn recognition_spec(settings: &Settings) -> TrainSpec {
    TrainSpec {
        optimizer: optimizer_spec(settings).clipped(settings.get(&CLIP)),
        schedule: Schedule::Plateau {
            rate: settings.get(&LEARNING_RATE),
            factor: settings.get(&DECAY),
            patience: settings.get(&DECAY_PATIENCE),
        },
        batch: BatchSize::Symbols(settings.get(&BATCH_SYMBOLS)),
        max_epochs: settings.get(&MAX_EPOCHS),
        patience: settings.get(&PATIENCE),
        // FLaRe's checkpoint after 10,000 examples is the end of an epoch.
        validations: 1,
    }
}

/// The settings of training a recognizer, with this learning rate unless another is given.
pub(super) const fn recognizer_training(rate: Key<f64>) -> [Parameter; 9] {
    [
        TELLING_OPTIMIZER.parameter(),
        rate.parameter(),
        BATCH_SYMBOLS.parameter(),
        LOSS_WEIGHT.parameter(),
        CLIP.parameter(),
        DECAY.parameter(),
        DECAY_PATIENCE.parameter(),
        PATIENCE.parameter(),
        MAX_EPOCHS.parameter(),
    ]
}

/// The settings of training a next-symbol model, with these unless others are given.
pub(super) const fn next_symbol_training(
    epochs: Key<usize>,
    rate: Key<f64>,
    batch: Key<Option<usize>>,
) -> [Parameter; 9] {
    [
        REGULARIZATION.parameter(),
        LAMBDA.parameter(),
        epochs.parameter(),
        OPTIMIZER.parameter(),
        rate.parameter(),
        WEIGHT_DECAY.parameter(),
        TRAIN_OUTPUT.parameter(),
        batch.parameter(),
        SHUFFLE.parameter(),
    ]
}

/// The settings of training step by step.
pub(super) const INCREMENTAL_TRAINING: [Parameter; 2] =
    [TELLING_OPTIMIZER.parameter(), LEARNING_RATE.parameter()];

/// How to train a transducer with some settings: as fairseq does.
pub fn transduction_spec(settings: &Settings) -> TrainSpec {
    let peak = settings.get(&PEAK_RATE);
    let schedule = match settings.get(&WARMUP) {
        0 => Schedule::Constant { rate: peak },
        warmup => Schedule::InverseRoot { first: settings.get(&INITIAL_RATE), peak, warmup: warmup as u64 },
    };
    let mut optimizer = optimizer_spec(settings).clipped(settings.get(&CLIP_PAIRS));
    if let OptimizerRule::Adam { epsilon_first, .. } = &mut optimizer.rule {
        // fairseq 0.9.0 adds ε before the bias correction, which matters while second moments are small.
        *epsilon_first = true;
    }
    TrainSpec {
        optimizer,
        schedule,
        batch: settings.get(&PAIRS).map_or(BatchSize::All, BatchSize::Drawn),
        // An epoch is one update, because a batch is all pairs or is drawn.
        max_epochs: settings.get(&UPDATES),
        // FIND trains for a fixed number of updates, without validation.
        patience: usize::MAX,
        validations: 1,
    }
}

/// How to train a next-symbol model with some settings.
pub fn train_spec(settings: &Settings) -> TrainSpec {
    let (kind, lambda) = (settings.get(&REGULARIZATION), settings.get(&LAMBDA));
    // λ belongs to the kind that is chosen; the other stays 0.
    let of = |other: Regularization| if kind == other { lambda } else { 0.0 };
    let batch = match settings.get(&BATCH) {
        None => BatchSize::All,
        Some(count) if settings.get(&SHUFFLE) => BatchSize::Examples(count),
        Some(count) => BatchSize::InOrder(count),
    };
    TrainSpec {
        optimizer: OptimizerSpec {
            l1: of(Regularization::L1),
            l2: of(Regularization::L2),
            weight_decay: settings.get(&WEIGHT_DECAY),
            ..optimizer_spec(settings)
        },
        schedule: Schedule::Constant { rate: settings.get(&LEARNING_RATE) },
        batch,
        max_epochs: settings.get(&EPOCHS),
        patience: usize::MAX,
        validations: 1,
    }
}

/// Whether the output layer of a next-symbol model with some settings is trained.
pub fn trains_output(settings: &Settings) -> bool {
    settings.get(&TRAIN_OUTPUT)
}
