//! Transformers: a stack of blocks over whole strings, or for one more symbol after a prefix.

mod block;

use serde::{Deserialize, Serialize};

use self::block::{Block, norm};
pub(crate) use self::block::{Sight, Source};
use super::SpecError;
use super::init::{Initialization, Role};
use super::limits::{bounded, layered, probability};
use super::states::States;
use crate::kernel::{Real, Sinusoid};
use crate::params::{Layout, Param};
use crate::tape::{LayerNorm, Recording, Var};

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

/// A transformer, as written in a config.
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

/// How many strings up to this length to read at once.
pub(super) fn max_batch_strings(longest: usize) -> usize {
    (160 / (longest + 1)).max(1)
}

impl TransformerSpec {
    /// Whether there can be such a transformer.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
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

    /// The most symbols it can read, if there is a limit.
    pub fn max_len(&self) -> Option<usize> {
        match self.positions {
            Positions::Learned { max } => Some(max),
            Positions::None | Positions::Sinusoidal { .. } => None,
        }
    }
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

/// Which transformer of a model it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// What the names of its parameters begin with.
    pub(crate) prefix: &'a str,
    /// Whether it looks at another's states too.
    pub(crate) cross: bool,
}

impl Transformer {
    pub(crate) fn new(
        spec: TransformerSpec,
        vocabulary: usize,
        part: Part<'_>,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let (d, prefix) = (spec.width, part.prefix);
        let embedding =
            layout.add(format!("{prefix}embedding"), &[vocabulary, d], init.of(Role::Embedding { d }));
        let positions = spec
            .max_len()
            .map(|max| layout.add(format!("{prefix}positions"), &[max, d], init.of(Role::Positions)));
        let blocks = (0..spec.layers)
            .map(|l| Block::new(&format!("{prefix}layers.{l}"), &spec, part.cross, init, layout))
            .collect();
        let final_norm = spec.final_norm.then(|| norm(layout, &format!("{prefix}norm"), d, init));
        Self { spec, embedding, positions, blocks, final_norm }
    }

    pub(crate) fn spec(&self) -> &TransformerSpec {
        &self.spec
    }

    /// The states at every position. `symbol(t, b)` is the input of string `b` at position `t`, or padding.
    pub(crate) fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        (t, batch): (usize, usize),
        symbol: impl Fn(usize, usize) -> u32,
        sight: Sight<'_>,
        source: Option<&Source>,
    ) -> States {
        let symbols = (0..t * batch).map(|i| symbol(i % t, i / t));
        let x = self.embed(r, symbols, 0, t);
        let mut x = r.dropout(x, self.spec.dropout.embedding);
        for (l, block) in self.blocks.iter().enumerate() {
            x = block.forward(r, &self.spec, x, (t, batch), sight, source.map(|s| s.of(l)));
        }
        let rows = self.finish(r, x).into();
        States { rows, width: self.spec.width, per_position: 1, per_string: t, skip: 0 }
    }

    /// Reads one symbol after a prefix, whose keys and values `caches` holds for each block; those of the symbol join them.
    pub(crate) fn advance<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        caches: &mut [Vec<R>],
        symbol: u32,
        source: Option<&Source>,
    ) -> Var {
        let position = caches[0].len() / (2 * self.spec.width);
        let mut x = self.embed(r, [symbol], position, 1);
        for (l, (block, cache)) in self.blocks.iter().zip(caches).enumerate() {
            x = block.advance(r, &self.spec, x, cache, source.map(|s| s.of(l)));
        }
        self.finish(r, x)
    }

    /// What is remembered before the first symbol.
    pub(crate) fn caches<R: Real>(&self) -> Vec<Vec<R>> {
        vec![vec![]; self.blocks.len()]
    }

    /// Another's states `[B,T,D]`, of which the first `lengths[b]` of each string count, ready to be looked at.
    pub(crate) fn source<R: Real>(&self, r: &mut Recording<'_, R>, states: Var, lengths: &[usize]) -> Source {
        Source {
            keys_values: self.blocks.iter().map(|block| block.source(r, states)).collect(),
            lengths: lengths.to_vec(),
        }
    }

    /// Symbols and where they stand, `t` of each string from `position` on.
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
        assert!(needed * d <= table.len(), "{needed} positions, but only {} learned", table.len() / d);
        r.add_param(x, table.part(position * d, t * d))
    }

    fn finish<R: Real>(&self, r: &mut Recording<'_, R>, x: Var) -> Var {
        self.final_norm.map_or(x, |norm| r.layer_norm(x, norm))
    }
}
