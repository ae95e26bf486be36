//! Recurrent networks without a memory beside them.

use super::gradient::{BATCH, EPOCHS, LAMBDA, LEARNING_RATE, LOSS, MAX, REGULARIZATION, SHUFFLE};
use super::seq2seq;
use super::setting::{Default, Limits, Setting, Settings};
use super::{Learner, NextSymbolBuild, NextSymbolRole, RecognizerRole, RecognizerTask};
use crate::model::{
    BodySpec, Cell, Initialization, LanguageModelSpec, Output, RecognizerSpec, RecurrentSpec, Start,
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
const RECOGNIZER: &[Setting] = &[LAYERS.or(Default::Count(5)), DROPOUT.or(Default::Real(0.1))];

const NEXT_SYMBOL: &[Setting] =
    &[LOSS, HIDDEN, LAYERS, DROPOUT, REGULARIZATION, LAMBDA, EPOCHS, LEARNING_RATE, BATCH, SHUFFLE];

/// The embedding is as wide as the states, which start at a learned vector.
fn recognizer(
    cell: Cell,
    biases: usize,
    settings: &Settings,
    d: usize,
    task: RecognizerTask,
) -> RecognizerSpec {
    let body = BodySpec::Recurrent(RecurrentSpec {
        cell,
        layers: settings.count(LAYERS.name).unwrap_or(5),
        hidden: d,
        embedding: Some(d),
        biases,
        start: Start::Learned,
        dropout: settings.real(DROPOUT.name).unwrap_or(0.0),
    });
    RecognizerSpec {
        body,
        alphabet: task.alphabet,
        language_modeling: task.language_modeling,
        next_symbols: task.next_symbols,
        initialization: Initialization::Flare,
    }
}

/// Symbols go in one-hot, as Lan, Chemla and Katzir have it.
fn next_symbol(cell: Cell, settings: &Settings, vocabulary: usize) -> LanguageModelSpec {
    let body = BodySpec::Recurrent(RecurrentSpec {
        cell,
        layers: settings.count(LAYERS.name).unwrap_or(1),
        hidden: settings.count(HIDDEN.name).unwrap_or(32),
        embedding: None,
        biases: 2,
        start: Start::Zero,
        dropout: settings.real(DROPOUT.name).unwrap_or(0.0),
    });
    let (output, initialization) = (Output::Linear, Initialization::Torch);
    LanguageModelSpec { body, vocabulary, output, initialization }
}

/// Any multiple.
pub(super) fn one(_: &Settings) -> usize {
    1
}

pub(super) static RNN: Learner = Learner {
    name: "rnn",
    summary: "simple recurrent network, tanh",
    cite: "Elman 1990, Finding Structure in Time",
    recognizer: Some(RecognizerRole {
        settings: RECOGNIZER,
        build: |settings, d, task| recognizer(Cell::Rnn, 1, settings, d, task),
        unit: one,
        published: Some(|v| (10.0, v as f64 + 11.0)),
    }),
    next_symbol: Some(NextSymbolRole {
        settings: NEXT_SYMBOL,
        check: None,
        build: NextSymbolBuild::Network(|settings, v| next_symbol(Cell::Rnn, settings, v)),
    }),
    transducer: None,
};

pub(super) static LSTM: Learner = Learner {
    name: "lstm",
    summary: "long short-term memory",
    cite: "Hochreiter and Schmidhuber 1997, Long Short-Term Memory",
    recognizer: Some(RecognizerRole {
        settings: RECOGNIZER,
        build: |settings, d, task| recognizer(Cell::Lstm, 1, settings, d, task),
        unit: one,
        published: Some(|v| (40.0, v as f64 + 26.0)),
    }),
    next_symbol: Some(NextSymbolRole {
        settings: NEXT_SYMBOL,
        check: None,
        build: NextSymbolBuild::Network(|settings, v| next_symbol(Cell::Lstm, settings, v)),
    }),
    transducer: Some(seq2seq::LSTM_ROLE),
};

pub(super) static GRU: Learner = Learner {
    name: "gru",
    summary: "gated recurrent units",
    cite: "Cho et al. 2014, Learning Phrase Representations using RNN Encoder–Decoder",
    recognizer: Some(RecognizerRole {
        settings: RECOGNIZER,
        build: |settings, d, task| recognizer(Cell::Gru, 2, settings, d, task),
        unit: one,
        // 2·3 matrices, 6 bias vectors and a start per layer; embedding and head.
        published: Some(|v| (30.0, v as f64 + 36.0)),
    }),
    next_symbol: Some(NextSymbolRole {
        settings: NEXT_SYMBOL,
        check: None,
        build: NextSymbolBuild::Network(|settings, v| next_symbol(Cell::Gru, settings, v)),
    }),
    transducer: None,
};
