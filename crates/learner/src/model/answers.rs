//! Models that answer at some positions of a sequence: a body, and an output layer over answers.

use super::body::{AnyBody, Body as _, BodyConfig, BodySpec};
use super::init::{Initialization, ParamRole};
use super::limits::{bounded, countable, positive};
use super::states::{BatchShape, PrefixState};
use super::transformer::{Mask, Transformer, TransformerPart, TransformerSpec};
use super::{Counted, SpecError};
use crate::interface::Sequence;
use crate::kernel::{Activation, Real};
use crate::params::{Init, Layout, Param};
use crate::tape::{Recording, Var};

/// What an answer is predicted from.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerBodySpec {
    /// The state after the symbols before the answer.
    Prefix(BodySpec),
    /// A transformer without a mask reads the whole sequence, the answer included, and the answer is predicted from the position
    /// before it. **It sees the answer**: so it was published.
    Leaky(TransformerSpec),
    /// A transformer without a mask reads the symbols before the answer alone; the mean over its positions, padding left out.
    Pooled(TransformerSpec),
    /// Which symbols are before the answer, whatever their order and number; each counts 1 over how many there are.
    BagOfWords,
}

/// A model that answers, as settings say it.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerModelSpec {
    /// What an answer is predicted from.
    pub body: AnswerBodySpec,
    pub vocabulary: usize,
    /// Answers are symbols below this one.
    pub answers: usize,
}

impl AnswerModelSpec {
    fn check(&self) -> Result<(), SpecError> {
        match &self.body {
            AnswerBodySpec::Prefix(body) => body.check()?,
            AnswerBodySpec::Leaky(body) | AnswerBodySpec::Pooled(body) => body.check()?,
            AnswerBodySpec::BagOfWords => {}
        }
        bounded([("a vocabulary", self.vocabulary)])?;
        positive("a vocabulary and answers", &[self.vocabulary, self.answers])
    }

    /// Elements of what the output layer reads.
    fn width(&self) -> usize {
        match &self.body {
            AnswerBodySpec::Prefix(body) => body.state_width(),
            AnswerBodySpec::Leaky(body) | AnswerBodySpec::Pooled(body) => body.width,
            AnswerBodySpec::BagOfWords => self.vocabulary,
        }
    }
}

impl Counted for AnswerModelSpec {
    fn parameters(&self) -> Result<usize, SpecError> {
        self.check()?;
        let body = match &self.body {
            AnswerBodySpec::Prefix(body) => body.parameters(self.vocabulary),
            AnswerBodySpec::Leaky(body) | AnswerBodySpec::Pooled(body) => body.parameters(self.vocabulary),
            AnswerBodySpec::BagOfWords => 0,
        };
        countable(body + self.answers * (self.width() + 1))
    }
}

#[derive(Clone, Debug)]
enum AnswerBody {
    Prefix(AnyBody),
    Leaky(Transformer),
    Pooled(Transformer),
    BagOfWords,
}

/// A model that answers, with its parameters.
#[derive(Clone, Debug)]
pub struct AnswerModel {
    spec: AnswerModelSpec,
    layout: Layout,
    body: AnswerBody,
    weight: Param,
    bias: Param,
}

/// The released bag-of-words model starts with weights a hundredth of PyTorch's.
const SMALL: f64 = 0.01;

impl AnswerModel {
    /// Checks the spec and lays out the parameters, which are initialised as PyTorch's modules are.
    pub fn new(spec: AnswerModelSpec) -> Result<Self, SpecError> {
        countable(spec.parameters()?)?;
        let (init, mut layout) = (Initialization::Torch, Layout::default());
        let transformer = |spec: &TransformerSpec, v: usize, layout: &mut Layout| {
            Transformer::new(spec.clone(), v, TransformerPart { prefix: "", cross: false }, init, layout)
        };
        let body = match &spec.body {
            AnswerBodySpec::Prefix(body) => {
                AnswerBody::Prefix(body.build(spec.vocabulary, init, &mut layout))
            }
            AnswerBodySpec::Leaky(body) => AnswerBody::Leaky(transformer(body, spec.vocabulary, &mut layout)),
            AnswerBodySpec::Pooled(body) => {
                AnswerBody::Pooled(transformer(body, spec.vocabulary, &mut layout))
            }
            AnswerBodySpec::BagOfWords => AnswerBody::BagOfWords,
        };
        let (i, o) = (spec.width(), spec.answers);
        let scaled = |role: ParamRole| match (init.of(role), &spec.body) {
            (Init::Uniform(bound), AnswerBodySpec::BagOfWords) => Init::Uniform(SMALL * bound),
            (init, _) => init,
        };
        let weight = layout.add("output.weight", &[o, i], scaled(ParamRole::Head { i, o }));
        let bias = layout.add("output.bias", &[o], scaled(ParamRole::HeadBias { i }));
        Ok(Self { spec, layout, body, weight, bias })
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The spec it was built from.
    pub fn spec(&self) -> &AnswerModelSpec {
        &self.spec
    }

    /// How many sequences of up to `max_len` symbols to put in one batch.
    pub fn max_batch(&self, max_len: usize) -> usize {
        match &self.spec.body {
            AnswerBodySpec::Prefix(body) => body.max_batch_strings(max_len).min(1 << 10),
            AnswerBodySpec::Leaky(body) | AnswerBodySpec::Pooled(body) => body.max_batch_strings(max_len),
            AnswerBodySpec::BagOfWords => 64,
        }
        .max(1)
    }

    /// The logits `[N, answers]` of all answers, in order.
    pub fn logits<R: Real>(&self, r: &mut Recording<'_, R>, sequences: &[Sequence<'_>]) -> Var {
        let rows = match &self.body {
            AnswerBody::Prefix(body) => {
                // Nothing is predicted from symbols after the last answer, so they are not read.
                let read = |s: &Sequence<'_>| s.answers.last().copied().unwrap_or(0);
                let inputs: Vec<&[u32]> = sequences.iter().map(|s| &s.symbols[..read(s)]).collect();
                let states = body.read(r, &inputs, None);
                let rows = sequences.iter().enumerate();
                let rows = rows.flat_map(|(b, s)| s.answers.iter().map(move |&p| states.row(b, p)));
                r.select(states.rows, rows, states.width)
            }
            AnswerBody::Leaky(body) => {
                // The answer is part of the input, and row `p − 1` attends to it: the released transformer of WADE
                // passes no mask.
                let inputs: Vec<&[u32]> = sequences.iter().map(|s| s.symbols).collect();
                let (states, longest) = whole(r, body, &inputs);
                let rows = sequences.iter().enumerate();
                let row = |b: usize, p: usize| (b * longest + p - 1) as u32;
                let rows = rows.flat_map(|(b, s)| s.answers.iter().map(move |&p| row(b, p)));
                r.select(states, rows, self.spec.width())
            }
            AnswerBody::Pooled(body) => {
                let inputs: Vec<&[u32]> =
                    // One copy of the prefix per answer: without a causal mask, the states of a prefix change with
                    // what follows.
                    sequences.iter().flat_map(|s| s.answers.iter().map(|&p| &s.symbols[..p])).collect();
                let (states, longest) = whole(r, body, &inputs);
                let parts = inputs.iter().enumerate();
                let parts = parts.map(|(b, input)| ((b * longest) as u32, input.len() as u32));
                r.mean_rows(states, parts, self.spec.width())
            }
            AnswerBody::BagOfWords => {
                let bags = bags(sequences, self.spec.vocabulary);
                r.constant(&bags)
            }
        };
        self.output(r, rows)
    }

    fn output<R: Real>(&self, r: &mut Recording<'_, R>, rows: Var) -> Var {
        r.linear(rows, self.weight, Some(self.bias), self.spec.width(), Activation::Identity)
    }

    /// The state before the first symbol, if states after prefixes can be [read on from](Self::read_on): that is so with recurrent
    /// bodies.
    pub(crate) fn initial_state<R: Real>(&self, params: &[R]) -> Option<PrefixState<R>> {
        match &self.body {
            AnswerBody::Prefix(body @ AnyBody::Recurrent(_)) => Some(body.initial_state(params)),
            // Only recurrent bodies implement `step_batch`, on which `read_on` relies.
            _ => None,
        }
    }

    /// Reads one symbol after each of some prefixes.
    pub(crate) fn read_on<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        states: &mut [PrefixState<R>],
        symbols: &[u32],
    ) {
        if let AnswerBody::Prefix(body) = &self.body {
            let pieces: Vec<&[u32]> = symbols.chunks(1).collect();
            body.step_batch(r, states, &pieces);
        }
    }

    /// The logits `[N, answers]` after prefixes with these states `[N, D]`.
    pub(crate) fn logits_after<R: Real>(&self, r: &mut Recording<'_, R>, states: &[R]) -> Var {
        let rows = r.constant(states);
        self.output(r, rows)
    }
}

/// The states `[B,T,D]` of a transformer that attends to whole strings, and `T`.
fn whole<R: Real>(r: &mut Recording<'_, R>, body: &Transformer, strings: &[&[u32]]) -> (Var, usize) {
    let lengths: Vec<usize> = strings.iter().map(|string| string.len()).collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let symbol = |t: usize, b: usize| strings[b].get(t).copied().unwrap_or(0);
    let states = body.forward_with(
        r,
        BatchShape { steps: longest, batch: strings.len() },
        symbol,
        Mask::Padding(&lengths),
        None,
    );
    (r.materialize(states.rows), longest)
}

/// The bag `[V]` of the symbols before each answer.
fn bags<R: Real>(sequences: &[Sequence<'_>], vocabulary: usize) -> Vec<R> {
    let count = sequences.iter().map(|s| s.answers.len()).sum::<usize>();
    let mut bags = vec![R::ZERO; count * vocabulary];
    let prefixes = sequences.iter().flat_map(|s| s.answers.iter().map(|&p| &s.symbols[..p]));
    for (prefix, bag) in prefixes.zip(bags.chunks_exact_mut(vocabulary)) {
        prefix.iter().for_each(|&symbol| bag[symbol as usize] = R::ONE);
        let distinct: R = bag.iter().copied().sum();
        if distinct > R::ZERO {
            bag.iter_mut().for_each(|x| *x = *x / distinct);
        }
    }
    bags
}
