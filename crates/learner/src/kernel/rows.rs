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
