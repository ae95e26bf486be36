//! Long short-term memory that reads, and long short-term memory that writes, starting where the first has ended.
//!
//! As in fairseq, the decoder is always fed its own last output beside the last symbol, and attention is Luong's: scores
//! are inner products of the encoder's outputs with a linear map of the state.

use serde::{Deserialize, Serialize};

use super::{longest, symbol};
use crate::kernel::{Activation, Real, Recurrence};
use crate::model::init::{Initialization, Role};
use crate::model::limits::{bounded, layered, positive, probability};
use crate::model::{SpecError, States};
use crate::params::{Layout, Param};
use crate::tape::{Layer, Recording, Var};

/// An encoder and a decoder of long short-term memory, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LstmTransducerSpec {
    /// Layers of the encoder, and of the decoder.
    pub layers: usize,
    /// Units per layer.
    pub hidden: usize,
    /// Numbers per embedded symbol.
    pub embedding: usize,
    /// Numbers that the output layer reads; if not `hidden`, another linear layer stands between.
    pub output: usize,
    /// Whether the decoder looks back at the encoder's outputs.
    pub attention: bool,
    /// Probability of dropping numbers of embeddings, between layers, and of outputs of encoder and decoder.
    pub dropout: f64,
}

impl LstmTransducerSpec {
    /// The networks of Kharitonov and Chaabouni.
    pub fn published(attention: bool) -> Self {
        Self { layers: 1, hidden: 512, embedding: 16, output: 512, attention, dropout: 0.5 }
    }

    pub(super) fn check(&self) -> Result<(), SpecError> {
        let sizes = [self.layers, self.hidden, self.embedding, self.output];
        positive("layers, hidden size, embedding and output", &sizes)?;
        probability(self.dropout)?;
        layered(self.layers)?;
        bounded([
            ("a hidden size", self.hidden),
            ("an embedding", self.embedding),
            ("an output", self.output),
        ])
    }
}

#[derive(Clone, Debug)]
pub(super) struct LstmTransducer {
    spec: LstmTransducerSpec,
    embeddings: [Param; 2],
    encoder: Vec<Layer>,
    decoder: Vec<Layer>,
    /// Of queries, and of context and state.
    attention: Option<(Param, Param)>,
}

/// Where a decoder stands: states and cells of its layers, its last output, and what it looks back at.
#[derive(Clone, Debug)]
pub(super) struct Decoding {
    layers: Vec<(Var, Var)>,
    feed: Var,
    source: Option<(Var, Vec<usize>)>,
    batch: usize,
}

/// The states of one stretch of the encoder's time, during which as many strings are read.
struct Stretch {
    from: usize,
    steps: usize,
    strings: usize,
}

impl LstmTransducer {
    pub(super) fn new(
        spec: LstmTransducerSpec,
        (inputs, outputs): (usize, usize),
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let (h, d) = (spec.hidden, spec.embedding);
        let mut stack = |name: &str, vocabulary: usize, fed: usize| {
            let role = Role::Embedding { d };
            let embedding = layout.add(format!("{name}.embedding"), &[vocabulary, d], init.of(role));
            let layers: Vec<Layer> = (0..spec.layers)
                .map(|l| {
                    let i = if l > 0 { h } else { d + fed };
                    let init = init.of(Role::Recurrent { hidden: h });
                    let mut add = |part: &str, shape: &[usize]| {
                        layout.add(format!("{name}.layers.{l}.{part}"), shape, init)
                    };
                    Layer {
                        input: add("weight_ih", &[4 * h, i]),
                        hidden: add("weight_hh", &[4 * h, h]),
                        bias: Some(add("bias_ih", &[4 * h])),
                        second_bias: Some(add("bias_hh", &[4 * h])),
                    }
                })
                .collect();
            (embedding, layers)
        };
        let (source, encoder) = stack("encoder", inputs, 0);
        let (target, decoder) = stack("decoder", outputs, h);
        let attention = spec.attention.then(|| {
            let query = layout.add("attention.query", &[h, h], init.of(Role::Linear { i: h, o: h }));
            (query, layout.add("attention.out", &[h, 2 * h], init.of(Role::Linear { i: 2 * h, o: h })))
        });
        Self { spec, embeddings: [source, target], encoder, decoder, attention }
    }

    /// Symbols that the decoder reads, embedded.
    pub(super) fn embed<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        symbols: impl IntoIterator<Item = u32>,
    ) -> Var {
        let x = r.embedding(self.embeddings[1], symbols, self.spec.embedding, 1.0);
        r.dropout(x, self.spec.dropout)
    }

    /// The states after every symbol of the targets.
    pub(super) fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        sources: &[Vec<u32>],
        targets: &[Vec<u32>],
    ) -> States {
        let mut decoding = self.begin(r, sources);
        let (steps, batch, d) = (longest(targets), targets.len(), self.spec.embedding);
        let symbols = (0..steps * batch).map(|i| symbol(targets, i / batch, i % batch));
        let x = self.embed(r, symbols);
        let outputs: Vec<Var> = (0..steps)
            .map(|t| {
                let x = r.select(x, (t * batch..(t + 1) * batch).map(|row| row as u32), d);
                self.step(r, &mut decoding, x)
            })
            .collect();
        let var = r.join(&outputs, 1);
        States { rows: var.into(), width: self.spec.hidden, per_position: batch, per_string: 1, skip: 0 }
    }

    /// One step of the decoder: gives its output, which it is fed at the next.
    pub(super) fn step<R: Real>(&self, r: &mut Recording<'_, R>, decoding: &mut Decoding, x: Var) -> Var {
        let (h, p, batch) = (self.spec.hidden, self.spec.dropout, decoding.batch);
        let mut x = r.join(&[x, decoding.feed], batch);
        for (l, (&layer, state)) in self.decoder.iter().zip(&mut decoding.layers).enumerate() {
            if l > 0 {
                x = r.dropout(x, p);
            }
            let n = Recurrence { steps: 1, batch, input: layer.input.len() / (4 * h), hidden: h };
            let (states, cells) = r.lstm(x, Some(*state), layer, n);
            x = r.part(states, batch * h, batch * h);
            *state = (x, cells);
        }
        if let (Some((query, out)), Some((source, lengths))) = (self.attention, &decoding.source) {
            let q = r.linear(x, query, None, h, Activation::Identity);
            let context = r.cross_attention(q, *source, lengths, (h, 1), 0.0);
            let both = r.join(&[context, x], batch);
            x = r.linear(both, out, None, 2 * h, Activation::Tanh);
        }
        decoding.feed = r.dropout(x, p);
        decoding.feed
    }

    /// Reads inputs, the longest first.
    ///
    /// Strings end together: a shorter one joins when there is as much time left as it is long, so that all end in the
    /// last state and none reads padding.
    pub(super) fn begin<R: Real>(&self, r: &mut Recording<'_, R>, sources: &[Vec<u32>]) -> Decoding {
        let (h, p, batch) = (self.spec.hidden, self.spec.dropout, sources.len());
        let stretches = stretches(sources);
        let steps = longest(sources);
        let mut inputs: Vec<Var> = stretches
            .iter()
            .map(|s| {
                let time = |i: usize| s.from + i / s.strings;
                let symbols = (0..s.steps * s.strings).map(|i| {
                    let b = i % s.strings;
                    sources[b][time(i) + sources[b].len() - steps]
                });
                let x = r.embedding(self.embeddings[0], symbols, self.spec.embedding, 1.0);
                r.dropout(x, p)
            })
            .collect();
        let mut layers = Vec::new();
        for (l, &layer) in self.encoder.iter().enumerate() {
            if l > 0 {
                inputs = inputs.into_iter().map(|x| r.dropout(x, p)).collect();
            }
            let (outputs, last) = self.read(r, &inputs, &stretches, layer);
            inputs = outputs;
            layers.push(last);
        }
        let source = self.attention.map(|_| {
            let all = r.join(&inputs, 1);
            let all = r.dropout(all, p);
            (self.look_back(r, all, sources, &stretches), sources.iter().map(Vec::len).collect())
        });
        Decoding { layers, feed: r.zeros(batch * h), source, batch }
    }

    /// One layer of the encoder: its outputs in every stretch, and its last state and cells.
    fn read<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        inputs: &[Var],
        stretches: &[Stretch],
        layer: Layer,
    ) -> (Vec<Var>, (Var, Var)) {
        let h = self.spec.hidden;
        let (mut outputs, mut last, mut strings) = (Vec::new(), None, 0);
        for (&x, stretch) in inputs.iter().zip(stretches) {
            let newcomers = (stretch.strings - strings) * h;
            let start = last.map(|(state, cells)| {
                let zeros = r.zeros(newcomers);
                (r.join(&[state, zeros], 1), r.join(&[cells, zeros], 1))
            });
            let (steps, batch) = (stretch.steps, stretch.strings);
            let n = Recurrence { steps, batch, input: layer.input.len() / (4 * h), hidden: h };
            let (states, cells) = r.lstm(x, start, layer, n);
            let after = r.part(states, batch * h, steps * batch * h);
            let state = r.select(after, ((steps - 1) * batch..steps * batch).map(|row| row as u32), h);
            outputs.push(after);
            last = Some((state, cells));
            strings = batch;
        }
        (outputs, last.expect("an input has at least its end"))
    }

    /// Keys and values `[B,T,2H]` from the encoder's outputs.
    fn look_back<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        outputs: Var,
        sources: &[Vec<u32>],
        stretches: &[Stretch],
    ) -> Var {
        let (h, steps) = (self.spec.hidden, longest(sources));
        // Where the outputs of every moment begin.
        let mut rows = Vec::with_capacity(steps);
        let mut row = 0;
        for stretch in stretches {
            for _ in 0..stretch.steps {
                rows.push(row);
                row += stretch.strings;
            }
        }
        let row = |b: usize, position: usize| match position + steps - sources[b].len() {
            moment if moment < steps => rows[moment] + b,
            _ => b, // past the end: any row, as none counts
        };
        let places = (0..sources.len() * steps).map(|i| row(i / steps, i % steps) as u32);
        let values = r.select(outputs, places, h);
        // The kernel divides scores by the square root of the width, Luong's attention does not.
        let keys = r.scale(values, libm::sqrt(h as f64));
        r.join(&[keys, values], sources.len() * steps)
    }
}

/// The stretches of time in which the number of strings being read does not change.
fn stretches(sources: &[Vec<u32>]) -> Vec<Stretch> {
    let steps = longest(sources);
    let mut all: Vec<Stretch> = Vec::new();
    for time in 0..steps {
        let strings = sources.iter().take_while(|source| source.len() >= steps - time).count();
        match all.last_mut() {
            Some(last) if last.strings == strings => last.steps += 1,
            _ => all.push(Stretch { from: time, steps: 1, strings }),
        }
    }
    all
}
