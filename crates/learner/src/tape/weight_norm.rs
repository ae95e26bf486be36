//! What convolutional networks are made of: normalised weights, which are tensors (computed once per recording and used as
//! often as needed), products with such weights, and gated linear units.

use super::backward::{in_out_grads, two};
use super::op::{Op, Operation};
use super::{Recording, Tape, Var};
use crate::kernel::{self, Accumulate, Activation, Mat, Real};
use crate::params::Param;

/// `out[O,I] = gain[O] · v[O,I] / |v[O]|`
#[derive(Clone, Debug)]
pub(super) struct WeightNormOp {
    out: Var,
    v: Param,
    gain: Param,
}

impl<R: Real> Recording<'_, R> {
    /// Weights `[O,I]` with rows of direction `v[O,I]` and length `gain[O]`.
    pub fn weight_norm(&mut self, v: Param, gain: Param) -> Var {
        let out = self.new_tensor(v.len(), true);
        let params = self.params;
        // Once per recording: a convolution uses its weight at every position, a decoder at every step.
        kernel::weight_norm(self.values_mut(out), v.of(params), gain.of(params));
        self.push(Op::WeightNorm(WeightNormOp { out, v, gain }));
        out
    }
}

impl Operation for WeightNormOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, params: &[R], dparams: &mut [R]) {
        let out = tape.output(self.out);
        let [dv, dgain] = two(dparams, self.v, self.gain);
        let dw = &tape.gradients[out.range()];
        kernel::weight_norm_backward(dv, dgain, dw, self.v.of(params), self.gain.of(params));
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        visit(self.v);
        visit(self.gain);
    }
}

/// `out[N,O] = x[N,I] · weight[O,I]ᵀ + bias[O]`, where the weight is a tensor.
#[derive(Clone, Debug)]
pub(super) struct ProductOp {
    x: Var,
    out: Var,
    weight: Var,
    bias: Param,
    i: usize,
}

impl<R: Real> Recording<'_, R> {
    /// `x[N,I] · weight[O,I]ᵀ + bias[O]`, with a computed weight.
    pub fn product(&mut self, x: Var, weight: Var, bias: Param, i: usize) -> Var {
        let (x_tensor, w_tensor) = (self.tape.tensor(x), self.tape.tensor(weight));
        let out = self.new_tensor(x_tensor.len / i * bias.len(), true);
        let range = self.tape.tensor(out).range();
        let (before, after) = self.tape.values.data.split_at_mut(range.start);
        let (x_values, w) = (&before[x_tensor.range()], &before[w_tensor.range()]);
        let values = &mut after[..range.len()];
        kernel::linear(values, x_values, w, bias.of(self.params), i, Activation::Identity);
        self.push(Op::Product(ProductOp { x, out, weight, bias, i }));
        out
    }
}

impl Operation for ProductOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], dparams: &mut [R]) {
        let (x, w, out) = (tape.tensor(self.x), tape.tensor(self.weight), tape.output(self.out));
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        let values = &tape.values.data;
        let (inp, w_values) = (&values[x.range()], &values[w.range()]);
        let (dbias, f) = (self.bias.of_mut(dparams), Activation::Identity);
        kernel::linear_backward(dx, &mut [], dbias, dout, &values[out.range()], inp, w_values, self.i, f);
        // The weight's gradient is added in place, like that of any tensor, rather than through `grad_tmp`,
        // which may hold `dx`.
        let (before, after) = tape.gradients.split_at_mut(out.start);
        let rows = x.len / self.i;
        let (dout, inp) = (Mat::new(&after[..out.len], rows, self.bias.len()), Mat::new(inp, rows, self.i));
        let into = if w.has_grad { Accumulate::Add } else { Accumulate::Set };
        kernel::matmul(&mut before[w.range()], into, dout.t(), inp);
        tape.tensors[self.weight.index()].has_grad = true;
        tape.finish_grad(self.x);
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        visit(self.bias);
    }
}

/// `out[N,O] = a · σ(b)` of `x[N,2O]`
#[derive(Clone, Debug)]
pub(super) struct GluOp {
    x: Var,
    out: Var,
    o: usize,
}

impl<R: Real> Recording<'_, R> {
    /// A gated linear unit: `a · σ(b)` of rows that hold `a` and `b` side by side, `o` elements each.
    pub fn glu(&mut self, x: Var, o: usize) -> Var {
        let out = self.new_tensor(self.tape.tensor(x).len / 2, true);
        let (x_values, values) = self.in_out(x, out);
        kernel::glu(values, x_values, o);
        self.push(Op::Glu(GluOp { x, out, o }));
        out
    }
}

impl Operation for GluOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let (x, out) = (tape.tensor(self.x), tape.output(self.out));
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        if !dx.is_empty() {
            kernel::glu_backward(dx, dout, &tape.values.data[x.range()], self.o);
        }
        tape.finish_grad(self.x);
    }
}
