//! One step of an LSTM layer for many strings, in one kernel: for one register of units at a time, the four sums (i, f, g, o)
//! of [`AT_ONCE`] strings are computed in registers and turned into gates, cells and states while they are still in the
//! first-level cache. The sums of the whole layer, `[B,4H]`, are never written unless the backward pass needs the gates.

use pulp::Simd;

use super::super::packed::{UNROLL, aligned};
use super::super::simd::{Lane, Sigmoid, Tanh, V, dispatch, squash_registers};
use super::super::{Real, Recurrence, RecurrentWeights};
use super::{InputRows, StateAfter, StateBefore};

/// Rows of a tile: sums of three rows and four gates, three broadcast inputs and a weight fill the sixteen registers of AVX2.
const ROWS: usize = 3;

/// Rows whose sums are computed before the activations: two times the registers that [`squash_registers`] takes side by side.
const AT_ONCE: usize = 12;

const GATES: usize = 4;

/// The sums of a register of units in some rows, gate by gate.
type GateSums<R, S> = [[<R as Lane>::Reg<S>; AT_ONCE]; GATES];

/// The packed weights of a layer: for each register of units a panel `[1 + I + H, 4, lanes]` of its biases, input weights and
/// recurrent weights. If inputs are symbols, the bias is added to each input weight, because exactly one of them counts.
#[derive(Debug)]
pub(super) struct Fused<'a, R> {
    panels: &'a [R],
    n: Recurrence,
}

impl<'a, R: Real> Fused<'a, R> {
    /// Packs the weights into `workspace`, of [`Recurrence::workspace`] elements.
    pub(super) fn new(
        w: RecurrentWeights<'_, R>,
        symbols: bool,
        n: Recurrence,
        workspace: &'a mut [R],
    ) -> Self {
        let panels = aligned(workspace);
        dispatch!(pack(&mut *panels, w, symbols, n));
        Self { panels, n }
    }

    /// Writes the states and cells after a step, and its gates unless that slice is empty.
    pub(super) fn step(&self, to: StateAfter<'_, R>, x: InputRows<'_, R>, before: StateBefore<'_, R>) {
        dispatch!(step(to, x, before, self.panels, self.n));
    }
}

#[inline(always)]
fn pack<R: Real, S: Simd>(s: S, to: &mut [R], w: RecurrentWeights<'_, R>, symbols: bool, n: Recurrence) {
    let (lanes, hidden) = (V::<R, S>::lanes(), n.hidden);
    let panels = to.chunks_exact_mut((1 + n.input + hidden) * GATES * lanes);
    for (panel, first) in panels.zip((0..hidden).step_by(lanes)) {
        // The weights of the four gates side by side, input by input: each broadcast element meets four
        // registers in a row. Units past the last one have weights of zero.
        panel.fill(R::ZERO);
        for gate in 0..GATES {
            for (lane, unit) in (first..hidden.min(first + lanes)).enumerate() {
                let unit = gate * hidden + unit;
                let bias = w.bias.get(unit).into_iter();
                let input = &w.input[unit * n.input..][..n.input];
                let weights = bias.chain(input).chain(&w.hidden[unit * hidden..][..hidden]);
                let places = panel[gate * lanes + lane..].iter_mut().step_by(GATES * lanes);
                let places = places.skip(usize::from(w.bias.is_empty()));
                for (place, &weight) in places.zip(weights) {
                    *place = weight;
                }
            }
        }
        if symbols {
            let (bias, weights) = panel.split_at_mut(GATES * lanes);
            for weights in weights.chunks_exact_mut(GATES * lanes).take(n.input) {
                for gate in (0..GATES * lanes).step_by(lanes) {
                    (V::<R, S>::at(s, bias, gate) + V::at(s, weights, gate)).put(weights, gate);
                }
            }
        }
    }
}

#[inline(always)]
fn step<R: Real, S: Simd>(
    s: S,
    to: StateAfter<'_, R>,
    x: InputRows<'_, R>,
    before: StateBefore<'_, R>,
    panels: &[R],
    n: Recurrence,
) {
    let StateAfter { h, c, gates } = to;
    let lanes = V::<R, S>::lanes();
    let size = (1 + n.input + n.hidden) * GATES * lanes;
    let mut sums: GateSums<R, S> = [[V::<R, S>::constant(s, 0.0).reg(); AT_ONCE]; GATES];
    for (panel, unit) in panels.chunks_exact(size).zip((0..n.hidden).step_by(lanes)) {
        let panel = V::<R, S>::regs(panel);
        // Strings inside, units outside: the panel of a register of units stays in the first-level cache
        // while all strings pass by.
        for first in (0..n.batch).step_by(AT_ONCE) {
            let many = AT_ONCE.min(n.batch - first);
            for row in (0..many).step_by(ROWS) {
                let x = x.skip(first + row, n.input);
                let h_before = &before.h[(first + row) * n.hidden..];
                match many - row {
                    1 => rows::<R, S, 1>(s, &mut sums, row, x, h_before, panel, n),
                    2 => rows::<R, S, 2>(s, &mut sums, row, x, h_before, panel, n),
                    _ => rows::<R, S, ROWS>(s, &mut sums, row, x, h_before, panel, n),
                }
            }
            let state = first * n.hidden..(first + many) * n.hidden;
            let gates =
                if gates.is_empty() { &mut [] } else { &mut gates[GATES * state.start..GATES * state.end] };
            let to = StateAfter { h: &mut h[state.clone()], c: &mut c[state.clone()], gates };
            cells(s, to, &before.c[state], &mut sums, n.hidden, unit);
        }
    }
}

/// The sums of a register of units in `M` rows, written to `to[·][row..]`.
#[inline(always)]
fn rows<R: Real, S: Simd, const M: usize>(
    s: S,
    to: &mut GateSums<R, S>,
    row: usize,
    x: InputRows<'_, R>,
    h_before: &[R],
    panel: &[R::Reg<S>],
    n: Recurrence,
) {
    let (bias, weights) = panel.split_at(GATES);
    let mut sums = [[V::<R, S>::constant(s, 0.0); M]; GATES];
    let (of_input, of_hidden) = weights.split_at(GATES * n.input);
    match x {
        InputRows::Values(x) => {
            for g in 0..GATES {
                sums[g] = [V::of(s, bias[g]); M];
            }
            sums = terms(s, sums, x, of_input, n.input);
        }
        InputRows::Symbols(x) => {
            for m in 0..M {
                // A one-hot row has one term, with the bias in it already: a look-up instead of `I` products.
                let weights = &of_input[GATES * x[m] as usize..][..GATES];
                for g in 0..GATES {
                    sums[g][m] = V::of(s, weights[g]);
                }
            }
        }
    }
    let sums = terms(s, sums, h_before, of_hidden, n.hidden);
    for g in 0..GATES {
        for m in 0..M {
            to[g][row + m] = sums[g][m].reg();
        }
    }
}

/// Turns the sums of a register of units into gates, and writes cells and states. One gate after the other for all rows,
/// because [`squash_registers`] is fastest on many registers in a row.
#[inline(always)]
fn cells<R: Real, S: Simd>(
    s: S,
    to: StateAfter<'_, R>,
    c_before: &[R],
    sums: &mut GateSums<R, S>,
    hidden: usize,
    unit: usize,
) {
    let StateAfter { h, c, gates } = to;
    let many = h.len() / hidden;
    let [i, f, g, o] = sums;
    squash_registers::<Sigmoid, R, S>(s, &mut i[..many]);
    squash_registers::<Sigmoid, R, S>(s, &mut f[..many]);
    squash_registers::<Tanh, R, S>(s, &mut g[..many]);
    squash_registers::<Sigmoid, R, S>(s, &mut o[..many]);
    for (m, row) in gates.chunks_exact_mut(GATES * hidden).enumerate() {
        for (gate, row) in [&*i, f, g, o].into_iter().zip(row.chunks_exact_mut(hidden)) {
            V::<R, S>::of(s, gate[m]).put(row, unit);
        }
    }
    let rows = c.chunks_exact_mut(hidden).zip(c_before.chunks_exact(hidden));
    for (m, (c, c_before)) in rows.enumerate() {
        let added = V::<R, S>::of(s, i[m]) * V::of(s, g[m]);
        let cell = V::of(s, f[m]).mul_add(V::at(s, c_before, unit), added);
        cell.put(c, unit);
        // The candidate is used up: its registers hold the cells until the last tanh.
        g[m] = cell.reg();
    }
    squash_registers::<Tanh, R, S>(s, &mut g[..many]);
    for (m, h) in h.chunks_exact_mut(hidden).enumerate() {
        (V::<R, S>::of(s, o[m]) * V::of(s, g[m])).put(h, unit);
    }
}

/// `sums += rows · weights` for rows of `k` elements.
#[inline(always)]
fn terms<R: Real, S: Simd, const M: usize>(
    s: S,
    mut sums: [[V<R, S>; M]; GATES],
    rows: &[R],
    weights: &[R::Reg<S>],
    k: usize,
) -> [[V<R, S>; M]; GATES] {
    let (whole, none) = (k - k % UNROLL, [R::ZERO; UNROLL]);
    let weights = &weights[..GATES * k];
    for i in (0..whole).step_by(UNROLL) {
        let mut x = [&none; M];
        for m in 0..M {
            x[m] = rows[m * k + i..].first_chunk().expect("that many");
        }
        let weights = &weights[GATES * i..][..GATES * UNROLL];
        for j in 0..UNROLL {
            let mut inputs = [R::ZERO; M];
            for m in 0..M {
                inputs[m] = x[m][j];
            }
            sums = term(s, sums, inputs, &weights[GATES * j..][..GATES]);
        }
    }
    for i in whole..k {
        let mut x = [R::ZERO; M];
        for m in 0..M {
            x[m] = rows[m * k + i];
        }
        sums = term(s, sums, x, &weights[GATES * i..][..GATES]);
    }
    sums
}

/// One term of every sum.
#[inline(always)]
fn term<R: Real, S: Simd, const M: usize>(
    s: S,
    mut sums: [[V<R, S>; M]; GATES],
    x: [R; M],
    weights: &[R::Reg<S>],
) -> [[V<R, S>; M]; GATES] {
    let mut inputs = [V::<R, S>::constant(s, 0.0); M];
    for m in 0..M {
        inputs[m] = V::splat(s, x[m]);
    }
    for g in 0..GATES {
        // Twelve independent sums: more than the latency of a fused multiply-add times two per cycle.
        let weight = V::of(s, weights[g]);
        for m in 0..M {
            sums[g][m] = inputs[m].mul_add(weight, sums[g][m]);
        }
    }
    sums
}
