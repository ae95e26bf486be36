//! Causal transformers.

use serde::{Deserialize, Serialize};

use super::init::{Initialization, Role};
use super::states::States;
use crate::kernel::{Activation, Attention, Real, Sinusoid};
use crate::params::{Layout, Param};
use crate::tape::{LayerNorm, Record, Var};

/// Where layer normalisation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NormPlace {
    /// Before each sublayer, inside the residual branch.
    Pre,
    /// After each residual sum.
    Post,
}

/// How a transformer knows where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Positions {
    /// It does not.
    None,
    /// A learned vector for each of `max` positions.
    Learned {
        /// Longest input, the start symbol included.
        max: usize,
    },
    /// Sines and cosines.
    Sinusoidal {
        /// How they share a row.
        layout: Sinusoid,
        /// The number of the first position.
        first: usize,
    },
}

/// Probabilities of dropping numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformerDropout {
    /// After embedding and position.
    pub embedding: f64,
    /// Of attention weights.
    pub attention: f64,
    /// Inside the feed-forward sublayer.
    pub hidden: f64,
    /// Of each sublayer's output.
    pub residual: f64,
}

impl TransformerDropout {
    /// The same everywhere.
    pub fn everywhere(p: f64) -> Self {
        Self { embedding: p, attention: p, hidden: p, residual: p }
    }
}

/// A causal transformer, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformerSpec {
    /// How many blocks.
    pub layers: usize,
    /// `D`, numbers per position.
    pub width: usize,
    /// Heads of attention; must divide the width.
    pub heads: usize,
    /// Hidden units of the feed-forward sublayer.
    pub feedforward: usize,
    /// Where normalisation stands.
    pub norm: NormPlace,
    /// Whether the last block is followed by another normalisation.
    pub final_norm: bool,
    /// How it knows where it is.
    pub positions: Positions,
    /// Whether embeddings are multiplied by the square root of the width.
    pub scale_embedding: bool,
    /// Probabilities of dropping numbers.
    pub dropout: TransformerDropout,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    qkv: Param,
    qkv_bias: Param,
    out: Param,
    out_bias: Param,
    up: Param,
    up_bias: Param,
    down: Param,
    down_bias: Param,
    norm1: LayerNorm,
    norm2: LayerNorm,
}

impl Block {
    fn new(l: usize, spec: &TransformerSpec, init: Initialization, layout: &mut Layout) -> Self {
        let (d, f) = (spec.width, spec.feedforward);
        let mut add = |part: &str, shape: &[usize], role: Role| {
            layout.add(format!("layers.{l}.{part}"), shape, init.of(role))
        };
        Self {
            qkv: add("attention.in.weight", &[3 * d, d], Role::AttentionIn { d }),
            qkv_bias: add("attention.in.bias", &[3 * d], Role::AttentionInBias { d }),
            out: add("attention.out.weight", &[d, d], Role::AttentionOut { d }),
            out_bias: add("attention.out.bias", &[d], Role::AttentionOutBias),
            up: add("up.weight", &[f, d], Role::Linear { i: d, o: f }),
            up_bias: add("up.bias", &[f], Role::LinearBias { i: d }),
            down: add("down.weight", &[d, f], Role::Linear { i: f, o: d }),
            down_bias: add("down.bias", &[d], Role::LinearBias { i: f }),
            norm1: norm(layout, &format!("layers.{l}.norm1"), d, init),
            norm2: norm(layout, &format!("layers.{l}.norm2"), d, init),
        }
    }
}

fn norm(layout: &mut Layout, name: &str, d: usize, init: Initialization) -> LayerNorm {
    let gain = layout.add(format!("{name}.weight"), &[d], init.of(Role::NormGain));
    let bias = layout.add(format!("{name}.bias"), &[d], init.of(Role::NormBias));
    LayerNorm { gain, bias, epsilon: 1e-5 }
}

/// The same, with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Transformer {
    spec: TransformerSpec,
    pub(super) embedding: Param,
    positions: Option<Param>,
    blocks: Vec<Block>,
    final_norm: Option<LayerNorm>,
}

impl Transformer {
    pub(crate) fn new(
        spec: TransformerSpec,
        vocabulary: usize,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let d = spec.width;
        let embedding = layout.add("embedding", &[vocabulary, d], init.of(Role::Embedding { d }));
        let positions = match spec.positions {
            Positions::Learned { max } => Some(layout.add("positions", &[max, d], init.of(Role::Positions))),
            Positions::None | Positions::Sinusoidal { .. } => None,
        };
        let blocks = (0..spec.layers).map(|l| Block::new(l, &spec, init, layout)).collect();
        let final_norm = spec.final_norm.then(|| norm(layout, "norm", d, init));
        Self { spec, embedding, positions, blocks, final_norm }
    }

    pub(crate) fn width(&self) -> usize {
        self.spec.width
    }

    /// The states at every position. `symbol(t, b)` is the input of string `b` at position `t`, or padding.
    pub(crate) fn forward<R: Real>(
        &self,
        r: &mut Record<'_, R>,
        (t, batch): (usize, usize),
        symbol: impl Fn(usize, usize) -> u32,
    ) -> States {
        let d = self.spec.width;
        let scale = if self.spec.scale_embedding { libm::sqrt(d as f64) } else { 1.0 };
        let symbols = (0..t * batch).map(|i| symbol(i % t, i / t));
        let mut x = r.embedding(self.embedding, symbols, d, scale);
        if let Positions::Sinusoidal { layout, first } = self.spec.positions {
            r.add_sinusoids(x, t, first, d, layout);
        }
        if let Some(positions) = self.positions {
            assert!(t * d <= positions.len(), "{t} positions, but only {} learned", positions.len() / d);
            x = r.add_param(x, positions.part(0, t * d));
        }
        x = r.dropout(x, self.spec.dropout.embedding);
        let n = Attention { batch, queries: t, keys: t, width: d, heads: self.spec.heads, causal: true };
        for block in &self.blocks {
            x = self.block(r, x, block, n);
        }
        if let Some(norm) = self.final_norm {
            x = r.layer_norm(x, norm);
        }
        States { var: x, width: d, per_position: 1, per_string: t, skip: 0 }
    }

    fn block<R: Real>(&self, r: &mut Record<'_, R>, x: Var, block: &Block, n: Attention) -> Var {
        match self.spec.norm {
            NormPlace::Pre => {
                let y = r.layer_norm(x, block.norm1);
                let y = self.attend(r, y, block, n);
                let x = r.add(x, y);
                let y = r.layer_norm(x, block.norm2);
                let y = self.feed(r, y, block);
                r.add(x, y)
            }
            NormPlace::Post => {
                let y = self.attend(r, x, block, n);
                let x = r.add(x, y);
                let x = r.layer_norm(x, block.norm1);
                let y = self.feed(r, x, block);
                let x = r.add(x, y);
                r.layer_norm(x, block.norm2)
            }
        }
    }

    fn attend<R: Real>(&self, r: &mut Record<'_, R>, x: Var, block: &Block, n: Attention) -> Var {
        let (d, p) = (self.spec.width, self.spec.dropout);
        let x = r.linear(x, block.qkv, Some(block.qkv_bias), d, Activation::Identity);
        let x = r.attention(x, n, p.attention);
        let x = r.linear(x, block.out, Some(block.out_bias), d, Activation::Identity);
        r.dropout(x, p.residual)
    }

    fn feed<R: Real>(&self, r: &mut Record<'_, R>, x: Var, block: &Block) -> Var {
        let (d, f, p) = (self.spec.width, self.spec.feedforward, self.spec.dropout);
        let x = r.linear(x, block.up, Some(block.up_bias), d, Activation::Relu);
        let x = r.dropout(x, p.hidden);
        let x = r.linear(x, block.down, Some(block.down_bias), f, Activation::Identity);
        r.dropout(x, p.residual)
    }
}
