//! One row times a matrix: the step of a recurrent layer that reads one string. Nothing is reused, so speed is that of
//! reading the matrix once; a few of its rows are read side by side, by loads that never straddle a cache line where
//! the rows allow it, while the next few are asked for. Where the matrix begins in memory makes no difference to the bits of
//! a result.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch, fetch};

/// Rows read side by side: what measured best.
const ROWS: usize = 4;

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
pub(super) fn dots<R: Real>(out: &mut [R], add: bool, matrix: &[R], x: &[R], from: End) {
    dispatch!(dots_body(out, add, matrix, x, from));
}

#[inline(always)]
fn dots_body<R: Real, S: Simd>(s: S, out: &mut [R], add: bool, matrix: &[R], x: &[R], from: End) {
    let k = x.len();
    let x = Split::new(s, x, head(matrix, k, V::<R, S>::lanes()));
    let mut put = |row: usize, sum: R| out[row] = if add { out[row] + sum } else { sum };
    let (blocks, rest) = matrix.split_at(matrix.len() - matrix.len() % (ROWS * k));
    for (place, block, after) in from.blocks(blocks, ROWS * k) {
        for (r, sum) in dot_rows::<R, S, ROWS>(s, block, after, k, x).into_iter().enumerate() {
            put(place * ROWS + r, sum);
        }
    }
    for (r, row) in rest.chunks_exact(k).enumerate() {
        put(blocks.len() / k + r, dot_rows::<R, S, 1>(s, row, row, k, x)[0]);
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

/// What the rows hold in pairs, all of them as much as the first.
#[inline(always)]
fn pairs<T, const N: usize>(rows: [&[T]; N]) -> [&[[T; 2]]; N] {
    let count = rows[0].len() / 2;
    let mut pairs = [rows[0].as_chunks().0; N];
    for r in 0..N {
        pairs[r] = &rows[r].as_chunks().0[..count];
    }
    pairs
}

/// Two sums per lane and row, of the registers in turn. Reading from `head` on, every number meets the same others in the same
/// order as from the start, only in another lane, and some in the other of the two sums, which are added in the end; the lanes
/// are turned back. Meanwhile the block `after` is asked for.
#[inline(always)]
fn dot_rows<R: Real, S: Simd, const N: usize>(
    s: S,
    block: &[R],
    after: &[R],
    k: usize,
    x: Split<'_, R, S>,
) -> [R; N] {
    let lanes = V::<R, S>::lanes();
    let (head, whole) = (x.head, x.whole);
    let mut sums = [[V::<R, S>::constant(s, 0.0); 2]; N];
    let (mut regs, mut ahead) = ([V::<R, S>::regs(&block[..0]); N], [V::<R, S>::regs(&block[..0]); N]);
    for r in 0..N {
        let row = &block[r * k..(r + 1) * k];
        regs[r] = &V::<R, S>::regs(&row[head..])[..whole.len()];
        ahead[r] = &V::<R, S>::regs(&after[r * k + head..(r + 1) * k])[..whole.len()];
        if head > 0 {
            sums[r][1] = x.first.mul_add(V::at(s, row, 0), sums[r][1]).rotate_right(lanes - head);
        }
    }
    let (pairs, rows, ahead) = (whole.as_chunks::<2>().0, pairs(regs), pairs(ahead));
    for i in 0..pairs.len() {
        let pair = [V::of(s, pairs[i][0]), V::of(s, pairs[i][1])];
        for r in 0..N {
            fetch(&ahead[r][i]);
            sums[r][0] = pair[0].mul_add(V::of(s, rows[r][i][0]), sums[r][0]);
            sums[r][1] = pair[1].mul_add(V::of(s, rows[r][i][1]), sums[r][1]);
        }
    }
    if whole.len() % 2 == 1 {
        let i = whole.len() - 1;
        for r in 0..N {
            sums[r][0] = V::of(s, whole[i]).mul_add(V::of(s, regs[r][i]), sums[r][0]);
        }
    }
    let (end, turn) = (head + whole.len() * lanes, whole.len() % 2);
    let mut results = [R::ZERO; N];
    for r in 0..N {
        let row = &block[r * k..(r + 1) * k];
        if head > 0 {
            // Rows of whole registers: the last one, turned, begins where the aligned ones end.
            let last = V::at(s, row, k - lanes).rotate_right(lanes - head);
            sums[r][turn] = x.last.mul_add(last, sums[r][turn]);
        } else if end < k {
            sums[r][turn] = x.last.mul_add(V::at(s, row, end), sums[r][turn]);
        }
        let sum = sums[r][0] + sums[r][1];
        results[r] = if head > 0 { sum.rotate_right(head) } else { sum }.sum();
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
    let (blocks, rest) = matrix.split_at(whole * n);
    for (place, block, after) in from.blocks(blocks, ROWS * n) {
        mix_rows::<R, S, ROWS>(s, out, block, after, &x[place * ROWS..][..ROWS], head);
    }
    for (row, x) in rest.chunks_exact(n).zip(x[whole..].chunks_exact(1)) {
        mix_rows::<R, S, 1>(s, out, row, row, x, head);
    }
}

#[inline(always)]
fn mix_rows<R: Real, S: Simd, const N: usize>(
    s: S,
    out: &mut [R],
    block: &[R],
    after: &[R],
    x: &[R],
    head: usize,
) {
    let (n, lanes) = (out.len(), V::<R, S>::lanes());
    let mut weights = [V::<R, S>::constant(s, 0.0); N];
    let (mut regs, mut ahead) = ([V::<R, S>::regs(&block[..0]); N], [V::<R, S>::regs(&block[..0]); N]);
    let (front, out) = out.split_at_mut(head);
    let whole = out.len() / lanes;
    for r in 0..N {
        weights[r] = V::splat(s, x[r]);
        regs[r] = &V::<R, S>::regs(&block[r * n + head..(r + 1) * n])[..whole];
        ahead[r] = &V::<R, S>::regs(&after[r * n + head..(r + 1) * n])[..whole];
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
    let (rows, ahead) = (pairs(regs), pairs(ahead));
    for (i, sums) in sums.as_chunks_mut::<2>().0[..rows[0].len()].iter_mut().enumerate() {
        let mut pair = [V::of(s, sums[0]), V::of(s, sums[1])];
        for r in 0..N {
            fetch(&ahead[r][i]);
            pair[0] = weights[r].mul_add(V::of(s, rows[r][i][0]), pair[0]);
            pair[1] = weights[r].mul_add(V::of(s, rows[r][i][1]), pair[1]);
        }
        *sums = [pair[0].reg(), pair[1].reg()];
    }
    if whole % 2 == 1 {
        let mut sum = V::of(s, sums[whole - 1]);
        for r in 0..N {
            sum = weights[r].mul_add(V::of(s, regs[r][whole - 1]), sum);
        }
        sums[whole - 1] = sum.reg();
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
