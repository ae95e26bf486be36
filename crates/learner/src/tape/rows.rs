//! Operations on whole rows: looking them up, selecting, repeating, joining and scaling them.

use std::ops::Range;

use super::backward::in_out_grads;
use super::op::{MaskedVar, Op, Operation};
use super::{Recording, Tape, Var};
use crate::kernel::{self, Activation, Real, activate};
use crate::params::Param;

/// `out[N,d] = scale · table[symbols[N]]`
#[derive(Clone, Debug)]
pub(super) struct EmbeddingOp {
    out: Var,
    table: Param,
    symbols: Range<usize>,
    d: usize,
    scale: f64,
}

impl<R: Real> Recording<'_, R> {
    /// `scale · table[symbol]` for each symbol.
    pub fn embedding(
        &mut self,
        table: Param,
        symbols: impl IntoIterator<Item = u32>,
        d: usize,
        scale: f64,
    ) -> Var {
        let symbols = self.push_symbols(symbols);
        let out = self.new_tensor(symbols.len() * d, true);
        let range = self.tape.tensor(out).range();
        let (values, ids) = (&mut self.tape.values.data[range], &self.tape.symbols[symbols.clone()]);
        kernel::embedding(values, table.of(self.params), ids, d, R::of(scale));
        self.push(Op::Embedding(EmbeddingOp { out, table, symbols, d, scale }));
        out
    }
}

impl Operation for EmbeddingOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], dparams: &mut [R]) {
        let out = tape.output(self.out);
        let dout = &mut tape.gradients[out.range()];
        let ids = &tape.symbols[self.symbols.clone()];
        // Only the rows of symbols that occurred are touched; the rest of the table costs nothing.
        kernel::embedding_backward(self.table.of_mut(dparams), dout, ids, self.d, R::of(self.scale));
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        visit(self.table);
    }
}

/// The rows of several tensors side by side; `parts` (symbols) are their indices.
#[derive(Clone, Debug)]
pub(super) struct JoinOp {
    parts: Range<usize>,
    out: Var,
    rows: usize,
}

impl<R: Real> Recording<'_, R> {
    /// Concatenates tensors of `rows` rows each along the last dimension; with one row, one tensor after the other.
    pub fn join(&mut self, parts: &[Var], rows: usize) -> Var {
        let len = parts.iter().map(|&x| self.tape.tensor(x).len).sum();
        let symbols = self.push_symbols(parts.iter().map(|x| x.0));
        let out = self.new_tensor(len, true);
        let mut offset = 0;
        for &x in parts {
            let width = self.tape.tensor(x).len / rows;
            let (x_values, values) = self.in_out(x, out);
            // Tensor by tensor, so that each is read once and in order.
            for (to, from) in values.chunks_exact_mut(len / rows).zip(x_values.chunks_exact(width)) {
                to[offset..offset + width].copy_from_slice(from);
            }
            offset += width;
        }
        self.push(Op::Join(JoinOp { parts: symbols, out, rows }));
        out
    }
}

impl Operation for JoinOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let out = tape.output(self.out);
        let mut offset = 0;
        for i in self.parts.clone() {
            let part = Var(tape.symbols[i]);
            let (x, whole) = (tape.tensor(part), out.len / self.rows);
            let width = x.len / self.rows;
            let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
            for (to, from) in dx.chunks_exact_mut(width).zip(dout.chunks_exact(whole)) {
                to.copy_from_slice(&from[offset..offset + width]);
            }
            tape.finish_grad(part);
            offset += width;
        }
    }
}

/// `out[N,d] = x[rows[N]]`; `rows` are symbols.
#[derive(Clone, Debug)]
pub(super) struct SelectOp {
    x: MaskedVar,
    out: Var,
    rows: Range<usize>,
    d: usize,
}

impl<R: Real> Recording<'_, R> {
    /// Rows of `d` elements by index, which may repeat.
    pub fn select(&mut self, x: impl Into<MaskedVar>, rows: impl IntoIterator<Item = u32>, d: usize) -> Var {
        let x = x.into();
        let rows = self.push_symbols(rows);
        let out = self.new_tensor(rows.len() * d, true);
        let (x_range, out_start) = (self.tape.tensor(x.var).range(), self.tape.tensor(out).start);
        let (before, after) = self.tape.values.data.split_at_mut(out_start);
        let x_values = &before[x_range];
        for (row, &index) in after.chunks_exact_mut(d).zip(&self.tape.symbols[rows.clone()]) {
            let first = index as usize * d;
            row.copy_from_slice(&x_values[first..][..d]);
            // The mask counts in the whole tensor: a row that is selected twice is dropped alike.
            kernel::drop_in_place(row, x.mask, first);
        }
        self.push(Op::Select(SelectOp { x, out, rows, d }));
        out
    }
}

impl Operation for SelectOp {
    /// Scatter-add: the gradient of `x` is cleared first, since rows that were not selected get none.
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let (out, x) = (tape.output(self.out), tape.output(self.x.var));
        let (before, after) = tape.gradients.split_at_mut(out.start);
        let dx = &mut before[x.range()];
        for (row, &index) in after.chunks_exact_mut(self.d).zip(&tape.symbols[self.rows.clone()]) {
            let first = index as usize * self.d;
            kernel::drop_in_place(row, self.x.mask, first);
            kernel::add(&mut dx[first..][..self.d], row);
        }
    }
}

/// `out[N,H] = f(param[H])` in every row
#[derive(Clone, Debug)]
pub(super) struct RepeatOp {
    out: Var,
    param: Param,
    f: Activation,
}

impl<R: Real> Recording<'_, R> {
    /// `f(param)` in each of `rows` rows: a learned initial state.
    pub fn repeat(&mut self, param: Param, rows: usize, f: Activation) -> Var {
        let out = self.new_tensor(rows * param.len(), true);
        let params = self.params;
        let values = self.values_mut(out);
        for row in values.chunks_exact_mut(param.len()) {
            row.copy_from_slice(param.of(params));
        }
        activate(values, &[], f);
        self.push(Op::Repeat(RepeatOp { out, param, f }));
        out
    }
}

impl Operation for RepeatOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], dparams: &mut [R]) {
        let out = tape.output(self.out);
        let dout = &mut tape.gradients[out.range()];
        kernel::activate_backward(dout, &tape.values.data[out.range()], self.f);
        kernel::column_sums(self.param.of_mut(dparams), dout);
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        visit(self.param);
    }
}

/// Rows of `d` elements, each multiplied by its own saved factor.
#[derive(Clone, Debug)]
pub(super) struct ScaleRowsOp {
    x: Var,
    out: Var,
    factors: Range<usize>,
    d: usize,
}

impl<R: Real> Recording<'_, R> {
    /// Rows of `d` elements, each multiplied by its own factor.
    pub fn scale_rows(&mut self, x: Var, factors: impl ExactSizeIterator<Item = f64>, d: usize) -> Var {
        let len = self.tape.tensor(x).len;
        let out = self.new_tensor(len, true);
        self.reuse_saved();
        let saved = self.tape.saved.take(factors.len());
        for (to, factor) in self.tape.saved.data[saved.clone()].iter_mut().zip(factors) {
            *to = R::of(factor);
        }
        let tape = &mut *self.tape;
        let (x_range, start) = (tape.tensor(x).range(), tape.tensor(out).start);
        let (before, after) = tape.values.data.split_at_mut(start);
        let factors = &tape.saved.data[saved.clone()];
        kernel::scale_rows(&mut after[..len], &before[x_range], factors, d);
        self.push(Op::ScaleRows(ScaleRowsOp { x, out, factors: saved, d }));
        out
    }
}

impl Operation for ScaleRowsOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let (x, out) = (tape.tensor(self.x), tape.output(self.out));
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        kernel::scale_rows(dx, dout, &tape.saved.data[self.factors.clone()], self.d);
        tape.finish_grad(self.x);
    }
}
