//! Encoder–decoder networks, as Kharitonov and Chaabouni have them (fairseq).

use super::recurrent::{DROPOUT, HIDDEN, LAYERS};
use super::setting::{Default, Limits, Setting, Settings};
use super::transformer::HEADS;
use super::{Learner, TransducerRole, TransducerTask};
use crate::kernel::Sinusoid;
use crate::model::{
    CnnTransducerSpec, Initialization, LstmTransducerSpec, NormPlace, Positions, TransducerBodySpec,
    TransducerSpec, TransformerDropout, TransformerSpec,
};

const EMBEDDING: Setting =
    Setting::new("embedding", "elements per embedded symbol", Limits::Count(1, 100_000), Default::Count(16));
const KERNEL: Setting =
    Setting::new("kernel", "positions that a layer sees at once", Limits::Count(1, 1000), Default::Count(3));

const HALF: Setting = DROPOUT.or(Default::Real(0.5));
const LSTM: &[Setting] = &[LAYERS, HIDDEN.or(Default::Count(512)), EMBEDDING, HALF];
const CNN_SETTINGS: &[Setting] = &[LAYERS, HIDDEN.or(Default::Count(512)), EMBEDDING, KERNEL, HALF];
const FEEDFORWARD: Setting =
    Setting { meaning: "hidden units of the feed-forward sublayer", ..HIDDEN.or(Default::Count(512)) };
const TRANSFORMER: &[Setting] = &[LAYERS, FEEDFORWARD, EMBEDDING, HEADS, HALF];

fn spec(body: TransducerBodySpec, initialization: Initialization, task: TransducerTask) -> TransducerSpec {
    let TransducerTask { inputs, outputs, end, padding } = task;
    TransducerSpec { body, inputs, outputs, end, padding, initialization }
}

fn count(settings: &Settings, setting: Setting) -> usize {
    settings.count(setting.name).unwrap_or(1)
}

fn lstm(attention: bool, settings: &Settings, task: TransducerTask) -> TransducerSpec {
    let body = LstmTransducerSpec {
        layers: count(settings, LAYERS),
        hidden: count(settings, HIDDEN),
        embedding: count(settings, EMBEDDING),
        dropout: settings.real(DROPOUT.name).unwrap_or(0.0),
        ..LstmTransducerSpec::published(attention)
    };
    spec(TransducerBodySpec::Lstm(body), Initialization::FindLstm, task)
}

fn cnn(settings: &Settings, task: TransducerTask) -> TransducerSpec {
    let body = CnnTransducerSpec {
        layers: count(settings, LAYERS),
        channels: count(settings, HIDDEN),
        kernel: count(settings, KERNEL),
        embedding: count(settings, EMBEDDING),
        dropout: settings.real(DROPOUT.name).unwrap_or(0.0),
        ..CnnTransducerSpec::published()
    };
    spec(TransducerBodySpec::Cnn(body), Initialization::FindCnn, task)
}

/// fairseq drops no attention weights and no hidden units of the feed-forward sublayer.
fn transformer(settings: &Settings, task: TransducerTask) -> TransducerSpec {
    let (width, dropout) = (count(settings, EMBEDDING), settings.real(DROPOUT.name).unwrap_or(0.0));
    let body = TransformerSpec {
        layers: count(settings, LAYERS),
        width,
        heads: count(settings, HEADS),
        feedforward: count(settings, FEEDFORWARD),
        norm: NormPlace::Post,
        final_norm: false,
        positions: Positions::Sinusoidal { layout: Sinusoid::Halves, first: 2 },
        scale_embedding: true,
        dropout: TransformerDropout {
            embedding: dropout,
            residual: dropout,
            ..TransformerDropout::default()
        },
    };
    spec(TransducerBodySpec::Transformer(body), Initialization::FindTransformer, task)
}

pub(super) const LSTM_ROLE: TransducerRole =
    TransducerRole { settings: LSTM, build: |settings, task| lstm(false, settings, task) };

pub(super) const TRANSFORMER_ROLE: TransducerRole =
    TransducerRole { settings: TRANSFORMER, build: transformer };

pub(super) static LSTM_ATTENTION: Learner = Learner {
    name: "lstm-attention",
    summary: "long short-term memory, encoder and decoder with Luong's attention",
    cite: "Luong et al. 2015, Effective Approaches to Attention-based Neural Machine Translation",
    recognizer: None,
    next_symbol: None,
    transducer: Some(TransducerRole { settings: LSTM, build: |settings, task| lstm(true, settings, task) }),
};

pub(super) static CNN: Learner = Learner {
    name: "cnn",
    summary: "convolutional encoder and decoder with attention in every layer",
    cite: "Gehring et al. 2017, Convolutional Sequence to Sequence Learning",
    recognizer: None,
    next_symbol: None,
    transducer: Some(TransducerRole { settings: CNN_SETTINGS, build: cnn }),
};
