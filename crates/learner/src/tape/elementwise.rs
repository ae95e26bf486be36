//! Operations element by element, and views.

use super::backward::in_out_grads;
use super::op::{MaskedVar, Op, Operation, Tensor};
use super::{Mode, Recording, Tape, Var};
use crate::kernel::{self, DropoutMask, Real, Sinusoid};
use crate::params::Param;

/// A part of a tensor, without a copy.
#[derive(Clone, Debug)]
pub(super) struct ViewOp {
    whole: Var,
    part: Var,
}

impl<R: Real> Recording<'_, R> {
    /// `len` elements of `whole` from `start` on, without copying. A tensor must not be used both as a whole and in part, nor
    /// in two parts: the gradients share memory.
    pub fn part(&mut self, whole: Var, start: usize, len: usize) -> Var {
        let tensor = self.tape.tensor(whole);
        assert!(start + len <= tensor.len, "a part must lie inside the whole");
        let part = self.push_tensor(Tensor { start: tensor.start + start, len, ..tensor });
        self.push(Op::View(ViewOp { whole, part }));
        part
    }
}

impl Operation for ViewOp {
    /// The part has written its gradient in place; the gradient of the rest is zero.
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let (outer, inner) = (tape.tensor(self.whole), tape.tensor(self.part));
        if inner.has_grad {
            assert!(!outer.has_grad, "a tensor is used both as a whole and in part, or in two parts");
            tape.gradients[outer.start..inner.start].fill(R::ZERO);
            tape.gradients[inner.start + inner.len..outer.start + outer.len].fill(R::ZERO);
            tape.tensors[self.whole.index()].has_grad = true;
        }
    }
}

/// `out[B,T,D] = x[B,T,D] + rows[T,D]`
#[derive(Clone, Debug)]
pub(super) struct AddParamOp {
    x: Var,
    out: Var,
    rows: Param,
}

impl<R: Real> Recording<'_, R> {
    /// `x[B,T,D] + rows[T,D]`: learned positions.
    pub fn add_param(&mut self, x: Var, rows: Param) -> Var {
        let out = self.new_tensor(self.tape.tensor(x).len, true);
        let (x_values, values) = self.in_out(x, out);
        values.copy_from_slice(x_values);
        let range = self.tape.tensor(out).range();
        for row in self.tape.values.data[range].chunks_mut(rows.len()) {
            kernel::add(row, &rows.of(self.params)[..row.len()]);
        }
        self.push(Op::AddParam(AddParamOp { x, out, rows }));
        out
    }

    /// `x[B,T,D] + sinusoids[T,D]` for positions `first`, `first + 1`, …, in place. Sinusoids are constant, so nothing is
    /// recorded; they are computed once and cached on the tape.
    pub fn add_sinusoids(&mut self, x: Var, t: usize, first: usize, d: usize, layout: Sinusoid) {
        let tape = &mut *self.tape;
        // A model asks for the same table at every step; only a longer batch adds rows.
        if tape.sinusoids_of != Some((layout, first, d)) {
            tape.sinusoids.clear();
            tape.sinusoids_of = Some((layout, first, d));
        }
        let known = tape.sinusoids.len() / d;
        if known < t {
            tape.sinusoids.resize(t * d, R::ZERO);
            kernel::sinusoids(&mut tape.sinusoids[known * d..], first + known, d, layout);
        }
        let range = tape.tensor(x).range();
        for rows in tape.values.data[range].chunks_mut(t * d) {
            kernel::add(rows, &tape.sinusoids[..t * d]);
        }
    }
}

impl Operation for AddParamOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], dparams: &mut [R]) {
        let out = tape.output(self.out);
        for drow in tape.gradients[out.range()].chunks(self.rows.len()) {
            kernel::add(&mut self.rows.of_mut(dparams)[..drow.len()], drow);
        }
        tape.copy_grad(self.x, out.start);
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        visit(self.rows);
    }
}

/// `out = x + y`
#[derive(Clone, Debug)]
pub(super) struct AddOp {
    x: Var,
    y: Var,
    out: Var,
}

impl<R: Real> Recording<'_, R> {
    pub fn add(&mut self, x: Var, y: Var) -> Var {
        let out = self.new_tensor(self.tape.tensor(x).len, true);
        let (x_values, values) = self.in_out(x, out);
        values.copy_from_slice(x_values);
        let (y_values, values) = self.in_out(y, out);
        kernel::add(values, y_values);
        self.push(Op::Add(AddOp { x, y, out }));
        out
    }
}

impl Operation for AddOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let out = tape.output(self.out);
        tape.copy_grad(self.x, out.start);
        tape.copy_grad(self.y, out.start);
    }
}

/// `out = factor · x` and `dx = gradient_factor · dout`
#[derive(Clone, Debug)]
pub(super) struct ScaleOp {
    x: Var,
    out: Var,
    gradient_factor: f64,
}

impl<R: Real> Recording<'_, R> {
    pub fn scale(&mut self, x: Var, factor: f64) -> Var {
        self.scale_with(x, factor, factor)
    }

    /// `x` unchanged, its gradient multiplied by `factor`: what computed it trains more slowly.
    pub fn scale_gradient(&mut self, x: Var, factor: f64) -> Var {
        self.scale_with(x, 1.0, factor)
    }

    fn scale_with(&mut self, x: Var, factor: f64, gradient_factor: f64) -> Var {
        let out = self.new_tensor(self.tape.tensor(x).len, true);
        let (x_values, values) = self.in_out(x, out);
        for (y, &x) in values.iter_mut().zip(x_values) {
            *y = R::of(factor) * x;
        }
        self.push(Op::Scale(ScaleOp { x, out, gradient_factor }));
        out
    }
}

impl Operation for ScaleOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let (x, out) = (tape.tensor(self.x), tape.output(self.out));
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        for (dx, &d) in dx.iter_mut().zip(&*dout) {
            *dx = R::of(self.gradient_factor) * d;
        }
        tape.finish_grad(self.x);
    }
}

/// `out = mask · x / (1 − p)`
#[derive(Clone, Debug)]
pub(super) struct DropoutOp {
    x: Var,
    out: Var,
    mask: DropoutMask,
}

impl<R: Real> Recording<'_, R> {
    /// Dropout, in training. Its mask is the next of this step's stream.
    pub fn dropout(&mut self, x: Var, probability: f64) -> Var {
        let x = self.masked(x, probability);
        self.materialize(x)
    }

    /// The same, applied where `x` is read: no dropped copy is stored.
    pub fn masked(&mut self, x: Var, probability: f64) -> MaskedVar {
        MaskedVar { var: x, mask: self.next_mask(probability) }
    }

    /// The dropped copy of a masked tensor, for operations that cannot read through a mask.
    pub fn materialize(&mut self, x: MaskedVar) -> Var {
        let MaskedVar { var: x, mask } = x;
        // Nothing to drop: no copy, and nothing to go back through.
        if mask.keeps_all() {
            return x;
        }
        let out = self.new_tensor(self.tape.tensor(x).len, true);
        let (x_values, values) = self.in_out(x, out);
        kernel::dropout(values, x_values, mask, 0);
        self.push(Op::Dropout(DropoutOp { x, out, mask }));
        out
    }

    pub(super) fn next_mask(&mut self, probability: f64) -> DropoutMask {
        // Counted also where nothing is dropped: leaving one dropout out shifts no other mask.
        self.dropouts += 1;
        match self.mode {
            Mode::Train { seed } => DropoutMask::new(seed, probability).nth(self.dropouts),
            Mode::Eval | Mode::Grad => DropoutMask::NONE,
        }
    }
}

impl Operation for DropoutOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let (x, out) = (tape.tensor(self.x), tape.output(self.out));
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        if !dx.is_empty() {
            kernel::dropout(dx, dout, self.mask, 0);
        }
        tape.finish_grad(self.x);
    }
}
