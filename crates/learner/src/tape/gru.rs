//! GRU layers.

use std::ops::Range;

use super::backward::in_out_grads;
use super::op::{MaskedVar, Op, Operation};
use super::recurrent::Layer;
use super::{Recording, Tape, Var, grow};
use crate::kernel::{self, GRU_SUMS, Gru, GruGradients, Real, Recurrence};
use crate::params::Param;

/// A GRU layer over `x[T,B,I]`; `out[T+1,B,H]`, saves `gates[T,B,3H]` and, right behind, `sums[T,B,3H]`.
#[derive(Clone, Debug)]
pub(super) struct GruOp {
    x: MaskedVar,
    h0: Option<Var>,
    out: Var,
    gates: Range<usize>,
    sums: Range<usize>,
    layer: Layer,
    n: Recurrence,
}

impl<R: Real> Recording<'_, R> {
    /// A gated recurrent layer, which needs both biases; returns `[T+1,B,H]`.
    pub fn gru(&mut self, x: impl Into<MaskedVar>, h0: Option<Var>, layer: Layer, n: Recurrence) -> Var {
        let x = x.into();
        let row = n.batch * n.hidden;
        let out = self.new_tensor((n.steps + 1) * row, true);
        self.set_state(out, h0, row);
        self.reuse_saved();
        let gates = self.tape.saved.take(n.steps * 3 * row);
        let sums = self.tape.saved.take(n.steps * 3 * row);
        let (params, tape) = (self.params, &mut *self.tape);
        let (x_range, start) = (tape.tensor(x.var).range(), tape.tensor(out).start);
        let (before, after) = tape.values.data.split_at_mut(start);
        // Both were taken in a row, so that one split borrows them.
        let (g, s) = tape.saved.data[gates.start..sums.end].split_at_mut(gates.len());
        grow(&mut tape.workspace, n.inputs::<R>(GRU_SUMS));
        let (states, inputs) = (&mut after[..(n.steps + 1) * row], x.over(&before[x_range]));
        kernel::gru(states, g, s, &mut tape.workspace, inputs, weights(layer, params), n);
        self.push(Op::Gru(GruOp { x, h0, out, gates, sums, layer, n }));
        out
    }
}

impl Operation for GruOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, params: &[R], dparams: &mut [R]) {
        let &Self { layer, n, ref gates, ref sums, .. } = self;
        let (x, out) = (tape.tensor(self.x.var), tape.output(self.out));
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        let dw = gradients(layer, dparams);
        let (g, s) = tape.saved.data[gates.start..sums.end].split_at_mut(gates.len());
        let (h, inputs) = (&tape.values.data[out.range()], self.x.over(&tape.values.data[x.range()]));
        grow(&mut tape.workspace, n.inputs::<R>(GRU_SUMS));
        let (w, workspace) = (weights(layer, params), &mut tape.workspace);
        kernel::gru_backward(dx, dout, dw, g, s, workspace, h, inputs, w, n);
        tape.finish_grad(self.x.var);
        if let Some(h0) = self.h0 {
            tape.copy_grad(h0, out.start);
        }
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        self.layer.params(visit);
    }
}

fn weights<R>(layer: Layer, params: &[R]) -> Gru<'_, R> {
    let bias = |b: Option<Param>| b.map_or(&[][..], |b| b.of(params));
    Gru {
        input: layer.input.of(params),
        hidden: layer.hidden.of(params),
        input_bias: bias(layer.bias),
        hidden_bias: bias(layer.second_bias),
    }
}

fn gradients<R>(layer: Layer, dparams: &mut [R]) -> GruGradients<'_, R> {
    let [b1, b2] = [layer.bias, layer.second_bias].map(|b| b.map_or(0..0, Param::range));
    let [input, hidden, input_bias, hidden_bias] = dparams
        .get_disjoint_mut([layer.input.range(), layer.hidden.range(), b1, b2])
        .expect("parameters do not overlap");
    GruGradients { input, hidden, input_bias, hidden_bias }
}
