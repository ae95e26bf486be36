//! Recurrent layers over a whole sequence, there and back.

use std::ops::Range;

use super::backward::{Pair, pair, two};
use super::deferred::{DeferredGrad, Rows};
use super::op::{Layer, Masked, Op};
use super::{Mode, Recording, Tape, Var, grow};
use crate::kernel::{
    self, Activation, GRU_SUMS, Gru, GruGradients, Inputs, Real, Recurrence, RecurrentGradients,
    RecurrentWeights,
};
use crate::params::Param;

/// What an LSTM reads.
enum Read {
    Tensor(Masked),
    Symbols(Range<usize>),
}

/// What its forward pass leaves.
struct LstmRun {
    out: Var,
    last_cell: Var,
    cells: Range<usize>,
    gates: Range<usize>,
}

impl<R: Real> Recording<'_, R> {
    /// A simple recurrent layer; gives `[T+1,B,H]` with the initial state (zero if none is given) in front.
    pub fn rnn(
        &mut self,
        x: impl Into<Masked>,
        h0: Option<Var>,
        layer: Layer,
        n: Recurrence,
        f: Activation,
    ) -> Var {
        let x = x.into();
        let row = n.batch * n.hidden;
        let out = self.new_tensor((n.steps + 1) * row, true);
        self.set_state(out, h0, row);
        let params = self.params;
        sum_biases(&mut self.tape.grad_tmp, layer, params);
        let (x_range, start) = (self.tape.tensor(x.var).range(), self.tape.tensor(out).start);
        let (before, after) = self.tape.values.data.split_at_mut(start);
        let bias = &self.tape.grad_tmp[..bias_len(layer)];
        let weights =
            RecurrentWeights { input: layer.input.of(params), hidden: layer.hidden.of(params), bias };
        grow(&mut self.tape.workspace, n.workspace::<R>(1));
        let states = &mut after[..(n.steps + 1) * row];
        kernel::rnn(states, &mut self.tape.workspace, x.over(&before[x_range]), weights, n, f);
        self.push(Op::Rnn { x, h0, out, layer, n, f });
        out
    }

    /// An LSTM layer; gives all states `[T+1,B,H]` and the last cells `[B,H]`. It may start from `(h0, c0)`.
    pub fn lstm(
        &mut self,
        x: impl Into<Masked>,
        start: Option<(Var, Var)>,
        layer: Layer,
        n: Recurrence,
    ) -> (Var, Var) {
        let x = x.into();
        let LstmRun { out, last_cell, cells, gates } = self.run_lstm(&Read::Tensor(x), start, layer, n);
        self.push(Op::Lstm { x, start, out, last_cell, cells, gates, layer, n });
        (out, last_cell)
    }

    /// The same of symbols `[T,B]`, each of which stands for a row of zeros with a 1 at its place; in judging only.
    pub fn lstm_of_symbols(
        &mut self,
        symbols: impl IntoIterator<Item = u32>,
        start: Option<(Var, Var)>,
        layer: Layer,
        n: Recurrence,
    ) -> (Var, Var) {
        assert_eq!(self.mode, Mode::Eval, "there is no way back through symbols");
        let symbols = self.push_symbols(symbols);
        let LstmRun { out, last_cell, .. } = self.run_lstm(&Read::Symbols(symbols), start, layer, n);
        (out, last_cell)
    }

    fn run_lstm(&mut self, x: &Read, start: Option<(Var, Var)>, layer: Layer, n: Recurrence) -> LstmRun {
        let row = n.batch * n.hidden;
        let out = self.new_tensor((n.steps + 1) * row, true);
        let last_cell = self.new_tensor(row, true);
        self.set_state(out, start.map(|(h, _)| h), row);
        self.forget();
        let kept = match self.mode {
            Mode::Eval => n.block::<R>(4).min(n.steps),
            _ => n.steps,
        };
        let cells = self.tape.saved.take((kept + 1) * row);
        let gates = self.tape.saved.take(kept * 4 * row);
        let params = self.params;
        sum_biases(&mut self.tape.grad_tmp, layer, params);
        let tape = &mut *self.tape;
        let first_cells = &mut tape.saved.data[cells.start..cells.start + row];
        match start {
            Some((_, c0)) => {
                first_cells.copy_from_slice(&tape.values.data[tape.tensors[c0.0 as usize].range()]);
            }
            None => first_cells.fill(R::ZERO),
        }
        let out_range = tape.tensor(out).range();
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let inputs = match x {
            Read::Tensor(x) => Inputs::Numbers(x.over(&before[tape.tensors[x.var.0 as usize].range()])),
            Read::Symbols(symbols) => Inputs::Symbols(&tape.symbols[symbols.clone()]),
        };
        let (c, g) = tape.saved.data[cells.start..gates.end].split_at_mut(cells.len());
        let bias = &tape.grad_tmp[..bias_len(layer)];
        let weights =
            RecurrentWeights { input: layer.input.of(params), hidden: layer.hidden.of(params), bias };
        grow(&mut tape.workspace, n.workspace::<R>(4));
        let states = &mut after[..out_range.len()];
        kernel::lstm(states, c, g, &mut tape.workspace, inputs, weights, n);
        after[out_range.len()..][..row].copy_from_slice(&c[kept * row..]);
        LstmRun { out, last_cell, cells, gates }
    }

    /// A gated recurrent layer; both biases must be there. Gives `[T+1,B,H]`.
    pub fn gru(&mut self, x: impl Into<Masked>, h0: Option<Var>, layer: Layer, n: Recurrence) -> Var {
        let x = x.into();
        let row = n.batch * n.hidden;
        let out = self.new_tensor((n.steps + 1) * row, true);
        self.set_state(out, h0, row);
        self.forget();
        let gates = self.tape.saved.take(n.steps * 3 * row);
        let sums = self.tape.saved.take(n.steps * 3 * row);
        let params = self.params;
        let tape = &mut *self.tape;
        let (x_range, start) = (tape.tensor(x.var).range(), tape.tensor(out).start);
        let (before, after) = tape.values.data.split_at_mut(start);
        let (g, s) = tape.saved.data[gates.start..sums.end].split_at_mut(gates.len());
        grow(&mut tape.workspace, n.inputs::<R>(GRU_SUMS));
        let (states, inputs) = (&mut after[..(n.steps + 1) * row], x.over(&before[x_range]));
        kernel::gru(states, g, s, &mut tape.workspace, inputs, gru_weights(layer, params), n);
        self.push(Op::Gru { x, h0, out, gates, sums, layer, n });
        out
    }

    /// Puts the initial state in front of `out`.
    fn set_state(&mut self, out: Var, h0: Option<Var>, row: usize) {
        if let Some(h0) = h0 {
            let (state, values) = self.in_out(h0, out);
            values[..row].copy_from_slice(state);
        } else {
            let start = self.tape.tensor(out).start;
            self.tape.values.data[start..start + row].fill(R::ZERO);
        }
    }
}

impl<R: Real> Tape<R> {
    pub(super) fn recurrent_back(&mut self, op: &Op, params: &[R], dparams: &mut [R]) {
        match *op {
            Op::Rnn { x, h0, out, layer, n, f } => {
                let (tensor, out) = (self.tensor(x.var), self.ready(out));
                let (bias, into) = (self.biases(layer, params), self.write(layer));
                let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
                let (w, dw) = weights(layer, params, dparams, &mut self.scratch, bias, into);
                let saved = (&self.values.data[out.range()], x.over(&self.values.data[tensor.range()]));
                grow(&mut self.workspace, n.workspace::<R>(1));
                kernel::rnn_backward(dx, dout, &mut self.workspace, dw, saved, w, n, f);
                self.settle(x.var);
                self.spread_biases(layer, dparams);
                if let Some(h0) = h0 {
                    self.pass(h0, out.start);
                }
            }
            Op::Lstm { x, start, out, last_cell, ref cells, ref gates, layer, n } => {
                let (tensor, out, last) = (self.tensor(x.var), self.ready(out), self.ready(last_cell));
                let (bias, into) = (self.biases(layer, params), self.write(layer));
                let later = self.repeated(layer.hidden) && x.mask.keeps_all();
                // The cells' gradient lies right behind that of the states.
                let (before, dc) = self.gradients.split_at_mut(last.start);
                let Pair { dx, dout } = pair(before, &mut self.grad_tmp, tensor, out);
                let (w, mut dw) = weights(layer, params, dparams, &mut self.scratch, bias, into);
                if later {
                    (dw.input, dw.hidden) = (&mut [], &mut []);
                    let count = n.steps * n.batch;
                    let before = out.start..out.start + count * n.hidden;
                    let both = [(layer.input, tensor.range(), n.input), (layer.hidden, before, n.hidden)];
                    for (weight, inputs, width) in both {
                        let (grads, inputs) = (Rows::Saved(gates.clone()), Rows::Values(inputs));
                        self.deferred.push(DeferredGrad { weight, grads, inputs, count, width });
                    }
                }
                let (c, g) = self.saved.data[cells.start..gates.end].split_at_mut(cells.len());
                let saved = (&self.values.data[out.range()], &*c, x.over(&self.values.data[tensor.range()]));
                grow(&mut self.workspace, n.workspace::<R>(4));
                let dc = &mut dc[..last.len];
                kernel::lstm_backward(dx, dout, dc, dw, g, &mut self.workspace, saved, w, n);
                self.settle(x.var);
                self.spread_biases(layer, dparams);
                if let Some((h0, c0)) = start {
                    self.pass(h0, out.start);
                    self.pass(c0, last.start);
                }
            }
            Op::Gru { x, h0, out, ref gates, ref sums, layer, n } => {
                let (tensor, out) = (self.tensor(x.var), self.ready(out));
                let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
                let [input, hidden, input_bias, hidden_bias] = four(dparams, layer);
                let dw = GruGradients { input, hidden, input_bias, hidden_bias };
                let (g, s) = self.saved.data[gates.start..sums.end].split_at_mut(gates.len());
                let saved = (&self.values.data[out.range()], x.over(&self.values.data[tensor.range()]));
                grow(&mut self.workspace, n.inputs::<R>(GRU_SUMS));
                let w = gru_weights(layer, params);
                kernel::gru_backward(dx, dout, dw, g, s, &mut self.workspace, saved, w, n);
                self.settle(x.var);
                if let Some(h0) = h0 {
                    self.pass(h0, out.start);
                }
            }
            _ => unreachable!("not a recurrent layer"),
        }
    }

    /// Room in `scratch` for the biases' sum and its gradient; gives its length.
    pub(super) fn biases(&mut self, layer: Layer, params: &[R]) -> usize {
        let len = bias_len(layer);
        grow(&mut self.scratch, 2 * len);
        sum_biases(&mut self.grad_tmp, layer, params);
        self.scratch[..len].copy_from_slice(&self.grad_tmp[..len]);
        self.scratch[len..2 * len].fill(R::ZERO);
        len
    }

    /// The gradient of the sum is that of each bias.
    pub(super) fn spread_biases(&mut self, layer: Layer, dparams: &mut [R]) {
        let len = bias_len(layer);
        for bias in [layer.bias, layer.second_bias].into_iter().flatten() {
            kernel::add(bias.of_mut(dparams), &self.scratch[len..2 * len]);
        }
    }
}

/// The sum of a layer's biases, into the front of `spare`.
pub(super) fn sum_biases<R: Real>(grad_tmp: &mut Vec<R>, layer: Layer, params: &[R]) {
    if let Some(bias) = layer.bias {
        grow(grad_tmp, bias.len());
        let sum = &mut grad_tmp[..bias.len()];
        sum.copy_from_slice(bias.of(params));
        if let Some(second) = layer.second_bias {
            kernel::add(sum, second.of(params));
        }
    }
}

pub(super) fn bias_len(layer: Layer) -> usize {
    layer.bias.map_or(0, Param::len)
}

/// The parameters of a GRU layer.
fn gru_weights<R>(layer: Layer, params: &[R]) -> Gru<'_, R> {
    let bias = |b: Option<Param>| b.map_or(&[][..], |b| b.of(params));
    Gru {
        input: layer.input.of(params),
        hidden: layer.hidden.of(params),
        input_bias: bias(layer.bias),
        hidden_bias: bias(layer.second_bias),
    }
}

/// Weights and gradients of a layer, the biases' sum and its gradient standing in `scratch`.
fn weights<'a, R: Real>(
    layer: Layer,
    params: &'a [R],
    dparams: &'a mut [R],
    scratch: &'a mut [R],
    bias: usize,
    into: kernel::Accumulate,
) -> (RecurrentWeights<'a, R>, RecurrentGradients<'a, R>) {
    let (sum, dsum) = scratch[..2 * bias].split_at_mut(bias);
    let [input, hidden] = two(dparams, layer.input, layer.hidden);
    (
        RecurrentWeights { input: layer.input.of(params), hidden: layer.hidden.of(params), bias: sum },
        RecurrentGradients { into, input, hidden, bias: dsum },
    )
}

fn four<R>(all: &mut [R], layer: Layer) -> [&mut [R]; 4] {
    let [b1, b2] = [layer.bias, layer.second_bias].map(|b| b.map_or(0..0, Param::range));
    all.get_disjoint_mut([layer.input.range(), layer.hidden.range(), b1, b2])
        .expect("parameters do not overlap")
}
