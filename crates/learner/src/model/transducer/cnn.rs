//! A convolutional encoder, and a convolutional decoder with attention in every layer (Gehring et al. 2017).
//!
//! As in fairseq: all layers have weight normalisation, every convolution is gated and has a residual connection, keys are
//! the encoder's outputs and values are keys plus embeddings.

mod layers;

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use self::layers::{Normed, NormedSpec, Ready, Stack};
use super::{Vocabularies, max_len, symbol};
use crate::kernel::Real;
use crate::model::init::Initialization;
use crate::model::limits::{bounded, layered, positive, probability};
use crate::model::{SpecError, States};
use crate::params::{Layout, Param};
use crate::tape::{HeadSizes, Recording, Var};

/// The index of the first position: in fairseq, positions start after the padding symbol, which is 1.
const FIRST: usize = 2;

/// A convolutional encoder and decoder, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CnnTransducerSpec {
    /// Layers of the encoder, and of the decoder.
    pub layers: usize,
    /// Elements per position between layers.
    pub channels: usize,
    /// The width of a convolution, in positions.
    pub kernel: usize,
    /// Elements per embedded symbol, key and value.
    pub embedding: usize,
    /// The input width of the output layer.
    pub output: usize,
    /// Rows of the position embedding, the first two of which are not used.
    pub positions: usize,
    /// Dropout of embeddings and of the inputs of convolutions and of the output layer.
    pub dropout: f64,
    /// Whether the encoder's gradient is divided by twice the number of layers of the decoder, as in fairseq.
    pub damped: bool,
}

impl CnnTransducerSpec {
    /// The network of Kharitonov and Chaabouni.
    pub fn published() -> Self {
        Self {
            layers: 1,
            channels: 512,
            kernel: 3,
            embedding: 16,
            output: 256,
            positions: 1024,
            dropout: 0.5,
            damped: true,
        }
    }

    pub(super) fn check(&self) -> Result<(), SpecError> {
        let sizes = [self.layers, self.channels, self.kernel, self.embedding, self.output];
        positive("layers, channels, kernel, embedding and output", &sizes)?;
        if self.positions <= FIRST {
            let message = format!("{} positions; the first symbol has position {FIRST}", self.positions);
            return Err(SpecError(message));
        }
        probability(self.dropout)?;
        layered(self.layers)?;
        bounded([
            ("a number of channels", self.channels),
            ("a kernel", self.kernel),
            ("an embedding", self.embedding),
            ("an output", self.output),
            ("a table of positions", self.positions),
        ])
    }

    pub(super) fn max_len(&self) -> usize {
        self.positions - FIRST
    }

    pub(super) fn parameters(&self, Vocabularies { inputs, outputs }: Vocabularies) -> usize {
        let (c, d) = (self.channels, self.embedding);
        // With weight normalisation, every row of a matrix has a length and a bias beside it.
        let normed = |i: usize, o: usize| o * (i + 2);
        let stack = |vocabulary: usize, last: usize| {
            let convolutions = self.layers * normed(self.kernel * c, 2 * c);
            (vocabulary + self.positions) * d + normed(d, c) + convolutions + normed(c, last)
        };
        let attention = self.layers * (normed(c, d) + normed(d, c));
        stack(inputs, d) + stack(outputs, self.output) + attention + normed(self.output, outputs)
    }
}

#[derive(Clone, Debug)]
pub(super) struct CnnTransducer {
    spec: CnnTransducerSpec,
    encoder: Stack<Normed>,
    decoder: Stack<Normed>,
    /// For every layer of the decoder: the projections to queries and from the attention's output.
    attention: Vec<[Normed; 2]>,
    output: Normed,
}

/// What the decoder attends to: keys and values `[B,T,2E]`, and the lengths of inputs without padding.
#[derive(Clone, Debug)]
pub(super) struct Source {
    keys_values: Var,
    lengths: Vec<usize>,
}

/// A decoder after a prefix of one output: its weights, and the last inputs of its convolutions.
#[derive(Clone, Debug)]
pub(super) struct CnnDecoding<R> {
    source: Source,
    stack: Stack<Ready>,
    attention: Vec<[Ready; 2]>,
    /// The last `kernel − 1` input rows of every layer; zeros at first.
    before: Vec<Vec<R>>,
    position: usize,
}

impl CnnTransducer {
    pub(super) fn new(
        spec: CnnTransducerSpec,
        Vocabularies { inputs, outputs }: Vocabularies,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let (c, d, kept) = (spec.channels, spec.embedding, 1.0 - spec.dropout);
        let encoder = Stack::new("encoder", inputs, d, &spec, init, layout);
        let decoder = Stack::new("decoder", outputs, spec.output, &spec, init, layout);
        let mut normed = |name: &str, i: usize, o: usize, kept: f64| {
            Normed::new(name, NormedSpec { i, o, kept, gated: false }, init, layout)
        };
        let attention = (0..spec.layers)
            .map(|l| {
                let query = normed(&format!("attention.{l}.query"), c, d, 1.0);
                [query, normed(&format!("attention.{l}.out"), d, c, 1.0)]
            })
            .collect();
        let output = normed("output", spec.output, outputs, kept);
        Self { spec, encoder, decoder, attention, output }
    }

    /// Embeddings of symbols and of their positions.
    fn embed<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        symbols: Param,
        positions: Param,
        all: impl IntoIterator<Item = (u32, usize)>,
    ) -> Var {
        let d = self.spec.embedding;
        let (ids, indices): (Vec<u32>, Vec<u32>) =
            all.into_iter().map(|(symbol, position)| (symbol, (FIRST + position) as u32)).unzip();
        let (x, at) = (r.embedding(symbols, ids, d, 1.0), r.embedding(positions, indices, d, 1.0));
        let x = r.add(x, at);
        r.dropout(x, self.spec.dropout)
    }

    /// The input of a convolution `[B,T,kernel·C]`: for every position the `kernel` rows from `left` before it on, and zeros
    /// outside the string.
    fn windows<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        x: Var,
        lengths: &[usize],
        t: usize,
        left: usize,
    ) -> Var {
        let (c, k) = (self.spec.channels, self.spec.kernel);
        // One row of zeros serves all positions outside strings: fairseq zeroes padding before each convolution.
        let outside = r.zeros(c);
        let rows = r.join(&[x, outside], 1);
        let indices = (0..lengths.len() * t * k).map(|i| {
            let (b, position) = (i / (t * k), i / k % t + i % k);
            match position.checked_sub(left) {
                Some(position) if position < lengths[b] => (b * t + position) as u32,
                _ => (lengths.len() * t) as u32,
            }
        });
        r.select(rows, indices.collect::<Vec<u32>>(), c)
    }

    fn convolve<R: Real>(&self, r: &mut Recording<'_, R>, layer: Ready, windows: Var) -> Var {
        let x = layer.of(r, windows);
        r.glu(x, self.spec.channels)
    }

    pub(super) fn encode<R: Real>(&self, r: &mut Recording<'_, R>, sources: &[Vec<u32>]) -> Source {
        let (d, p) = (self.spec.embedding, self.spec.dropout);
        let lengths: Vec<usize> = sources.iter().map(Vec::len).collect();
        let (t, stack) = (max_len(sources), self.encoder.ready(r));
        let all = (0..sources.len() * t).map(|i| (symbol(sources, i % t, i / t), i % t));
        let embedded = self.embed(r, stack.symbols, stack.positions, all);
        let mut x = stack.first.of(r, embedded);
        for &layer in &stack.convolutions {
            let dropped = r.dropout(x, p);
            // Symmetric in the encoder; in the decoder the whole kernel lies to the left.
            let windows = self.windows(r, dropped, &lengths, t, (self.spec.kernel - 1) / 2);
            let convolved = self.convolve(r, layer, windows);
            x = blend(r, convolved, x);
        }
        let mut keys = stack.last.of(r, x);
        if self.spec.damped {
            // fairseq's count of attention layers, here equal to the decoder's. Keys and values double it.
            keys = r.scale_gradient(keys, 0.5 / self.spec.layers as f64);
        }
        let values = r.add(keys, embedded);
        // Fairseq scales the attention's output by the square root of the length of the input.
        let weight = |b: usize| libm::sqrt(0.5 * lengths[b] as f64);
        let values = r.scale_rows(values, (0..sources.len() * t).map(|i| weight(i / t)), d);
        // The kernel divides scores by the square root of the width; this attention does not.
        let keys = r.scale(keys, libm::sqrt(d as f64));
        Source { keys_values: r.join(&[keys, values], sources.len() * t), lengths }
    }

    /// One layer of the decoder after its convolution: attention and residual connections.
    fn attend<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        [query, out]: [Ready; 2],
        source: &Source,
        (x, embedded, residual): (Var, Var, Var),
    ) -> Var {
        let q = query.of(r, x);
        // Gehring et al. 2017, Eq. 1: the query is the state and the embedding of the last symbol.
        let q = blend(r, q, embedded);
        let sizes = HeadSizes { width: self.spec.embedding, heads: 1 };
        let context = r.cross_attention(q, source.keys_values, &source.lengths, sizes, 0.0);
        let context = out.of(r, context);
        let x = blend(r, context, x);
        blend(r, x, residual)
    }

    /// The states after every symbol of the targets.
    pub(super) fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        sources: &[Vec<u32>],
        targets: &[Vec<u32>],
    ) -> States {
        let source = self.encode(r, sources);
        let (stack, attention) = (self.decoder.ready(r), self.attention(r));
        let (t, batch, p) = (max_len(targets), targets.len(), self.spec.dropout);
        let all = (0..batch * t).map(|i| (symbol(targets, i % t, i / t), i % t));
        let embedded = self.embed(r, stack.symbols, stack.positions, all);
        let mut x = stack.first.of(r, embedded);
        for (&layer, &attention) in stack.convolutions.iter().zip(&attention) {
            let dropped = r.dropout(x, p);
            // Causal windows reach padding only from padding, so targets need no lengths.
            let windows = self.windows(r, dropped, &vec![t; batch], t, self.spec.kernel - 1);
            let convolved = self.convolve(r, layer, windows);
            x = self.attend(r, attention, &source, (convolved, embedded, x));
        }
        let x = stack.last.of(r, x);
        let rows = r.dropout(x, p).into();
        States { rows, width: self.spec.output, per_position: 1, per_string: t, start: 1, first: 1 }
    }

    fn attention<R: Real>(&self, r: &mut Recording<'_, R>) -> Vec<[Ready; 2]> {
        self.attention.iter().map(|pair| pair.map(|layer| layer.ready(r))).collect()
    }

    pub(super) fn output<R: Real>(&self, r: &mut Recording<'_, R>, x: Var) -> Var {
        self.output.of(r, x)
    }

    /// Encodes an input; the decoder has read nothing.
    pub(super) fn begin<R: Real>(&self, r: &mut Recording<'_, R>, source: &[Vec<u32>]) -> CnnDecoding<R> {
        let source = self.encode(r, source);
        let before = vec![R::ZERO; (self.spec.kernel - 1) * self.spec.channels];
        CnnDecoding {
            source,
            stack: self.decoder.ready(r),
            attention: self.attention(r),
            before: vec![before; self.spec.layers],
            position: 0,
        }
    }

    /// The state after one more symbol.
    pub(super) fn step<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        at: &mut CnnDecoding<R>,
        symbol: u32,
    ) -> Var {
        let (stack, c) = (&at.stack, self.spec.channels);
        let embedded = self.embed(r, stack.symbols, stack.positions, [(symbol, at.position)]);
        let mut x = stack.first.of(r, embedded);
        for (l, before) in at.before.iter_mut().enumerate() {
            before.extend_from_slice(r.value(x));
            // No dropout and no gradient: symbols are read one by one in evaluation alone.
            let windows = r.constant(before);
            before.drain(..c);
            let convolved = self.convolve(r, stack.convolutions[l], windows);
            x = self.attend(r, at.attention[l], &at.source, (convolved, embedded, x));
        }
        at.position += 1;
        stack.last.of(r, x)
    }
}

/// `(x + y) · √½`: the variance stays the same.
fn blend<R: Real>(r: &mut Recording<'_, R>, x: Var, y: Var) -> Var {
    let sum = r.add(x, y);
    r.scale(sum, FRAC_1_SQRT_2)
}
