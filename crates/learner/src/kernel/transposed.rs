//! `aᵀ · b` with many rows and few columns: the gradients of weights. A matrix product in general copies both sides into the
//! order that its inner loop reads them in, which costs a quarter of such a product; here both are read where they lie.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Rows taken together: the lines of both sides that they touch stay in the first-level cache.
const ROWS: usize = 128;

/// Whether this way is the better one for `k` rows and a product of `m` × `n`: where the crate, which takes two registers
/// of columns at a time, would be left with a single one.
pub(super) fn pays<R>(m: usize, k: usize, n: usize) -> bool {
    k >= 64 && m >= 4 && (n * size_of::<R>()).div_ceil(32) % 2 == 1
}

/// `c[M,N] (+)= a[K,M]ᵀ · b[K,N]`.
pub(super) fn transposed<R: Real>(c: &mut [R], add: bool, a: &[R], b: &[R], m: usize, n: usize) {
    dispatch!(product(c, add, a, b, m, n));
}

#[inline(always)]
fn product<R: Real, S: Simd>(s: S, c: &mut [R], add: bool, a: &[R], b: &[R], m: usize, n: usize) {
    let lanes = V::<R, S>::lanes();
    let mut add = add;
    for (a, b) in a.chunks(ROWS * m).zip(b.chunks(ROWS * n)) {
        let mut first = 0;
        while first < n {
            // Two registers at a time, and three rather than a single one at the end.
            let width = match (n - first).div_ceil(lanes) {
                1 => 1,
                3 => 3,
                _ => 2,
            };
            let inside = (width * lanes).min(n - first);
            let to = Place { add, first, inside, n };
            match width {
                1 => tiles::<R, S, 8, 1>(s, c, a, b, m, to),
                2 => tiles::<R, S, 6, 2>(s, c, a, b, m, to),
                _ => tiles::<R, S, 4, 3>(s, c, a, b, m, to),
            }
            first += inside;
        }
        add = true;
    }
}

/// A panel of columns.
#[derive(Clone, Copy)]
struct Place {
    /// Whether sums are added to what is there.
    add: bool,
    /// The first column.
    first: usize,
    /// How many columns.
    inside: usize,
    /// Columns in a row.
    n: usize,
}

/// All columns of `a` with a panel of `W` registers, `M` at a time, as many as fill the registers of AVX2.
#[inline(always)]
fn tiles<R: Real, S: Simd, const M: usize, const W: usize>(
    s: S,
    c: &mut [R],
    a: &[R],
    b: &[R],
    m: usize,
    to: Place,
) {
    let mut at = 0;
    while at < m {
        // Two middling tiles are better than a full one and a column.
        let left = m - at;
        let many = if left <= M {
            left
        } else if left < M + M / 2 {
            left.div_ceil(2)
        } else {
            M
        };
        let c = &mut c[at * to.n..];
        match many {
            1 => tile::<R, S, 1, W>(s, c, a, b, (m, at), to),
            2 => tile::<R, S, 2, W>(s, c, a, b, (m, at), to),
            3 => tile::<R, S, 3, W>(s, c, a, b, (m, at), to),
            4 => tile::<R, S, 4, W>(s, c, a, b, (m, at), to),
            5 => tile::<R, S, 5, W>(s, c, a, b, (m, at), to),
            6 => tile::<R, S, 6, W>(s, c, a, b, (m, at), to),
            7 => tile::<R, S, 7, W>(s, c, a, b, (m, at), to),
            _ => tile::<R, S, 8, W>(s, c, a, b, (m, at), to),
        }
        at += many;
    }
}

/// `M` columns of `a` with a panel. Registers that reach beyond their row hold numbers of the next, in lanes that are
/// not kept; only the last rows, more than one if a row is shorter than a register, do not have enough after them.
#[inline(always)]
fn tile<R: Real, S: Simd, const M: usize, const W: usize>(
    s: S,
    c: &mut [R],
    a: &[R],
    b: &[R],
    (m, at): (usize, usize),
    to: Place,
) {
    let lanes = V::<R, S>::lanes();
    let mut sums = [[V::<R, S>::constant(s, 0.0); W]; M];
    let rows = a.len() / m;
    let whole = (b.len() - to.first + to.n).saturating_sub(W * lanes) / to.n;
    for k in 0..whole {
        let a: &[R; M] = a[k * m + at..].first_chunk().expect("a tile is inside the matrix");
        let b = &V::<R, S>::regs(&b[k * to.n + to.first..])[..W];
        for i in 0..M {
            let x = V::splat(s, a[i]);
            for w in 0..W {
                sums[i][w] = x.mul_add(V::of(s, b[w]), sums[i][w]);
            }
        }
    }
    for k in whole..rows {
        let (a, b) = (&a[k * m + at..], &b[k * to.n + to.first..][..to.inside]);
        for (i, sums) in sums.iter_mut().enumerate() {
            for (w, sum) in sums.iter_mut().enumerate() {
                *sum = V::splat(s, a[i]).mul_add(V::at(s, b, w * lanes), *sum);
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
    use super::super::testing::{close, close_single, numbers, singles};
    use super::*;

    /// Any shape, more rows than are taken together and fewer, with sums of products as the reference.
    #[test]
    fn equals_sums_of_products() {
        let usual = [(7, 65, 17), (156, 300, 39), (13, 128, 40), (9, 129, 24), (6, 257, 16)];
        let few_columns = [(1, 1, 8), (4, 2, 9), (32, 70, 3), (5, 130, 1), (4, 1, 2)];
        for (m, k, n) in usual.into_iter().chain(few_columns) {
            let (a, b, old) = (numbers(1, k * m), numbers(2, k * n), numbers(3, m * n));
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
