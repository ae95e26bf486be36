//! One row times a matrix: the step of a recurrent layer that reads one string. Nothing is reused, so speed is that of
//! reading the matrix once; several of its rows are read side by side, by loads that never straddle a cache line where
//! the rows allow it. Where the matrix begins in memory makes no difference to the bits of a result.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Rows read side by side: what measured best.
const ROWS: usize = 8;

/// Numbers at the front of every row of `width` before its first aligned register; zero if rows differ in that.
fn head<R: Real>(matrix: &[R], width: usize, lanes: usize) -> usize {
    let offset = matrix.as_ptr().align_offset(lanes * size_of::<R>());
    if width.is_multiple_of(lanes) && offset < lanes { offset } else { 0 }
}

/// `out[N] (+)= matrix[N,K] · x[K]`.
pub(super) fn dots<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R]) {
    dispatch!(dots_body(out, add, matrix, x));
}

#[inline(always)]
fn dots_body<R: Real, S: Simd>(s: S, out: &mut [R], add: bool, matrix: &[R], x: &[R]) {
    let k = x.len();
    let head = head(matrix, k, V::<R, S>::lanes());
    let mut put = |row: usize, sum: R| out[row] = if add { out[row] + sum } else { sum };
    let mut blocks = matrix.chunks_exact(ROWS * k);
    let mut row = 0;
    for block in &mut blocks {
        for (r, sum) in dot_rows::<R, S, ROWS>(s, block, x, head).into_iter().enumerate() {
            put(row + r, sum);
        }
        row += ROWS;
    }
    for (r, line) in blocks.remainder().chunks_exact(k).enumerate() {
        put(row + r, dot_rows::<R, S, 1>(s, line, x, head)[0]);
    }
}

/// One sum per lane and row. Reading from `head` on, every number meets the same sum in the same order as from the
/// start, only in another lane; the lanes are turned back in the end.
#[inline(always)]
fn dot_rows<R: Real, S: Simd, const N: usize>(s: S, block: &[R], x: &[R], head: usize) -> [R; N] {
    let (k, lanes) = (x.len(), V::<R, S>::lanes());
    let (front, x) = x.split_at(head);
    let whole = V::<R, S>::regs(x);
    let mut sums = [V::<R, S>::constant(s, 0.0); N];
    let mut regs = [V::<R, S>::regs(&block[..0]); N];
    for r in 0..N {
        let row = &block[r * k..(r + 1) * k];
        regs[r] = &V::<R, S>::regs(&row[head..])[..whole.len()];
        if head > 0 {
            let first = V::at(s, front, 0) * V::at(s, &row[..head], 0);
            sums[r] = first.rotate_right(lanes - head);
        }
    }
    for i in 0..whole.len() {
        let x = V::of(s, whole[i]);
        for r in 0..N {
            sums[r] = x.mul_add(V::of(s, regs[r][i]), sums[r]);
        }
    }
    let end = whole.len() * lanes;
    let mut results = [R::ZERO; N];
    for r in 0..N {
        if end < x.len() {
            let row = &block[r * k + head..(r + 1) * k];
            sums[r] = V::at(s, x, end).mul_add(V::at(s, row, end), sums[r]);
        }
        results[r] = if head > 0 { sums[r].rotate_right(head).sum() } else { sums[r].sum() };
    }
    results
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
    let head = head(matrix, n, V::<R, S>::lanes());
    let (mut blocks, mut weights) = (matrix.chunks_exact(ROWS * n), x.chunks_exact(ROWS));
    for (block, x) in (&mut blocks).zip(&mut weights) {
        mix_rows::<R, S, ROWS>(s, out, block, x, head);
    }
    for (row, x) in blocks.remainder().chunks_exact(n).zip(weights.remainder().chunks_exact(1)) {
        mix_rows::<R, S, 1>(s, out, row, x, head);
    }
}

#[inline(always)]
fn mix_rows<R: Real, S: Simd, const N: usize>(s: S, out: &mut [R], block: &[R], x: &[R], head: usize) {
    let (n, lanes) = (out.len(), V::<R, S>::lanes());
    let mut weights = [V::<R, S>::constant(s, 0.0); N];
    let mut regs = [V::<R, S>::regs(&block[..0]); N];
    let (front, out) = out.split_at_mut(head);
    let whole = out.len() / lanes;
    for r in 0..N {
        weights[r] = V::splat(s, x[r]);
        regs[r] = &V::<R, S>::regs(&block[r * n + head..(r + 1) * n])[..whole];
    }
    if head > 0 {
        let mut sum = V::at(s, front, 0);
        for r in 0..N {
            sum = weights[r].mul_add(V::at(s, &block[r * n..r * n + head], 0), sum);
        }
        sum.put(front, 0);
    }
    let sums = &mut V::<R, S>::regs_mut(out)[..whole];
    for i in 0..whole {
        let mut sum = V::of(s, sums[i]);
        for r in 0..N {
            sum = weights[r].mul_add(V::of(s, regs[r][i]), sum);
        }
        sums[i] = sum.reg();
    }
    if whole * lanes < out.len() {
        let mut sum = V::at(s, out, whole * lanes);
        for r in 0..N {
            let row = &block[r * n + head..(r + 1) * n];
            sum = weights[r].mul_add(V::at(s, row, whole * lanes), sum);
        }
        sum.put(out, whole * lanes);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{close, numbers, singles};
    use super::*;

    /// Products are right and have the same bits wherever in memory the matrix begins.
    #[test]
    fn place_in_memory_makes_no_difference() {
        for (n, k) in [(1, 1), (3, 8), (17, 24), (19, 13), (64, 40), (9, 64)] {
            let (matrix, x, y) = (numbers(1, n * k), numbers(2, k), numbers(3, n));
            let dots_naive: Vec<f64> =
                matrix.chunks(k).map(|row| row.iter().zip(&x).map(|(a, b)| a * b).sum()).collect();
            let mix_naive: Vec<f64> =
                (0..k).map(|j| (0..n).map(|i| y[i] * matrix[i * k + j]).sum()).collect();
            let (mut first, mut first_single) = (None, None);
            for place in 0..16 {
                let moved = [vec![9.0; place], matrix.clone()].concat();
                let (mut d, mut m) = (vec![1.0; n], vec![1.0; k]);
                dots(&mut d, false, &moved[place..], &x);
                mix(&mut m, false, &moved[place..], &y);
                close(&d, &dots_naive, 1e-13);
                close(&m, &mix_naive, 1e-13);
                assert_eq!(*first.get_or_insert_with(|| (d.clone(), m.clone())), (d, m));
                let moved = singles(&moved);
                let (mut d, mut m) = (vec![1.0f32; n], vec![1.0f32; k]);
                dots(&mut d, true, &moved[place..], &singles(&x));
                mix(&mut m, true, &moved[place..], &singles(&y));
                assert_eq!(*first_single.get_or_insert_with(|| (d.clone(), m.clone())), (d, m));
            }
        }
    }
}
