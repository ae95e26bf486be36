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
        // Later panels of rows add to what the first has written.
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
    // Outer products of rows: both operands are read along their rows, and every sum is a chain over `K` in
    // order.
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
    use proptest::prelude::*;

    use super::super::naive;
    use super::super::testing::{near, random, size, wide};
    use super::*;

    fn check<R: Real>(m: usize, k: usize, n: usize, seed: u64) {
        let (a, b, old): (Vec<R>, Vec<R>, Vec<R>) =
            (random(seed, k * m), random(seed + 1, k * n), random(seed + 2, m * n));
        let product = naive::product(&naive::transpose(&wide(&a), k, m), &wide(&b), m, k, n);
        let mut c = old.clone();
        transposed(&mut c, false, &a, &b, m, n);
        near(&c, &product, k);
        let mut c = old.clone();
        transposed(&mut c, true, &a, &b, m, n);
        let sum: Vec<f64> = product.iter().zip(wide(&old)).map(|(x, old)| x + old).collect();
        near(&c, &sum, k);
    }

    /// The shapes of a whole number of panels and of one row more or less, and matrices of many tiles.
    #[test]
    fn panels_of_any_length_equal_the_naive_product() {
        for (m, k, n) in [(7, 128, 17), (6, 129, 16), (13, 127, 40), (9, 257, 24), (156, 300, 39)] {
            check::<f32>(m, k, n, 1);
            check::<f64>(m, k, n, 1);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn any_shape_equals_the_naive_product(
            (m, n) in (size(), size()),
            k in prop_oneof![size(), 100usize..300],
            seed in 0u64..1000,
        ) {
            check::<f32>(m, k, n, seed);
            check::<f64>(m, k, n, seed);
        }
    }
}
