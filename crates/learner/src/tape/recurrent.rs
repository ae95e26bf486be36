//! What recurrent layers share (parameters, biases, initial states), and the simple recurrent layer.

use super::backward::{in_out_grads, two};
use super::op::{MaskedVar, Op, Operation};
use super::{Recording, Tape, Var, grow};
use crate::kernel::{self, Accumulate, Activation, Real, Recurrence, RecurrentGradients, RecurrentWeights};
use crate::params::Param;

/// The parameters of a recurrent layer with `G` sums per unit. PyTorch has two bias vectors where one would do; both are
/// trained, so both are kept when a paper's model had them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    pub input: Param,
    pub hidden: Param,
    pub bias: Option<Param>,
    /// `[G·H]`, added to the first (in a GRU, the bias of the recurrent side).
    pub second_bias: Option<Param>,
}

impl Layer {
    pub(super) fn params(self, visit: &mut dyn FnMut(Param)) {
        visit(self.input);
        visit(self.hidden);
        [self.bias, self.second_bias].into_iter().flatten().for_each(visit);
    }

    pub(super) fn bias_len(self) -> usize {
        self.bias.map_or(0, Param::len)
    }

    /// Writes the sum of the biases to the front of a buffer.
    pub(super) fn sum_biases<R: Real>(self, buffer: &mut Vec<R>, params: &[R]) {
        if let Some(bias) = self.bias {
            grow(buffer, bias.len());
            let sum = &mut buffer[..bias.len()];
            sum.copy_from_slice(bias.of(params));
            // Kernels take one bias. Its gradient goes to both, so that both are trained as in PyTorch.
            if let Some(second) = self.second_bias {
                kernel::add(sum, second.of(params));
            }
        }
    }

    /// The weights as kernels take them, with the sum of the biases.
    pub(super) fn weights<'a, R>(self, params: &'a [R], bias: &'a [R]) -> RecurrentWeights<'a, R> {
        RecurrentWeights { input: self.input.of(params), hidden: self.hidden.of(params), bias }
    }

    /// Weights and their gradients. `scratch` begins with the sum of the biases and its gradient ([`Tape::bias_sum`]).
    pub(super) fn weights_and_grads<'a, R: Real>(
        self,
        params: &'a [R],
        dparams: &'a mut [R],
        scratch: &'a mut [R],
        into: Accumulate,
    ) -> (RecurrentWeights<'a, R>, RecurrentGradients<'a, R>) {
        let (sum, dsum) = scratch[..2 * self.bias_len()].split_at_mut(self.bias_len());
        let [input, hidden] = two(dparams, self.input, self.hidden);
        (self.weights(params, sum), RecurrentGradients { into, input, hidden, bias: dsum })
    }
}

impl<R: Real> Recording<'_, R> {
    /// Writes the initial state (zero if none is given) to the front of `out`.
    pub(super) fn set_state(&mut self, out: Var, h0: Option<Var>, row: usize) {
        if let Some(h0) = h0 {
            let (state, values) = self.in_out(h0, out);
            values[..row].copy_from_slice(state);
        } else {
            self.values_mut(out)[..row].fill(R::ZERO);
        }
    }
}

impl<R: Real> Tape<R> {
    /// Puts the sum of the biases, and zeros for its gradient, at the front of `scratch`.
    pub(super) fn bias_sum(&mut self, layer: Layer, params: &[R]) {
        let len = layer.bias_len();
        grow(&mut self.scratch, 2 * len);
        layer.sum_biases(&mut self.scratch, params);
        self.scratch[len..2 * len].fill(R::ZERO);
    }

    /// The gradient of the sum is that of each bias.
    pub(super) fn add_bias_grads(&mut self, layer: Layer, dparams: &mut [R]) {
        let len = layer.bias_len();
        for bias in [layer.bias, layer.second_bias].into_iter().flatten() {
            kernel::add(bias.of_mut(dparams), &self.scratch[len..2 * len]);
        }
    }
}

/// A simple recurrent layer over `x[T,B,I]`; `out[T+1,B,H]`.
#[derive(Clone, Debug)]
pub(super) struct RnnOp {
    x: MaskedVar,
    h0: Option<Var>,
    out: Var,
    layer: Layer,
    n: Recurrence,
    f: Activation,
}

impl<R: Real> Recording<'_, R> {
    /// A simple recurrent layer; returns `[T+1,B,H]` with the initial state (zero if none is given) in front.
    pub fn rnn(
        &mut self,
        x: impl Into<MaskedVar>,
        h0: Option<Var>,
        layer: Layer,
        n: Recurrence,
        f: Activation,
    ) -> Var {
        let x = x.into();
        let row = n.batch * n.hidden;
        let out = self.new_tensor((n.steps + 1) * row, true);
        self.set_state(out, h0, row);
        let (params, tape) = (self.params, &mut *self.tape);
        layer.sum_biases(&mut tape.grad_tmp, params);
        let (x_range, start) = (tape.tensor(x.var).range(), tape.tensor(out).start);
        let (before, after) = tape.values.data.split_at_mut(start);
        let weights = layer.weights(params, &tape.grad_tmp[..layer.bias_len()]);
        // Shared by all layers of a recording: packed weights live as long as one call.
        grow(&mut tape.workspace, n.workspace::<R>(1));
        let states = &mut after[..(n.steps + 1) * row];
        kernel::rnn(states, &mut tape.workspace, x.over(&before[x_range]), weights, n, f);
        self.push(Op::Rnn(RnnOp { x, h0, out, layer, n, f }));
        out
    }
}

impl Operation for RnnOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, params: &[R], dparams: &mut [R]) {
        let &Self { layer, n, f, .. } = self;
        let (x, out) = (tape.tensor(self.x.var), tape.output(self.out));
        tape.bias_sum(layer, params);
        let into = tape.accumulate(layer);
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        let (w, dw) = layer.weights_and_grads(params, dparams, &mut tape.scratch, into);
        let (h, inputs) = (&tape.values.data[out.range()], self.x.over(&tape.values.data[x.range()]));
        grow(&mut tape.workspace, n.workspace::<R>(1));
        kernel::rnn_backward(dx, dout, &mut tape.workspace, dw, h, inputs, w, n, f);
        tape.finish_grad(self.x.var);
        tape.add_bias_grads(layer, dparams);
        if let Some(h0) = self.h0 {
            tape.copy_grad(h0, out.start);
        }
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        self.layer.params(visit);
    }

    fn overwrites(&self) -> Option<Layer> {
        Some(self.layer)
    }
}
