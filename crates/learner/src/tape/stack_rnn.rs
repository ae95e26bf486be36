//! A simple recurrent network that reads the top of a stack as part of its input, over a whole sequence.

use std::ops::Range;

use super::backward::in_out_grads;
use super::op::{Op, Operation};
use super::{Mode, Recording, Tape, Var, grow};
use crate::kernel::{self, Real, StackRnn, StackRnnGradients, StackRnnWeights};
use crate::params::Param;

/// The parameters of a network with a stack in its input; pairs are a weight and its bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackRnnLayer {
    pub hidden: (Param, Param),
    /// Of the top of the stack: `[H,M]`.
    pub read: Param,
    /// Chooses actions: `[3,H]`, `[3]`.
    pub action: (Param, Param),
    /// Makes the new element: `[M,H]`, `[M]`.
    pub element: (Param, Param),
}

impl StackRnnLayer {
    fn all(&self) -> [Param; 7] {
        let Self { hidden, read, action, element } = *self;
        [hidden.0, hidden.1, read, action.0, action.1, element.0, element.1]
    }

    fn weights<'a, R: Real>(&self, params: &'a [R]) -> StackRnnWeights<'a, R> {
        let [hidden, bias, read, a, ab, e, eb] = self.all().map(|param| param.of(params));
        StackRnnWeights { hidden, bias, read, action: (a, ab), element: (e, eb) }
    }

    fn gradients<'a, R: Real>(&self, dparams: &'a mut [R]) -> StackRnnGradients<'a, R> {
        let all = self.all().map(Param::range);
        let [hidden, bias, read, a, ab, e, eb] =
            dparams.get_disjoint_mut(all).expect("parameters do not overlap");
        StackRnnGradients { hidden, bias, read, action: (a, ab), element: (e, eb) }
    }
}

/// A network with a stack in its input over `x[T,B,H]`; `out[T+1,B,H]`. For `trace`, see [`StackRnn::trace`].
#[derive(Clone, Debug)]
pub(super) struct StackRnnOp {
    x: Var,
    out: Var,
    trace: Range<usize>,
    layer: StackRnnLayer,
    n: StackRnn,
}

impl<R: Real> Recording<'_, R> {
    /// A network with a stack in its input, from a state and a stack of zeros; returns the states `[T+1,B,H]`. `x[T,B,H]` is what
    /// symbols add to the sums.
    pub fn stack_rnn(&mut self, x: Var, layer: StackRnnLayer, n: StackRnn) -> Var {
        let row = n.batch * n.hidden;
        let out = self.new_tensor((n.steps + 1) * row, true);
        self.reuse_saved();
        let keep = self.mode != Mode::Eval;
        let trace = self.tape.saved.take(n.trace(keep));
        let (params, tape) = (self.params, &mut *self.tape);
        let [x_range, out_range] = [x, out].map(|var| tape.tensors[var.index()].range());
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let h = &mut after[..out_range.len()];
        h[..row].fill(R::ZERO);
        let saved = &mut tape.saved.data[trace.clone()];
        kernel::stack_rnn(h, saved, &before[x_range], layer.weights(params), &n, keep);
        self.push(Op::StackRnn(StackRnnOp { x, out, trace, layer, n }));
        out
    }

    /// One step of one string, without a backward pass. `state` and `stack`, which holds the rows in use, are replaced by
    /// those after the step.
    pub fn stack_rnn_step(
        &mut self,
        x: Var,
        state: &mut [R],
        stack: &mut Vec<R>,
        layer: StackRnnLayer,
        n: StackRnn,
    ) {
        let (params, tape) = (self.params, &mut *self.tape);
        grow(&mut tape.scratch, n.trace(false) + 2 * n.hidden);
        // The sequence kernel with one step: one piece of code for training and for reading on.
        let (h, trace) = tape.scratch.split_at_mut(2 * n.hidden);
        let trace = &mut trace[..n.trace(false)];
        h[..n.hidden].copy_from_slice(state);
        trace[n.memory(false, false)].copy_from_slice(stack);
        let x = &tape.values.data[tape.tensors[x.index()].range()];
        kernel::stack_rnn(h, trace, x, layer.weights(params), &n, false);
        state.copy_from_slice(&h[n.hidden..]);
        stack.clear();
        stack.extend_from_slice(&trace[n.memory(false, true)]);
    }
}

impl Operation for StackRnnOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, params: &[R], dparams: &mut [R]) {
        let &Self { layer, n, .. } = self;
        let (x, out) = (tape.tensor(self.x), tape.output(self.out));
        grow(&mut tape.scratch, n.scratch());
        let scratch = &mut tape.scratch[..n.scratch()];
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        let trace = &mut tape.saved.data[self.trace.clone()];
        let h = &tape.values.data[out.range()];
        let (w, dw) = (layer.weights(params), layer.gradients(dparams));
        kernel::stack_rnn_backward(dx, dout, dw, trace, scratch, h, w, &n);
        tape.finish_grad(self.x);
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        self.layer.all().into_iter().for_each(visit);
    }
}
