//! Encoder–decoder networks, as Kharitonov and Chaabouni have them (fairseq).

use wug_parameter::{Constant, Key, Parameter, Settings, parameters};

use super::gradient::{CLIP_PAIRS, INITIAL_RATE, PAIRS, PEAK_RATE, TELLING_OPTIMIZER, UPDATES, WARMUP};
use super::recurrent::{DROPOUT, HIDDEN, LAYERS};
use super::size::{Dimension, Sizing, Steps};
use super::transformer::HEADS;
use super::{Learner, NO_ROLES, Network, TransducerRole, TransducerTask};
use crate::kernel::Sinusoid;
use crate::model::{
    CnnTransducerSpec, Initialization, LstmTransducerSpec, NormPlace, Positions, TransducerBodySpec,
    TransducerSpec, TransformerDropout, TransformerSpec,
};

const EMBEDDING: Key<usize> = Key::count("embedding", "elements per embedded symbol", 1..=100_000, 16);
const KERNEL: Key<usize> = Key::count("kernel", "positions that a layer sees at once", 1..=1000, 3);

const OUTPUT: Key<Option<usize>> = Key::count_or(
    "output",
    "elements that the output layer reads; if not `hidden`, there is a linear layer before it",
    &["hidden"],
    Constant::Name("hidden"),
);
const CNN_OUTPUT: Key<usize> = Key::count("output", "elements that the output layer reads", 1..=100_000, 256);

const DAMPED: Key<bool> = Key::switch(
    "damped",
    "whether the encoder's gradient is divided by twice the number of layers of the decoder, as in fairseq",
    false,
)
.published(Constant::Switch(true));

const HALF: Key<f64> = DROPOUT.or(Constant::Real(0.5));
const WIDE: Key<usize> = HIDDEN.or(Constant::Count(512));

/// Settings with those of training after them.
macro_rules! trained {
    ($($setting:expr),+) => {
        parameters![
            $($setting),+, UPDATES, PAIRS, TELLING_OPTIMIZER, PEAK_RATE, INITIAL_RATE, WARMUP, CLIP_PAIRS
        ]
    };
}

const LSTM: &[Parameter] = trained![LAYERS, WIDE, EMBEDDING, OUTPUT, HALF];
const CNN_SETTINGS: &[Parameter] = trained![LAYERS, WIDE, EMBEDDING, KERNEL, CNN_OUTPUT, HALF, DAMPED];
const FEEDFORWARD: Key<usize> = WIDE.meaning("hidden units of the feed-forward sublayer");
const CROSS_SELF: Key<bool> = Key::switch(
    "cross_self_attention",
    "whether the decoder's self-attention attends to the encoder's states as well, as in `transformer_lm_small` of the released code",
    false,
);
const TRANSFORMER: &[Parameter] = trained![LAYERS, FEEDFORWARD, EMBEDDING, HEADS, HALF];
const ENCODER_DECODER: &[Parameter] = trained![LAYERS, FEEDFORWARD, EMBEDDING, HEADS, HALF, CROSS_SELF];

const SMALLER_EMBEDDING: Dimension = Dimension { setting: EMBEDDING.name(), steps: Steps::Halves, cost: 1 };
const LSTM_SIZING: Sizing =
    Sizing { width: HIDDEN.name(), divisor: None, ratio: None, others: &[SMALLER_EMBEDDING] };
/// Small networks can afford neither the embeddings of 1,024 positions nor the output layer of the published one, which is
/// half as wide as the others.
const CNN_SIZING: Sizing = Sizing {
    ratio: Some((CNN_OUTPUT.name(), 1, 1000)),
    others: &[
        Dimension { setting: CNN_OUTPUT.name(), steps: Steps::Halves, cost: 1 },
        Dimension { cost: 2, ..SMALLER_EMBEDDING },
    ],
    ..LSTM_SIZING
};
/// The published feed-forward sublayer is 32 times as wide as the embedding.
const TRANSFORMER_SIZING: Sizing = Sizing {
    ratio: Some((EMBEDDING.name(), 2, 64)),
    others: &[
        Dimension { setting: EMBEDDING.name(), steps: Steps::Doubles, cost: 1 },
        Dimension { setting: HEADS.name(), steps: Steps::Halves, cost: 2 },
    ],
    ..LSTM_SIZING
};

fn spec(body: TransducerBodySpec, initialization: Initialization, task: TransducerTask) -> TransducerSpec {
    let TransducerTask { inputs, outputs, end, padding } = task;
    TransducerSpec { body, inputs, outputs, end, padding, initialization }
}

fn lstm(attention: bool, settings: &Settings, task: TransducerTask) -> TransducerSpec {
    let body = LstmTransducerSpec {
        layers: settings.get(&LAYERS),
        hidden: settings.get(&HIDDEN),
        embedding: settings.get(&EMBEDDING),
        output: settings.get(&OUTPUT).unwrap_or_else(|| settings.get(&HIDDEN)),
        attention,
        dropout: settings.get(&DROPOUT),
    };
    spec(TransducerBodySpec::Lstm(body), Initialization::FindLstm, task)
}

fn cnn(settings: &Settings, task: TransducerTask) -> TransducerSpec {
    let body = CnnTransducerSpec {
        layers: settings.get(&LAYERS),
        channels: settings.get(&HIDDEN),
        kernel: settings.get(&KERNEL),
        embedding: settings.get(&EMBEDDING),
        output: settings.get(&CNN_OUTPUT),
        dropout: settings.get(&DROPOUT),
        damped: settings.get(&DAMPED),
        ..CnnTransducerSpec::published()
    };
    spec(TransducerBodySpec::Cnn(body), Initialization::FindCnn, task)
}

/// fairseq drops no attention weights and no hidden units of the feed-forward sublayer.
fn transformer_spec(settings: &Settings) -> TransformerSpec {
    let (width, dropout) = (settings.get(&EMBEDDING), settings.get(&DROPOUT));
    TransformerSpec {
        layers: settings.get(&LAYERS),
        width,
        heads: settings.get(&HEADS),
        feedforward: settings.get(&FEEDFORWARD),
        norm: NormPlace::Post,
        final_norm: false,
        // fairseq's positions begin after the id of padding, which is 1.
        positions: Positions::Sinusoidal { layout: Sinusoid::Halves, first: 2 },
        scale_embedding: true,
        dropout: TransformerDropout {
            embedding: dropout,
            residual: dropout,
            ..TransformerDropout::default()
        },
    }
}

fn transformer(settings: &Settings, task: TransducerTask) -> TransducerSpec {
    let cross_self = settings.get(&CROSS_SELF);
    let body =
        if cross_self { TransducerBodySpec::CrossSelfTransformer } else { TransducerBodySpec::Transformer };
    let body = body(transformer_spec(settings));
    spec(body, Initialization::FindTransformer, task)
}

fn joint(settings: &Settings, task: TransducerTask) -> TransducerSpec {
    let body = TransducerBodySpec::Joint(transformer_spec(settings));
    spec(body, Initialization::JointAttention, task)
}

fn prompt(settings: &Settings, task: TransducerTask) -> TransducerSpec {
    let body = TransducerBodySpec::Prompt(transformer_spec(settings));
    spec(body, Initialization::FindTransformer, task)
}

const fn role(
    settings: &'static [Parameter],
    build: fn(&Settings, TransducerTask) -> TransducerSpec,
    sizing: &'static Sizing,
) -> TransducerRole {
    Network { settings, check: None, build, sizing, published: None }
}

pub(super) const LSTM_ROLE: TransducerRole =
    role(LSTM, |settings, task| lstm(false, settings, task), &LSTM_SIZING);

pub(super) const TRANSFORMER_ROLE: TransducerRole = role(ENCODER_DECODER, transformer, &TRANSFORMER_SIZING);

pub(super) static LSTM_ATTENTION: Learner = Learner {
    name: "lstm-attention",
    summary: "long short-term memory, encoder and decoder with Luong's attention",
    cite: "Luong et al. 2015, Effective Approaches to Attention-based Neural Machine Translation",
    transducer: Some(role(LSTM, |settings, task| lstm(true, settings, task), &LSTM_SIZING)),
    ..NO_ROLES
};

pub(super) static CNN: Learner = Learner {
    name: "cnn",
    summary: "convolutional encoder and decoder with attention in every layer",
    cite: "Gehring et al. 2017, Convolutional Sequence to Sequence Learning",
    transducer: Some(role(CNN_SETTINGS, cnn, &CNN_SIZING)),
    ..NO_ROLES
};

pub(super) static JOINT_ATTENTION: Learner = Learner {
    name: "joint-attention",
    summary: "transformer with joint self-attention over source and target, in the same weights",
    cite: "He et al. 2018, Layer-Wise Coordination between Encoder and Decoder; Fonollosa et al. 2019",
    transducer: Some(role(TRANSFORMER, joint, &TRANSFORMER_SIZING)),
    ..NO_ROLES
};

pub(super) static DECODER_ONLY: Learner = Learner {
    name: "decoder-only",
    summary: "causal transformer that continues the input as a prompt",
    cite: "Radford et al. 2019, Language Models are Unsupervised Multitask Learners",
    transducer: Some(role(TRANSFORMER, prompt, &TRANSFORMER_SIZING)),
    ..NO_ROLES
};
