//! Transformers.

use super::gradient::{
    BATCH, BATCH_SYMBOLS, CLIP, DECAY, DECAY_PATIENCE, EPOCHS, LAMBDA, LATER_OPTIMIZER, LEARNING_RATE, LOSS,
    LOSS_WEIGHT, MAX_EPOCHS, OPTIMIZER, PATIENCE, REGULARIZATION, SHUFFLE, TRAIN_OUTPUT, WEIGHT_DECAY,
};
use super::recurrent::{DROPOUT, HIDDEN, LAYERS, SCORING_DROPOUT};
use super::setting::{Default, Limits, Setting, SettingValue, Settings};
use super::size::{Dimension, Sizing, Steps};
use super::{IncrementalRole, Learner, Network, NextSymbolRole, incremental, language_model, seq2seq};
use crate::kernel::Sinusoid;
use crate::model::{
    AnswerBodySpec, BodySpec, Counted as _, Initialization, LanguageModelSpec, NormPlace, Positions,
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
const RECOGNIZER: &[Setting] = &[
    LAYERS.or(Default::Count(5)),
    WIDTH,
    HEADS,
    FEEDFORWARD,
    DROPOUT.or(Default::Real(0.1)),
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

/// Layers stay as they are for longest. With these costs, small transformers keep several heads.
const SIZING: Sizing = Sizing {
    width: WIDTH.name,
    divisor: Some(HEADS.name),
    ratio: None,
    others: &[
        Dimension { setting: HEADS.name, steps: Steps::Halves, cost: 3 },
        Dimension { setting: FEEDFORWARD.name, steps: Steps::Around, cost: 2 },
        Dimension { setting: LAYERS.name, steps: Steps::Around, cost: 4 },
    ],
};

const NORM: Setting = Setting::new(
    "norm",
    "whether layers are normalised before each sublayer, and once more at the end, or after each residual sum",
    Limits::Names(&["pre", "post"]),
    Default::Name("pre"),
);
const POSITIONS: Setting = Setting::new(
    "positions",
    "the order of sines and cosines in the encoding of a position",
    Limits::Names(&["interleaved", "halves"]),
    Default::Name("interleaved"),
);
const SCALE_EMBEDDING: Setting = Setting::new(
    "scale_embedding",
    "whether embeddings are multiplied by the square root of the width",
    Limits::Switch,
    Default::Switch(true),
);
const EMBEDDING_DROPOUT: Setting = Setting::new(
    "embedding_dropout",
    "whether dropout is applied to embeddings too",
    Limits::Switch,
    Default::Switch(true),
);
const INITIALIZATION: Setting = Setting::new(
    "initialization",
    "the defaults of PyTorch's modules, or every matrix of a block by Glorot and Bengio (Xavier)",
    Limits::Names(&["torch", "xavier"]),
    Default::Name("torch"),
);

const NEXT_SYMBOL: &[Setting] = &[
    LOSS,
    WIDTH,
    LAYERS.or(Default::Count(2)),
    HEADS.or(Default::Count(4)),
    FEEDFORWARD,
    NORM,
    POSITIONS,
    SCALE_EMBEDDING,
    INITIALIZATION,
    DROPOUT,
    EMBEDDING_DROPOUT,
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

fn body(settings: &Settings) -> BodySpec {
    BodySpec::Transformer(usual(settings))
}

fn usual(settings: &Settings) -> TransformerSpec {
    let count = |setting: Setting| settings.count(setting.name).unwrap_or(1);
    let width = settings.count(WIDTH.name).unwrap_or(32);
    let is_off = |setting: Setting| settings.get(setting.name) == Some(&SettingValue::Switch(false));
    let post = settings.name(NORM.name) == Some("post");
    let halves = settings.name(POSITIONS.name) == Some("halves");
    let layout = if halves { Sinusoid::Halves } else { Sinusoid::Interleaved };
    let mut dropout = TransformerDropout::everywhere(settings.real(DROPOUT.name).unwrap_or(0.0));
    if is_off(EMBEDDING_DROPOUT) {
        dropout.embedding = 0.0;
    }
    TransformerSpec {
        layers: count(LAYERS),
        width,
        heads: count(HEADS),
        feedforward: count(FEEDFORWARD) * width,
        norm: if post { NormPlace::Post } else { NormPlace::Pre },
        final_norm: !post,
        positions: Positions::Sinusoidal { layout, first: 0 },
        scale_embedding: !is_off(SCALE_EMBEDDING),
        dropout,
    }
}

/// The width of the transformer of Cisneros et al., whatever the task.
const PUBLISHED_WIDTH: usize = 80;

const ATTENTION: Setting = Setting::new(
    "attention",
    "to what a position attends: `causal`, to itself and those before it; `pooled`, to all before the answer, over which the mean is taken; `leaky`, to the whole sequence, the answer included, as published by mistake",
    Limits::Names(&["causal", "pooled", "leaky"]),
    Default::Name("causal"),
);
const FEEDFORWARD_UNITS: Setting = Setting::new(
    "feedforward_units",
    "hidden units of the feed-forward sublayer",
    Limits::Count(1, 1_000_000),
    Default::Count(50),
);

/// One small layer, as Cisneros et al. have it, but for dropout.
const INCREMENTAL: &[Setting] = &[
    ATTENTION,
    WIDTH.or(Default::Count(PUBLISHED_WIDTH as u64)),
    LAYERS,
    HEADS,
    FEEDFORWARD_UNITS,
    DROPOUT,
    LATER_OPTIMIZER,
    LEARNING_RATE,
];

const INCREMENTAL_SIZING: Sizing = Sizing {
    width: WIDTH.name,
    divisor: Some(HEADS.name),
    ratio: None,
    others: &[Dimension { setting: HEADS.name, steps: Steps::Halves, cost: 1 }],
};

/// Normalised after each sum, as PyTorch's encoder layers are.
fn answering(settings: &Settings) -> AnswerBodySpec {
    let feedforward = settings.count(FEEDFORWARD_UNITS.name).unwrap_or(1);
    let spec = TransformerSpec { feedforward, norm: NormPlace::Post, final_norm: false, ..usual(settings) };
    match settings.name(ATTENTION.name) {
        Some("leaky") => AnswerBodySpec::Leaky(spec),
        Some("pooled") => AnswerBodySpec::Pooled(spec),
        _ => AnswerBodySpec::Prefix(BodySpec::Transformer(spec)),
    }
}

fn next_symbol(settings: &Settings, vocabulary: usize) -> LanguageModelSpec {
    let xavier = settings.name(INITIALIZATION.name) == Some("xavier");
    let initialization = if xavier { Initialization::Tse } else { Initialization::Torch };
    LanguageModelSpec { initialization, ..language_model(body(settings), vocabulary) }
}

pub(super) static TRANSFORMER: Learner = Learner {
    name: "transformer",
    summary: "causal transformer, pre-norm, sinusoidal positions",
    cite: "Vaswani et al. 2017, Attention Is All You Need",
    recognizer: Some(Network {
        settings: RECOGNIZER,
        check: None,
        build: |settings, task| task.recognizer(body(settings), Initialization::Flare),
        sizing: &SIZING,
        // Three biases too many per layer, and no start symbol: as published.
        published: Some(|task| (60.0, task.alphabet as f64 + 83.0)),
    }),
    next_symbol: Some(NextSymbolRole::Network(Network {
        settings: NEXT_SYMBOL,
        check: None,
        build: next_symbol,
        sizing: &SIZING,
        published: None,
    })),
    transducer: Some(seq2seq::TRANSFORMER_ROLE),
    incremental: Some(IncrementalRole {
        settings: INCREMENTAL,
        check: None,
        parameters: |settings, task| incremental::spec(answering(settings), task).parameters(),
        build: |settings, task, seed| incremental::network(answering(settings), settings, task, seed),
        sizing: Some(&INCREMENTAL_SIZING),
        published: Some(|_, _| PUBLISHED_WIDTH),
    }),
};
