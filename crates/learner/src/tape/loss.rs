//! Losses. Each adds a weighted sum to the loss of the recording; their gradients start the backward pass.

use std::ops::Range;

use super::op::{Op, Operation, Tensor};
use super::{Recording, Tape, Var, grow};
use crate::kernel::{self, Real};

/// Cross-entropy of rows of `V` logits; `targets` are symbols.
#[derive(Clone, Debug)]
pub(super) struct SoftmaxLossOp {
    logits: Var,
    probabilities: Range<usize>,
    weights: Range<usize>,
    targets: Range<usize>,
}

impl<R: Real> Recording<'_, R> {
    /// Adds `Σ weight · −ln softmax(logits)[target]` over rows of `v` logits to the loss; one (target, weight) per row.
    pub fn softmax_loss(&mut self, logits: Var, v: usize, truth: impl IntoIterator<Item = (u32, f64)>) {
        let (len, start) = (self.tape.tensor(logits).len, self.tape.symbols.len());
        let weights = self.tape.saved.take(len / v);
        let mut truth = truth.into_iter();
        for weight in &mut self.tape.saved.data[weights.clone()] {
            // Drawn one by one: callers compute targets from their strings, and no list of them is built.
            let (target, w) = truth.next().expect("one target per row");
            self.tape.symbols.push(target);
            *weight = R::of(w);
        }
        let targets = start..self.tape.symbols.len();
        // The backward pass needs nothing else: the gradient is p minus one-hot.
        let probabilities = self.tape.saved.take(len);
        let tape = &mut *self.tape;
        grow(&mut tape.scratch, len / v);
        let losses = &mut tape.scratch[..len / v];
        let range = tape.tensors[logits.index()].range();
        kernel::softmax_cross_entropy(
            losses,
            &mut tape.saved.data[probabilities.clone()],
            &tape.values.data[range],
            &tape.symbols[targets.clone()],
            v,
        );
        self.loss += weighted_sum(losses, &tape.saved.data[weights.clone()]);
        self.push(Op::SoftmaxLoss(SoftmaxLossOp { logits, probabilities, weights, targets }));
    }
}

impl Operation for SoftmaxLossOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let dlogits = dlogits(&mut tape.gradients, &mut tape.grad_tmp, tape.tensors[self.logits.index()]);
        let p = &tape.saved.data[self.probabilities.clone()];
        let (targets, weights) =
            (&tape.symbols[self.targets.clone()], &tape.saved.data[self.weights.clone()]);
        let v = p.len() / targets.len().max(1);
        kernel::softmax_cross_entropy_backward(dlogits, p, targets, weights, v);
        tape.finish_grad(self.logits);
    }
}

/// The loss of one logit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BinaryLoss {
    CrossEntropy,
    SquaredError,
}

/// A loss of single logits; `targets` and `weights` are `[N]`.
#[derive(Clone, Debug)]
pub(super) struct BinaryLossOp {
    loss: BinaryLoss,
    logits: Var,
    targets: Range<usize>,
    weights: Range<usize>,
}

impl<R: Real> Recording<'_, R> {
    /// Adds `Σ weight · binary cross-entropy` to the loss; one (target in 0..=1, weight) per logit.
    pub fn logistic_loss(&mut self, logits: Var, truth: impl IntoIterator<Item = (f64, f64)>) {
        self.binary_loss(BinaryLoss::CrossEntropy, logits, truth);
    }

    /// Adds `Σ weight · (σ(logit) − target)²` to the loss; one (target in 0..=1, weight) per logit.
    pub fn squared_loss(&mut self, logits: Var, truth: impl IntoIterator<Item = (f64, f64)>) {
        self.binary_loss(BinaryLoss::SquaredError, logits, truth);
    }

    fn binary_loss(&mut self, loss: BinaryLoss, logits: Var, truth: impl IntoIterator<Item = (f64, f64)>) {
        let len = self.tape.tensor(logits).len;
        let (targets, weights) = (self.tape.saved.take(len), self.tape.saved.take(len));
        let mut truth = truth.into_iter();
        for i in 0..len {
            let (target, weight) = truth.next().expect("one target per logit");
            self.tape.saved.data[targets.start + i] = R::of(target);
            self.tape.saved.data[weights.start + i] = R::of(weight);
        }
        let tape = &mut *self.tape;
        grow(&mut tape.scratch, len);
        let losses = &mut tape.scratch[..len];
        let range = tape.tensors[logits.index()].range();
        let (z, y) = (&tape.values.data[range], &tape.saved.data[targets.clone()]);
        match loss {
            BinaryLoss::CrossEntropy => kernel::logistic_cross_entropy(losses, z, y),
            BinaryLoss::SquaredError => kernel::squared_error(losses, z, y),
        }
        self.loss += weighted_sum(losses, &tape.saved.data[weights.clone()]);
        self.push(Op::BinaryLoss(BinaryLossOp { loss, logits, targets, weights }));
    }
}

impl Operation for BinaryLossOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let tensor = tape.tensor(self.logits);
        let dlogits = dlogits(&mut tape.gradients, &mut tape.grad_tmp, tensor);
        let saved = &tape.saved.data;
        let (y, weights) = (&saved[self.targets.clone()], &saved[self.weights.clone()]);
        let z = &tape.values.data[tensor.range()];
        match self.loss {
            BinaryLoss::CrossEntropy => kernel::logistic_cross_entropy_backward(dlogits, z, y, weights),
            BinaryLoss::SquaredError => kernel::squared_error_backward(dlogits, z, y, weights),
        }
        tape.finish_grad(self.logits);
    }
}

/// Where to write the gradient of the logits: in place if it is the first.
fn dlogits<'a, R: Real>(gradients: &'a mut [R], grad_tmp: &'a mut Vec<R>, logits: Tensor) -> &'a mut [R] {
    if logits.has_grad {
        grow(grad_tmp, logits.len);
        &mut grad_tmp[..logits.len]
    } else {
        &mut gradients[logits.range()]
    }
}

/// A row of weight 0 counts nothing, even if its loss is NaN.
fn weighted_sum<R: Real>(losses: &[R], weights: &[R]) -> f64 {
    // In double precision: a batch has thousands of rows, and their sum is what is logged and compared.
    let term = |(loss, weight): (&R, &R)| if *weight == R::ZERO { 0.0 } else { loss.wide() * weight.wide() };
    losses.iter().zip(weights).map(term).sum()
}
