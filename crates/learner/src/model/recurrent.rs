//! Stacks of recurrent layers.

mod step_batch;

use serde::{Deserialize, Serialize};

use super::SpecError;
use super::init::{Initialization, Role};
use super::limits::{bounded, layered, probability};
use super::states::States;
use crate::kernel::{Activation, Real, Recurrence, activate};
use crate::params::{Layout, Param};
use crate::tape::{Layer, MaskedVar, Recording, Var};

/// What a unit does at each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// `tanh` of the sum.
    Rnn,
    /// `max(0, ·)` of the sum.
    ReluRnn,
    /// Long short-term memory.
    Lstm,
    /// Gated recurrent unit.
    Gru,
}

impl Cell {
    /// As in a config.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rnn => "rnn",
            Self::ReluRnn => "relu-rnn",
            Self::Lstm => "lstm",
            Self::Gru => "gru",
        }
    }

    /// Sums per unit.
    pub fn gates(self) -> usize {
        match self {
            Self::Rnn | Self::ReluRnn => 1,
            Self::Lstm => 4,
            Self::Gru => 3,
        }
    }
}

/// Where the states start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// At zero.
    Zero,
    /// At `tanh` of a learned vector per layer; the cells of an LSTM at zero.
    Learned,
}

/// A stack of recurrent layers, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecurrentSpec {
    /// The kind of unit.
    pub cell: Cell,
    /// How many layers.
    pub layers: usize,
    /// Units per layer.
    pub hidden: usize,
    /// Numbers per embedded symbol; none for one-hot input.
    pub embedding: Option<usize>,
    /// Bias vectors per layer, 1 or 2 (PyTorch trains two).
    pub biases: usize,
    /// Where the states start.
    pub start: Start,
    /// Probability of dropping numbers after the embedding, between layers and after the last (initial state included).
    pub dropout: f64,
}

/// How many strings to read at once.
pub(super) const MAX_BATCH_STRINGS: usize = 512;

impl RecurrentSpec {
    /// Whether there can be such a stack.
    pub(super) fn check(&self) -> Result<(), SpecError> {
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
}

/// The same, with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Recurrent {
    spec: RecurrentSpec,
    pub(super) embedding: Option<Param>,
    initial: Option<Param>,
    layers: Vec<Layer>,
    vocabulary: usize,
}

impl Recurrent {
    pub(crate) fn new(
        spec: RecurrentSpec,
        vocabulary: usize,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let (h, gates) = (spec.hidden, spec.cell.gates());
        let embedding =
            spec.embedding.map(|d| layout.add("embedding", &[vocabulary, d], init.of(Role::Embedding { d })));
        let initial = (spec.start == Start::Learned)
            .then(|| layout.add("initial", &[spec.layers, h], init.of(Role::InitialState)));
        let recurrent = init.of(Role::Recurrent { hidden: h });
        let layers = (0..spec.layers)
            .map(|l| {
                let i = if l > 0 { h } else { spec.embedding.unwrap_or(vocabulary) };
                let mut add =
                    |part: &str, shape: &[usize]| layout.add(format!("layers.{l}.{part}"), shape, recurrent);
                Layer {
                    input: add("weight_ih", &[gates * h, i]),
                    hidden: add("weight_hh", &[gates * h, h]),
                    bias: (spec.biases > 0).then(|| add("bias_ih", &[gates * h])),
                    second_bias: (spec.biases > 1).then(|| add("bias_hh", &[gates * h])),
                }
            })
            .collect();
        Self { spec, embedding, initial, layers, vocabulary }
    }

    pub(crate) fn width(&self) -> usize {
        self.spec.hidden
    }

    /// The states after every prefix. `symbol(t, b)` is the input of string `b` at step `t`, or padding.
    pub(crate) fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        (steps, batch): (usize, usize),
        symbol: impl Fn(usize, usize) -> u32,
    ) -> States {
        let (h, p) = (self.spec.hidden, self.spec.dropout);
        let symbols = (0..steps * batch).map(|i| symbol(i / batch, i % batch));
        let mut x = match (self.embedding, self.spec.embedding) {
            (Some(table), Some(d)) => {
                let x = r.embedding(table, symbols, d, 1.0);
                r.masked(x, p)
            }
            _ => r.one_hot(symbols, self.vocabulary).into(),
        };
        for (l, &layer) in self.layers.iter().enumerate() {
            let n = Recurrence {
                steps,
                batch,
                input: layer.input.len() / (self.spec.cell.gates() * h),
                hidden: h,
            };
            let h0 = self.initial.map(|all| r.repeat(all.part(l * h, h), batch, Activation::Tanh));
            let states = self.layer(r, x, h0, layer, n);
            if l + 1 == self.layers.len() {
                let rows = r.masked(states, p);
                return States { rows, width: h, per_position: batch, per_string: 1, skip: 0 };
            }
            let after = r.part(states, batch * h, steps * batch * h);
            x = r.masked(after, p);
        }
        unreachable!("a spec has at least one layer")
    }

    /// `h` of every layer, then `c` of every layer of an LSTM, before the first symbol; and the last layer's `h`.
    pub(crate) fn initial_memory<R: Real>(&self, params: &[R]) -> (Vec<R>, Vec<R>) {
        let (h, layers) = (self.spec.hidden, self.spec.layers);
        let mut memory = match self.initial {
            Some(initial) => initial.of(params).to_vec(),
            None => vec![R::ZERO; layers * h],
        };
        if self.initial.is_some() {
            activate(&mut memory, &[], Activation::Tanh);
        }
        let top = memory[(layers - 1) * h..].to_vec();
        if self.spec.cell == Cell::Lstm {
            memory.resize(2 * layers * h, R::ZERO);
        }
        (memory, top)
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
