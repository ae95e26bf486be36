//! Recurrent networks with a differentiable memory.

use wug_parameter::{
    Constant, Key, Parameter, ParameterError, Settings, ValueLimits as Limits, choices, joined_parameters,
    parameters,
};

use super::gradient::{BATCH, EPOCHS, LEARNING_RATE, LOSS, MAX, next_symbol_training, recognizer_training};
use super::recurrent::{EMBEDDING, HIDDEN};
use super::size::{Dimension, Sizing, Steps};
use super::{Learner, NO_ROLES, Network, NextSymbolRole, language_model};
use crate::kernel::MemoryKind;
use crate::model::{Annealing, AugmentedSpec, BodySpec, Cell, Gate, Initialization, StackRnnSpec};

pub const ROWS: Key<usize> = Key::count("memory", "rows of the memory in training", 1..=MAX, 50);
/// The setting that changes the memory after training; no weight depends on the number of rows.
pub const TEST_ROWS: Key<usize> =
    Key::count("test_memory", "rows of the memory in evaluation", 1..=MAX, 2050);
pub const WIDTH: Key<usize> = Key::count("memory_width", "elements per row", 1..=MAX, 5);
choices! {
    /// How an action is chosen.
    pub enum GateKind {
        Softmax = "softmax",
        Temperature = "temperature",
        Gumbel = "gumbel",
    }
}

const GATE: Key<GateKind> = Key::choice(
    "gate",
    "how an action is chosen: by a softmax, with a falling temperature, or with Gumbel noise in training too",
    "softmax",
);
pub const START: Key<f64> =
    Key::real("temperature.start", "temperature at first", Limits::Positive, 1.0).unless("gate", "softmax");
const RATE: Key<f64> = Key::real(
    "temperature.rate",
    "each training string multiplies the temperature by e^−rate",
    Limits::NotNegative,
    1e-4,
)
.unless("gate", "softmax");
const LEAST: Key<f64> =
    Key::real("temperature.least", "lowest temperature", Limits::Positive, 0.5).unless("gate", "softmax");

/// Room for every string of up to 500 symbols.
const RECOGNIZER: &[Parameter] = joined_parameters![
    parameters![HIDDEN, ROWS.or(Constant::Count(500)), WIDTH, GATE, START, RATE, LEAST],
    &recognizer_training(LEARNING_RATE.or(Constant::Real(0.005))),
];

const SIZING: Sizing = Sizing {
    width: HIDDEN.name(),
    divisor: None,
    ratio: None,
    others: &[Dimension { setting: WIDTH.name(), steps: Steps::Around, cost: 1 }],
};

/// 8 units, Adam at 0.01 and one string per update are Suzgun et al.'s; 50 epochs and the rows are of BLISS.
const TRAINING: [Parameter; 9] = next_symbol_training(
    EPOCHS.or(Constant::Count(50)),
    LEARNING_RATE.or(Constant::Real(0.01)),
    BATCH.or(Constant::Count(1)),
);
const UNITS: &[Parameter] = parameters![LOSS, HIDDEN.or(Constant::Count(8))];
const GATES: &[Parameter] = parameters![TEST_ROWS, WIDTH, GATE, START, RATE, LEAST];

/// A stack never holds more elements than were pushed; a tape that rotates depends on its length.
const STACK: &[Parameter] = joined_parameters![UNITS, &TRAINING, parameters![ROWS.as_capacity()], GATES];
const TAPE: &[Parameter] =
    joined_parameters![UNITS, &TRAINING, parameters![ROWS.or(Constant::Count(2050))], GATES];

/// A memory that is smaller in evaluation than in training is a slip.
fn enough_rows(settings: &Settings) -> Result<(), ParameterError> {
    let (rows, test) = (settings.get(&ROWS), settings.get(&TEST_ROWS));
    if test >= rows {
        return Ok(());
    }
    let allowed = format!("at least the {rows} rows of `memory`");
    Err(ParameterError::Value { name: TEST_ROWS.name().to_owned(), given: test.to_string(), allowed })
}

fn gate(settings: &Settings) -> Gate {
    let annealing =
        Annealing { start: settings.get(&START), rate: settings.get(&RATE), least: settings.get(&LEAST) };
    match settings.get(&GATE) {
        GateKind::Softmax => Gate::Softmax,
        GateKind::Temperature => Gate::Temperature(annealing),
        GateKind::Gumbel => Gate::Gumbel(annealing),
    }
}

fn body(cell: Cell, device: MemoryKind, settings: &Settings) -> BodySpec {
    BodySpec::Augmented(AugmentedSpec {
        cell,
        hidden: settings.get(&HIDDEN),
        device,
        rows: settings.get(&ROWS),
        width: settings.get(&WIDTH),
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
const INPUT_ROWS: Key<usize> = ROWS.or(Constant::Count(150)).as_capacity();
const INPUT_TEST_ROWS: Key<usize> = TEST_ROWS.or(Constant::Count(150));
const INPUT_WIDTH: Key<usize> = WIDTH.or(Constant::Count(8));
const JOULIN: &[Parameter] = joined_parameters![
    parameters![LOSS, HIDDEN, EMBEDDING],
    &next_symbol_training(EPOCHS, LEARNING_RATE, BATCH),
    parameters![INPUT_ROWS, INPUT_TEST_ROWS, INPUT_WIDTH],
];
const JOULIN_RECOGNIZER: &[Parameter] = joined_parameters![
    parameters![HIDDEN, ROWS.or(Constant::Count(500)), INPUT_WIDTH],
    &recognizer_training(LEARNING_RATE),
];

fn input_stack(settings: &Settings) -> BodySpec {
    BodySpec::StackRnn(StackRnnSpec {
        hidden: settings.get(&HIDDEN),
        embedding: settings.get(&EMBEDDING),
        rows: settings.get(&ROWS),
        width: settings.get(&WIDTH),
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
