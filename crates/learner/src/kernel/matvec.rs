//! One row times a matrix: the step of a recurrent layer that reads one string. Nothing is reused, so speed is that of
//! reading the matrix once; a few of its rows are read side by side, while the next few are asked for.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch, fetch};

/// Rows read side by side: what measured best.
const ROWS: usize = 4;

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

    /// The blocks of so many numbers from this end, each with its place and the block after it.
    #[inline(always)]
    fn blocks<R>(self, numbers: &[R], size: usize) -> impl Iterator<Item = (usize, &[R], &[R])> {
        let count = numbers.len() / size;
        let place = move |i: usize| if self == Self::Front { i } else { count - 1 - i };
        let block = move |place: usize| &numbers[place * size..][..size];
        (0..count).map(move |i| (place(i), block(place(i)), block(place((i + 1).min(count - 1)))))
    }
}

/// `out[N] (+)= matrix[N,K] · x[K]`.
pub(super) fn matvec<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R], from: End) {
    dispatch!(dots_body(out, add, matrix, x, from));
}

#[inline(always)]
fn dots_body<R: Real, S: Simd>(s: S, out: &mut [R], add: bool, matrix: &[R], x: &[R], from: End) {
    let k = x.len();
    let mut put = |row: usize, sum: R| out[row] = if add { out[row] + sum } else { sum };
    let (blocks, rest) = matrix.split_at(matrix.len() - matrix.len() % (ROWS * k));
    for (place, block, after) in from.blocks(blocks, ROWS * k) {
        for (r, sum) in dot_rows::<R, S, ROWS>(s, block, after, x).into_iter().enumerate() {
            put(place * ROWS + r, sum);
        }
    }
    for (r, row) in rest.chunks_exact(k).enumerate() {
        put(blocks.len() / k + r, dot_rows::<R, S, 1>(s, row, row, x)[0]);
    }
}

/// What each row of a block holds in pairs of registers.
#[inline(always)]
fn pairs<R: Real, S: Simd, const N: usize>(block: &[R], width: usize) -> [&[[R::Reg<S>; 2]]; N] {
    let mut pairs = [V::<R, S>::regs(&block[..0]).as_chunks().0; N];
    let count = width / (2 * V::<R, S>::lanes());
    for r in 0..N {
        pairs[r] = &V::<R, S>::regs(&block[r * width..][..width]).as_chunks().0[..count];
    }
    pairs
}

/// The sums of `N` rows, in two registers each, which the registers of a row are added to in turn. Meanwhile the block
/// `after` is asked for.
#[inline(always)]
fn dot_rows<R: Real, S: Simd, const N: usize>(s: S, block: &[R], after: &[R], x: &[R]) -> [R; N] {
    let (k, lanes) = (x.len(), V::<R, S>::lanes());
    let x_pairs = V::<R, S>::regs(x).as_chunks::<2>().0;
    let (pairs, ahead) = (self::pairs::<R, S, N>(block, k), self::pairs::<R, S, N>(after, k));
    let mut sums = [[V::<R, S>::constant(s, 0.0); 2]; N];
    for (i, x) in x_pairs.iter().enumerate() {
        let x = [V::of(s, x[0]), V::of(s, x[1])];
        for r in 0..N {
            fetch(&ahead[r][i]);
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
pub(super) fn vecmat<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R], from: End) {
    if !add {
        out.fill(R::ZERO);
    }
    dispatch!(mix_body(out, matrix, x, from));
}

#[inline(always)]
fn mix_body<R: Real, S: Simd>(s: S, out: &mut [R], matrix: &[R], x: &[R], from: End) {
    let n = out.len();
    let whole = x.len() - x.len() % ROWS;
    let (blocks, rest) = matrix.split_at(whole * n);
    for (place, block, after) in from.blocks(blocks, ROWS * n) {
        mix_rows::<R, S, ROWS>(s, out, block, after, &x[place * ROWS..][..ROWS]);
    }
    for (row, x) in rest.chunks_exact(n).zip(x[whole..].chunks_exact(1)) {
        mix_rows::<R, S, 1>(s, out, row, row, x);
    }
}

#[inline(always)]
fn mix_rows<R: Real, S: Simd, const N: usize>(s: S, out: &mut [R], block: &[R], after: &[R], x: &[R]) {
    let (n, lanes) = (out.len(), V::<R, S>::lanes());
    let (pairs, ahead) = (self::pairs::<R, S, N>(block, n), self::pairs::<R, S, N>(after, n));
    let mut weights = [V::<R, S>::constant(s, 0.0); N];
    for r in 0..N {
        weights[r] = V::splat(s, x[r]);
    }
    let whole = n - n % (2 * lanes);
    let sums = V::<R, S>::regs_mut(&mut out[..whole]).as_chunks_mut::<2>().0;
    let sums = &mut sums[..pairs[0].len()];
    for i in 0..pairs[0].len() {
        let mut pair = [V::of(s, sums[i][0]), V::of(s, sums[i][1])];
        for r in 0..N {
            fetch(&ahead[r][i]);
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
    use super::super::testing::{close, close_single, numbers, singles};
    use super::*;

    /// Any shape, from either end, with sums of products as the reference.
    #[test]
    fn equal_sums_of_products() {
        for (n, k) in [(1, 1), (3, 8), (17, 24), (19, 13), (64, 40), (9, 64), (2, 7), (5, 33)] {
            let (matrix, x, y) = (numbers(1, n * k), numbers(2, k), numbers(3, n));
            let dots_naive: Vec<f64> =
                matrix.chunks(k).map(|row| row.iter().zip(&x).map(|(a, b)| a * b).sum()).collect();
            let mix_naive: Vec<f64> =
                (0..k).map(|j| (0..n).map(|i| y[i] * matrix[i * k + j]).sum()).collect();
            for (from, add) in
                [(End::Front, false), (End::Back, false), (End::Front, true), (End::Back, true)]
            {
                let more = |sums: &[f64]| -> Vec<f64> { sums.iter().map(|x| x + f64::from(add)).collect() };
                let (mut d, mut m) = (vec![1.0; n], vec![1.0; k]);
                matvec(&mut d, add, &matrix, &x, from);
                vecmat(&mut m, add, &matrix, &y, from);
                close(&d, &more(&dots_naive), 1e-13);
                close(&m, &more(&mix_naive), 1e-13);
                let (mut d, mut m) = (vec![1.0; n], vec![1.0; k]);
                matvec(&mut d, add, &singles(&matrix), &singles(&x), from);
                vecmat(&mut m, add, &singles(&matrix), &singles(&y), from);
                close_single(&d, &more(&dots_naive), 1e-5);
                close_single(&m, &more(&mix_naive), 1e-5);
            }
        }
    }
}
