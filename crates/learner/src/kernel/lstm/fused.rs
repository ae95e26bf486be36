//! One step of a long short-term memory layer for many strings: the four sums of a register of units are taken together, in
//! registers, and become the new state there.

use pulp::Simd;

use super::super::simd::{MOST_LANES, V, dispatch};
use super::super::{Mat, Real, Recurrence, RecurrentWeights};
use super::Units;

/// Rows taken together: three rows of four gates, three numbers and a weight fill the sixteen registers of AVX2.
const ROWS: usize = 3;

/// Sums of a unit.
const GATES: usize = 4;

/// Terms of a sum taken at once: enough that finding the rows costs little beside them.
const UNROLL: usize = 4;

/// The weights of a layer. For each register of units: its biases, the weights of its inputs, the weights of its states,
/// of every gate in turn.
#[derive(Debug)]
pub(super) struct Fused<'a, R> {
    panels: &'a [R],
    n: Recurrence,
}

impl<'a, R: Real> Fused<'a, R> {
    /// Lays the weights out in `room`, of [`Recurrence::room`] numbers.
    pub(super) fn new(w: RecurrentWeights<'_, R>, n: Recurrence, room: &'a mut [R]) -> Self {
        // Loads of whole registers then never straddle a cache line.
        let offset = room.as_ptr().align_offset(MOST_LANES * size_of::<R>()).min(MOST_LANES);
        let panels = &mut room[offset..];
        dispatch!(pack(&mut *panels, w, n));
        Self { panels, n }
    }

    /// The states and cells after a step, and its gates.
    pub(super) fn step(&self, (h, c, gates): (&mut [R], &mut [R], &mut [R]), x: &[R], before: (&[R], &[R])) {
        dispatch!(step(h, c, gates, x, before, self.panels, self.n));
    }
}

#[inline(always)]
fn pack<R: Real, S: Simd>(_: S, to: &mut [R], w: RecurrentWeights<'_, R>, n: Recurrence) {
    let lanes = V::<R, S>::lanes();
    let rows = 1 + n.input + n.hidden;
    let (input, hidden) =
        (Mat::new(w.input, GATES * n.hidden, n.input), Mat::new(w.hidden, GATES * n.hidden, n.hidden));
    let weight = |row: usize, unit: usize| match row.checked_sub(1) {
        None => w.bias.get(unit).copied().unwrap_or(R::ZERO),
        Some(i) if i < n.input => input.get(unit, i),
        Some(i) => hidden.get(unit, i - n.input),
    };
    let panels = to.chunks_exact_mut(rows * GATES * lanes);
    for (panel, first) in panels.zip((0..n.hidden).step_by(lanes)) {
        for (i, numbers) in panel.chunks_exact_mut(GATES * lanes).enumerate() {
            for (j, number) in numbers.iter_mut().enumerate() {
                let (gate, unit) = (j / lanes, first + j % lanes);
                *number = if unit < n.hidden { weight(i, gate * n.hidden + unit) } else { R::ZERO };
            }
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
#[inline(always)]
fn step<R: Real, S: Simd>(
    s: S,
    h: &mut [R],
    c: &mut [R],
    gates: &mut [R],
    x: &[R],
    (h_before, c_before): (&[R], &[R]),
    panels: &[R],
    n: Recurrence,
) {
    let lanes = V::<R, S>::lanes();
    let size = (1 + n.input + n.hidden) * GATES * lanes;
    for (panel, unit) in panels.chunks_exact(size).zip((0..n.hidden).step_by(lanes)) {
        let panel = V::<R, S>::regs(panel);
        for row in (0..n.batch).step_by(ROWS) {
            let many = ROWS.min(n.batch - row);
            let state = row * n.hidden..(row + many) * n.hidden;
            let gates = &mut gates[row * GATES * n.hidden..][..many * GATES * n.hidden];
            let to = (&mut h[state.clone()], &mut c[state.clone()], gates);
            let from = (&x[row * n.input..][..many * n.input], &h_before[state.clone()], &c_before[state]);
            match many {
                1 => rows::<R, S, 1>(s, to, from, panel, n, unit),
                2 => rows::<R, S, 2>(s, to, from, panel, n, unit),
                _ => rows::<R, S, ROWS>(s, to, from, panel, n, unit),
            }
        }
    }
}

/// A register of units in `M` rows.
#[inline(always)]
fn rows<R: Real, S: Simd, const M: usize>(
    s: S,
    (h, c, gates): (&mut [R], &mut [R], &mut [R]),
    (x, h_before, c_before): (&[R], &[R], &[R]),
    panel: &[R::Reg<S>],
    n: Recurrence,
    unit: usize,
) {
    let (bias, weights) = panel.split_at(GATES);
    let mut sums = [[V::<R, S>::constant(s, 0.0); GATES]; M];
    for sums in &mut sums {
        for g in 0..GATES {
            sums[g] = V::of(s, bias[g]);
        }
    }
    let (of_input, of_hidden) = weights.split_at(GATES * n.input);
    let sums = terms(s, sums, x, of_input, n.input);
    let sums = terms(s, sums, h_before, of_hidden, n.hidden);
    for (m, sums) in sums.into_iter().enumerate() {
        let row = m * n.hidden;
        let units = Units::of(sums, V::at(s, &c_before[row..][..n.hidden], unit));
        for (g, gate) in units.gates.into_iter().enumerate() {
            gate.put(&mut gates[GATES * row + g * n.hidden..][..n.hidden], unit);
        }
        units.c.put(&mut c[row..][..n.hidden], unit);
        units.h.put(&mut h[row..][..n.hidden], unit);
    }
}

/// `sums += rows · weights` for rows of `k` numbers.
#[inline(always)]
fn terms<R: Real, S: Simd, const M: usize>(
    s: S,
    mut sums: [[V<R, S>; GATES]; M],
    rows: &[R],
    weights: &[R::Reg<S>],
    k: usize,
) -> [[V<R, S>; GATES]; M] {
    let (whole, none) = (k - k % UNROLL, [R::ZERO; UNROLL]);
    let weights = &weights[..GATES * k];
    for i in (0..whole).step_by(UNROLL) {
        let mut x = [&none; M];
        for m in 0..M {
            x[m] = rows[m * k + i..].first_chunk().expect("that many");
        }
        let weights = &weights[GATES * i..][..GATES * UNROLL];
        for j in 0..UNROLL {
            let mut numbers = [R::ZERO; M];
            for m in 0..M {
                numbers[m] = x[m][j];
            }
            sums = term(s, sums, numbers, &weights[GATES * j..][..GATES]);
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
    mut sums: [[V<R, S>; GATES]; M],
    x: [R; M],
    weights: &[R::Reg<S>],
) -> [[V<R, S>; GATES]; M] {
    let mut numbers = [V::<R, S>::constant(s, 0.0); M];
    for m in 0..M {
        numbers[m] = V::splat(s, x[m]);
    }
    for g in 0..GATES {
        let weight = V::of(s, weights[g]);
        for m in 0..M {
            sums[m][g] = numbers[m].mul_add(weight, sums[m][g]);
        }
    }
    sums
}
