//! Operations on whole rows, most of them inlined into other kernels.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// `Σ a·b`, in two sums per lane.
#[inline(always)]
pub(super) fn dot<R: Real, S: Simd>(s: S, a: &[R], b: &[R]) -> R {
    let lanes = V::<R, S>::lanes();
    let (pairs, others) = (V::<R, S>::regs(a).as_chunks::<2>().0, V::<R, S>::regs(b).as_chunks::<2>().0);
    let mut sums = [V::<R, S>::constant(s, 0.0); 2];
    for (a, b) in pairs.iter().zip(others) {
        sums[0] = V::of(s, a[0]).mul_add(V::of(s, b[0]), sums[0]);
        sums[1] = V::of(s, a[1]).mul_add(V::of(s, b[1]), sums[1]);
    }
    for at in (2 * lanes * pairs.len()..a.len()).step_by(lanes) {
        sums[0] = V::at(s, a, at).mul_add(V::at(s, b, at), sums[0]);
    }
    (sums[0] + sums[1]).sum()
}

/// `to += factor · from`.
#[inline(always)]
pub(super) fn add_times<R: Real, S: Simd>(s: S, to: &mut [R], factor: R, from: &[R]) {
    // Whole registers apart from the rest: inside the loop nothing is checked.
    let (factor, whole) = (V::splat(s, factor), to.len() - to.len() % V::<R, S>::lanes());
    for (to, &from) in V::<R, S>::regs_mut(to).iter_mut().zip(V::<R, S>::regs(from)) {
        *to = factor.mul_add(V::of(s, from), V::of(s, *to)).reg();
    }
    if whole < to.len() {
        factor.mul_add(V::at(s, from, whole), V::at(s, to, whole)).put(to, whole);
    }
}

/// `to = factor · from`.
#[inline(always)]
pub(super) fn set_times<R: Real, S: Simd>(s: S, to: &mut [R], factor: R, from: &[R]) {
    let (factor, whole) = (V::splat(s, factor), to.len() - to.len() % V::<R, S>::lanes());
    for (to, &from) in V::<R, S>::regs_mut(to).iter_mut().zip(V::<R, S>::regs(from)) {
        *to = (factor * V::of(s, from)).reg();
    }
    if whole < to.len() {
        (factor * V::at(s, from, whole)).put(to, whole);
    }
}

/// `out[N,d] = factors[N] · x[N,d]`, row by row.
pub fn scale_rows<R: Real>(out: &mut [R], x: &[R], factors: &[R], d: usize) {
    dispatch!(scale_rows_body(out, x, factors, d));
}

#[inline(always)]
fn scale_rows_body<R: Real, S: Simd>(s: S, out: &mut [R], x: &[R], factors: &[R], d: usize) {
    for ((out, x), &factor) in out.chunks_exact_mut(d).zip(x.chunks_exact(d)).zip(factors) {
        set_times(s, out, factor, x);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{near, random, size, size_or_none, wide};
    use super::*;

    #[inline(always)]
    fn all<R: Real, S: Simd>(s: S, added: &mut [R], set: &mut [R], factor: R, x: &[R]) -> R {
        let sum = dot(s, added, x);
        add_times(s, added, factor, x);
        set_times(s, set, factor, x);
        sum
    }

    fn check<R: Real>(n: usize, d: usize, seed: u64) {
        let (x, old): (Vec<R>, Vec<R>) = (random(seed, d), random(seed + 1, d));
        let (mut added, mut set, factor) = (old.clone(), vec![R::of(9.0); d], R::of(0.7));
        let sum = dispatch!(all(&mut added, &mut set, factor, &x));
        let (x, old) = (wide(&x), wide(&old));
        near(&[sum], &[x.iter().zip(&old).map(|(x, y)| x * y).sum()], d);
        near(&added, &x.iter().zip(&old).map(|(x, y)| factor.wide() * x + y).collect::<Vec<_>>(), 1);
        near(&set, &x.iter().map(|x| factor.wide() * x).collect::<Vec<_>>(), 1);

        let (rows, factors): (Vec<R>, Vec<R>) = (random(seed, n * d), random(seed + 2, n));
        let mut out = vec![R::of(9.0); n * d];
        scale_rows(&mut out, &rows, &factors, d);
        let scaled = |i: usize| factors[i / d].wide() * rows[i].wide();
        near(&out, &(0..n * d).map(scaled).collect::<Vec<_>>(), 1);
    }

    proptest! {
        #[test]
        fn any_length_equals_the_naive_loops(n in size_or_none(), d in size(), seed in 0u64..1000) {
            check::<f32>(n, d, seed);
            check::<f64>(n, d, seed);
        }
    }
}
