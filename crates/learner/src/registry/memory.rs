//! Recurrent networks with a differentiable memory.

use super::gradient::{
    BATCH, BATCH_SYMBOLS, CLIP, DECAY, DECAY_PATIENCE, EPOCHS, LAMBDA, LATER_OPTIMIZER, LEARNING_RATE, LOSS,
    LOSS_WEIGHT, MAX, MAX_EPOCHS, OPTIMIZER, PATIENCE, REGULARIZATION, SHUFFLE, TRAIN_OUTPUT, WEIGHT_DECAY,
};
use super::recurrent::{EMBEDDING, HIDDEN};
use super::setting::{Default, Limits, Setting, SettingError, Settings};
use super::size::{Dimension, Sizing, Steps};
use super::{Learner, NO_ROLES, Network, NextSymbolRole, language_model};
use crate::kernel::MemoryKind;
use crate::model::{Annealing, AugmentedSpec, BodySpec, Cell, Gate, Initialization, StackRnnSpec};

const ROWS: Setting =
    Setting::new("memory", "rows of the memory in training", Limits::Count(1, MAX), Default::Count(50));
/// The setting that changes the memory after training; no weight depends on the number of rows.
pub(super) const TEST_ROWS: Setting = Setting::new(
    "test_memory",
    "rows of the memory in evaluation",
    Limits::Count(1, MAX),
    Default::Count(2050),
);
const WIDTH: Setting =
    Setting::new("memory_width", "elements per row", Limits::Count(1, MAX), Default::Count(5));
const GATE: Setting = Setting::new(
    "gate",
    "how an action is chosen: by a softmax, with a falling temperature, or with Gumbel noise in training too",
    Limits::Names(&["softmax", "temperature", "gumbel"]),
    Default::Name("softmax"),
);
const START: Setting =
    Setting::new("temperature.start", "temperature at first", Limits::Positive, Default::Real(1.0))
        .unless("gate", "softmax");
const RATE: Setting = Setting::new(
    "temperature.rate",
    "each training string multiplies the temperature by e^−rate",
    Limits::NotNegative,
    Default::Real(1e-4),
)
.unless("gate", "softmax");
const LEAST: Setting =
    Setting::new("temperature.least", "lowest temperature", Limits::Positive, Default::Real(0.5))
        .unless("gate", "softmax");

/// Room for every string of up to 500 symbols.
const RECOGNIZER: &[Setting] = &[
    HIDDEN,
    ROWS.or(Default::Count(500)),
    WIDTH,
    GATE,
    START,
    RATE,
    LEAST,
    LATER_OPTIMIZER,
    LEARNING_RATE.or(Default::Real(0.005)),
    BATCH_SYMBOLS,
    LOSS_WEIGHT,
    CLIP,
    DECAY,
    DECAY_PATIENCE,
    PATIENCE,
    MAX_EPOCHS,
];

const SIZING: Sizing = Sizing {
    width: HIDDEN.name,
    divisor: None,
    ratio: None,
    others: &[Dimension { setting: WIDTH.name, steps: Steps::Around, cost: 1 }],
};

const fn next_symbol_settings(rows: Setting) -> [Setting; 18] {
    [
        LOSS,
        HIDDEN.or(Default::Count(8)),
        REGULARIZATION,
        LAMBDA,
        EPOCHS.or(Default::Count(50)),
        OPTIMIZER,
        LEARNING_RATE.or(Default::Real(0.01)),
        WEIGHT_DECAY,
        TRAIN_OUTPUT,
        BATCH.or(Default::Count(1)),
        SHUFFLE,
        rows,
        TEST_ROWS,
        WIDTH,
        GATE,
        START,
        RATE,
        LEAST,
    ]
}

/// A stack never holds more elements than were pushed; a tape that rotates depends on its length.
const STACK: &[Setting] = &next_symbol_settings(ROWS.as_capacity());
const TAPE: &[Setting] = &next_symbol_settings(ROWS.or(Default::Count(2050)));

/// A memory that is smaller in evaluation than in training is a slip.
fn enough_rows(settings: &Settings) -> Result<(), SettingError> {
    match (settings.count(ROWS.name), settings.count(TEST_ROWS.name)) {
        (Some(rows), Some(test)) if test < rows => Err(SettingError {
            name: TEST_ROWS.name,
            given: test.to_string(),
            allowed: format!("at least the {rows} rows of `memory`"),
        }),
        _ => Ok(()),
    }
}

fn gate(settings: &Settings) -> Gate {
    let real = |setting: Setting| settings.real(setting.name).unwrap_or(1.0);
    let annealing = Annealing { start: real(START), rate: real(RATE), least: real(LEAST) };
    match settings.name(GATE.name) {
        Some("temperature") => Gate::Temperature(annealing),
        Some("gumbel") => Gate::Gumbel(annealing),
        _ => Gate::Softmax,
    }
}

fn body(cell: Cell, device: MemoryKind, settings: &Settings) -> BodySpec {
    BodySpec::Augmented(AugmentedSpec {
        cell,
        hidden: settings.count(HIDDEN.name).unwrap_or(8),
        device,
        rows: settings.count(ROWS.name).unwrap_or(1),
        width: settings.count(WIDTH.name).unwrap_or(1),
        gate: gate(settings),
    })
}

const SUZGUN: &str =
    "Suzgun et al. 2019, Memory-Augmented Recurrent Neural Networks Can Learn Generalized Dyck Languages";

macro_rules! with_memory {
    ($entry:ident, $name:literal, $summary:literal, $cell:expr, $device:expr, $settings:expr) => {
        pub(super) static $entry: Learner = Learner {
            name: $name,
            summary: $summary,
            cite: SUZGUN,
            recognizer: Some(Network {
                settings: RECOGNIZER,
                check: None,
                build: |settings, task| {
                    task.recognizer(body($cell, $device, settings), Initialization::Torch)
                },
                sizing: &SIZING,
                published: None,
            }),
            next_symbol: Some(NextSymbolRole::Network(Network {
                settings: $settings,
                check: Some(enough_rows),
                build: |settings, v| language_model(body($cell, $device, settings), v),
                sizing: &SIZING,
                published: None,
            })),
            ..NO_ROLES
        };
    };
}

with_memory!(
    STACK_RNN,
    "stack-rnn",
    "simple recurrent network with a differentiable stack",
    Cell::Rnn,
    MemoryKind::Stack,
    STACK
);
with_memory!(
    STACK_LSTM,
    "stack-lstm",
    "long short-term memory with a differentiable stack",
    Cell::Lstm,
    MemoryKind::Stack,
    STACK
);
with_memory!(
    BABY_NTM,
    "baby-ntm",
    "simple recurrent network with a memory whose rows rotate and shift",
    Cell::Rnn,
    MemoryKind::BabyNtm,
    TAPE
);

/// A stack as deep as the published one, which holds every string of up to 150 symbols.
const INPUT_STACK: [Setting; 3] = [
    ROWS.or(Default::Count(150)).as_capacity(),
    TEST_ROWS.or(Default::Count(150)),
    WIDTH.or(Default::Count(8)),
];
const JOULIN: &[Setting] = &[
    LOSS,
    HIDDEN,
    EMBEDDING,
    REGULARIZATION,
    LAMBDA,
    EPOCHS,
    OPTIMIZER,
    LEARNING_RATE,
    WEIGHT_DECAY,
    TRAIN_OUTPUT,
    BATCH,
    SHUFFLE,
    INPUT_STACK[0],
    INPUT_STACK[1],
    INPUT_STACK[2],
];
const JOULIN_RECOGNIZER: &[Setting] = &[
    HIDDEN,
    ROWS.or(Default::Count(500)),
    INPUT_STACK[2],
    LATER_OPTIMIZER,
    LEARNING_RATE,
    BATCH_SYMBOLS,
    LOSS_WEIGHT,
    CLIP,
    DECAY,
    DECAY_PATIENCE,
    PATIENCE,
    MAX_EPOCHS,
];

fn input_stack(settings: &Settings) -> BodySpec {
    BodySpec::StackRnn(StackRnnSpec {
        hidden: settings.count(HIDDEN.name).unwrap_or(32),
        embedding: settings.count(EMBEDDING.name),
        rows: settings.count(ROWS.name).unwrap_or(1),
        width: settings.count(WIDTH.name).unwrap_or(1),
    })
}

pub(super) static JOULIN_STACK_RNN: Learner = Learner {
    name: "joulin-stack-rnn",
    summary: "simple recurrent network whose input is a symbol and the top of a stack (push, pop, no-op)",
    cite: "Joulin and Mikolov 2015, Inferring Algorithmic Patterns with Stack-Augmented Recurrent Nets; as in Delétang et al. 2023",
    recognizer: Some(Network {
        settings: JOULIN_RECOGNIZER,
        check: None,
        build: |settings, task| task.recognizer(input_stack(settings), Initialization::Torch),
        sizing: &SIZING,
        published: None,
    }),
    next_symbol: Some(NextSymbolRole::Network(Network {
        settings: JOULIN,
        check: Some(enough_rows),
        build: |settings, v| language_model(input_stack(settings), v),
        sizing: &SIZING,
        published: None,
    })),
    transducer: None,
    incremental: None,
};
