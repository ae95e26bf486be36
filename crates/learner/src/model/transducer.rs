//! Models that turn strings into strings: an encoder reads the input and its end, a decoder predicts the output and its
//! end, symbol by symbol.

mod cnn;
mod lstm;
mod transformer;

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use self::cnn::CnnTransducer;
pub use self::cnn::CnnTransducerSpec;
pub use self::lstm::LstmTransducerSpec;
use self::lstm::{Decoding, LstmTransducer};
use self::transformer::TransformerTransducer;
use super::init::{Initialization, Role};
use super::limits::{bounded, countable};
use super::{SpecError, TransformerSpec, recurrent, transformer as whole};
use crate::kernel::{Activation, Real};
use crate::params::{Layout, Param};
use crate::tape::{Recording, Var};

/// An encoder and a decoder, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum TransducerBodySpec {
    /// Long short-term memory, with or without attention.
    Lstm(LstmTransducerSpec),
    /// Two transformers of these sizes.
    Transformer(TransformerSpec),
    /// Convolutions.
    Cnn(CnnTransducerSpec),
}

/// A transducer, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransducerSpec {
    /// What reads and what writes.
    pub body: TransducerBodySpec,
    /// Symbols of inputs, the end included.
    pub inputs: usize,
    /// Symbols of outputs, the end included.
    pub outputs: usize,
    /// The symbol that ends inputs and outputs, and is read before the first symbol of an output.
    pub end: u32,
    /// A symbol that is never chosen for an output, though it has a share in the probabilities.
    pub padding: Option<u32>,
    /// How parameters start.
    pub initialization: Initialization,
}

/// A string and what it becomes, both without their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// What is read.
    pub input: &'a [u32],
    /// What is written.
    pub output: &'a [u32],
}

#[derive(Clone, Debug)]
enum Body {
    Lstm(LstmTransducer, Head),
    Transformer(Box<TransformerTransducer>, Head),
    /// With an output layer of its own kind.
    Cnn(Box<CnnTransducer>),
}

/// An output layer on top of states.
#[derive(Clone, Copy, Debug)]
struct Head {
    /// Numbers per state.
    width: usize,
    /// Between states and output layer, if that reads fewer or more numbers than states have; and what it drops.
    resize: Option<(Param, Param, f64)>,
    weight: Param,
    bias: Option<Param>,
}

impl Head {
    fn of<R: Real>(self, r: &mut Recording<'_, R>, mut x: Var) -> Var {
        let mut width = self.width;
        if let Some((weight, bias, dropout)) = self.resize {
            x = r.linear(x, weight, Some(bias), width, Activation::Identity);
            x = r.dropout(x, dropout);
            width = bias.len();
        }
        r.linear(x, self.weight, self.bias, width, Activation::Identity)
    }
}

/// A transducer with its parameters.
#[derive(Clone, Debug)]
pub struct TransducerModel {
    spec: TransducerSpec,
    layout: Layout,
    body: Body,
}

impl TransducerModel {
    /// Builds the model.
    pub fn new(spec: TransducerSpec) -> Result<Self, SpecError> {
        bounded([("an input vocabulary", spec.inputs), ("an output vocabulary", spec.outputs)])?;
        let smaller = spec.inputs.min(spec.outputs);
        if spec.end as usize >= smaller {
            let message = format!("the end is symbol {}, but a vocabulary has only {smaller}", spec.end);
            return Err(SpecError(message));
        }
        let (vocabularies, init) = ((spec.inputs, spec.outputs), spec.initialization);
        let mut layout = Layout::default();
        let body = match &spec.body {
            TransducerBodySpec::Lstm(body) => {
                body.check()?;
                let model = LstmTransducer::new(body.clone(), vocabularies, init, &mut layout);
                let mut linear = |name: &str, i: usize, o: usize| {
                    let weight = layout.add(format!("{name}.weight"), &[o, i], init.of(Role::Head { i, o }));
                    (weight, layout.add(format!("{name}.bias"), &[o], init.of(Role::HeadBias { i })))
                };
                let width = body.hidden;
                let resize = (body.output != width).then(|| {
                    let (weight, bias) = linear("resize", width, body.output);
                    (weight, bias, body.dropout)
                });
                let (weight, bias) = linear("output", body.output, spec.outputs);
                Body::Lstm(model, Head { width, resize, weight, bias: Some(bias) })
            }
            TransducerBodySpec::Transformer(body) => {
                body.check()?;
                let model = TransformerTransducer::new(body, vocabularies, init, &mut layout);
                let (width, o) = (body.width, spec.outputs);
                let weight = layout.add("output.weight", &[o, width], init.of(Role::Head { i: width, o }));
                Body::Transformer(Box::new(model), Head { width, resize: None, weight, bias: None })
            }
            TransducerBodySpec::Cnn(body) => {
                body.check()?;
                let model = CnnTransducer::new(body.clone(), vocabularies, init, &mut layout);
                Body::Cnn(Box::new(model))
            }
        };
        countable(&layout)?;
        Ok(Self { spec, layout, body })
    }

    /// As it was asked for.
    pub fn spec(&self) -> &TransducerSpec {
        &self.spec
    }

    /// Its parameters.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The longest input or output it can read, if there is a limit; their ends count.
    pub fn max_len(&self) -> Option<usize> {
        match &self.spec.body {
            TransducerBodySpec::Lstm(_) => None,
            TransducerBodySpec::Transformer(spec) => spec.max_len(),
            TransducerBodySpec::Cnn(spec) => Some(spec.max_len()),
        }
    }

    /// How many pairs up to this length to read at once.
    pub fn pairs_at_once(&self, longest: usize) -> usize {
        match self.spec.body {
            TransducerBodySpec::Lstm(_) => recurrent::MAX_BATCH_STRINGS,
            TransducerBodySpec::Transformer(_) | TransducerBodySpec::Cnn(_) => {
                whole::max_batch_strings(longest)
            }
        }
    }

    /// Logits of every symbol of every output and of its end, given the input and what came before, pair by pair.
    pub fn logits<R: Real>(&self, r: &mut Recording<'_, R>, pairs: &[Pair<'_>]) -> Var {
        // Longest input first, as the encoder wants them.
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|&i| Reverse(pairs[i].input.len()));
        let mut places = vec![0; pairs.len()];
        for (place, &i) in order.iter().enumerate() {
            places[i] = place;
        }
        let end = [self.spec.end];
        let sources: Vec<Vec<u32>> = order.iter().map(|&i| [pairs[i].input, &end].concat()).collect();
        let targets: Vec<Vec<u32>> = order.iter().map(|&i| [&end, pairs[i].output].concat()).collect();
        let states = match &self.body {
            Body::Lstm(body, _) => body.forward(r, &sources, &targets),
            Body::Transformer(body, _) => body.forward(r, &sources, &targets),
            Body::Cnn(body) => body.forward(r, &sources, &targets),
        };
        let rows = pairs.iter().zip(places);
        let rows = rows.flat_map(|(pair, b)| (0..=pair.output.len()).map(move |t| states.row(b, t)));
        let x = r.select(states.rows, rows, states.width);
        self.output(r, x)
    }

    fn output<R: Real>(&self, r: &mut Recording<'_, R>, x: Var) -> Var {
        match &self.body {
            Body::Lstm(_, head) | Body::Transformer(_, head) => head.of(r, x),
            Body::Cnn(body) => body.output(r, x),
        }
    }

    /// Records the loss of pairs: the sum over all symbols of outputs, ends included, each times `weight`. Gives the logits.
    pub fn loss<R: Real>(&self, r: &mut Recording<'_, R>, pairs: &[Pair<'_>], weight: f64) -> Var {
        let logits = self.logits(r, pairs);
        let end = self.spec.end;
        let truth = pairs.iter().flat_map(|pair| pair.output.iter().copied().chain([end]));
        r.softmax_loss(logits, self.spec.outputs, truth.map(|symbol| (symbol, weight)));
        logits
    }

    /// The output chosen symbol by symbol, of a length in this range, and no longer than it can write ([`TransducerModel::longest`]).
    ///
    /// # Panics
    /// If the input is longer than it can read.
    pub fn greedy<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        input: &[u32],
        lengths: RangeInclusive<usize>,
    ) -> Vec<u32> {
        let (end, mut output) = (self.spec.end, vec![]);
        let mut writer = Writer::new(&self.body, r, &[input, &[end]].concat());
        let mut symbol = end;
        let most = self.max_len().map_or(*lengths.end(), |longest| longest.min(*lengths.end()));
        while output.len() < most {
            let state = writer.write(r, symbol);
            let logits = self.output(r, state);
            let allowed =
                |s: u32| Some(s) != self.spec.padding && (s != end || output.len() >= *lengths.start());
            match likeliest(r.value(logits), allowed) {
                Some(chosen) if chosen != end => symbol = chosen,
                _ => break,
            }
            output.push(symbol);
        }
        output
    }
}

/// The first of the largest logits that are allowed.
fn likeliest<R: Real>(logits: &[R], allowed: impl Fn(u32) -> bool) -> Option<u32> {
    let mut best: Option<(u32, R)> = None;
    for (symbol, &logit) in logits.iter().enumerate() {
        let symbol = symbol as u32;
        if allowed(symbol) && best.is_none_or(|(_, most)| logit > most) {
            best = Some((symbol, logit));
        }
    }
    best.map(|(symbol, _)| symbol)
}

/// A decoder that stands after a prefix of one output.
enum Writer<'a, R> {
    Lstm(&'a LstmTransducer, Decoding),
    Transformer(&'a TransformerTransducer, whole::Source, Vec<Vec<R>>),
    Cnn(&'a CnnTransducer, cnn::Decoding<R>),
}

impl<'a, R: Real> Writer<'a, R> {
    fn new(body: &'a Body, r: &mut Recording<'_, R>, source: &[u32]) -> Self {
        let source = [source.to_vec()];
        match body {
            Body::Lstm(body, _) => Self::Lstm(body, body.begin(r, &source)),
            Body::Transformer(body, _) => Self::Transformer(body, body.read(r, &source), body.caches()),
            Body::Cnn(body) => Self::Cnn(body, body.begin(r, &source)),
        }
    }

    /// The state after one more symbol, from which the next is predicted.
    fn write(&mut self, r: &mut Recording<'_, R>, symbol: u32) -> Var {
        match self {
            Self::Lstm(body, decoding) => {
                let x = body.embed(r, [symbol]);
                body.step(r, decoding, x)
            }
            Self::Transformer(body, source, caches) => body.advance(r, source, caches, symbol),
            Self::Cnn(body, decoding) => body.step(r, decoding, symbol),
        }
    }
}

/// Symbol `t` of string `b`, or anything past its end.
fn symbol(strings: &[Vec<u32>], t: usize, b: usize) -> u32 {
    strings[b].get(t).copied().unwrap_or(0)
}

fn longest(strings: &[Vec<u32>]) -> usize {
    strings.iter().map(Vec::len).max().unwrap_or(0)
}
