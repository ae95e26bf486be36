//! Gradients of weights that a recording uses many times, as a decoder does that advances one step at a time.
//!
//! Added step by step, each gradient would be the product of a few rows and cost one pass over the whole matrix. So the
//! operations only note where their rows are ([`DeferredGrad`]), and at the end of the backward pass [`Tape::flush_deferred`]
//! gathers all rows and takes one matrix product per weight. This relies on the arenas: values, saved values and gradients
//! of outputs stay in place, unchanged, until the backward pass has ended.

use std::ops::Range;

use super::op::Operation;
use super::{Tape, grow};
use crate::kernel::{Accumulate, Mat, Real, matmul};
use crate::params::Param;

/// Rows in one of the arenas.
#[derive(Clone, Debug)]
pub(super) enum ArenaRows {
    Values(Range<usize>),
    Saved(Range<usize>),
    Gradients(Range<usize>),
}

/// `dweight[O,I] += grads[N,O]ᵀ · inputs[N,I]`.
#[derive(Clone, Debug)]
pub(super) struct DeferredGrad {
    pub(super) weight: Param,
    pub(super) grads: ArenaRows,
    pub(super) inputs: ArenaRows,
    pub(super) count: usize,
    pub(super) width: usize,
}

impl DeferredGrad {
    /// What is multiplied together: uses of one weight in one shape.
    fn group(&self) -> (usize, usize, usize) {
        (self.weight.range().start, self.weight.len(), self.width)
    }
}

impl ArenaRows {
    fn start(&self) -> usize {
        let (Self::Values(range) | Self::Saved(range) | Self::Gradients(range)) = self;
        range.start
    }
}

impl<R: Real> Tape<R> {
    /// Lists the weights whose gradients can be deferred, each as often as it is used.
    pub(super) fn find_repeated(&mut self) {
        self.multiplied.clear();
        let weights = self.ops.iter().filter_map(Operation::defers);
        self.multiplied.extend(weights.map(|weight| weight.range().start));
        self.multiplied.sort_unstable();
        // A backward pass that panicked may have left some.
        self.deferred.clear();
    }

    /// Whether more than one operation multiplies by this weight.
    pub(super) fn repeated(&self, weight: Param) -> bool {
        let start = weight.range().start;
        let first = self.multiplied.partition_point(|&other| other < start);
        self.multiplied.get(first + 1) == Some(&start)
    }

    /// Adds all deferred gradients to `dparams`.
    pub(super) fn flush_deferred(&mut self, dparams: &mut [R]) {
        let mut deferred = std::mem::take(&mut self.deferred);
        // In the order of the recording, so that the order of additions does not depend on the sort.
        deferred.sort_unstable_by_key(|grad| (grad.group(), grad.grads.start(), grad.inputs.start()));
        for group in deferred.chunk_by(|a, b| a.group() == b.group()) {
            let (weight, i) = (group[0].weight, group[0].width);
            let count = group.iter().map(|grad| grad.count).sum();
            let (mut grads, mut inputs) =
                (std::mem::take(&mut self.scratch), std::mem::take(&mut self.grad_tmp));
            let len = self.gather(&mut grads, group.iter().map(|grad| &grad.grads));
            let all_grads = Mat::new(&grads[..len], count, weight.len() / i);
            let len = self.gather(&mut inputs, group.iter().map(|grad| &grad.inputs));
            let all_inputs = Mat::new(&inputs[..len], count, i);
            // Long and narrow, the shape that `kernel::transposed` is for.
            matmul(weight.of_mut(dparams), Accumulate::Add, all_grads.t(), all_inputs);
            (self.scratch, self.grad_tmp) = (grads, inputs);
        }
        deferred.clear();
        self.deferred = deferred;
    }

    /// Copies rows one after the other; returns how many elements there are.
    fn gather<'a>(&self, to: &mut Vec<R>, all: impl Iterator<Item = &'a ArenaRows>) -> usize {
        let mut end = 0;
        for rows in all {
            let rows = match rows {
                ArenaRows::Values(range) => &self.values.data[range.clone()],
                ArenaRows::Saved(range) => &self.saved.data[range.clone()],
                ArenaRows::Gradients(range) => &self.gradients[range.clone()],
            };
            grow(to, end + rows.len());
            to[end..end + rows.len()].copy_from_slice(rows);
            end += rows.len();
        }
        end
    }
}
