//! The backward pass through a recording, last operation first.
//!
//! The gradient of a tensor is written by the first operation that reports one and added to by the others:
//! [`Tensor::has_grad`] says which. Kernels only ever write, so an operation asks [`in_out_grads`] where to write (in place if
//! it is the first, else into `grad_tmp`) and calls [`Tape::finish_grad`] afterwards, which adds `grad_tmp` to what was there.
//! An output lies behind its inputs in the arena, so that both gradients can be borrowed at once by splitting at the output.

use std::ops::Range;

use super::op::{Operation, Tensor};
use super::recurrent::Layer;
use super::{Mode, Recording, Tape, Var, grow};
use crate::kernel::{self, Accumulate, Real};
use crate::params::Param;

impl<R: Real> Recording<'_, R> {
    /// Adds the gradient of the loss to `gradients`, which are laid out as the parameters are.
    ///
    /// # Panics
    /// If the recording was made in [`Mode::Eval`].
    pub fn backward(&mut self, gradients: &mut [R]) {
        self.tape.overwritten.clear();
        self.run_backward(gradients);
    }

    /// The same, but replaces `gradients`: those of large weights are written without being cleared first.
    pub fn backward_fresh(&mut self, gradients: &mut [R]) {
        self.tape.find_overwritten();
        let mut end = 0;
        for range in &self.tape.overwritten {
            gradients[end..range.start].fill(R::ZERO);
            end = range.end;
        }
        gradients[end..].fill(R::ZERO);
        self.run_backward(gradients);
    }

    fn run_backward(&mut self, gradients: &mut [R]) {
        assert_ne!(self.mode, Mode::Eval, "a recording made for evaluation has no backward pass");
        let needed = self.tape.values.data.len();
        grow(&mut self.tape.gradients, needed);
        self.tape.find_repeated();
        // Taken out while operations borrow the tape, and put back to keep their memory.
        let ops = std::mem::take(&mut self.tape.ops);
        for op in ops.iter().rev() {
            op.backward(self.tape, self.params, gradients);
        }
        self.tape.ops = ops;
        self.tape.flush_deferred(gradients);
    }
}

/// Where to write the gradient of input `x` (empty if it is not required), and the gradient of `out`.
pub(super) fn in_out_grads<'a, R: Real>(
    gradients: &'a mut [R],
    grad_tmp: &'a mut Vec<R>,
    x: Tensor,
    out: Tensor,
) -> (&'a mut [R], &'a mut [R]) {
    let (before, after) = gradients.split_at_mut(out.start);
    let dx = if !x.requires_grad {
        &mut []
    } else if x.has_grad {
        grow(grad_tmp, x.len);
        &mut grad_tmp[..x.len]
    } else {
        &mut before[x.range()]
    };
    (dx, &mut after[..out.len])
}

impl<R: Real> Tape<R> {
    /// Finds the weights of recurrent layers that no other operation uses: their first gradient is their only one.
    fn find_overwritten(&mut self) {
        self.overwritten.clear();
        // Overlap rather than equality: an operation may use a part of a parameter. The count of all
        // operations for each layer is cheap, because operations are whole layers.
        let uses = |weight: &Range<usize>| {
            let mut count = 0;
            for op in &self.ops {
                op.params(&mut |param: Param| {
                    let overlaps = param.range().start < weight.end && weight.start < param.range().end;
                    count += usize::from(overlaps);
                });
            }
            count
        };
        for layer in self.ops.iter().filter_map(Operation::overwrites) {
            let weights = [layer.input.range(), layer.hidden.range()];
            if weights.iter().all(|weight| uses(weight) == 1) {
                self.overwritten.extend(weights);
            }
        }
        self.overwritten.sort_by_key(|range| range.start);
    }

    /// Whether the gradients of a layer's weights replace what was there.
    pub(super) fn accumulate(&self, layer: Layer) -> Accumulate {
        if self.overwritten.contains(&layer.hidden.range()) { Accumulate::Set } else { Accumulate::Add }
    }

    /// After a kernel has written the gradient of `x` where [`in_out_grads`] said: adds it to an earlier one, if any.
    pub(super) fn finish_grad(&mut self, x: Var) {
        let tensor = &mut self.tensors[x.index()];
        // The first gradient was written in place; a second one waits in `grad_tmp`.
        if tensor.has_grad && tensor.requires_grad {
            kernel::add(&mut self.gradients[tensor.range()], &self.grad_tmp[..tensor.len]);
        }
        tensor.has_grad = true;
    }

    /// Gives `x` a copy of the gradient that begins at `from`, which lies behind its own.
    pub(super) fn copy_grad(&mut self, x: Var, from: usize) {
        let tensor = &mut self.tensors[x.index()];
        let (before, after) = self.gradients.split_at_mut(from);
        set_or_add(&mut before[tensor.range()], &after[..tensor.len], tensor.has_grad);
        tensor.has_grad = true;
    }

    /// Gives `x` the gradient that begins at `from` in `grad_tmp`.
    pub(super) fn copy_grad_tmp(&mut self, x: Var, from: usize) {
        let tensor = &mut self.tensors[x.index()];
        let to = &mut self.gradients[tensor.range()];
        set_or_add(to, &self.grad_tmp[from..from + tensor.len], tensor.has_grad);
        tensor.has_grad = true;
    }

    /// A tensor whose gradient is about to be read or added to: zeros if no operation has written one.
    pub(super) fn output(&mut self, out: Var) -> Tensor {
        let tensor = &mut self.tensors[out.index()];
        if !tensor.has_grad {
            tensor.has_grad = true;
            let range = tensor.range();
            self.gradients[range].fill(R::ZERO);
        }
        self.tensor(out)
    }
}

fn set_or_add<R: Real>(to: &mut [R], from: &[R], add: bool) {
    if add {
        kernel::add(to, from);
    } else {
        to.copy_from_slice(from);
    }
}

/// Two parameters at once.
pub(super) fn two<R>(all: &mut [R], first: Param, second: Param) -> [&mut [R]; 2] {
    all.get_disjoint_mut([first.range(), second.range()]).expect("parameters do not overlap")
}
