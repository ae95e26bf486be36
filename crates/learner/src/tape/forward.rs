//! The operations, as a model calls them.

use super::op::{Layer, LayerNorm, Op, Tensor};
use super::{Mode, Record, Var, grow};
use crate::kernel::{
    self, Activation, Attention, Gru, Mask, Real, Recurrence, RecurrentWeights, Sinusoid, activate,
};
use crate::params::Param;

impl<R: Real> Record<'_, R> {
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

    /// Rows of `d` numbers by index.
    pub fn select(&mut self, x: Var, rows: impl IntoIterator<Item = u32>, d: usize) -> Var {
        let rows = self.push_symbols(rows);
        let out = self.new_tensor(rows.len() * d, true);
        let (x_range, out_start) = (self.tape.tensor(x).range(), self.tape.tensor(out).start);
        let (before, after) = self.tape.values.data.split_at_mut(out_start);
        let x_values = &before[x_range];
        for (row, &index) in after.chunks_exact_mut(d).zip(&self.tape.symbols[rows.clone()]) {
            row.copy_from_slice(&x_values[index as usize * d..][..d]);
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
        let mask = self.next_mask(probability);
        if mask.keeps_all() {
            return x;
        }
        let out = self.new_tensor(self.tape.tensor(x).len, true);
        let (x_values, values) = self.in_out(x, out);
        kernel::dropout(values, x_values, mask);
        self.push(Op::Dropout { x, out, mask });
        out
    }

    fn next_mask(&mut self, probability: f64) -> Mask {
        self.dropouts += 1;
        match self.mode {
            Mode::Learn { seed } => Mask::new(seed, probability).nth(self.dropouts),
            Mode::Judge | Mode::Trace => Mask::new(0, 0.0),
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

    /// A simple recurrent layer; gives `[T+1,B,H]` with the initial state (zero if none is given) in front.
    pub fn rnn(&mut self, x: Var, h0: Option<Var>, layer: Layer, n: Recurrence, f: Activation) -> Var {
        let row = n.batch * n.hidden;
        let out = self.new_tensor((n.steps + 1) * row, true);
        self.set_state(out, h0, row);
        self.sum_biases(layer);
        let params = self.params;
        let (x_range, start) = (self.tape.tensor(x).range(), self.tape.tensor(out).start);
        let (before, after) = self.tape.values.data.split_at_mut(start);
        let bias = &self.tape.spare[..bias_len(layer)];
        let weights =
            RecurrentWeights { input: layer.input.of(params), hidden: layer.hidden.of(params), bias };
        kernel::rnn(&mut after[..(n.steps + 1) * row], &before[x_range], weights, n, f);
        self.push(Op::Rnn { x, h0, out, layer, n, f });
        out
    }

    /// An LSTM layer; gives all states `[T+1,B,H]` and the last cells `[B,H]`. It may start from `(h0, c0)`.
    pub fn lstm(&mut self, x: Var, start: Option<(Var, Var)>, layer: Layer, n: Recurrence) -> (Var, Var) {
        let row = n.batch * n.hidden;
        let out = self.new_tensor((n.steps + 1) * row, true);
        let last_cell = self.new_tensor(row, true);
        self.set_state(out, start.map(|(h, _)| h), row);
        self.forget();
        let kept = match self.mode {
            Mode::Judge => n.lstm_block::<R>().min(n.steps),
            _ => n.steps,
        };
        let cells = self.tape.saved.take((kept + 1) * row);
        let gates = self.tape.saved.take(kept * 4 * row);
        self.sum_biases(layer);
        let params = self.params;
        let tape = &mut *self.tape;
        let first_cells = &mut tape.saved.data[cells.start..cells.start + row];
        match start {
            Some((_, c0)) => {
                first_cells.copy_from_slice(&tape.values.data[tape.tensors[c0.0 as usize].range()]);
            }
            None => first_cells.fill(R::ZERO),
        }
        let (x_range, out_range) = (tape.tensor(x).range(), tape.tensor(out).range());
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let (c, g) = tape.saved.data[cells.start..gates.end].split_at_mut(cells.len());
        let bias = &tape.spare[..bias_len(layer)];
        let weights =
            RecurrentWeights { input: layer.input.of(params), hidden: layer.hidden.of(params), bias };
        kernel::lstm(&mut after[..out_range.len()], c, g, &before[x_range], weights, n);
        after[out_range.len()..][..row].copy_from_slice(&c[kept * row..]);
        self.push(Op::Lstm { x, start, out, last_cell, cells, gates, layer, n });
        (out, last_cell)
    }

    /// A gated recurrent layer; both biases must be there. Gives `[T+1,B,H]`.
    pub fn gru(&mut self, x: Var, h0: Option<Var>, layer: Layer, n: Recurrence) -> Var {
        let row = n.batch * n.hidden;
        let out = self.new_tensor((n.steps + 1) * row, true);
        self.set_state(out, h0, row);
        self.forget();
        let gates = self.tape.saved.take(n.steps * 3 * row);
        let sums = self.tape.saved.take(n.steps * 3 * row);
        let params = self.params;
        let tape = &mut *self.tape;
        let (x_range, start) = (tape.tensor(x).range(), tape.tensor(out).start);
        let (before, after) = tape.values.data.split_at_mut(start);
        let (g, s) = tape.saved.data[gates.start..sums.end].split_at_mut(gates.len());
        kernel::gru(&mut after[..(n.steps + 1) * row], g, s, &before[x_range], gru_weights(layer, params), n);
        self.push(Op::Gru { x, h0, out, gates, sums, layer, n });
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

    /// Self-attention over `qkv[B,T,3D]`, dropping weights with a probability when learning.
    pub fn attention(&mut self, qkv: Var, n: Attention, dropout: f64) -> Var {
        let mask = self.next_mask(dropout);
        let out = self.new_tensor(n.batch * n.queries * n.width, true);
        self.forget();
        let kept = self.tape.saved.take(n.kept());
        let tape = &mut *self.tape;
        grow(&mut tape.scratch, n.scratch());
        let (x_range, out_range) = (tape.tensor(qkv).range(), tape.tensor(out).range());
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let sums = &mut tape.saved.data[kept.clone()];
        kernel::attention(&mut after[..out_range.len()], sums, &mut tape.scratch, &before[x_range], mask, n);
        self.push(Op::Attention { x: qkv, out, kept, mask, n });
        out
    }

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
        kernel::logistic_cross_entropy(losses, &tape.values.data[range], y);
        self.loss += weighted(losses, &tape.saved.data[weights.clone()]);
        self.push(Op::LogisticLoss { logits, truth: ys, weights });
    }

    /// What earlier operations kept for the way back is of no use if there is none: its room is taken again.
    fn forget(&mut self) {
        if self.mode == Mode::Judge {
            self.tape.saved.top = 0;
        }
    }

    /// The values of an input and of the output being written.
    fn in_out(&mut self, x: Var, out: Var) -> (&[R], &mut [R]) {
        let (x, out) = (self.tape.tensor(x), self.tape.tensor(out));
        let (before, after) = self.tape.values.data.split_at_mut(out.start);
        (&before[x.range()], &mut after[..out.len])
    }

    /// Puts the initial state in front of `out`.
    fn set_state(&mut self, out: Var, h0: Option<Var>, row: usize) {
        if let Some(h0) = h0 {
            let (state, values) = self.in_out(h0, out);
            values[..row].copy_from_slice(state);
        } else {
            let start = self.tape.tensor(out).start;
            self.tape.values.data[start..start + row].fill(R::ZERO);
        }
    }

    /// The sum of a layer's biases, into `spare`.
    fn sum_biases(&mut self, layer: Layer) {
        sum_biases(&mut self.tape.spare, layer, self.params);
    }
}

/// The sum of a layer's biases, into the front of `spare`.
pub(super) fn sum_biases<R: Real>(spare: &mut Vec<R>, layer: Layer, params: &[R]) {
    if let Some(bias) = layer.bias {
        grow(spare, bias.len());
        let sum = &mut spare[..bias.len()];
        sum.copy_from_slice(bias.of(params));
        if let Some(second) = layer.second_bias {
            kernel::add(sum, second.of(params));
        }
    }
}

pub(super) fn bias_len(layer: Layer) -> usize {
    layer.bias.map_or(0, Param::len)
}

/// The parameters of a GRU layer.
pub(super) fn gru_weights<R>(layer: Layer, params: &[R]) -> Gru<'_, R> {
    let bias = |b: Option<Param>| b.map_or(&[][..], |b| b.of(params));
    Gru {
        input: layer.input.of(params),
        hidden: layer.hidden.of(params),
        input_bias: bias(layer.bias),
        hidden_bias: bias(layer.second_bias),
    }
}

fn weighted<R: Real>(losses: &[R], weights: &[R]) -> f64 {
    // A row of no weight costs nothing, even if its loss is not a number.
    let cost = |(loss, weight): (&R, &R)| if *weight == R::ZERO { 0.0 } else { loss.wide() * weight.wide() };
    losses.iter().zip(weights).map(cost).sum()
}
