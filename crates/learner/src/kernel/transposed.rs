//! `aᵀ · b` for long, narrow `a[K,M]` and `b[K,N]`: the gradient of a weight, summed over `K` = steps × strings.
//!
//! A general matrix product packs both operands. Here `a` is read in place, and of `b` only [`ROWS`] rows of one panel of
//! columns (two registers wide) are copied at a time, which fit in the first-level cache beside the rows of `a`. A tile of
//! sums is held in registers while the rows pass by, and is added to `c` once per [`ROWS`] rows.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Rows per panel of `b`: it and the rows of `a` beside it stay in the first-level cache.
const ROWS: usize = 128;

/// Whether this is faster than the GEMM crate for a product `[m,n]`: as long as the product stays in the second-level cache,
/// because every panel passes over a part of it for every [`ROWS`] rows.
pub(super) fn pays<R>(m: usize, n: usize) -> bool {
    m >= 4 && m * n * size_of::<R>() <= 1 << 18
}

/// `c[M,N] (+)= a[K,M]ᵀ · b[K,N]`.
pub(super) fn transposed<R: Real>(c: &mut [R], add: bool, a: &[R], b: &[R], m: usize, n: usize) {
    dispatch!(product(c, add, a, b, m, n));
}

#[inline(always)]
fn product<R: Real, S: Simd>(s: S, c: &mut [R], add: bool, a: &[R], b: &[R], m: usize, n: usize) {
    let lanes = V::<R, S>::lanes();
    let (mut one, mut two) =
        ([[V::<R, S>::constant(s, 0.0); 1]; ROWS], [[V::<R, S>::constant(s, 0.0); 2]; ROWS]);
    let mut add = add;
    for (a, b) in a.chunks(ROWS * m).zip(b.chunks(ROWS * n)) {
        let rows = b.len() / n;
        for first in (0..n).step_by(2 * lanes) {
            let inside = (2 * lanes).min(n - first);
            let to = ColumnPanel { add, first, inside, n };
            if inside > lanes {
                copy_panel(s, &mut two, b, to);
                tiles::<R, S, 6, 2>(s, c, a, &two[..rows], m, to);
            } else {
                copy_panel(s, &mut one, b, to);
                tiles::<R, S, 12, 1>(s, c, a, &one[..rows], m, to);
            }
        }
        add = true;
    }
}

/// A panel of columns.
#[derive(Clone, Copy)]
struct ColumnPanel {
    /// Whether sums are added to what is there.
    add: bool,
    first: usize,
    inside: usize,
    /// Columns in a row.
    n: usize,
}

/// Copies a panel of columns, so that its registers are contiguous.
#[inline(always)]
fn copy_panel<R: Real, S: Simd, const W: usize>(s: S, panel: &mut [[V<R, S>; W]], b: &[R], at: ColumnPanel) {
    let lanes = V::<R, S>::lanes();
    for (to, row) in panel.iter_mut().zip(b.chunks_exact(at.n)) {
        let row = &row[at.first..][..at.inside];
        for (w, to) in to.iter_mut().enumerate() {
            *to = V::at(s, row, w * lanes);
        }
    }
}

/// All columns of `a` with a panel of `W` registers, `M` at a time, as many as fill the registers of AVX2.
#[inline(always)]
fn tiles<R: Real, S: Simd, const M: usize, const W: usize>(
    s: S,
    c: &mut [R],
    a: &[R],
    b: &[[V<R, S>; W]],
    m: usize,
    to: ColumnPanel,
) {
    let mut at = 0;
    while at < m {
        // Two tiles of medium size are faster than a full one and a small one.
        let left = m - at;
        let many = if left <= M {
            left
        } else if left < M + M / 2 {
            left.div_ceil(2)
        } else {
            M
        };
        let (a, c) = (&a[at..], &mut c[at * to.n..]);
        match many {
            1 => tile::<R, S, 1, W>(s, c, a, b, m, to),
            2 => tile::<R, S, 2, W>(s, c, a, b, m, to),
            3 => tile::<R, S, 3, W>(s, c, a, b, m, to),
            4 => tile::<R, S, 4, W>(s, c, a, b, m, to),
            5 => tile::<R, S, 5, W>(s, c, a, b, m, to),
            6 => tile::<R, S, 6, W>(s, c, a, b, m, to),
            7 => tile::<R, S, 7, W>(s, c, a, b, m, to),
            8 => tile::<R, S, 8, W>(s, c, a, b, m, to),
            9 => tile::<R, S, 9, W>(s, c, a, b, m, to),
            10 => tile::<R, S, 10, W>(s, c, a, b, m, to),
            11 => tile::<R, S, 11, W>(s, c, a, b, m, to),
            _ => tile::<R, S, 12, W>(s, c, a, b, m, to),
        }
        at += many;
    }
}

/// `M` columns of `a` with a panel.
#[inline(always)]
fn tile<R: Real, S: Simd, const M: usize, const W: usize>(
    s: S,
    c: &mut [R],
    a: &[R],
    b: &[[V<R, S>; W]],
    m: usize,
    to: ColumnPanel,
) {
    let lanes = V::<R, S>::lanes();
    let mut sums = [[V::<R, S>::constant(s, 0.0); W]; M];
    for (a, b) in a.chunks(m).zip(b) {
        let a: &[R; M] = a.first_chunk().expect("a tile is inside the matrix");
        for i in 0..M {
            let x = V::splat(s, a[i]);
            for w in 0..W {
                sums[i][w] = x.mul_add(b[w], sums[i][w]);
            }
        }
    }
    for (i, sums) in sums.into_iter().enumerate() {
        let row = &mut c[i * to.n + to.first..][..to.inside];
        for (w, sum) in sums.into_iter().enumerate() {
            let sum = if to.add { V::at(s, row, w * lanes) + sum } else { sum };
            sum.put(row, w * lanes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{close, close_single, singles, values};
    use super::*;

    /// With more rows than a panel has, and fewer.
    #[test]
    fn any_shape_equals_sums_of_products() {
        let usual = [(7, 65, 17), (156, 300, 39), (13, 128, 40), (9, 129, 24), (6, 257, 16)];
        let few_columns = [(1, 1, 8), (4, 2, 9), (32, 70, 3), (5, 130, 1), (4, 1, 2)];
        for (m, k, n) in usual.into_iter().chain(few_columns) {
            let (a, b, old) = (values(1, k * m), values(2, k * n), values(3, m * n));
            let sum = |i: usize| (0..k).map(|r| a[r * m + i / n] * b[r * n + i % n]).sum::<f64>();
            for add in [false, true] {
                let expected: Vec<f64> =
                    (0..m * n).map(|i| if add { old[i] + sum(i) } else { sum(i) }).collect();
                let (mut c, mut single) = (old.clone(), singles(&old));
                transposed(&mut c, add, &a, &b, m, n);
                close(&c, &expected, 1e-12);
                transposed(&mut single, add, &singles(&a), &singles(&b), m, n);
                close_single(&single, &expected, 1e-4);
            }
        }
    }
}
