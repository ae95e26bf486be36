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

/// The end of a matrix that is read first. Who reads one larger than the second-level cache again and again goes to and fro:
/// what was read last is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Front,
    Back,
}

impl End {
    pub(super) fn other(self) -> Self {
        if self == Self::Front { Self::Back } else { Self::Front }
    }

    /// `0..count` from this end.
    #[inline(always)]
    fn count(self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).map(move |i| if self == Self::Front { i } else { count - 1 - i })
    }
}

/// `out[N] (+)= matrix[N,K] · x[K]`.
pub(super) fn dots<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R], from: End) {
    dispatch!(dots_body(out, add, matrix, x, from));
}

#[inline(always)]
fn dots_body<R: Real, S: Simd>(s: S, out: &mut [R], add: bool, matrix: &[R], x: &[R], from: End) {
    let k = x.len();
    let x = Split::new(s, x, head(matrix, k, V::<R, S>::lanes()));
    let mut put = |row: usize, sum: R| out[row] = if add { out[row] + sum } else { sum };
    let (blocks, rest) = matrix.split_at(matrix.len() - matrix.len() % (ROWS * k));
    for block in from.count(blocks.len() / (ROWS * k)) {
        let numbers = &blocks[block * ROWS * k..][..ROWS * k];
        for (r, sum) in dot_rows::<R, S, ROWS>(s, numbers, k, x).into_iter().enumerate() {
            put(block * ROWS + r, sum);
        }
    }
    for (r, row) in rest.chunks_exact(k).enumerate() {
        put(blocks.len() / k + r, dot_rows::<R, S, 1>(s, row, k, x)[0]);
    }
}

/// A vector cut as the rows of a matrix are: numbers before the first aligned register, whole registers, the rest. The
/// edges are filled up with zeros, so that a row can be read beyond them.
#[derive(Clone, Copy)]
struct Split<'a, R: Real, S: Simd> {
    head: usize,
    first: V<R, S>,
    whole: &'a [R::Reg<S>],
    last: V<R, S>,
}

impl<'a, R: Real, S: Simd> Split<'a, R, S> {
    #[inline(always)]
    fn new(s: S, x: &'a [R], head: usize) -> Self {
        let (front, x) = x.split_at(head);
        let whole = V::<R, S>::regs(x);
        let last = V::at(s, x, whole.len() * V::<R, S>::lanes());
        Self { head, first: V::at(s, front, 0), whole, last }
    }
}

/// One sum per lane and row. Reading from `head` on, every number meets the same sum in the same order as from the
/// start, only in another lane; the lanes are turned back in the end.
#[inline(always)]
fn dot_rows<R: Real, S: Simd, const N: usize>(s: S, block: &[R], k: usize, x: Split<'_, R, S>) -> [R; N] {
    let lanes = V::<R, S>::lanes();
    let (head, whole) = (x.head, x.whole);
    let mut sums = [V::<R, S>::constant(s, 0.0); N];
    let mut regs = [V::<R, S>::regs(&block[..0]); N];
    for r in 0..N {
        let row = &block[r * k..(r + 1) * k];
        regs[r] = &V::<R, S>::regs(&row[head..])[..whole.len()];
        if head > 0 {
            sums[r] = x.first.mul_add(V::at(s, row, 0), sums[r]).rotate_right(lanes - head);
        }
    }
    for i in 0..whole.len() {
        let x = V::of(s, whole[i]);
        for r in 0..N {
            sums[r] = x.mul_add(V::of(s, regs[r][i]), sums[r]);
        }
    }
    let end = head + whole.len() * lanes;
    let mut results = [R::ZERO; N];
    for r in 0..N {
        let row = &block[r * k..(r + 1) * k];
        if head > 0 {
            // Rows of whole registers: the last one, turned, begins where the aligned ones end.
            let last = V::at(s, row, k - lanes).rotate_right(lanes - head);
            sums[r] = x.last.mul_add(last, sums[r]).rotate_right(head);
        } else if end < k {
            sums[r] = x.last.mul_add(V::at(s, row, end), sums[r]);
        }
        results[r] = sums[r].sum();
    }
    results
}

/// `out[N] (+)= x[K] · matrix[K,N]`.
pub(super) fn mix<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R], from: End) {
    if !add {
        out.fill(R::ZERO);
    }
    dispatch!(mix_body(out, matrix, x, from));
}

#[inline(always)]
fn mix_body<R: Real, S: Simd>(s: S, out: &mut [R], matrix: &[R], x: &[R], from: End) {
    let n = out.len();
    let head = head(matrix, n, V::<R, S>::lanes());
    let whole = x.len() - x.len() % ROWS;
    for block in from.count(whole / ROWS) {
        let (numbers, x) = (&matrix[block * ROWS * n..][..ROWS * n], &x[block * ROWS..][..ROWS]);
        mix_rows::<R, S, ROWS>(s, out, numbers, x, head);
    }
    for (row, x) in matrix[whole * n..].chunks_exact(n).zip(x[whole..].chunks_exact(1)) {
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
            // Read beyond the head, which costs less than a part of a register.
            sum = weights[r].mul_add(V::at(s, &block[r * n..(r + 1) * n], 0), sum);
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
            let row = &block[r * n..(r + 1) * n];
            let last = if head > 0 {
                V::at(s, row, n - lanes).rotate_right(lanes - head)
            } else {
                V::at(s, row, whole * lanes)
            };
            sum = weights[r].mul_add(last, sum);
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
            for from in [End::Front, End::Back] {
                let (mut first, mut first_single) = (None, None);
                for place in 0..16 {
                    let moved = [vec![9.0; place], matrix.clone()].concat();
                    let (mut d, mut m) = (vec![1.0; n], vec![1.0; k]);
                    dots(&mut d, false, &moved[place..], &x, from);
                    mix(&mut m, false, &moved[place..], &y, from);
                    close(&d, &dots_naive, 1e-13);
                    close(&m, &mix_naive, 1e-13);
                    assert_eq!(*first.get_or_insert_with(|| (d.clone(), m.clone())), (d, m));
                    let moved = singles(&moved);
                    let (mut d, mut m) = (vec![1.0f32; n], vec![1.0f32; k]);
                    dots(&mut d, true, &moved[place..], &singles(&x), from);
                    mix(&mut m, true, &moved[place..], &singles(&y), from);
                    assert_eq!(*first_single.get_or_insert_with(|| (d.clone(), m.clone())), (d, m));
                }
            }
        }
    }
}
