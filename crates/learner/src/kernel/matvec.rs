//! One row times a matrix: the step of a recurrent layer that reads one string. Nothing is reused, so speed is that of
//! reading the matrix once; several of its rows are read side by side.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Rows read side by side for sums along rows, and for sums of rows: what measured best.
const DOTS: usize = 4;
const ROWS: usize = 8;

/// `out[N] (+)= matrix[N,K] · x[K]`.
pub(super) fn dots<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R]) {
    dispatch!(dots_body(out, add, matrix, x));
}

#[inline(always)]
fn dots_body<R: Real, S: Simd>(s: S, out: &mut [R], add: bool, matrix: &[R], x: &[R]) {
    let k = x.len();
    let mut put = |row: usize, sum: R| out[row] = if add { out[row] + sum } else { sum };
    let mut blocks = matrix.chunks_exact(DOTS * k);
    let mut row = 0;
    for block in &mut blocks {
        let rows: [&[R]; DOTS] = std::array::from_fn(|r| &block[r * k..(r + 1) * k]);
        for (r, sum) in dot_rows(s, rows, x).into_iter().enumerate() {
            put(row + r, sum);
        }
        row += DOTS;
    }
    for (r, line) in blocks.remainder().chunks_exact(k).enumerate() {
        put(row + r, dot_rows(s, [line], x)[0]);
    }
}

/// Two registers of every row at a time, each with a sum of its own.
#[inline(always)]
fn dot_rows<R: Real, S: Simd, const N: usize>(s: S, rows: [&[R]; N], x: &[R]) -> [R; N] {
    let lanes = V::<R, S>::lanes();
    let mut sums = [[V::<R, S>::constant(s, 0.0); N]; 2];
    let mut i = 0;
    while i < x.len() {
        for sums in &mut sums {
            if i < x.len() {
                let x = V::at(s, x, i);
                for r in 0..N {
                    sums[r] = x.mul_add(V::at(s, rows[r], i), sums[r]);
                }
            }
            i += lanes;
        }
    }
    std::array::from_fn(|r| (sums[0][r] + sums[1][r]).sum())
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
