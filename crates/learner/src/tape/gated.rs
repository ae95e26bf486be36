//! Layers of normalised weights and gates, there and back. Their weights are tensors: computed once, used as often as one likes.

use super::backward::{Pair, pair, two};
use super::op::Op;
use super::{Recording, Tape, Var};
use crate::kernel::{self, Accumulate, Activation, Mat, Real};
use crate::params::Param;

impl<R: Real> Recording<'_, R> {
    /// Rows of `d` numbers, each multiplied by its own factor.
    pub fn scale_rows(&mut self, x: Var, factors: impl ExactSizeIterator<Item = f64>, d: usize) -> Var {
        let out = self.new_tensor(self.tape.tensor(x).len, true);
        self.forget();
        let saved = self.tape.saved.take(factors.len());
        for (to, factor) in self.tape.saved.data[saved.clone()].iter_mut().zip(factors) {
            *to = R::of(factor);
        }
        let tape = &mut *self.tape;
        let (x_range, out_range) = (tape.tensor(x).range(), tape.tensor(out).range());
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        kernel::scale_rows(
            &mut after[..out_range.len()],
            &before[x_range],
            &tape.saved.data[saved.clone()],
            d,
        );
        self.push(Op::ScaleRows { x, out, factors: saved, d });
        out
    }

    /// The weights `[O,I]` of a layer whose rows are given by their directions and their lengths.
    pub fn weight_norm(&mut self, v: Param, gain: Param) -> Var {
        let out = self.new_tensor(v.len(), true);
        let range = self.tape.tensor(out).range();
        kernel::weight_norm(&mut self.tape.values.data[range], v.of(self.params), gain.of(self.params));
        self.push(Op::WeightNorm { out, v, gain });
        out
    }

    /// `x[N,I] · weight[O,I]ᵀ + bias[O]`, by a weight that has been computed.
    pub fn product(&mut self, x: Var, weight: Var, bias: Param, i: usize) -> Var {
        let (x_tensor, w_tensor) = (self.tape.tensor(x), self.tape.tensor(weight));
        let out = self.new_tensor(x_tensor.len / i * bias.len(), true);
        let range = self.tape.tensor(out).range();
        let (before, after) = self.tape.values.data.split_at_mut(range.start);
        let (x_values, w) = (&before[x_tensor.range()], &before[w_tensor.range()]);
        let values = &mut after[..range.len()];
        kernel::linear(values, x_values, w, bias.of(self.params), i, Activation::Identity);
        self.push(Op::Product { x, out, weight, bias, i });
        out
    }

    /// `a · σ(b)` of rows that hold `a` and `b` side by side, `o` numbers each.
    pub fn gated(&mut self, x: Var, o: usize) -> Var {
        let out = self.new_tensor(self.tape.tensor(x).len / 2, true);
        let (x_values, values) = self.in_out(x, out);
        kernel::gated(values, x_values, o);
        self.push(Op::Gated { x, out, o });
        out
    }
}

impl<R: Real> Tape<R> {
    pub(super) fn gated_back(&mut self, op: &Op, params: &[R], dparams: &mut [R]) {
        match *op {
            Op::ScaleRows { x, out, ref factors, d } => {
                let (tensor, out) = (self.tensor(x), self.ready(out));
                let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
                kernel::scale_rows(dx, dout, &self.saved.data[factors.clone()], d);
                self.settle(x);
            }
            Op::WeightNorm { out, v, gain } => {
                let out = self.ready(out);
                let [dv, dgain] = two(dparams, v, gain);
                let dw = &self.gradients[out.range()];
                kernel::weight_norm_backward(dv, dgain, dw, v.of(params), gain.of(params));
            }
            Op::Product { x, out, weight, bias, i } => self.product_back(x, out, weight, (bias, i), dparams),
            Op::Gated { x, out, o } => {
                let (tensor, out) = (self.tensor(x), self.ready(out));
                let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
                if !dx.is_empty() {
                    kernel::gated_backward(dx, dout, &self.values.data[tensor.range()], o);
                }
                self.settle(x);
            }
            _ => unreachable!("no gate and no normalised weight"),
        }
    }

    /// A weight that is a tensor gets its gradient as any tensor does.
    fn product_back(&mut self, x: Var, out: Var, weight: Var, (bias, i): (Param, usize), dparams: &mut [R]) {
        let (tensor, w, out) = (self.tensor(x), self.tensor(weight), self.ready(out));
        let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
        let values = &self.values.data;
        let (inp, w_values) = (&values[tensor.range()], &values[w.range()]);
        let (dbias, f) = (bias.of_mut(dparams), Activation::Identity);
        kernel::linear_backward(dx, &mut [], dbias, dout, &values[out.range()], inp, w_values, i, f);
        let (before, after) = self.gradients.split_at_mut(out.start);
        let rows = tensor.len / i;
        let (dout, inp) = (Mat::new(&after[..out.len], rows, bias.len()), Mat::new(inp, rows, i));
        let into = if w.touched { Accumulate::Add } else { Accumulate::Set };
        kernel::matmul(&mut before[w.range()], into, dout.t(), inp);
        self.tensors[weight.0 as usize].touched = true;
        self.settle(x);
    }
}
