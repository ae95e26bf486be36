//! The way back through a recording, last operation first.

use std::ops::Range;

use super::deferred::{DeferredGrad, Rows};
use super::op::{Layer, Op, Tensor};
use super::{Recording, Tape, Var, grow};
use crate::kernel::{self, Accumulate, Real};
use crate::params::Param;

impl<R: Real> Recording<'_, R> {
    /// Adds the gradient of the loss to `gradients`, which lie as the parameters do.
    ///
    /// # Panics
    /// If the recording was made only to judge.
    pub fn backward(&mut self, gradients: &mut [R]) {
        self.tape.owned.clear();
        self.walk_back(gradients);
    }

    /// The same, but replaces `gradients`: those of large weights are written without being cleared first.
    pub fn backward_fresh(&mut self, gradients: &mut [R]) {
        self.tape.find_owned();
        let mut end = 0;
        for owned in &self.tape.owned {
            gradients[end..owned.start].fill(R::ZERO);
            end = owned.end;
        }
        gradients[end..].fill(R::ZERO);
        self.walk_back(gradients);
    }

    fn walk_back(&mut self, gradients: &mut [R]) {
        assert_ne!(self.mode, super::Mode::Eval, "a judging record has no way back");
        let needed = self.tape.values.data.len();
        grow(&mut self.tape.gradients, needed);
        self.tape.find_repeated();
        for i in (0..self.tape.ops.len()).rev() {
            let op = self.tape.ops[i].clone();
            self.tape.step_back(&op, self.params, gradients);
        }
        self.tape.flush_deferred(gradients);
    }
}

/// The gradient of an input (in place, or beside it if it has one already), and of the output.
pub(super) struct Pair<'a, R> {
    pub(super) dx: &'a mut [R],
    pub(super) dout: &'a mut [R],
}

pub(super) fn pair<'a, R: Real>(
    gradients: &'a mut [R],
    grad_tmp: &'a mut Vec<R>,
    x: Tensor,
    out: Tensor,
) -> Pair<'a, R> {
    let (before, after) = gradients.split_at_mut(out.start);
    let dx = if !x.needs {
        &mut []
    } else if x.touched {
        grow(grad_tmp, x.len);
        &mut grad_tmp[..x.len]
    } else {
        &mut before[x.range()]
    };
    Pair { dx, dout: &mut after[..out.len] }
}

impl<R: Real> Tape<R> {
    /// Finds the weights of recurrent layers that no other operation uses; their first gradient is their only one.
    fn find_owned(&mut self) {
        self.owned.clear();
        let used = |weight: &Range<usize>| {
            let overlaps =
                |param: Param| param.range().start < weight.end && weight.start < param.range().end;
            self.ops.iter().flat_map(Op::params).filter(|&param| overlaps(param)).count()
        };
        for op in &self.ops {
            if let Op::Rnn { layer, .. } | Op::Lstm { layer, .. } = op {
                let weights = [layer.input.range(), layer.hidden.range()];
                if weights.iter().all(|weight| used(weight) == 1) {
                    self.owned.extend(weights);
                }
            }
        }
        self.owned.sort_by_key(|range| range.start);
    }

    /// Whether the gradients of a layer's weights are replaced.
    pub(super) fn write(&self, layer: Layer) -> Accumulate {
        if self.owned.contains(&layer.hidden.range()) { Accumulate::Set } else { Accumulate::Add }
    }

    /// After a kernel has written the gradient of `x`: adds it to what was there, or notes that it is the first.
    pub(super) fn settle(&mut self, x: Var) {
        let tensor = &mut self.tensors[x.0 as usize];
        if tensor.touched && tensor.needs {
            kernel::add(&mut self.gradients[tensor.range()], &self.grad_tmp[..tensor.len]);
        }
        tensor.touched = true;
    }

    /// Gives `x` a gradient that stands elsewhere among the gradients (after it).
    pub(super) fn pass(&mut self, x: Var, from: usize) {
        let tensor = self.tensor(x);
        let (before, after) = self.gradients.split_at_mut(from);
        let (to, from) = (&mut before[tensor.range()], &after[..tensor.len]);
        if tensor.touched {
            kernel::add(to, from);
        } else {
            to.copy_from_slice(from);
        }
        self.tensors[x.0 as usize].touched = true;
    }

    /// Gives `x` a gradient that stands in `spare`.
    pub(super) fn receive(&mut self, x: Var, from: usize) {
        let tensor = &mut self.tensors[x.0 as usize];
        let (to, from) = (&mut self.gradients[tensor.range()], &self.grad_tmp[from..from + tensor.len]);
        if tensor.touched {
            kernel::add(to, from);
        } else {
            to.copy_from_slice(from);
        }
        tensor.touched = true;
    }

    /// An output nobody used has no gradient; the kernels want zeros.
    pub(super) fn ready(&mut self, out: Var) -> Tensor {
        let tensor = &mut self.tensors[out.0 as usize];
        if !tensor.touched {
            tensor.touched = true;
            let range = tensor.range();
            self.gradients[range].fill(R::ZERO);
        }
        self.tensor(out)
    }

    fn step_back(&mut self, op: &Op, params: &[R], dparams: &mut [R]) {
        match *op {
            Op::View { whole, part } => self.view_back(whole, part),
            Op::Embedding { out, table, ref symbols, d, scale } => {
                let out = self.ready(out);
                let dout = &mut self.gradients[out.range()];
                let ids = &self.symbols[symbols.clone()];
                kernel::embedding_backward(table.of_mut(dparams), dout, ids, d, R::of(scale));
            }
            Op::AddParam { x, out, rows } => {
                let out = self.ready(out);
                for drow in self.gradients[out.range()].chunks(rows.len()) {
                    kernel::add(&mut rows.of_mut(dparams)[..drow.len()], drow);
                }
                self.pass(x, out.start);
            }
            Op::Add { x, y, out } => {
                let out = self.ready(out);
                self.pass(x, out.start);
                self.pass(y, out.start);
            }
            Op::Scale { x, out, back } => {
                let (tensor, out) = (self.tensor(x), self.ready(out));
                let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
                for (dx, &d) in dx.iter_mut().zip(&*dout) {
                    *dx = R::of(back) * d;
                }
                self.settle(x);
            }
            Op::Join { ref parts, out, rows } => self.join_back(parts.clone(), out, rows),
            Op::Select { x, out, ref rows, d } => {
                let out = self.ready(out);
                let tensor = self.ready(x.var);
                let (before, after) = self.gradients.split_at_mut(out.start);
                let dx = &mut before[tensor.range()];
                for (row, &index) in after.chunks_exact_mut(d).zip(&self.symbols[rows.clone()]) {
                    let first = index as usize * d;
                    kernel::drop_in_place(row, x.mask, first);
                    kernel::add(&mut dx[first..][..d], row);
                }
            }
            Op::Repeat { out, param, f } => {
                let out = self.ready(out);
                let dout = &mut self.gradients[out.range()];
                kernel::activate_backward(dout, &self.values.data[out.range()], f);
                kernel::column_sums(param.of_mut(dparams), dout);
            }
            Op::Dropout { x, out, mask } => {
                let (tensor, out) = (self.tensor(x), self.ready(out));
                let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
                if !dx.is_empty() {
                    kernel::dropout(dx, dout, mask, 0);
                }
                self.settle(x);
            }
            Op::Linear { x, out, weight, bias, i, f } => {
                let (tensor, out, later) = (self.tensor(x), self.ready(out), self.repeated(weight));
                let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
                let (x_values, values) = (&self.values.data[tensor.range()], &self.values.data[out.range()]);
                let [mut dweight, dbias] = match bias {
                    Some(bias) => two(dparams, weight, bias),
                    None => [weight.of_mut(dparams), &mut []],
                };
                if later {
                    dweight = &mut [];
                    let (grads, inputs) = (Rows::Gradients(out.range()), Rows::Values(tensor.range()));
                    self.deferred.push(DeferredGrad {
                        weight,
                        grads,
                        inputs,
                        count: tensor.len / i,
                        width: i,
                    });
                }
                kernel::linear_backward(dx, dweight, dbias, dout, values, x_values, weight.of(params), i, f);
                self.settle(x);
            }
            Op::Norm { x, out, norm, ref mean, ref inverse } => {
                let (tensor, out) = (self.tensor(x), self.ready(out));
                let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
                let [dgain, dbias] = two(dparams, norm.gain, norm.bias);
                kernel::layer_norm_backward(
                    dx,
                    dgain,
                    dbias,
                    dout,
                    &self.values.data[tensor.range()],
                    &self.saved.data[mean.clone()],
                    &self.saved.data[inverse.clone()],
                    norm.gain.of(params),
                );
                self.settle(x);
            }
            Op::Attention { .. } | Op::CrossAttention { .. } => self.attention_back(op),
            Op::SoftmaxLoss { .. } | Op::LogisticLoss { .. } => self.loss_back(op),
            Op::ScaleRows { .. } | Op::WeightNorm { .. } | Op::Product { .. } | Op::Gated { .. } => {
                self.gated_back(op, params, dparams);
            }
            Op::Augmented { .. } => self.augmented_back(op, params, dparams),
            Op::Rnn { .. } | Op::Lstm { .. } | Op::Gru { .. } => self.recurrent_back(op, params, dparams),
        }
    }

    /// Each part gets its share of every row.
    fn join_back(&mut self, parts: Range<usize>, out: Var, rows: usize) {
        let out = self.ready(out);
        let mut offset = 0;
        for i in parts {
            let x = Var(self.symbols[i]);
            let (tensor, whole) = (self.tensor(x), out.len / rows);
            let width = tensor.len / rows;
            let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
            for (to, from) in dx.chunks_exact_mut(width).zip(dout.chunks_exact(whole)) {
                to.copy_from_slice(&from[offset..offset + width]);
            }
            self.settle(x);
            offset += width;
        }
    }

    /// A part has its gradient in place; what lies outside has none.
    fn view_back(&mut self, whole: Var, part: Var) {
        let (outer, inner) = (self.tensor(whole), self.tensor(part));
        if inner.touched {
            assert!(!outer.touched, "a tensor is used both as a whole and in part, or in two");
            self.gradients[outer.start..inner.start].fill(R::ZERO);
            self.gradients[inner.start + inner.len..outer.start + outer.len].fill(R::ZERO);
            self.tensors[whole.0 as usize].touched = true;
        }
    }
}

/// Two parameters at once, the first lying before the second.
pub(super) fn two<R>(all: &mut [R], first: Param, second: Param) -> [&mut [R]; 2] {
    all.get_disjoint_mut([first.range(), second.range()]).expect("parameters do not overlap")
}
