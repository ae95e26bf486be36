//! Transformers.

use super::gradient::{BATCH, EPOCHS, LAMBDA, LEARNING_RATE, LOSS, REGULARIZATION, SHUFFLE};
use super::recurrent::{DROPOUT, HIDDEN, LAYERS};
use super::seq2seq;
use super::setting::{Default, Limits, Setting, Settings};
use super::{Learner, NextSymbolBuild, NextSymbolRole, RecognizerRole, RecognizerTask};
use crate::kernel::Sinusoid;
use crate::model::{
    BodySpec, Initialization, LanguageModelSpec, NormPlace, Output, Positions, RecognizerSpec,
    TransformerDropout, TransformerSpec,
};

pub(super) const HEADS: Setting = Setting::new(
    "heads",
    "heads of attention; the width is a multiple of them",
    Limits::Count(1, 1000),
    Default::Count(8),
);
const FEEDFORWARD: Setting = Setting::new(
    "feedforward",
    "hidden units of the feed-forward sublayer, as a multiple of the width",
    Limits::Count(1, 100),
    Default::Count(4),
);
const WIDTH: Setting = Setting { meaning: "elements per position, a multiple of `heads`", ..HIDDEN };

/// Five layers of eight heads, as Butoi et al. have them.
const RECOGNIZER: &[Setting] =
    &[LAYERS.or(Default::Count(5)), HEADS, FEEDFORWARD, DROPOUT.or(Default::Real(0.1))];

const NEXT_SYMBOL: &[Setting] = &[
    LOSS,
    WIDTH,
    LAYERS.or(Default::Count(2)),
    HEADS.or(Default::Count(4)),
    FEEDFORWARD,
    DROPOUT,
    REGULARIZATION,
    LAMBDA,
    EPOCHS,
    LEARNING_RATE,
    BATCH,
    SHUFFLE,
];

fn body(settings: &Settings, width: usize) -> BodySpec {
    let count = |setting: Setting| settings.count(setting.name).unwrap_or(1);
    BodySpec::Transformer(TransformerSpec {
        layers: count(LAYERS),
        width,
        heads: count(HEADS),
        feedforward: count(FEEDFORWARD) * width,
        norm: NormPlace::Pre,
        final_norm: true,
        positions: Positions::Sinusoidal { layout: Sinusoid::Interleaved, first: 0 },
        scale_embedding: true,
        dropout: TransformerDropout::everywhere(settings.real(DROPOUT.name).unwrap_or(0.0)),
    })
}

fn recognizer(settings: &Settings, width: usize, task: RecognizerTask) -> RecognizerSpec {
    RecognizerSpec {
        body: body(settings, width),
        alphabet: task.alphabet,
        language_modeling: task.language_modeling,
        next_symbols: task.next_symbols,
        initialization: Initialization::Flare,
    }
}

fn next_symbol(settings: &Settings, vocabulary: usize) -> LanguageModelSpec {
    let width = settings.count(WIDTH.name).unwrap_or(32);
    LanguageModelSpec {
        body: body(settings, width),
        vocabulary,
        output: Output::Linear,
        initialization: Initialization::Torch,
    }
}

pub(super) static TRANSFORMER: Learner = Learner {
    name: "transformer",
    summary: "causal transformer, pre-norm, sinusoidal positions",
    cite: "Vaswani et al. 2017, Attention Is All You Need",
    recognizer: Some(RecognizerRole {
        settings: RECOGNIZER,
        build: recognizer,
        unit: |settings| settings.count(HEADS.name).unwrap_or(1),
        // Three biases too many per layer, and no start symbol: as published.
        published: Some(|v| (60.0, v as f64 + 83.0)),
    }),
    next_symbol: Some(NextSymbolRole {
        settings: NEXT_SYMBOL,
        check: None,
        build: NextSymbolBuild::Network(next_symbol),
    }),
    transducer: Some(seq2seq::TRANSFORMER_ROLE),
};
