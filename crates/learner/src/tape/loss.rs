//! What is minimised, there and back.

use super::op::{Cost, Op};
use super::{Recording, Tape, Var, grow};
use crate::kernel::{self, Real};

impl<R: Real> Recording<'_, R> {
    /// Adds `Σ weight · −ln softmax(logits)[target]` over rows of `v` logits to the loss; one (target, weight) per row.
    pub fn softmax_loss(&mut self, logits: Var, v: usize, truth: impl IntoIterator<Item = (u32, f64)>) {
        let (len, start) = (self.tape.tensor(logits).len, self.tape.symbols.len());
        let weights = self.tape.saved.take(len / v);
        let mut truth = truth.into_iter();
        for weight in &mut self.tape.saved.data[weights.clone()] {
            let (target, w) = truth.next().expect("one target per row");
            self.tape.symbols.push(target);
            *weight = R::of(w);
        }
        let targets = start..self.tape.symbols.len();
        let probabilities = self.tape.saved.take(len);
        let tape = &mut *self.tape;
        grow(&mut tape.scratch, len / v);
        let losses = &mut tape.scratch[..len / v];
        let logits_range = tape.tensors[logits.0 as usize].range();
        kernel::softmax_cross_entropy(
            losses,
            &mut tape.saved.data[probabilities.clone()],
            &tape.values.data[logits_range],
            &tape.symbols[targets.clone()],
            v,
        );
        self.loss += weighted(losses, &tape.saved.data[weights.clone()]);
        self.push(Op::SoftmaxLoss { logits, probabilities, weights, targets });
    }

    /// Adds `Σ weight · logistic loss` to the loss; one (truth in 0..=1, weight) per logit.
    pub fn logistic_loss(&mut self, logits: Var, truth: impl IntoIterator<Item = (f64, f64)>) {
        self.yes_or_no(Cost::CrossEntropy, logits, truth);
    }

    /// Adds `Σ weight · (σ(logit) − truth)²` to the loss; one (truth in 0..=1, weight) per logit.
    pub fn squared_loss(&mut self, logits: Var, truth: impl IntoIterator<Item = (f64, f64)>) {
        self.yes_or_no(Cost::Square, logits, truth);
    }

    fn yes_or_no(&mut self, cost: Cost, logits: Var, truth: impl IntoIterator<Item = (f64, f64)>) {
        let len = self.tape.tensor(logits).len;
        let (ys, weights) = (self.tape.saved.take(len), self.tape.saved.take(len));
        let mut pairs = truth.into_iter();
        for i in 0..len {
            let (y, weight) = pairs.next().expect("one truth per logit");
            self.tape.saved.data[ys.start + i] = R::of(y);
            self.tape.saved.data[weights.start + i] = R::of(weight);
        }
        let tape = &mut *self.tape;
        grow(&mut tape.scratch, len);
        let losses = &mut tape.scratch[..len];
        let range = tape.tensors[logits.0 as usize].range();
        let y = &tape.saved.data[ys.clone()];
        match cost {
            Cost::CrossEntropy => kernel::logistic_cross_entropy(losses, &tape.values.data[range], y),
            Cost::Square => kernel::squared_error(losses, &tape.values.data[range], y),
        }
        self.loss += weighted(losses, &tape.saved.data[weights.clone()]);
        self.push(Op::LogisticLoss { cost, logits, truth: ys, weights });
    }
}

impl<R: Real> Tape<R> {
    pub(super) fn loss_back(&mut self, op: &Op) {
        let (Op::SoftmaxLoss { logits, .. } | Op::LogisticLoss { logits, .. }) = *op else {
            unreachable!("not a loss")
        };
        let tensor = self.tensor(logits);
        let dlogits = if tensor.touched {
            grow(&mut self.grad_tmp, tensor.len);
            &mut self.grad_tmp[..tensor.len]
        } else {
            &mut self.gradients[tensor.range()]
        };
        match op {
            Op::SoftmaxLoss { probabilities, weights, targets, .. } => {
                let p = &self.saved.data[probabilities.clone()];
                let (targets, weights) = (&self.symbols[targets.clone()], &self.saved.data[weights.clone()]);
                let v = p.len() / targets.len().max(1);
                kernel::softmax_cross_entropy_backward(dlogits, p, targets, weights, v);
            }
            Op::LogisticLoss { cost, truth, weights, .. } => {
                let (y, weights) = (&self.saved.data[truth.clone()], &self.saved.data[weights.clone()]);
                let values = &self.values.data[tensor.range()];
                match cost {
                    Cost::CrossEntropy => {
                        kernel::logistic_cross_entropy_backward(dlogits, values, y, weights);
                    }
                    Cost::Square => kernel::squared_error_backward(dlogits, values, y, weights),
                }
            }
            _ => unreachable!("not a loss"),
        }
        self.settle(logits);
    }
}

fn weighted<R: Real>(losses: &[R], weights: &[R]) -> f64 {
    // A row of no weight costs nothing, even if its loss is not a number.
    let cost = |(loss, weight): (&R, &R)| if *weight == R::ZERO { 0.0 } else { loss.wide() * weight.wide() };
    losses.iter().zip(weights).map(cost).sum()
}
