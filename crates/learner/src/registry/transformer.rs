//! Transformers.

use wug_parameter::{Constant, Key, Parameter, Settings, choices, joined_parameters, parameters};

use super::gradient::{
    BATCH, EPOCHS, INCREMENTAL_TRAINING, LEARNING_RATE, LOSS, next_symbol_training, recognizer_training,
};
use super::recurrent::{DROPOUT, HIDDEN, LAYERS, SCORING_DROPOUT};
use super::size::{Dimension, Sizing, Steps};
use super::{IncrementalRole, Learner, Network, NextSymbolRole, incremental, language_model, seq2seq};
use crate::kernel::Sinusoid;
use crate::model::{
    AnswerBodySpec, BodySpec, Counted as _, Initialization, LanguageModelSpec, NormPlace, Positions,
    TransformerDropout, TransformerSpec,
};

pub(super) const HEADS: Key<usize> =
    Key::count("heads", "heads of attention; the width is a multiple of them", 1..=1000, 8);
const FEEDFORWARD: Key<usize> = Key::count(
    "feedforward",
    "hidden units of the feed-forward sublayer, as a multiple of the width",
    1..=100,
    4,
);
const WIDTH: Key<usize> = HIDDEN.meaning("elements per position, a multiple of `heads`");

/// Five layers of eight heads, as Butoi et al. have them.
const RECOGNIZER: &[Parameter] = joined_parameters![
    parameters![LAYERS.or(Constant::Count(5)), WIDTH, HEADS, FEEDFORWARD, DROPOUT.or(Constant::Real(0.1))],
    &recognizer_training(LEARNING_RATE),
];

/// Layers stay as they are for longest. With these costs, small transformers keep several heads.
const SIZING: Sizing = Sizing {
    width: WIDTH.name(),
    divisor: Some(HEADS.name()),
    ratio: None,
    others: &[
        Dimension { setting: HEADS.name(), steps: Steps::Halves, cost: 3 },
        Dimension { setting: FEEDFORWARD.name(), steps: Steps::Around, cost: 2 },
        Dimension { setting: LAYERS.name(), steps: Steps::Around, cost: 4 },
    ],
};

choices! {
    /// Where layers are normalised.
    pub enum Norm {
        Pre = "pre",
        Post = "post",
    }
}

choices! {
    /// The order of sines and cosines.
    pub enum SinusoidOrder {
        Interleaved = "interleaved",
        Halves = "halves",
    }
}

choices! {
    /// How matrices are initialised.
    pub enum MatrixInitialization {
        Torch = "torch",
        Xavier = "xavier",
    }
}

choices! {
    /// To what a position attends.
    pub enum Attention {
        Causal = "causal",
        Pooled = "pooled",
        Leaky = "leaky",
    }
}

const NORM: Key<Norm> = Key::choice(
    "norm",
    "whether layers are normalised before each sublayer, and once more at the end, or after each residual sum",
    "pre",
);
const POSITIONS: Key<SinusoidOrder> =
    Key::choice("positions", "the order of sines and cosines in the encoding of a position", "interleaved");
const SCALE_EMBEDDING: Key<bool> =
    Key::switch("scale_embedding", "whether embeddings are multiplied by the square root of the width", true);
const EMBEDDING_DROPOUT: Key<bool> =
    Key::switch("embedding_dropout", "whether dropout is applied to embeddings too", true);
const INITIALIZATION: Key<MatrixInitialization> = Key::choice(
    "initialization",
    "the defaults of PyTorch's modules, or every matrix of a block by Glorot and Bengio (Xavier)",
    "torch",
);

const NEXT_SYMBOL: &[Parameter] = joined_parameters![
    parameters![
        LOSS,
        WIDTH,
        LAYERS.or(Constant::Count(2)),
        HEADS.or(Constant::Count(4)),
        FEEDFORWARD,
        NORM,
        POSITIONS,
        SCALE_EMBEDDING,
        INITIALIZATION,
        DROPOUT,
        EMBEDDING_DROPOUT,
        SCORING_DROPOUT
    ],
    &next_symbol_training(EPOCHS, LEARNING_RATE, BATCH),
];

fn body(settings: &Settings) -> BodySpec {
    BodySpec::Transformer(usual(settings))
}

fn usual(settings: &Settings) -> TransformerSpec {
    let width = settings.get(&WIDTH);
    let post = settings.get(&NORM) == Norm::Post;
    let layout = match settings.get(&POSITIONS) {
        SinusoidOrder::Interleaved => Sinusoid::Interleaved,
        SinusoidOrder::Halves => Sinusoid::Halves,
    };
    let mut dropout = TransformerDropout::everywhere(settings.get(&DROPOUT));
    if !settings.get(&EMBEDDING_DROPOUT) {
        dropout.embedding = 0.0;
    }
    TransformerSpec {
        layers: settings.get(&LAYERS),
        width,
        heads: settings.get(&HEADS),
        // A multiple of the width, so that a size changes both together.
        feedforward: settings.get(&FEEDFORWARD) * width,
        norm: if post { NormPlace::Post } else { NormPlace::Pre },
        final_norm: !post,
        positions: Positions::Sinusoidal { layout, first: 0 },
        scale_embedding: settings.get(&SCALE_EMBEDDING),
        dropout,
    }
}

/// The width of the transformer of Cisneros et al., whatever the task.
const PUBLISHED_WIDTH: usize = 80;

const ATTENTION: Key<Attention> = Key::choice(
    "attention",
    "to what a position attends: `causal`, to itself and those before it; `pooled`, to all before the answer, over which the mean is taken; `leaky`, to the whole sequence, the answer included, as published by mistake",
    "causal",
);
const FEEDFORWARD_UNITS: Key<usize> =
    Key::count("feedforward_units", "hidden units of the feed-forward sublayer", 1..=1_000_000, 50);

/// One small layer, as Cisneros et al. have it, but for dropout.
const INCREMENTAL: &[Parameter] = joined_parameters![
    parameters![
        ATTENTION,
        WIDTH.or(Constant::Count(PUBLISHED_WIDTH as u64)),
        LAYERS,
        HEADS,
        FEEDFORWARD_UNITS,
        DROPOUT
    ],
    &INCREMENTAL_TRAINING,
];

const INCREMENTAL_SIZING: Sizing = Sizing {
    width: WIDTH.name(),
    divisor: Some(HEADS.name()),
    ratio: None,
    others: &[Dimension { setting: HEADS.name(), steps: Steps::Halves, cost: 1 }],
};

/// Normalised after each sum, as PyTorch's encoder layers are.
fn answering(settings: &Settings) -> AnswerBodySpec {
    let feedforward = settings.get(&FEEDFORWARD_UNITS);
    let spec = TransformerSpec { feedforward, norm: NormPlace::Post, final_norm: false, ..usual(settings) };
    match settings.get(&ATTENTION) {
        Attention::Leaky => AnswerBodySpec::Leaky(spec),
        Attention::Pooled => AnswerBodySpec::Pooled(spec),
        Attention::Causal => AnswerBodySpec::Prefix(BodySpec::Transformer(spec)),
    }
}

fn next_symbol(settings: &Settings, vocabulary: usize) -> LanguageModelSpec {
    let initialization = match settings.get(&INITIALIZATION) {
        MatrixInitialization::Torch => Initialization::Torch,
        // TSE's model: Xavier for matrices, the defaults of PyTorch for biases.
        MatrixInitialization::Xavier => Initialization::Tse,
    };
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
