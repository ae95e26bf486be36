//! Matrix–vector products: the step of a recurrent layer for a batch of one.
//!
//! No element of the matrix is used twice, so the speed is that of reading the matrix once. [`ROWS`] rows are read side by
//! side, so that as many loads are in flight. Each sum is taken in a fixed order, which depends on the shape alone.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Rows read side by side: the fastest of the counts tried.
const ROWS: usize = 4;

/// `out[N] (+)= matrix[N,K] · x[K]`.
pub(super) fn matvec<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R]) {
    dispatch!(matvec_body(out, add, matrix, x));
}

#[inline(always)]
fn matvec_body<R: Real, S: Simd>(s: S, out: &mut [R], add: bool, matrix: &[R], x: &[R]) {
    let k = x.len();
    let mut put = |row: usize, sum: R| out[row] = if add { out[row] + sum } else { sum };
    let blocks = matrix.chunks_exact(ROWS * k);
    let (rest, first) = (blocks.remainder(), matrix.len() / (ROWS * k) * ROWS);
    for (i, block) in blocks.enumerate() {
        for (r, sum) in dot_rows::<R, S, ROWS>(s, block, x).into_iter().enumerate() {
            put(i * ROWS + r, sum);
        }
    }
    for (r, row) in rest.chunks_exact(k).enumerate() {
        put(first + r, dot_rows::<R, S, 1>(s, row, x)[0]);
    }
}

/// The whole pairs of registers in each of the `N` rows of a block.
#[inline(always)]
fn pairs<R: Real, S: Simd, const N: usize>(block: &[R], width: usize) -> [&[[R::Reg<S>; 2]]; N] {
    let mut pairs = [V::<R, S>::regs(&block[..0]).as_chunks().0; N];
    let count = width / (2 * V::<R, S>::lanes());
    for r in 0..N {
        pairs[r] = &V::<R, S>::regs(&block[r * width..][..width]).as_chunks().0[..count];
    }
    pairs
}

/// The dot products of `N` rows with `x`. Each row has two registers of partial sums, which its registers are added to in
/// turn: one would wait for its own last addition.
#[inline(always)]
fn dot_rows<R: Real, S: Simd, const N: usize>(s: S, block: &[R], x: &[R]) -> [R; N] {
    let (k, lanes) = (x.len(), V::<R, S>::lanes());
    let x_pairs = V::<R, S>::regs(x).as_chunks::<2>().0;
    let pairs = self::pairs::<R, S, N>(block, k);
    let mut sums = [[V::<R, S>::constant(s, 0.0); 2]; N];
    for (i, x) in x_pairs.iter().enumerate() {
        let x = [V::of(s, x[0]), V::of(s, x[1])];
        for r in 0..N {
            sums[r][0] = x[0].mul_add(V::of(s, pairs[r][i][0]), sums[r][0]);
            sums[r][1] = x[1].mul_add(V::of(s, pairs[r][i][1]), sums[r][1]);
        }
    }
    for at in (2 * lanes * x_pairs.len()..k).step_by(lanes) {
        let x = V::at(s, x, at);
        for r in 0..N {
            sums[r][0] = x.mul_add(V::at(s, &block[r * k..][..k], at), sums[r][0]);
        }
    }
    let mut all = [R::ZERO; N];
    for r in 0..N {
        all[r] = (sums[r][0] + sums[r][1]).sum();
    }
    all
}

/// `out[N] (+)= x[K] · matrix[K,N]`.
pub(super) fn vecmat<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R]) {
    if !add {
        out.fill(R::ZERO);
    }
    dispatch!(vecmat_body(out, matrix, x));
}

#[inline(always)]
fn vecmat_body<R: Real, S: Simd>(s: S, out: &mut [R], matrix: &[R], x: &[R]) {
    let n = out.len();
    // Row by row although an output is the sum of a column: columns of a row-major matrix would be read with
    // a stride.
    let (blocks, rest) = x.as_chunks::<ROWS>();
    let (rows, rest_rows) = matrix.split_at(blocks.len() * ROWS * n);
    for (x, block) in blocks.iter().zip(rows.chunks_exact(ROWS * n)) {
        add_rows(s, out, block, x);
    }
    for (x, row) in rest.as_chunks::<1>().0.iter().zip(rest_rows.chunks_exact(n)) {
        add_rows(s, out, row, x);
    }
}

/// `out[n] += x[N] · block[N,n]`.
#[inline(always)]
fn add_rows<R: Real, S: Simd, const N: usize>(s: S, out: &mut [R], block: &[R], x: &[R; N]) {
    let (n, lanes) = (out.len(), V::<R, S>::lanes());
    let pairs = pairs::<R, S, N>(block, n);
    let mut weights = [V::<R, S>::constant(s, 0.0); N];
    for r in 0..N {
        weights[r] = V::splat(s, x[r]);
    }
    let whole = n - n % (2 * lanes);
    let sums = V::<R, S>::regs_mut(&mut out[..whole]).as_chunks_mut::<2>().0;
    let sums = &mut sums[..pairs[0].len()];
    // Each output is loaded and stored once for N rows.
    for i in 0..pairs[0].len() {
        let mut pair = [V::of(s, sums[i][0]), V::of(s, sums[i][1])];
        for r in 0..N {
            pair[0] = weights[r].mul_add(V::of(s, pairs[r][i][0]), pair[0]);
            pair[1] = weights[r].mul_add(V::of(s, pairs[r][i][1]), pair[1]);
        }
        sums[i] = [pair[0].reg(), pair[1].reg()];
    }
    for at in (whole..n).step_by(lanes) {
        let mut sum = V::at(s, out, at);
        for r in 0..N {
            sum = weights[r].mul_add(V::at(s, &block[r * n..][..n], at), sum);
        }
        sum.put(out, at);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::super::testing::{near, random, size, wide};
    use super::*;

    fn check<R: Real>(n: usize, k: usize, seed: u64) {
        let (matrix, x, y): (Vec<R>, Vec<R>, Vec<R>) =
            (random(seed, n * k), random(seed + 1, k), random(seed + 2, n));
        let by_row = naive::product(&wide(&matrix), &wide(&x), n, k, 1);
        let by_column = naive::product(&wide(&y), &wide(&matrix), 1, n, k);
        for add in [false, true] {
            let more = |sums: &[f64]| -> Vec<f64> { sums.iter().map(|x| x + f64::from(add)).collect() };
            let (mut d, mut m) = (vec![R::ONE; n], vec![R::ONE; k]);
            matvec(&mut d, add, &matrix, &x);
            vecmat(&mut m, add, &matrix, &y);
            near(&d, &more(&by_row), k);
            near(&m, &more(&by_column), n);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn any_shape_equals_the_naive_product(n in size(), k in prop_oneof![size(), 40usize..200], seed in 0u64..1000) {
            check::<f32>(n, k, seed);
            check::<f64>(n, k, seed);
        }
    }
}
