//! One row times a matrix: the step of a recurrent layer that reads one string. Nothing is reused, so speed is that of
//! reading the matrix once; eight of its rows are read side by side.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Rows read side by side.
const ROWS: usize = 8;

/// `out[N] (+)= matrix[N,K] · x[K]`.
pub(super) fn dots<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R]) {
    dispatch!(dots_body(out, add, matrix, x));
}

#[inline(always)]
fn dots_body<R: Real, S: Simd>(s: S, out: &mut [R], add: bool, matrix: &[R], x: &[R]) {
    let k = x.len();
    let mut put = |row: usize, sum: R| out[row] = if add { out[row] + sum } else { sum };
    let mut blocks = matrix.chunks_exact(ROWS * k);
    let mut row = 0;
    for block in &mut blocks {
        let rows: [&[R]; ROWS] = std::array::from_fn(|r| &block[r * k..(r + 1) * k]);
        let mut sums = [V::<R, S>::constant(s, 0.0); ROWS];
        for i in (0..k).step_by(V::<R, S>::lanes()) {
            let x = V::at(s, x, i);
            for r in 0..ROWS {
                sums[r] = x.mul_add(V::at(s, rows[r], i), sums[r]);
            }
        }
        for (r, sum) in sums.into_iter().enumerate() {
            put(row + r, sum.sum());
        }
        row += ROWS;
    }
    for (r, line) in blocks.remainder().chunks_exact(k).enumerate() {
        let mut sum = V::<R, S>::constant(s, 0.0);
        for i in (0..k).step_by(V::<R, S>::lanes()) {
            sum = V::at(s, x, i).mul_add(V::at(s, line, i), sum);
        }
        put(row + r, sum.sum());
    }
}

/// `out[N] (+)= x[K] · matrix[K,N]`.
pub(super) fn mix<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R]) {
    if !add {
        out.fill(R::ZERO);
    }
    dispatch!(mix_body(out, matrix, x));
}

#[inline(always)]
fn mix_body<R: Real, S: Simd>(s: S, out: &mut [R], matrix: &[R], x: &[R]) {
    let n = out.len();
    let (mut blocks, mut weights) = (matrix.chunks_exact(ROWS * n), x.chunks_exact(ROWS));
    for (block, x) in (&mut blocks).zip(&mut weights) {
        let rows: [&[R]; ROWS] = std::array::from_fn(|r| &block[r * n..(r + 1) * n]);
        let x: [V<R, S>; ROWS] = std::array::from_fn(|r| V::splat(s, x[r]));
        for i in (0..n).step_by(V::<R, S>::lanes()) {
            let mut sum = V::at(s, out, i);
            for r in 0..ROWS {
                sum = x[r].mul_add(V::at(s, rows[r], i), sum);
            }
            sum.put(out, i);
        }
    }
    for (row, &x) in blocks.remainder().chunks_exact(n).zip(weights.remainder()) {
        for i in (0..n).step_by(V::<R, S>::lanes()) {
            V::splat(s, x).mul_add(V::at(s, row, i), V::at(s, out, i)).put(out, i);
        }
    }
}
