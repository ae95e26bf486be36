//! Recurrent networks without a memory beside them.

use wug_parameter::{
    Constant, Key, Parameter, Settings, ValueLimits as Limits, joined_parameters, parameters,
};

use super::gradient::{
    BATCH, EPOCHS, INCREMENTAL_TRAINING, LEARNING_RATE, LOSS, MAX, next_symbol_training, recognizer_training,
};
use super::size::{Dimension, Sizing, Steps};
use super::{
    IncrementalRole, Learner, Network, NextSymbolRole, RecognizerTask, incremental, language_model, seq2seq,
};
use crate::model::{
    AnswerBodySpec, BodySpec, Cell, Counted as _, Initialization, RecognizerSpec, RecurrentSpec, Start,
};

pub const HIDDEN: Key<usize> = Key::count("hidden", "units per layer", 1..=MAX, 32);
pub const LAYERS: Key<usize> = Key::count("layers", "layers, one on top of the other", 1..=1000, 1);
pub(super) const DROPOUT: Key<f64> = Key::real(
    "dropout",
    "probability with which an element of a layer's output is dropped in training",
    Limits::Probability,
    0.0,
);

pub(super) const EMBEDDING: Key<Option<usize>> = Key::count_or(
    "embedding",
    "elements per embedded symbol, or `one-hot`: no embedding",
    &["one-hot"],
    Constant::Name("one-hot"),
);
pub const SCORING_DROPOUT: Key<bool> = Key::switch(
    "scoring_dropout",
    "whether dropout stays on where trained models score whole strings",
    false,
);

const NEXT_SYMBOL: &[Parameter] = joined_parameters![
    parameters![LOSS, HIDDEN, LAYERS, EMBEDDING, DROPOUT, SCORING_DROPOUT],
    &next_symbol_training(EPOCHS, LEARNING_RATE, BATCH),
];

pub(super) const EMBEDDED: Key<usize> =
    Key::count("embedding", "elements per embedded symbol; 0 for one-hot input", 0..=MAX, 0);

const INCREMENTAL: &[Parameter] = joined_parameters![
    parameters![HIDDEN.or(Constant::Count(128)), LAYERS, EMBEDDED, DROPOUT],
    &INCREMENTAL_TRAINING,
];

const SIZING: Sizing = Sizing {
    width: HIDDEN.name(),
    divisor: None,
    ratio: None,
    others: &[Dimension { setting: LAYERS.name(), steps: Steps::Around, cost: 1 }],
};

/// The embedding is as wide as the states, which start at a learned vector.
fn recognizer(cell: Cell, biases: usize, settings: &Settings, task: RecognizerTask) -> RecognizerSpec {
    let hidden = settings.get(&HIDDEN);
    let body = RecurrentSpec {
        // As wide as the states, because the language-modelling head is tied to it.
        embedding: Some(hidden),
        biases,
        start: Start::Learned,
        ..next_symbol(cell, settings)
    };
    task.recognizer(BodySpec::Recurrent(body), Initialization::Flare)
}

/// Symbols go in one-hot, as Lan, Chemla and Katzir have it, unless an embedding is asked for.
fn next_symbol(cell: Cell, settings: &Settings) -> RecurrentSpec {
    RecurrentSpec {
        cell,
        layers: settings.get(&LAYERS),
        hidden: settings.get(&HIDDEN),
        embedding: settings.get(&EMBEDDING),
        biases: 2,
        start: Start::Zero,
        dropout: settings.get(&DROPOUT),
    }
}

/// Symbols go in one-hot, or embedded if an embedding is given.
fn answering(cell: Cell, settings: &Settings) -> AnswerBodySpec {
    let embedding = Some(settings.get(&EMBEDDED)).filter(|width| *width > 0);
    AnswerBodySpec::Prefix(BodySpec::Recurrent(RecurrentSpec { embedding, ..next_symbol(cell, settings) }))
}

macro_rules! recurrent {
    ($entry:ident, $name:literal, $summary:literal, $cite:literal, $cell:expr, $biases:literal, $rate:literal,
     $published:expr, $transducer:expr) => {
        pub(super) static $entry: Learner = Learner {
            name: $name,
            summary: $summary,
            cite: $cite,
            recognizer: Some(Network {
                // Five layers and dropout, as Butoi et al. have them.
                settings: joined_parameters![
                    parameters![LAYERS.or(Constant::Count(5)), HIDDEN, DROPOUT.or(Constant::Real(0.1))],
                    &recognizer_training(LEARNING_RATE.or(Constant::Real($rate))),
                ],
                check: None,
                build: |settings, task| recognizer($cell, $biases, settings, task),
                sizing: &SIZING,
                published: $published,
            }),
            next_symbol: Some(NextSymbolRole::Network(Network {
                settings: NEXT_SYMBOL,
                check: None,
                build: |settings, v| language_model(BodySpec::Recurrent(next_symbol($cell, settings)), v),
                sizing: &SIZING,
                published: None,
            })),
            transducer: $transducer,
            incremental: Some(IncrementalRole {
                settings: INCREMENTAL,
                check: None,
                parameters: |settings, task| incremental::spec(answering($cell, settings), task).parameters(),
                build: |settings, task, seed| {
                    incremental::network(answering($cell, settings), settings, task, seed)
                },
                sizing: Some(&SIZING),
                published: Some(incremental::published_width),
            }),
        };
    };
}

recurrent!(
    RNN,
    "rnn",
    "simple recurrent network, tanh",
    "Elman 1990, Finding Structure in Time",
    Cell::Rnn,
    1,
    0.001,
    // Exact for five layers and recognition alone: FLaRe freezes the second bias at zero, so one is counted.
    Some(|task| (10.0, task.alphabet as f64 + 11.0)),
    None
);
recurrent!(
    LSTM,
    "lstm",
    "long short-term memory",
    "Hochreiter and Schmidhuber 1997, Long Short-Term Memory",
    Cell::Lstm,
    1,
    0.002,
    Some(|task| (40.0, task.alphabet as f64 + 26.0)),
    Some(seq2seq::LSTM_ROLE)
);
recurrent!(
    GRU,
    "gru",
    "gated recurrent units",
    "Cho et al. 2014, Learning Phrase Representations using RNN Encoder–Decoder",
    Cell::Gru,
    // PyTorch's reset gate scales the second bias of a GRU: the two do not add up to one.
    2,
    0.002,
    None,
    None
);
