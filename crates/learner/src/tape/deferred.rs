//! Gradients of weights that are used at many moments. Added moment by moment, each would be one more pass over all of
//! them for the product of a few rows; so they are owed, and paid at the end of the way back by one product of all rows.

use std::ops::Range;

use super::op::Op;
use super::{Tape, grow};
use crate::kernel::{Accumulate, Mat, Real, matmul};
use crate::params::Param;

/// Rows on the tape, where they will stay until the way back has ended.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    Values(Range<usize>),
    Saved(Range<usize>),
    Gradients(Range<usize>),
}

/// `weight[O,I] += grads[N,O]ᵀ · inputs[N,I]`.
#[derive(Clone, Debug)]
pub(super) struct DeferredGrad {
    pub(super) weight: Param,
    pub(super) grads: Rows,
    pub(super) inputs: Rows,
    /// `N`
    pub(super) count: usize,
    /// `I`
    pub(super) width: usize,
}

impl DeferredGrad {
    /// What is paid together: one weight in one shape.
    fn group(&self) -> (usize, usize, usize) {
        (self.weight.range().start, self.weight.len(), self.width)
    }
}

impl Rows {
    fn start(&self) -> usize {
        let (Self::Values(range) | Self::Saved(range) | Self::Gradients(range)) = self;
        range.start
    }
}

impl<R: Real> Tape<R> {
    /// Lists the weights that operations multiply by, as often as they do.
    pub(super) fn find_repeated(&mut self) {
        let Self { ops, multiplied, .. } = self;
        multiplied.clear();
        multiplied.extend(ops.iter().filter_map(Op::multiplied).map(|weight| weight.range().start));
        multiplied.sort_unstable();
        // A way back that broke off has left debts that nobody owes any more.
        self.deferred.clear();
    }

    /// Whether more than one operation multiplies by it.
    pub(super) fn repeated(&self, weight: Param) -> bool {
        let start = weight.range().start;
        let first = self.multiplied.partition_point(|&other| other < start);
        self.multiplied.get(first + 1) == Some(&start)
    }

    /// Pays what has been owed.
    pub(super) fn flush_deferred(&mut self, dparams: &mut [R]) {
        let mut deferred = std::mem::take(&mut self.deferred);
        deferred.sort_unstable_by_key(|moment| (moment.group(), moment.grads.start(), moment.inputs.start()));
        for moments in deferred.chunk_by(|a, b| a.group() == b.group()) {
            let (weight, i) = (moments[0].weight, moments[0].width);
            let count = moments.iter().map(|moment| moment.count).sum();
            let (mut grads, mut inputs) =
                (std::mem::take(&mut self.scratch), std::mem::take(&mut self.grad_tmp));
            let all = self.gather(&mut grads, moments.iter().map(|moment| &moment.grads));
            let grads_of_all = Mat::new(&grads[..all], count, weight.len() / i);
            let all = self.gather(&mut inputs, moments.iter().map(|moment| &moment.inputs));
            let inputs_of_all = Mat::new(&inputs[..all], count, i);
            matmul(weight.of_mut(dparams), Accumulate::Add, grads_of_all.t(), inputs_of_all);
            (self.scratch, self.grad_tmp) = (grads, inputs);
        }
        deferred.clear();
        self.deferred = deferred;
    }

    /// Puts rows one after the other; gives how many numbers there are.
    fn gather<'a>(&self, to: &mut Vec<R>, all: impl Iterator<Item = &'a Rows>) -> usize {
        let mut end = 0;
        for rows in all {
            let rows = match rows {
                Rows::Values(range) => &self.values.data[range.clone()],
                Rows::Saved(range) => &self.saved.data[range.clone()],
                Rows::Gradients(range) => &self.gradients[range.clone()],
            };
            grow(to, end + rows.len());
            to[end..end + rows.len()].copy_from_slice(rows);
            end += rows.len();
        }
        end
    }
}
