//! The operations, as a model calls them.

use super::op::{LayerNorm, Masked, Op, Tensor};
use super::{Mode, Recording, Var};
use crate::kernel::{self, Activation, Mask, Real, Sinusoid, activate};
use crate::params::Param;

impl<R: Real> Recording<'_, R> {
    /// Data: a tensor whose gradient nobody asks for.
    pub fn constant(&mut self, data: &[R]) -> Var {
        let out = self.new_tensor(data.len(), false);
        let range = self.tape.tensor(out).range();
        self.tape.values.data[range].copy_from_slice(data);
        out
    }

    /// Zeros that nobody learns.
    pub fn zeros(&mut self, len: usize) -> Var {
        let out = self.new_tensor(len, false);
        let range = self.tape.tensor(out).range();
        self.tape.values.data[range].fill(R::ZERO);
        out
    }

    /// One row of `v` numbers per symbol, all zero but one.
    pub fn one_hot(&mut self, symbols: impl IntoIterator<Item = u32>, v: usize) -> Var {
        let symbols = self.push_symbols(symbols);
        let out = self.new_tensor(symbols.len() * v, false);
        let range = self.tape.tensor(out).range();
        let rows = &mut self.tape.values.data[range];
        rows.fill(R::ZERO);
        for (row, &symbol) in rows.chunks_exact_mut(v).zip(&self.tape.symbols[symbols]) {
            row[symbol as usize] = R::ONE;
        }
        out
    }

    /// `len` numbers of `whole` from `start` on, without copying. What is viewed must not be used as a whole too.
    pub fn part(&mut self, whole: Var, start: usize, len: usize) -> Var {
        let tensor = self.tape.tensor(whole);
        assert!(start + len <= tensor.len, "a part must lie inside the whole");
        let part = self.push_tensor(Tensor { start: tensor.start + start, len, ..tensor });
        self.push(Op::View { whole, part });
        part
    }

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
        self.push(Op::Embedding { out, table, symbols, d, scale });
        out
    }

    /// `x[B,T,D] + rows[T,D]`: learned positions.
    pub fn add_param(&mut self, x: Var, rows: Param) -> Var {
        let out = self.new_tensor(self.tape.tensor(x).len, true);
        let (x_values, values) = self.in_out(x, out);
        values.copy_from_slice(x_values);
        let range = self.tape.tensor(out).range();
        for row in self.tape.values.data[range].chunks_mut(rows.len()) {
            kernel::add(row, &rows.of(self.params)[..row.len()]);
        }
        self.push(Op::AddParam { x, out, rows });
        out
    }

    /// `x[B,T,D]` plus the code of its position, in place.
    pub fn add_sinusoids(&mut self, x: Var, t: usize, first: usize, d: usize, layout: Sinusoid) {
        let tape = &mut *self.tape;
        if tape.codes_of != Some((layout, first, d)) {
            tape.codes.clear();
            tape.codes_of = Some((layout, first, d));
        }
        let known = tape.codes.len() / d;
        if known < t {
            tape.codes.resize(t * d, R::ZERO);
            kernel::sinusoids(&mut tape.codes[known * d..], first + known, d, layout);
        }
        let codes = &tape.codes[..t * d];
        let range = tape.tensors[x.0 as usize].range();
        for rows in tape.values.data[range].chunks_mut(t * d) {
            kernel::add(rows, codes);
        }
    }

    /// `x + y`.
    pub fn add(&mut self, x: Var, y: Var) -> Var {
        let out = self.new_tensor(self.tape.tensor(x).len, true);
        let (x_values, values) = self.in_out(x, out);
        values.copy_from_slice(x_values);
        let (y_values, values) = self.in_out(y, out);
        kernel::add(values, y_values);
        self.push(Op::Add { x, y, out });
        out
    }

    /// `factor · x`.
    pub fn scale(&mut self, x: Var, factor: f64) -> Var {
        self.scale_both(x, factor, factor)
    }

    /// `x` as it is, with its gradient multiplied by a factor: what lies before it learns more slowly.
    pub fn damp(&mut self, x: Var, back: f64) -> Var {
        self.scale_both(x, 1.0, back)
    }

    fn scale_both(&mut self, x: Var, factor: f64, back: f64) -> Var {
        let out = self.new_tensor(self.tape.tensor(x).len, true);
        let (x_values, values) = self.in_out(x, out);
        for (y, &x) in values.iter_mut().zip(x_values) {
            *y = R::of(factor) * x;
        }
        self.push(Op::Scale { x, out, back });
        out
    }

    /// Tensors of `rows` rows each, every row of the first followed by that of the second, and so on. With one row, one
    /// tensor after the other.
    pub fn join(&mut self, parts: &[Var], rows: usize) -> Var {
        let len = parts.iter().map(|&x| self.tape.tensor(x).len).sum();
        let symbols = self.push_symbols(parts.iter().map(|x| x.0));
        let out = self.new_tensor(len, true);
        let mut offset = 0;
        for &x in parts {
            let width = self.tape.tensor(x).len / rows;
            let (x_values, values) = self.in_out(x, out);
            for (to, from) in values.chunks_exact_mut(len / rows).zip(x_values.chunks_exact(width)) {
                to[offset..offset + width].copy_from_slice(from);
            }
            offset += width;
        }
        self.push(Op::Join { parts: symbols, out, rows });
        out
    }

    /// Rows of `d` numbers by index.
    pub fn select(&mut self, x: impl Into<Masked>, rows: impl IntoIterator<Item = u32>, d: usize) -> Var {
        let x = x.into();
        let rows = self.push_symbols(rows);
        let out = self.new_tensor(rows.len() * d, true);
        let (x_range, out_start) = (self.tape.tensor(x.var).range(), self.tape.tensor(out).start);
        let (before, after) = self.tape.values.data.split_at_mut(out_start);
        let x_values = &before[x_range];
        for (row, &index) in after.chunks_exact_mut(d).zip(&self.tape.symbols[rows.clone()]) {
            let first = index as usize * d;
            row.copy_from_slice(&x_values[first..][..d]);
            kernel::drop_in_place(row, x.mask, first);
        }
        self.push(Op::Select { x, out, rows, d });
        out
    }

    /// `f(param)` in each of `rows` rows: a learned initial state.
    pub fn repeat(&mut self, param: Param, rows: usize, f: Activation) -> Var {
        let out = self.new_tensor(rows * param.len(), true);
        let range = self.tape.tensor(out).range();
        let values = &mut self.tape.values.data[range];
        for row in values.chunks_exact_mut(param.len()) {
            row.copy_from_slice(param.of(self.params));
        }
        activate(values, &[], f);
        self.push(Op::Repeat { out, param, f });
        out
    }

    /// Drops numbers with a probability, when learning. Its mask is the next of this step's stream.
    pub fn dropout(&mut self, x: Var, probability: f64) -> Var {
        let x = self.masked(x, probability);
        self.written(x)
    }

    /// The same for those who can read through a mask: what is left is not written down.
    pub fn masked(&mut self, x: Var, probability: f64) -> Masked {
        Masked { var: x, mask: self.next_mask(probability) }
    }

    /// What a mask leaves, written down.
    pub fn written(&mut self, x: Masked) -> Var {
        let Masked { var: x, mask } = x;
        if mask.keeps_all() {
            return x;
        }
        let out = self.new_tensor(self.tape.tensor(x).len, true);
        let (x_values, values) = self.in_out(x, out);
        kernel::dropout(values, x_values, mask, 0);
        self.push(Op::Dropout { x, out, mask });
        out
    }

    pub(super) fn next_mask(&mut self, probability: f64) -> Mask {
        self.dropouts += 1;
        match self.mode {
            Mode::Train { seed } => Mask::new(seed, probability).nth(self.dropouts),
            Mode::Eval | Mode::Grad => Mask::NONE,
        }
    }

    /// `f(x[N,I] · weight[O,I]ᵀ + bias[O])`.
    pub fn linear(&mut self, x: Var, weight: Param, bias: Option<Param>, i: usize, f: Activation) -> Var {
        let rows = self.tape.tensor(x).len / i;
        let out = self.new_tensor(rows * (weight.len() / i), true);
        let params = self.params;
        let (x_values, values) = self.in_out(x, out);
        let bias_values = bias.map_or(&[][..], |b| b.of(params));
        kernel::linear(values, x_values, weight.of(params), bias_values, i, f);
        self.push(Op::Linear { x, out, weight, bias, i, f });
        out
    }

    /// Layer normalisation of rows of `D` numbers.
    pub fn layer_norm(&mut self, x: Var, norm: LayerNorm) -> Var {
        let d = norm.gain.len();
        let len = self.tape.tensor(x).len;
        let out = self.new_tensor(len, true);
        self.forget();
        let mean = self.tape.saved.take(len / d);
        let inverse = self.tape.saved.take(len / d);
        let params = self.params;
        let tape = &mut *self.tape;
        let (x_range, start) = (tape.tensor(x).range(), tape.tensor(out).start);
        let (before, after) = tape.values.data.split_at_mut(start);
        let (m, i) = tape.saved.data[mean.start..inverse.end].split_at_mut(mean.len());
        let (gain, bias) = (norm.gain.of(params), norm.bias.of(params));
        kernel::layer_norm(&mut after[..len], m, i, &before[x_range], gain, bias, R::of(norm.epsilon));
        self.push(Op::Norm { x, out, norm, mean, inverse });
        out
    }

    /// What earlier operations kept for the way back is of no use if there is none: its room is taken again.
    pub(super) fn forget(&mut self) {
        if self.mode == Mode::Eval {
            self.tape.saved.top = 0;
        }
    }

    /// The values of an input and of the output being written.
    pub(super) fn in_out(&mut self, x: Var, out: Var) -> (&[R], &mut [R]) {
        let (x, out) = (self.tape.tensor(x), self.tape.tensor(out));
        let (before, after) = self.tape.values.data.split_at_mut(out.start);
        (&before[x.range()], &mut after[..out.len])
    }
}
