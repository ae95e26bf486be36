//! An LSTM layer over a whole sequence. Gates are in the order input, forget, candidate, output (i, f, g, o), as in PyTorch.
//! See [`super::rnn()`] for the layout of time and for blocks of steps.
//!
//! With six strings or more a step is one fused kernel ([`fused`]); with fewer, the sums of the inputs are one product per
//! block of steps, and each step adds the product with the previous states.

mod fused;

use std::ops::Range;

use pulp::Simd;

use self::fused::Fused;
use super::packed::{self, PackedWeight};
use super::rnn::first_into;
use super::simd::{Sigmoid, Tanh, V, dispatch, squash};
use super::{
    Accumulate, MaskedSlice, Mat, Real, Recurrence, RecurrentGradients, RecurrentWeights, column_sums,
    drop_in_place, matmul,
};

/// The inputs of a layer.
#[derive(Clone, Copy, Debug)]
pub enum Inputs<'a, R> {
    Values(MaskedSlice<'a, R>),
    /// `[T,B]`: each symbol stands for a one-hot row of `I` elements. There is no backward pass through them.
    Symbols(&'a [u32]),
}

/// The inputs of some rows (of a block of steps, or of a step).
#[derive(Clone, Copy, Debug)]
enum InputRows<'a, R> {
    Values(&'a [R]),
    Symbols(&'a [u32]),
}

impl<'a, R: Real> Inputs<'a, R> {
    /// The inputs of a range of rows of `width` elements; in `workspace` if there is dropout.
    fn rows<'b>(self, rows: Range<usize>, width: usize, workspace: &'b mut [R]) -> InputRows<'b, R>
    where
        'a: 'b,
    {
        match self {
            Self::Values(x) => InputRows::Values(x.read(rows.start * width..rows.end * width, workspace)),
            Self::Symbols(x) => InputRows::Symbols(&x[rows]),
        }
    }
}

impl<R> InputRows<'_, R> {
    /// The rows from `row` on.
    #[inline(always)]
    fn skip(self, row: usize, width: usize) -> Self {
        match self {
            Self::Values(x) => Self::Values(&x[row * width..]),
            Self::Symbols(x) => Self::Symbols(&x[row..]),
        }
    }
}

/// `i, f, o = σ(·), g = tanh(·)` of `x[t]·Wᵢᵀ + h[t]·Wₕᵀ + b`; `c[t+1] = f·c[t] + i·g`; `h[t+1] = o·tanh(c[t+1])`.
///
/// `h` and `c` are `[T+1,B,H]` with the initial states in front; `gates[T,B,4H]` is saved for the backward
/// pass. If there is none, `c` and `gates` may be as short as [`Recurrence::block`] steps: they are reused block after block,
/// stay in cache, and `c` ends with the last cells. `workspace` has [`Recurrence::workspace`] elements.
pub fn lstm<R: Real>(
    h: &mut [R],
    c: &mut [R],
    gates: &mut [R],
    workspace: &mut [R],
    x: Inputs<'_, R>,
    w: RecurrentWeights<'_, R>,
    n: Recurrence,
) {
    let (row, row_gates) = (n.batch * n.hidden, n.batch * 4 * n.hidden);
    let kept = gates.len() == n.steps * row_gates;
    let (inputs, workspace) = workspace.split_at_mut(n.inputs::<R>(4));
    let step = LstmStep::new(w, matches!(x, Inputs::Symbols(_)), n, workspace);
    for (from, to) in n.blocks(n.block::<R>(4)) {
        // The first saved step of this block.
        let base = if kept { from } else { 0 };
        let x = x.rows(from * n.batch..to * n.batch, n.input, inputs);
        step.block(&mut gates[base * row_gates..(base + to - from) * row_gates], x);
        for t in from..to {
            let saved = base + t - from;
            let gates = &mut gates[saved * row_gates..(saved + 1) * row_gates];
            let (h_before, h_after) = h[t * row..(t + 2) * row].split_at_mut(row);
            let (c_before, c_after) = c[saved * row..(saved + 2) * row].split_at_mut(row);
            let x = x.skip((t - from) * n.batch, n.input);
            let before = StateBefore { h: h_before, c: c_before };
            step.step(StateAfter { h: h_after, c: c_after, gates }, kept, x, before);
        }
        if !kept {
            // The last cells of this block are the first of the next; after the last block they go to where
            // the caller reads them.
            let last = (to - from) * row;
            let to = if to == n.steps { c.len() - row } else { 0 };
            c.copy_within(last..last + row, to);
        }
    }
}

/// States and cells `[B,H]` before a step.
#[derive(Clone, Copy)]
struct StateBefore<'a, R> {
    h: &'a [R],
    c: &'a [R],
}

/// States and cells `[B,H]` after a step, and its gates `[B,4H]`.
struct StateAfter<'a, R> {
    h: &'a mut [R],
    c: &'a mut [R],
    gates: &'a mut [R],
}

/// The two ways to take a step.
enum LstmStep<'a, R> {
    /// Many rows: product, gates and states in one kernel.
    Fused(Fused<'a, R>),
    /// Few rows: a product for the inputs of a block of steps, then one per step.
    Apart {
        input: PackedWeight<'a, R>,
        hidden: PackedWeight<'a, R>,
        w: RecurrentWeights<'a, R>,
        n: Recurrence,
    },
}

impl<'a, R: Real> LstmStep<'a, R> {
    fn new(w: RecurrentWeights<'a, R>, symbols: bool, n: Recurrence, workspace: &'a mut [R]) -> Self {
        if packed::pays(n.batch) {
            return Self::Fused(Fused::new(w, symbols, n, workspace));
        }
        let (input, workspace) =
            PackedWeight::new(Mat::new(w.input, 4 * n.hidden, n.input).t(), n.batch, workspace);
        let (hidden, _) =
            PackedWeight::new(Mat::new(w.hidden, 4 * n.hidden, n.hidden).t(), n.batch, workspace);
        Self::Apart { input, hidden, w, n }
    }

    fn block(&self, gates: &mut [R], x: InputRows<'_, R>) {
        match (self, x) {
            (Self::Apart { input, w, .. }, InputRows::Values(x)) => input.product_with(gates, x, w.bias),
            (Self::Apart { w, n, .. }, InputRows::Symbols(x)) => {
                for (gates, &symbol) in gates.chunks_exact_mut(4 * n.hidden).zip(x) {
                    for (unit, gate) in gates.iter_mut().enumerate() {
                        let bias = w.bias.get(unit).copied().unwrap_or_default();
                        *gate = bias + w.input[unit * n.input..][..n.input][symbol as usize];
                    }
                }
            }
            // The fused step reads its inputs itself.
            (Self::Fused(_), _) => {}
        }
    }

    /// One step; `gates` need not be written unless they are `kept`.
    fn step(&self, to: StateAfter<'_, R>, kept: bool, x: InputRows<'_, R>, before: StateBefore<'_, R>) {
        match self {
            Self::Fused(fused) => {
                let gates = if kept { to.gates } else { &mut [] };
                fused.step(StateAfter { gates, ..to }, x, before);
            }
            Self::Apart { hidden, n, .. } => {
                let StateAfter { h, c, gates } = to;
                hidden.product(gates, Accumulate::Add, before.h);
                dispatch!(cells(h, c, gates, before.c, n.hidden));
            }
        }
    }
}

/// One step of `B` rows: activates the gates in place, then writes the new states.
#[inline(always)]
fn cells<R: Real, S: Simd>(s: S, h: &mut [R], c: &mut [R], gates: &mut [R], c_before: &[R], hidden: usize) {
    let rows = h.chunks_exact_mut(hidden).zip(c.chunks_exact_mut(hidden));
    let rows = rows.zip(gates.chunks_exact_mut(4 * hidden)).zip(c_before.chunks_exact(hidden));
    for (((h, c), gates), c_before) in rows {
        squash::<Sigmoid, R, S>(s, &mut gates[..2 * hidden]);
        squash::<Tanh, R, S>(s, &mut gates[2 * hidden..3 * hidden]);
        squash::<Sigmoid, R, S>(s, &mut gates[3 * hidden..]);
        let (i, rest) = gates.split_at(hidden);
        let (f, rest) = rest.split_at(hidden);
        let (g, o) = rest.split_at(hidden);
        for u in (0..hidden).step_by(V::<R, S>::lanes()) {
            let added = V::at(s, i, u) * V::at(s, g, u);
            let cell = V::at(s, f, u).mul_add(V::at(s, c_before, u), added);
            cell.put(c, u);
            cell.put(h, u);
        }
        squash::<Tanh, R, S>(s, h);
        for u in (0..hidden).step_by(V::<R, S>::lanes()) {
            (V::at(s, o, u) * V::at(s, h, u)).put(h, u);
        }
    }
}

/// The backward pass. `dh[T+1,B,H]` and `dc[B,H]` come in as the gradients of every `h` and of the last `c`, and end with
/// those of the initial states in `dh[0]` and `dc`. The saved `gates` become the gradients of their sums; `workspace` is as in
/// the forward pass. Gradients that are not required may be empty.
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn lstm_backward<R: Real>(
    dx: &mut [R],
    dh: &mut [R],
    dc: &mut [R],
    dw: RecurrentGradients<'_, R>,
    gates: &mut [R],
    workspace: &mut [R],
    h: &[R],
    c: &[R],
    x: MaskedSlice<'_, R>,
    w: RecurrentWeights<'_, R>,
    n: Recurrence,
) {
    let (b, row_in, row, row_gates) =
        (n.batch, n.batch * n.input, n.batch * n.hidden, n.batch * 4 * n.hidden);
    // Gradients flow through the weights as they are stored, not through their transposes: other panels than
    // those of the forward pass.
    let (w_in, workspace) = PackedWeight::new(Mat::new(w.input, 4 * n.hidden, n.input), b, workspace);
    let (w_hidden, workspace) = PackedWeight::new(Mat::new(w.hidden, 4 * n.hidden, n.hidden), b, workspace);
    let RecurrentGradients { into, input: dinput, hidden: dhidden, bias: dbias } = dw;
    let mut into = first_into(into, n, dinput, dhidden);
    for (from, to) in n.blocks(n.block::<R>(4)).rev() {
        for t in (from..to).rev() {
            let gates = &mut gates[t * row_gates..(t + 1) * row_gates];
            let (dh_before, dh_after) = dh[t * row..(t + 2) * row].split_at_mut(row);
            let (c_before, c_after) = c[t * row..(t + 2) * row].split_at(row);
            dispatch!(cells_backward(&mut *dc, &mut *gates, &*dh_after, c_before, c_after, n.hidden));
            w_hidden.product(dh_before, Accumulate::Add, gates);
        }
        // After the steps of a block, the gradients of its sums are known and still in cache: one product
        // each for inputs and weights.
        let steps = (to - from) * b;
        let dsums = Mat::new(&gates[from * row_gates..to * row_gates], steps, 4 * n.hidden);
        let inputs = from * row_in..to * row_in;
        if !dx.is_empty() {
            let dinp = &mut dx[inputs.clone()];
            w_in.product(dinp, Accumulate::Set, dsums.data());
            drop_in_place(dinp, x.mask, inputs.start);
        }
        if !dinput.is_empty() {
            matmul(dinput, into, dsums.t(), Mat::new(x.read(inputs, workspace), steps, n.input));
        }
        if !dhidden.is_empty() {
            matmul(dhidden, into, dsums.t(), Mat::new(&h[from * row..to * row], steps, n.hidden));
        }
        into = Accumulate::Add;
        if !dbias.is_empty() {
            column_sums(dbias, dsums.data());
        }
    }
}

/// One step of `B` rows: gates become gradients of their sums, `dc` becomes that of the previous cells.
#[inline(always)]
fn cells_backward<R: Real, S: Simd>(
    s: S,
    dc: &mut [R],
    gates: &mut [R],
    dh: &[R],
    c_before: &[R],
    c_after: &[R],
    hidden: usize,
) {
    let one = V::constant(s, 1.0);
    let rows = dc.chunks_exact_mut(hidden).zip(gates.chunks_exact_mut(4 * hidden));
    let rows = rows.zip(dh.chunks_exact(hidden)).zip(c_before.chunks_exact(hidden));
    for ((((dc, gates), dh), c_before), c_after) in rows.zip(c_after.chunks_exact(hidden)) {
        let (gi, rest) = gates.split_at_mut(hidden);
        let (gf, rest) = rest.split_at_mut(hidden);
        let (gg, go) = rest.split_at_mut(hidden);
        for u in (0..hidden).step_by(V::<R, S>::lanes()) {
            let (i, f) = (V::at(s, gi, u), V::at(s, gf, u));
            let (g, o) = (V::at(s, gg, u), V::at(s, go, u));
            // tanh of the cell is computed again rather than saved: one tensor `[T,B,H]` less to write and
            // read.
            let (dh, squashed) = (V::at(s, dh, u), V::at(s, c_after, u).tanh());
            let dcell = (dh * o).mul_add((-squashed).mul_add(squashed, one), V::at(s, dc, u));
            (dcell * g * i * (one - i)).put(gi, u);
            (dcell * V::at(s, c_before, u) * f * (one - f)).put(gf, u);
            (dcell * i * (-g).mul_add(g, one)).put(gg, u);
            (dh * squashed * o * (one - o)).put(go, u);
            (dcell * f).put(dc, u);
        }
    }
}

#[cfg(test)]
mod tests;
