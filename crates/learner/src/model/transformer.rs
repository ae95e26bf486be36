//! Transformers: a stack of blocks, over whole strings or over one more symbol after a prefix.
//!
//! The same type is the body of a causal model and the encoder or decoder of a transducer; a [`Mask`] and a [`Source`]
//! distinguish them.

mod block;

use serde::{Deserialize, Serialize};

use self::block::norm;
pub(crate) use self::block::{Block, Mask, Source, SourceKeys};
use super::SpecError;
use super::body::{Body, BodyConfig};
use super::init::{Initialization, ParamRole};
use super::limits::{bounded, layered, probability};
use super::states::{BatchShape, PrefixState, States};
use crate::kernel::{Real, Sinusoid};
use crate::params::{Layout, Param};
use crate::tape::{LayerNorm, Recording, Var};

/// Where layers are normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NormPlace {
    /// Before each sublayer, inside the residual branch.
    Pre,
    /// After each residual sum.
    Post,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Positions {
    None,
    /// A trained vector for each of `max` positions.
    Learned {
        /// The maximum length of an input, the start symbol included.
        max: usize,
    },
    /// Sines and cosines of fixed frequencies.
    Sinusoidal {
        /// The order of sines and cosines in a row.
        layout: Sinusoid,
        /// The index of the first position.
        first: usize,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformerDropout {
    /// After embedding and position.
    pub embedding: f64,
    pub attention: f64,
    /// Inside the feed-forward sublayer.
    pub hidden: f64,
    /// Of each sublayer's output.
    pub residual: f64,
}

impl TransformerDropout {
    pub fn everywhere(p: f64) -> Self {
        Self { embedding: p, attention: p, hidden: p, residual: p }
    }
}

/// A transformer, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformerSpec {
    pub layers: usize,
    /// `D`, elements per position.
    pub width: usize,
    /// Attention heads; must divide the width.
    pub heads: usize,
    /// Hidden units of the feed-forward sublayer.
    pub feedforward: usize,
    /// Where layers are normalised.
    pub norm: NormPlace,
    /// Whether the output of the last block is normalised too.
    pub final_norm: bool,
    pub positions: Positions,
    /// Whether embeddings are multiplied by the square root of the width.
    pub scale_embedding: bool,
    pub dropout: TransformerDropout,
}

impl TransformerSpec {
    /// The number of parameters, without or with cross-attention.
    pub(super) fn parameters_of(&self, vocabulary: usize, cross: bool) -> usize {
        let (d, f) = (self.width, self.feedforward);
        let norm = 2 * d;
        let attention = 4 * d * (d + 1) + norm;
        let block = attention * (1 + usize::from(cross)) + f * (d + 1) + d * (f + 1) + norm;
        let positions = self.max_len().unwrap_or(0);
        (vocabulary + positions) * d + self.layers * block + if self.final_norm { norm } else { 0 }
    }
}

/// How many strings of up to `max_len` symbols to put in one batch: about 160 symbols, which stay in cache.
pub(super) fn max_batch_strings(max_len: usize) -> usize {
    (160 / (max_len + 1)).max(1)
}

impl BodyConfig for TransformerSpec {
    type Built = Transformer;

    fn check(&self) -> Result<(), SpecError> {
        if self.heads == 0 || self.width == 0 || !self.width.is_multiple_of(self.heads) {
            let message = format!("{} heads cannot share a width of {}", self.heads, self.width);
            return Err(SpecError(message));
        }
        if self.layers == 0 {
            return Err(SpecError("a transformer of 0 layers; at least 1 is needed".to_owned()));
        }
        let p = self.dropout;
        [p.embedding, p.attention, p.hidden, p.residual].into_iter().try_for_each(probability)?;
        let positions = match self.positions {
            Positions::None => 0,
            Positions::Learned { max } => max,
            Positions::Sinusoidal { first, .. } => first,
        };
        layered(self.layers)?;
        bounded([
            ("a width", self.width),
            ("a feed-forward layer", self.feedforward),
            ("a position", positions),
        ])
    }

    fn state_width(&self) -> usize {
        self.width
    }

    fn embedding_width(&self) -> Option<usize> {
        Some(self.width)
    }

    fn parameters(&self, vocabulary: usize) -> usize {
        self.parameters_of(vocabulary, false)
    }

    fn build(&self, vocabulary: usize, init: Initialization, layout: &mut Layout) -> Transformer {
        Transformer::new(self.clone(), vocabulary, TransformerPart { prefix: "", cross: false }, init, layout)
    }

    fn max_batch_strings(&self, max_len: usize) -> usize {
        max_batch_strings(max_len)
    }

    /// Keys and values of every layer.
    fn cache_elements(&self, max_len: usize) -> usize {
        2 * self.width * self.layers * max_len
    }

    /// A transformer has states *at* symbols, so none before the first.
    fn has_initial_state(&self) -> bool {
        false
    }

    fn max_len(&self) -> Option<usize> {
        match self.positions {
            Positions::Learned { max } => Some(max),
            // Sinusoids are computed for any position.
            Positions::None | Positions::Sinusoidal { .. } => None,
        }
    }
}

/// A transformer with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Transformer {
    spec: TransformerSpec,
    embedding: Param,
    positions: Option<Param>,
    blocks: Vec<Block>,
    final_norm: Option<LayerNorm>,
}

impl Body for Transformer {
    fn embedding(&self) -> Option<Param> {
        Some(self.embedding)
    }

    fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        shape: BatchShape,
        symbol: impl Fn(usize, usize) -> u32,
    ) -> States {
        self.forward_with(r, shape, symbol, Mask::Causal, None)
    }

    fn initial_state<R: Real>(&self, _params: &[R]) -> PrefixState<R> {
        PrefixState { hidden: vec![], caches: self.caches(), top: vec![] }
    }

    fn advance<R: Real>(&self, r: &mut Recording<'_, R>, state: &mut PrefixState<R>, symbol: u32) {
        let top = self.advance_with(r, &mut state.caches, symbol, None);
        state.top.clear();
        state.top.extend_from_slice(r.value(top));
    }
}

/// The role of a transformer in a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransformerPart<'a> {
    /// The prefix of the names of its parameters.
    pub(crate) prefix: &'a str,
    /// Whether it has cross-attention.
    pub(crate) cross: bool,
}

impl Transformer {
    pub(crate) fn new(
        spec: TransformerSpec,
        vocabulary: usize,
        part: TransformerPart<'_>,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let (d, prefix) = (spec.width, part.prefix);
        let embedding =
            layout.add(format!("{prefix}embedding"), &[vocabulary, d], init.of(ParamRole::Embedding { d }));
        let positions = spec
            .max_len()
            .map(|max| layout.add(format!("{prefix}positions"), &[max, d], init.of(ParamRole::Positions)));
        let blocks = (0..spec.layers)
            .map(|l| Block::new(&format!("{prefix}layers.{l}"), &spec, part.cross, init, layout))
            .collect();
        let final_norm = spec.final_norm.then(|| norm(layout, &format!("{prefix}norm"), d, init));
        Self { spec, embedding, positions, blocks, final_norm }
    }

    /// As [`Body::forward`], with another mask and with cross-attention.
    pub(crate) fn forward_with<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        BatchShape { steps: t, batch }: BatchShape,
        symbol: impl Fn(usize, usize) -> u32,
        mask: Mask<'_>,
        source: Option<&Source>,
    ) -> States {
        let symbols = (0..t * batch).map(|i| symbol(i % t, i / t));
        let x = self.embed(r, symbols, 0, t);
        let mut x = r.dropout(x, self.spec.dropout.embedding);
        for (l, block) in self.blocks.iter().enumerate() {
            x = block.forward(
                r,
                &self.spec,
                x,
                BatchShape { steps: t, batch },
                mask,
                source.map(|s| s.of(l)),
            );
        }
        let rows = self.finish(r, x).into();
        States { rows, width: self.spec.width, per_position: 1, per_string: t, start: 0, first: 1 }
    }

    /// The state at one more symbol. `caches` holds the keys and values of the prefix for each block; those of the symbol
    /// are appended.
    pub(crate) fn advance_with<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        caches: &mut [Vec<R>],
        symbol: u32,
        source: Option<&Source>,
    ) -> Var {
        let before = source.map_or(0, Source::positions_before);
        // Keys of a source are in the cache, but take up no positions of the target.
        let position = caches[0].len() / (2 * self.spec.width) - before;
        let mut x = self.embed(r, [symbol], position, 1);
        for (l, (block, cache)) in self.blocks.iter().zip(caches).enumerate() {
            x = block.advance(r, &self.spec, x, cache, source.map(|s| s.of(l)));
        }
        self.finish(r, x)
    }

    /// The caches of an empty prefix.
    pub(crate) fn caches<R: Real>(&self) -> Vec<Vec<R>> {
        vec![vec![]; self.blocks.len()]
    }

    /// Keys and values of an encoder's states `[B,T,D]`, of which the first `lengths[b]` of string `b` are not padding; `before` says
    /// whether self-attention attends to them too.
    pub(crate) fn source<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        states: Var,
        lengths: &[usize],
        before: bool,
    ) -> Source {
        let keys_values = self.blocks.iter().map(|block| block.source(r, states)).collect();
        let before =
            before.then(|| self.blocks.iter().map(|b| b.joint_source(r, &self.spec, states)).collect());
        Source { keys_values, before, lengths: lengths.to_vec() }
    }

    /// The caches of an empty prefix after a source.
    pub(crate) fn caches_after<R: Real>(&self, r: &Recording<'_, R>, source: &Source) -> Vec<Vec<R>> {
        match &source.before {
            Some(before) => before.iter().map(|&keys_values| r.value(keys_values).to_vec()).collect(),
            None => self.caches(),
        }
    }

    /// Embeddings of symbols and of their positions, `t` of each string from `position` on.
    fn embed<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        symbols: impl IntoIterator<Item = u32>,
        position: usize,
        t: usize,
    ) -> Var {
        let d = self.spec.width;
        let scale = if self.spec.scale_embedding { libm::sqrt(d as f64) } else { 1.0 };
        let x = r.embedding(self.embedding, symbols, d, scale);
        if let Positions::Sinusoidal { layout, first } = self.spec.positions {
            r.add_sinusoids(x, t, first + position, d, layout);
        }
        let Some(table) = self.positions else { return x };
        let needed = position + t;
        // The part below would be another parameter: all are ranges of one vector.
        assert!(needed * d <= table.len(), "{needed} positions, but only {} are trained", table.len() / d);
        r.add_param(x, table.part(position * d, t * d))
    }

    fn finish<R: Real>(&self, r: &mut Recording<'_, R>, x: Var) -> Var {
        self.final_norm.map_or(x, |norm| r.layer_norm(x, norm))
    }
}
