//! Fully connected layers and layer normalisation.

use std::ops::Range;

use super::backward::{in_out_grads, two};
use super::deferred::{ArenaRows, DeferredGrad};
use super::op::{Op, Operation};
use super::{Recording, Tape, Var};
use crate::kernel::{self, Activation, Real};
use crate::params::Param;

/// `out[N,O] = f(x[N,I] · weight[O,I]ᵀ + bias[O])`
#[derive(Clone, Debug)]
pub(super) struct LinearOp {
    x: Var,
    out: Var,
    weight: Param,
    bias: Option<Param>,
    i: usize,
    f: Activation,
}

impl<R: Real> Recording<'_, R> {
    /// `f(x[N,I] · weight[O,I]ᵀ + bias[O])`.
    pub fn linear(&mut self, x: Var, weight: Param, bias: Option<Param>, i: usize, f: Activation) -> Var {
        let rows = self.tape.tensor(x).len / i;
        let out = self.new_tensor(rows * (weight.len() / i), true);
        let params = self.params;
        let (x_values, values) = self.in_out(x, out);
        let bias_values = bias.map_or(&[][..], |b| b.of(params));
        kernel::linear(values, x_values, weight.of(params), bias_values, i, f);
        self.push(Op::Linear(LinearOp { x, out, weight, bias, i, f }));
        out
    }
}

impl Operation for LinearOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, params: &[R], dparams: &mut [R]) {
        let &Self { weight, i, f, .. } = self;
        let (x, out) = (tape.tensor(self.x), tape.output(self.out));
        let [mut dweight, dbias] = match self.bias {
            Some(bias) => two(dparams, weight, bias),
            None => [weight.of_mut(dparams), &mut []],
        };
        if tape.repeated(weight) {
            // An empty gradient is one that the kernel leaves out.
            dweight = &mut [];
            let (grads, inputs) = (ArenaRows::Gradients(out.range()), ArenaRows::Values(x.range()));
            tape.deferred.push(DeferredGrad { weight, grads, inputs, count: x.len / i, width: i });
        }
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        let (inp, values) = (&tape.values.data[x.range()], &tape.values.data[out.range()]);
        kernel::linear_backward(dx, dweight, dbias, dout, values, inp, weight.of(params), i, f);
        tape.finish_grad(self.x);
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        visit(self.weight);
        self.bias.into_iter().for_each(visit);
    }

    fn defers(&self) -> Option<Param> {
        Some(self.weight)
    }
}

/// The parameters of a layer normalisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerNorm {
    pub gain: Param,
    pub bias: Param,
    /// Keeps the division finite.
    pub epsilon: f64,
}

/// Rows of `D` elements, normalised; saves the mean and the inverse standard deviation of each, `[N]` both.
#[derive(Clone, Debug)]
pub(super) struct LayerNormOp {
    x: Var,
    out: Var,
    norm: LayerNorm,
    mean: Range<usize>,
    inverse: Range<usize>,
}

impl<R: Real> Recording<'_, R> {
    /// Layer normalisation of rows of `D` elements.
    pub fn layer_norm(&mut self, x: Var, norm: LayerNorm) -> Var {
        let d = norm.gain.len();
        let len = self.tape.tensor(x).len;
        let out = self.new_tensor(len, true);
        self.reuse_saved();
        let mean = self.tape.saved.take(len / d);
        // Right behind the means, so that one split borrows both.
        let inverse = self.tape.saved.take(len / d);
        let params = self.params;
        let tape = &mut *self.tape;
        let (x_range, start) = (tape.tensor(x).range(), tape.tensor(out).start);
        let (before, after) = tape.values.data.split_at_mut(start);
        let (m, i) = tape.saved.data[mean.start..inverse.end].split_at_mut(mean.len());
        let (gain, bias) = (norm.gain.of(params), norm.bias.of(params));
        kernel::layer_norm(&mut after[..len], m, i, &before[x_range], gain, bias, R::of(norm.epsilon));
        self.push(Op::LayerNorm(LayerNormOp { x, out, norm, mean, inverse }));
        out
    }
}

impl Operation for LayerNormOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, params: &[R], dparams: &mut [R]) {
        let (x, out) = (tape.tensor(self.x), tape.output(self.out));
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        let [dgain, dbias] = two(dparams, self.norm.gain, self.norm.bias);
        kernel::layer_norm_backward(
            dx,
            dgain,
            dbias,
            dout,
            &tape.values.data[x.range()],
            &tape.saved.data[self.mean.clone()],
            &tape.saved.data[self.inverse.clone()],
            self.norm.gain.of(params),
        );
        tape.finish_grad(self.x);
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        visit(self.norm.gain);
        visit(self.norm.bias);
    }
}
