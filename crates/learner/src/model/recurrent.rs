//! Stacks of recurrent layers.

mod step_batch;

use serde::{Deserialize, Serialize};

use super::SpecError;
use super::body::{Body, BodyConfig};
use super::init::{Initialization, ParamRole};
use super::limits::{bounded, layered, probability};
use super::states::{BatchShape, BatchStates, PrefixState, States};
use crate::kernel::{Activation, Real, Recurrence, activate};
use crate::params::{Layout, Param};
use crate::tape::{Layer, MaskedVar, Recording, Var};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// `tanh` of the sum.
    Rnn,
    /// `max(0, ·)` of the sum.
    ReluRnn,
    Lstm,
    Gru,
}

impl Cell {
    /// The name in a config.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rnn => "rnn",
            Self::ReluRnn => "relu-rnn",
            Self::Lstm => "lstm",
            Self::Gru => "gru",
        }
    }

    /// Gates per unit: the factor of `hidden` in the shapes of the weights.
    pub fn gates(self) -> usize {
        match self {
            Self::Rnn | Self::ReluRnn => 1,
            Self::Lstm => 4,
            Self::Gru => 3,
        }
    }
}

/// The state `h` before the first symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    Zero,
    /// `tanh` of a trained vector per layer. The cells `c` of an LSTM are zeros nevertheless.
    Learned,
}

/// A stack of recurrent layers, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecurrentSpec {
    pub cell: Cell,
    pub layers: usize,
    pub hidden: usize,
    /// Elements per embedded symbol; none for one-hot input.
    pub embedding: Option<usize>,
    /// Bias vectors per layer, 1 or 2 (PyTorch trains two).
    pub biases: usize,
    /// The state before the first symbol.
    pub start: Start,
    /// Dropout after the embedding, between layers and after the last layer (its initial state included).
    pub dropout: f64,
}

pub(super) const MAX_BATCH_STRINGS: usize = 512;

impl BodyConfig for RecurrentSpec {
    type Built = Recurrent;

    fn check(&self) -> Result<(), SpecError> {
        if self.layers == 0 || self.hidden == 0 {
            let message = format!("{} layers of {} units; both must be at least 1", self.layers, self.hidden);
            return Err(SpecError(message));
        }
        if self.biases > 2 {
            let message = format!("{} biases per layer; 0, 1 or 2 are possible", self.biases);
            return Err(SpecError(message));
        }
        probability(self.dropout)?;
        layered(self.layers)?;
        bounded([("a hidden size", self.hidden), ("an embedding", self.embedding.unwrap_or(0))])
    }

    fn state_width(&self) -> usize {
        self.hidden
    }

    fn embedding_width(&self) -> Option<usize> {
        self.embedding
    }

    fn parameters(&self, vocabulary: usize) -> usize {
        let (h, input) = (self.hidden, self.embedding.unwrap_or(vocabulary));
        let layer = |i: usize| self.cell.gates() * h * (i + h + self.biases);
        let initial = if self.start == Start::Learned { self.layers * h } else { 0 };
        self.embedding.map_or(0, |d| vocabulary * d) + initial + layer(input) + (self.layers - 1) * layer(h)
    }

    fn build(&self, vocabulary: usize, init: Initialization, layout: &mut Layout) -> Recurrent {
        let (h, gates) = (self.hidden, self.cell.gates());
        let embedding = self
            .embedding
            .map(|d| layout.add("embedding", &[vocabulary, d], init.of(ParamRole::Embedding { d })));
        let initial = (self.start == Start::Learned)
            .then(|| layout.add("initial", &[self.layers, h], init.of(ParamRole::InitialState)));
        let recurrent = init.of(ParamRole::Recurrent { hidden: h });
        let mut layer = |l: usize| {
            let i = if l > 0 { h } else { self.embedding.unwrap_or(vocabulary) };
            let mut add =
                |part: &str, shape: &[usize]| layout.add(format!("layers.{l}.{part}"), shape, recurrent);
            Layer {
                input: add("weight_ih", &[gates * h, i]),
                hidden: add("weight_hh", &[gates * h, h]),
                bias: (self.biases > 0).then(|| add("bias_ih", &[gates * h])),
                // Two biases train as PyTorch's do: their sum moves twice as far per step as a single bias.
                second_bias: (self.biases > 1).then(|| add("bias_hh", &[gates * h])),
            }
        };
        let last = self.layers - 1;
        let (lower, top) = ((0..last).map(&mut layer).collect(), layer(last));
        Recurrent { spec: self.clone(), embedding, initial, lower, top, vocabulary }
    }

    fn max_batch_strings(&self, _max_len: usize) -> usize {
        MAX_BATCH_STRINGS
    }
}

/// A stack of recurrent layers with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Recurrent {
    spec: RecurrentSpec,
    embedding: Option<Param>,
    initial: Option<Param>,
    /// All layers but the last.
    lower: Vec<Layer>,
    top: Layer,
    vocabulary: usize,
}

impl Body for Recurrent {
    fn embedding(&self) -> Option<Param> {
        self.embedding
    }

    fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        BatchShape { steps, batch }: BatchShape,
        symbol: impl Fn(usize, usize) -> u32,
    ) -> States {
        let (h, p) = (self.spec.hidden, self.spec.dropout);
        let symbols = (0..steps * batch).map(|i| symbol(i / batch, i % batch));
        let mut x = match (self.embedding, self.spec.embedding) {
            (Some(table), Some(d)) => {
                let x = r.embedding(table, symbols, d, 1.0);
                r.masked(x, p)
            }
            // No dropout here: to drop the one element that is not zero would hide the symbol.
            _ => r.one_hot(symbols, self.vocabulary).into(),
        };
        for (l, &layer) in self.lower.iter().enumerate() {
            let states = self.run_layer(r, x, l, layer, BatchShape { steps, batch });
            // The next layer reads the states after symbols; row 0 is this layer's initial state.
            let after = r.part(states, batch * h, steps * batch * h);
            x = r.masked(after, p);
        }
        let states = self.run_layer(r, x, self.lower.len(), self.top, BatchShape { steps, batch });
        // Row 0 is dropped out too, as in FLaRe's code: the head reads it for the empty string.
        let rows = r.masked(states, p);
        States { rows, width: h, per_position: batch, per_string: 1, start: 0, first: 0 }
    }

    fn initial_state<R: Real>(&self, params: &[R]) -> PrefixState<R> {
        let (h, layers) = (self.spec.hidden, self.spec.layers);
        let mut hidden = match self.initial {
            Some(initial) => initial.of(params).to_vec(),
            None => vec![R::ZERO; layers * h],
        };
        // FLaRe learns the argument of the tanh, so that `h` starts in the range of later states.
        if self.initial.is_some() {
            activate(&mut hidden, &[], Activation::Tanh);
        }
        let top = hidden[(layers - 1) * h..].to_vec();
        if self.spec.cell == Cell::Lstm {
            // FLaRe learns `h` alone. `c` starts at zero.
            hidden.resize(2 * layers * h, R::ZERO);
        }
        PrefixState { hidden, caches: vec![], top }
    }

    fn advance<R: Real>(&self, r: &mut Recording<'_, R>, state: &mut PrefixState<R>, symbol: u32) {
        // As a batch of one, padded like any other: a state has the same bits alone and in a batch.
        self.step_states(r, std::slice::from_mut(state), &[&[symbol]]);
    }

    fn step_batch<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        states: &mut [PrefixState<R>],
        pieces: &[&[u32]],
    ) -> Option<BatchStates> {
        Some(self.step_states(r, states, pieces))
    }
}

impl Recurrent {
    fn sizes(&self, layer: Layer, BatchShape { steps, batch }: BatchShape) -> Recurrence {
        let h = self.spec.hidden;
        Recurrence { steps, batch, input: layer.input.len() / (self.spec.cell.gates() * h), hidden: h }
    }

    /// The states `[T+1,B,H]` of layer `l` on whole strings, the initial state first.
    fn run_layer<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        x: MaskedVar,
        l: usize,
        layer: Layer,
        shape: BatchShape,
    ) -> Var {
        let (h, n) = (self.spec.hidden, self.sizes(layer, shape));
        let h0 = self.initial.map(|all| r.repeat(all.part(l * h, h), n.batch, Activation::Tanh));
        self.layer(r, x, h0, layer, n)
    }

    fn layer<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        x: impl Into<MaskedVar>,
        h0: Option<Var>,
        layer: Layer,
        n: Recurrence,
    ) -> Var {
        match self.spec.cell {
            Cell::Rnn => r.rnn(x, h0, layer, n, Activation::Tanh),
            Cell::ReluRnn => r.rnn(x, h0, layer, n, Activation::Relu),
            Cell::Gru => r.gru(x, h0, layer, n),
            Cell::Lstm => {
                let start = h0.map(|h0| (h0, r.zeros(n.batch * n.hidden)));
                r.lstm(x, start, layer, n).0
            }
        }
    }
}
