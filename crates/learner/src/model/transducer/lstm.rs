//! An LSTM encoder, and an LSTM decoder that starts from its last state.
//!
//! As in fairseq, the input of the decoder is the last symbol and its own last output (input feeding), and attention is
//! Luong's: scores are inner products of the encoder's outputs with a linear map of the state.

use serde::{Deserialize, Serialize};

use super::{Vocabularies, max_len, symbol};
use crate::kernel::{Activation, Real, Recurrence};
use crate::model::init::{Initialization, ParamRole};
use crate::model::limits::{bounded, layered, positive, probability};
use crate::model::{SpecError, States};
use crate::params::{Layout, Param};
use crate::tape::{HeadSizes, Layer, Recording, Var};

/// An LSTM encoder and decoder, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LstmTransducerSpec {
    /// Layers of the encoder, and of the decoder.
    pub layers: usize,
    pub hidden: usize,
    /// Elements per embedded symbol.
    pub embedding: usize,
    /// The input width of the output layer; if not `hidden`, there is a linear layer before it.
    pub output: usize,
    /// Whether the decoder attends to the encoder's outputs.
    pub attention: bool,
    /// Dropout of embeddings, between layers, and of the outputs of encoder and decoder.
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

    pub(super) fn parameters(&self, Vocabularies { inputs, outputs }: Vocabularies) -> usize {
        let (h, d, o) = (self.hidden, self.embedding, self.output);
        let layer = |i: usize| 4 * h * (i + h + 2);
        // `d + h`: fairseq feeds the last output to the decoder's first layer, without attention too.
        let stacks = layer(d) + layer(d + h) + 2 * (self.layers - 1) * layer(h);
        // W_q is H×H and the map of context and state H×2H. fairseq gives neither a bias.
        let attention = if self.attention { 3 * h * h } else { 0 };
        let resize = if o == h { 0 } else { o * (h + 1) };
        (inputs + outputs) * d + stacks + attention + resize + outputs * (o + 1)
    }
}

#[derive(Clone, Debug)]
pub(super) struct LstmTransducer {
    spec: LstmTransducerSpec,
    embeddings: [Param; 2],
    encoder: Vec<Layer>,
    decoder: Vec<Layer>,
    /// The projections to queries, and from context and state to the output.
    attention: Option<(Param, Param)>,
}

/// The state of the decoder.
#[derive(Clone, Debug)]
pub(super) struct LstmDecoding {
    /// `h` and `c` of every layer.
    layers: Vec<(Var, Var)>,
    /// The last output, which is part of the next input.
    feed: Var,
    /// Keys and values of inputs, and the lengths of inputs without padding.
    source: Option<(Var, Vec<usize>)>,
    batch: usize,
}

/// Consecutive steps of the encoder with the same number of strings.
struct Segment {
    from: usize,
    steps: usize,
    strings: usize,
}

impl LstmTransducer {
    pub(super) fn new(
        spec: LstmTransducerSpec,
        Vocabularies { inputs, outputs }: Vocabularies,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let (h, d) = (spec.hidden, spec.embedding);
        let mut stack = |name: &str, vocabulary: usize, fed: usize| {
            let role = ParamRole::Embedding { d };
            let embedding = layout.add(format!("{name}.embedding"), &[vocabulary, d], init.of(role));
            let layers: Vec<Layer> = (0..spec.layers)
                .map(|l| {
                    let i = if l > 0 { h } else { d + fed };
                    let init = init.of(ParamRole::Recurrent { hidden: h });
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
            let query = layout.add("attention.query", &[h, h], init.of(ParamRole::Linear { i: h, o: h }));
            (query, layout.add("attention.out", &[h, 2 * h], init.of(ParamRole::Linear { i: 2 * h, o: h })))
        });
        Self { spec, embeddings: [source, target], encoder, decoder, attention }
    }

    /// Embeddings of symbols of outputs.
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
        let (steps, batch, d) = (max_len(targets), targets.len(), self.spec.embedding);
        let symbols = (0..steps * batch).map(|i| symbol(targets, i / batch, i % batch));
        // All steps at once: one lookup, and one draw of dropout.
        let x = self.embed(r, symbols);
        let outputs: Vec<Var> = (0..steps)
            .map(|t| {
                let x = r.select(x, (t * batch..(t + 1) * batch).map(|row| row as u32), d);
                self.step(r, &mut decoding, x)
            })
            .collect();
        let var = r.join(&outputs, 1);
        States {
            rows: var.into(),
            width: self.spec.hidden,
            per_position: batch,
            per_string: 1,
            start: 1,
            first: 1,
        }
    }

    /// One step of the decoder: gives its output, which is part of the next input.
    pub(super) fn step<R: Real>(&self, r: &mut Recording<'_, R>, decoding: &mut LstmDecoding, x: Var) -> Var {
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
            let context = r.cross_attention(q, *source, lengths, HeadSizes { width: h, heads: 1 }, 0.0);
            let both = r.join(&[context, x], batch);
            x = r.linear(both, out, None, 2 * h, Activation::Tanh);
        }
        // fairseq feeds back the dropped output, while `h` and `c` stay undropped.
        decoding.feed = r.dropout(x, p);
        decoding.feed
    }

    /// Encodes inputs, which are in order of decreasing length; the decoder has read nothing.
    ///
    /// Strings are aligned at their ends: a string joins the batch when as many steps are left as it has symbols. All end at
    /// the last step, whose states the decoder starts from, and no padding is read.
    pub(super) fn begin<R: Real>(&self, r: &mut Recording<'_, R>, sources: &[Vec<u32>]) -> LstmDecoding {
        let (h, p, batch) = (self.spec.hidden, self.spec.dropout, sources.len());
        let segments = segments(sources);
        let steps = max_len(sources);
        let mut inputs: Vec<Var> = segments
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
            let (outputs, last) = self.encode(r, &inputs, &segments, layer);
            inputs = outputs;
            layers.push(last);
        }
        let source = self.attention.map(|_| {
            let all = r.join(&inputs, 1);
            // Attention alone sees dropped outputs. The decoder starts from the undropped state.
            let all = r.dropout(all, p);
            (self.keys_values(r, all, sources, &segments), sources.iter().map(Vec::len).collect())
        });
        LstmDecoding { layers, feed: r.zeros(batch * h), source, batch }
    }

    /// One layer of the encoder: its outputs in every segment, and its last `h` and `c`.
    fn encode<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        inputs: &[Var],
        segments: &[Segment],
        layer: Layer,
    ) -> (Vec<Var>, (Var, Var)) {
        let h = self.spec.hidden;
        let (mut outputs, mut last, mut strings) = (Vec::new(), None, 0);
        for (&x, segment) in inputs.iter().zip(segments) {
            let joining = (segment.strings - strings) * h;
            // A string that joins has read nothing, so it joins with zeros.
            let start = last.map(|(state, cells)| {
                let zeros = r.zeros(joining);
                (r.join(&[state, zeros], 1), r.join(&[cells, zeros], 1))
            });
            let (steps, batch) = (segment.steps, segment.strings);
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
    fn keys_values<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        outputs: Var,
        sources: &[Vec<u32>],
        segments: &[Segment],
    ) -> Var {
        let (h, steps) = (self.spec.hidden, max_len(sources));
        // The first row of every step.
        let mut rows = Vec::with_capacity(steps);
        let mut row = 0;
        for segment in segments {
            for _ in 0..segment.steps {
                rows.push(row);
                row += segment.strings;
            }
        }
        let row = |b: usize, position: usize| match position + steps - sources[b].len() {
            step if step < steps => rows[step] + b,
            _ => b, // padding: any row will do
        };
        let indices = (0..sources.len() * steps).map(|i| row(i / steps, i % steps) as u32);
        let values = r.select(outputs, indices, h);
        // The kernel divides scores by the square root of the width; Luong's attention does not.
        let keys = r.scale(values, libm::sqrt(h as f64));
        r.join(&[keys, values], sources.len() * steps)
    }
}

/// Divides the steps of the encoder into segments.
fn segments(sources: &[Vec<u32>]) -> Vec<Segment> {
    let steps = max_len(sources);
    let mut all: Vec<Segment> = Vec::new();
    for time in 0..steps {
        let strings = sources.iter().take_while(|source| source.len() >= steps - time).count();
        match all.last_mut() {
            Some(last) if last.strings == strings => last.steps += 1,
            _ => all.push(Segment { from: time, steps: 1, strings }),
        }
    }
    all
}
