//! Transducers (sequence to sequence): an encoder reads the input and its end, a decoder predicts the output and its end.
//! The decoder reads the end as its start symbol, then the output.

mod cnn;
mod joint;
mod lstm;
mod prompt;
mod transformer;

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use self::cnn::CnnTransducer;
pub use self::cnn::CnnTransducerSpec;
use self::joint::JointTransducer;
pub use self::lstm::LstmTransducerSpec;
use self::lstm::{LstmDecoding, LstmTransducer};
use self::prompt::PromptTransducer;
use self::transformer::TransformerTransducer;
use super::body::BodyConfig;
use super::init::{Initialization, ParamRole};
use super::limits::{bounded, countable};
use super::{Counted, SpecError, TransformerSpec, recurrent, transformer as whole};
use crate::kernel::{Activation, Real};
use crate::params::{Layout, Param};
use crate::tape::{Recording, Var};

/// An encoder and a decoder, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum TransducerBodySpec {
    /// Two LSTMs, with or without attention.
    Lstm(LstmTransducerSpec),
    /// Two transformers of the same sizes.
    Transformer(TransformerSpec),
    /// The same, with a decoder whose self-attention attends to the encoder's states as well.
    CrossSelfTransformer(TransformerSpec),
    /// Two convolutional networks with attention.
    Cnn(CnnTransducerSpec),
    /// One transformer over source and target, with joint attention.
    Joint(TransformerSpec),
    /// One causal transformer that continues a prompt.
    Prompt(TransformerSpec),
}

/// A transducer, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransducerSpec {
    pub body: TransducerBodySpec,
    /// The size of the input vocabulary, the end included.
    pub inputs: usize,
    /// The size of the output vocabulary, the end included.
    pub outputs: usize,
    /// The symbol that ends inputs and outputs, and that the decoder reads first.
    pub end: u32,
    /// A symbol that greedy decoding never chooses. It has a probability nevertheless.
    pub padding: Option<u32>,
    /// How parameters are initialised.
    pub initialization: Initialization,
}

/// An input and its output, both without their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// Symbols of the input vocabulary.
    pub input: &'a [u32],
    /// Symbols of the output vocabulary.
    pub output: &'a [u32],
}

#[derive(Clone, Debug)]
enum Body {
    Lstm(LstmTransducer, Head),
    Transformer(Box<TransformerTransducer>, Head),
    /// Has its own output layer, with weight normalisation.
    Cnn(Box<CnnTransducer>),
    Joint(Box<JointTransducer>, Head),
    Prompt(Box<PromptTransducer>, Head),
}

#[derive(Clone, Copy, Debug)]
struct Head {
    width: usize,
    /// A linear layer before the output layer (weight, bias, dropout), if the output layer has another width than states.
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

impl TransducerSpec {
    fn check(&self) -> Result<(), SpecError> {
        bounded([("an input vocabulary", self.inputs), ("an output vocabulary", self.outputs)])?;
        // The end is one id on both sides, so the smaller vocabulary must have it.
        let smaller = self.inputs.min(self.outputs);
        if self.end as usize >= smaller {
            let message = format!("the end is symbol {}, but a vocabulary has only {smaller}", self.end);
            return Err(SpecError(message));
        }
        match &self.body {
            TransducerBodySpec::Lstm(body) => body.check(),
            TransducerBodySpec::Transformer(body)
            | TransducerBodySpec::CrossSelfTransformer(body)
            | TransducerBodySpec::Prompt(body) => body.check(),
            TransducerBodySpec::Cnn(body) => body.check(),
            TransducerBodySpec::Joint(body) => joint::check(body),
        }
    }

    /// The maximum length of an input and of an output with its end, if there is one.
    pub fn max_len(&self) -> Option<usize> {
        match &self.body {
            TransducerBodySpec::Lstm(_) => None,
            TransducerBodySpec::Transformer(body)
            | TransducerBodySpec::CrossSelfTransformer(body)
            | TransducerBodySpec::Joint(body) => body.max_len(),
            // A prompt has both, with a start symbol.
            TransducerBodySpec::Prompt(body) => body.max_len().map(|max| (max.saturating_sub(1)) / 2),
            TransducerBodySpec::Cnn(body) => Some(body.max_len()),
        }
    }
}

/// The numbers of symbols that either side has rows for.
#[derive(Clone, Copy, Debug)]
struct Vocabularies {
    inputs: usize,
    outputs: usize,
}

impl Counted for TransducerSpec {
    fn parameters(&self) -> Result<usize, SpecError> {
        self.check()?;
        let vocabularies = Vocabularies { inputs: self.inputs, outputs: self.outputs };
        countable(match &self.body {
            TransducerBodySpec::Lstm(body) => body.parameters(vocabularies),
            TransducerBodySpec::Transformer(body) | TransducerBodySpec::CrossSelfTransformer(body) => {
                transformer::parameters(body, vocabularies)
            }
            TransducerBodySpec::Cnn(body) => body.parameters(vocabularies),
            TransducerBodySpec::Joint(body) => joint::parameters(body, vocabularies),
            TransducerBodySpec::Prompt(body) => prompt::parameters(body, vocabularies),
        })
    }
}

impl TransducerModel {
    /// Checks the spec and lays out the parameters.
    pub fn new(spec: TransducerSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let vocabularies = Vocabularies { inputs: spec.inputs, outputs: spec.outputs };
        let init = spec.initialization;
        let mut layout = Layout::default();
        let body = match &spec.body {
            TransducerBodySpec::Lstm(body) => {
                let model = LstmTransducer::new(body.clone(), vocabularies, init, &mut layout);
                let mut linear = |name: &str, i: usize, o: usize| {
                    let weight =
                        layout.add(format!("{name}.weight"), &[o, i], init.of(ParamRole::Head { i, o }));
                    (weight, layout.add(format!("{name}.bias"), &[o], init.of(ParamRole::HeadBias { i })))
                };
                let width = body.hidden;
                // fairseq's output layer reads 512 elements at any hidden size, hence its linear layer in between.
                let resize = (body.output != width).then(|| {
                    let (weight, bias) = linear("resize", width, body.output);
                    (weight, bias, body.dropout)
                });
                let (weight, bias) = linear("output", body.output, spec.outputs);
                Body::Lstm(model, Head { width, resize, weight, bias: Some(bias) })
            }
            TransducerBodySpec::Transformer(body) | TransducerBodySpec::CrossSelfTransformer(body) => {
                let cross_self = matches!(spec.body, TransducerBodySpec::CrossSelfTransformer(_));
                let model = TransformerTransducer::new(body, cross_self, vocabularies, init, &mut layout);
                // fairseq's `transformer` neither ties its output layer nor gives it a bias.
                let (width, o) = (body.width, spec.outputs);
                let weight =
                    layout.add("output.weight", &[o, width], init.of(ParamRole::Head { i: width, o }));
                Body::Transformer(Box::new(model), Head { width, resize: None, weight, bias: None })
            }
            TransducerBodySpec::Cnn(body) => {
                let model = CnnTransducer::new(body.clone(), vocabularies, init, &mut layout);
                Body::Cnn(Box::new(model))
            }
            TransducerBodySpec::Joint(body) => {
                let model = JointTransducer::new(body, vocabularies, init, &mut layout);
                let head = Head { width: body.width, resize: None, weight: model.output(), bias: None };
                Body::Joint(Box::new(model), head)
            }
            TransducerBodySpec::Prompt(body) => {
                let model = PromptTransducer::new(body, vocabularies, init, &mut layout);
                let (width, o) = (body.width, spec.inputs + spec.outputs);
                let weight =
                    layout.add("output.weight", &[o, width], init.of(ParamRole::Head { i: width, o }));
                Body::Prompt(Box::new(model), Head { width, resize: None, weight, bias: None })
            }
        };
        countable(layout.count())?;
        Ok(Self { spec, layout, body })
    }

    /// The spec it was built from.
    pub fn spec(&self) -> &TransducerSpec {
        &self.spec
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The number of classes of its softmax: the size of the output vocabulary, or of both vocabularies in prompt form.
    pub fn classes(&self) -> usize {
        let prompt = matches!(self.spec.body, TransducerBodySpec::Prompt(_));
        self.spec.outputs + if prompt { self.spec.inputs } else { 0 }
    }

    /// The maximum length of an input and of an output with its end, if there is one.
    pub fn max_len(&self) -> Option<usize> {
        self.spec.max_len()
    }

    /// How many pairs of up to `max_len` symbols to put in one batch.
    pub fn max_batch_pairs(&self, max_len: usize) -> usize {
        match self.spec.body {
            TransducerBodySpec::Lstm(_) => recurrent::MAX_BATCH_STRINGS,
            TransducerBodySpec::Transformer(_)
            | TransducerBodySpec::CrossSelfTransformer(_)
            | TransducerBodySpec::Cnn(_)
            | TransducerBodySpec::Joint(_)
            | TransducerBodySpec::Prompt(_) => whole::max_batch_strings(max_len),
        }
    }

    /// Logits `[N,V]` of every symbol of every output and of its end, given the input and the symbols before, pair by pair.
    pub fn logits<R: Real>(&self, r: &mut Recording<'_, R>, pairs: &[Pair<'_>]) -> Var {
        // The LSTM encoder requires inputs in order of decreasing length.
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|&i| Reverse(pairs[i].input.len()));
        let mut ranks = vec![0; pairs.len()];
        for (rank, &i) in order.iter().enumerate() {
            ranks[i] = rank;
        }
        let end = [self.spec.end];
        let sources: Vec<Vec<u32>> = order.iter().map(|&i| [pairs[i].input, &end].concat()).collect();
        let targets: Vec<Vec<u32>> = order.iter().map(|&i| [&end, pairs[i].output].concat()).collect();
        let states = match &self.body {
            Body::Lstm(body, _) => body.forward(r, &sources, &targets),
            Body::Transformer(body, _) => body.forward(r, &sources, &targets),
            Body::Cnn(body) => body.forward(r, &sources, &targets),
            Body::Joint(body, _) => body.forward(r, &sources, &targets),
            Body::Prompt(body, _) => body.forward(r, &sources, &targets),
        };
        let prompt = matches!(self.body, Body::Prompt(..));
        let rows = pairs.iter().zip(ranks);
        let rows = rows.flat_map(|(pair, b)| {
            let first = if prompt { sources[b].len() } else { 0 };
            (first..=first + pair.output.len()).map(move |t| states.row(b, t))
        });
        let x = r.select(states.rows, rows, states.width);
        self.output(r, x)
    }

    fn output<R: Real>(&self, r: &mut Recording<'_, R>, x: Var) -> Var {
        match &self.body {
            Body::Lstm(_, head)
            | Body::Transformer(_, head)
            | Body::Joint(_, head)
            | Body::Prompt(_, head) => head.of(r, x),
            Body::Cnn(body) => body.output(r, x),
        }
    }

    /// Records the cross-entropy of all symbols of outputs, ends included, summed and times `weight`. Gives the logits.
    pub fn loss<R: Real>(&self, r: &mut Recording<'_, R>, pairs: &[Pair<'_>], weight: f64) -> Var {
        let logits = self.logits(r, pairs);
        let end = self.spec.end;
        let truth = pairs.iter().flat_map(|pair| pair.output.iter().copied().chain([end]));
        r.softmax_loss(logits, self.classes(), truth.map(|symbol| (symbol, weight)));
        logits
    }

    /// Greedy decoding: the most likely symbol at each step. The output has a length in this range, and at most
    /// [`TransducerModel::max_len`].
    ///
    /// # Panics
    /// If the input is longer than [`TransducerModel::max_len`].
    pub fn greedy<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        input: &[u32],
        lengths: RangeInclusive<usize>,
    ) -> Vec<u32> {
        let (end, mut output) = (self.spec.end, vec![]);
        let mut decoder = Decoder::new(&self.body, r, &[input, &[end]].concat(), end);
        let mut symbol = end;
        let max_len = self.max_len().map_or(*lengths.end(), |max_len| max_len.min(*lengths.end()));
        while output.len() < max_len {
            let state = decoder.advance(r, symbol);
            let logits = self.output(r, state);
            // A least length of 1 is fairseq's: it makes the empty output of count-or-memorization impossible.
            let allowed =
                |s: u32| Some(s) != self.spec.padding && (s != end || output.len() >= *lengths.start());
            match argmax(r.value(logits), allowed) {
                Some(chosen) if chosen != end => symbol = chosen,
                _ => break,
            }
            output.push(symbol);
        }
        output
    }
}

/// The allowed symbol with the largest logit; the first of equals.
fn argmax<R: Real>(logits: &[R], allowed: impl Fn(u32) -> bool) -> Option<u32> {
    let mut best: Option<(u32, R)> = None;
    for (symbol, &logit) in logits.iter().enumerate() {
        let symbol = symbol as u32;
        // Strictly greater, so that ties do not depend on how logits are grouped.
        if allowed(symbol) && best.is_none_or(|(_, max)| logit > max) {
            best = Some((symbol, logit));
        }
    }
    best.map(|(symbol, _)| symbol)
}

/// A decoder after a prefix of one output.
enum Decoder<'a, R> {
    Joint(&'a JointTransducer, joint::JointDecoding<R>),
    Prompt(&'a PromptTransducer, prompt::PromptDecoding<R>),
    Lstm(&'a LstmTransducer, LstmDecoding),
    Transformer(&'a TransformerTransducer, whole::Source, Vec<Vec<R>>),
    Cnn(&'a CnnTransducer, cnn::CnnDecoding<R>),
}

impl<'a, R: Real> Decoder<'a, R> {
    fn new(body: &'a Body, r: &mut Recording<'_, R>, source: &[u32], start: u32) -> Self {
        let source = [source.to_vec()];
        match body {
            Body::Joint(body, _) => Self::Joint(body, body.begin(r, &source)),
            Body::Prompt(body, _) => Self::Prompt(body, body.begin(r, &source[0], start)),
            Body::Lstm(body, _) => Self::Lstm(body, body.begin(r, &source)),
            Body::Transformer(body, _) => {
                let source = body.read(r, &source);
                let caches = body.caches(r, &source);
                Self::Transformer(body, source, caches)
            }
            Body::Cnn(body) => Self::Cnn(body, body.begin(r, &source)),
        }
    }

    /// The state after one more symbol, from which the next is predicted.
    fn advance(&mut self, r: &mut Recording<'_, R>, symbol: u32) -> Var {
        match self {
            Self::Joint(body, decoding) => body.step(r, decoding, symbol),
            Self::Prompt(body, decoding) => body.step(r, decoding, symbol),
            Self::Lstm(body, decoding) => {
                let x = body.embed(r, [symbol]);
                body.step(r, decoding, x)
            }
            Self::Transformer(body, source, caches) => body.advance(r, source, caches, symbol),
            Self::Cnn(body, decoding) => body.step(r, decoding, symbol),
        }
    }
}

/// Symbol `t` of string `b`, or padding.
fn symbol(strings: &[Vec<u32>], t: usize, b: usize) -> u32 {
    strings[b].get(t).copied().unwrap_or(0)
}

fn max_len(strings: &[Vec<u32>]) -> usize {
    strings.iter().map(Vec::len).max().unwrap_or(0)
}
