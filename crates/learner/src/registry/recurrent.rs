//! Recurrent networks without a memory beside them.

use super::gradient::{
    BATCH, BATCH_SYMBOLS, CLIP, DECAY, DECAY_PATIENCE, EPOCHS, LAMBDA, LATER_OPTIMIZER, LEARNING_RATE, LOSS,
    LOSS_WEIGHT, MAX, MAX_EPOCHS, OPTIMIZER, PATIENCE, REGULARIZATION, SHUFFLE, TRAIN_OUTPUT, WEIGHT_DECAY,
};
use super::setting::{Default, Limits, Setting, Settings};
use super::size::{Dimension, Sizing, Steps};
use super::{
    IncrementalRole, Learner, Network, NextSymbolRole, RecognizerTask, incremental, language_model, seq2seq,
};
use crate::model::{
    AnswerBodySpec, BodySpec, Cell, Counted as _, Initialization, RecognizerSpec, RecurrentSpec, Start,
};

pub(super) const HIDDEN: Setting =
    Setting::new("hidden", "units per layer", Limits::Count(1, MAX), Default::Count(32));
pub(super) const LAYERS: Setting =
    Setting::new("layers", "layers, one on top of the other", Limits::Count(1, 1000), Default::Count(1));
pub(super) const DROPOUT: Setting = Setting::new(
    "dropout",
    "probability with which an element of a layer's output is dropped in training",
    Limits::Probability,
    Default::Real(0.0),
);

/// Five layers and dropout, as Butoi et al. have them.
const fn recognizer_settings(rate: f64) -> [Setting; 12] {
    [
        LAYERS.or(Default::Count(5)),
        HIDDEN,
        DROPOUT.or(Default::Real(0.1)),
        LATER_OPTIMIZER,
        LEARNING_RATE.or(Default::Real(rate)),
        BATCH_SYMBOLS,
        LOSS_WEIGHT,
        CLIP,
        DECAY,
        DECAY_PATIENCE,
        PATIENCE,
        MAX_EPOCHS,
    ]
}

pub(super) const EMBEDDING: Setting = Setting::new(
    "embedding",
    "elements per embedded symbol, or `one-hot`: no embedding",
    Limits::NamesOrCount(&["one-hot"]),
    Default::Name("one-hot"),
);
pub(super) const SCORING_DROPOUT: Setting = Setting::new(
    "scoring_dropout",
    "whether dropout stays on where trained models score whole strings",
    Limits::Switch,
    Default::Switch(false),
);

const NEXT_SYMBOL: &[Setting] = &[
    LOSS,
    HIDDEN,
    LAYERS,
    EMBEDDING,
    DROPOUT,
    SCORING_DROPOUT,
    REGULARIZATION,
    LAMBDA,
    EPOCHS,
    OPTIMIZER,
    LEARNING_RATE,
    WEIGHT_DECAY,
    TRAIN_OUTPUT,
    BATCH,
    SHUFFLE,
];

pub(super) const EMBEDDED: Setting = Setting::new(
    "embedding",
    "elements per embedded symbol; 0 for one-hot input",
    Limits::Count(0, MAX),
    Default::Count(0),
);

const INCREMENTAL: &[Setting] =
    &[HIDDEN.or(Default::Count(128)), LAYERS, EMBEDDED, DROPOUT, LATER_OPTIMIZER, LEARNING_RATE];

const SIZING: Sizing = Sizing {
    width: HIDDEN.name,
    divisor: None,
    ratio: None,
    others: &[Dimension { setting: LAYERS.name, steps: Steps::Around, cost: 1 }],
};

/// The embedding is as wide as the states, which start at a learned vector.
fn recognizer(cell: Cell, biases: usize, settings: &Settings, task: RecognizerTask) -> RecognizerSpec {
    let hidden = settings.count(HIDDEN.name).unwrap_or(32);
    let body = RecurrentSpec {
        layers: settings.count(LAYERS.name).unwrap_or(5),
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
        layers: settings.count(LAYERS.name).unwrap_or(1),
        hidden: settings.count(HIDDEN.name).unwrap_or(32),
        embedding: settings.count(EMBEDDING.name),
        biases: 2,
        start: Start::Zero,
        dropout: settings.real(DROPOUT.name).unwrap_or(0.0),
    }
}

/// Symbols go in one-hot, or embedded if an embedding is given.
fn answering(cell: Cell, settings: &Settings) -> AnswerBodySpec {
    let embedding = settings.count(EMBEDDED.name).filter(|width| *width > 0);
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
                settings: &recognizer_settings($rate),
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
    2,
    0.002,
    None,
    None
);
