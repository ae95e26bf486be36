//! One lane per number: for a single head that fills registers by itself, as in the attention of recurrent networks.
//! Nothing is moved; every row is read as it lies.

use pulp::Simd;

use super::{Attention, DRows, MAX_LANES, One};
use crate::kernel::Real;
use crate::kernel::rows::{add_times, dot};
use crate::kernel::simd::V;

/// Whether a head is of that kind.
pub(super) fn pays(n: &Attention) -> bool {
    n.heads == 1 && n.size() >= 2 * MAX_LANES
}

fn largest<R: Real>(scores: &[R]) -> R {
    let mut most = R::of(-1e30);
    for &score in scores {
        most = if most < score { score } else { most };
    }
    most
}

impl<R: Real> One<'_, R> {
    /// `exp(score − top)` of query `i` with all it sees; the largest score is found if it is not known.
    #[inline(always)]
    fn exponentials<S: Simd>(&self, s: S, weights: &mut [R], i: usize, top: Option<R>) -> R {
        let (n, q) = (self.n, self.at[0].row(self.q, i, self.n.width));
        for (j, weight) in weights.iter_mut().enumerate() {
            *weight = n.factor::<R>() * dot(s, q, self.at[1].row(self.kv, j, n.width));
        }
        let top = top.unwrap_or_else(|| largest(weights));
        for j in (0..weights.len()).step_by(V::<R, S>::lanes()) {
            (V::at(s, weights, j) - V::splat(s, top)).exp().put(weights, j);
        }
        top
    }

    /// What dropout multiplies the weights of query `i` by.
    #[inline(always)]
    fn factors(&self, factors: &mut [R], i: usize) {
        if self.mask.keeps_all() {
            factors.fill(R::ONE);
        } else {
            self.mask.factors(factors, (i * self.n.keys) as u32, 1, R::of(self.mask.scale()));
        }
    }
}

/// One string.
#[inline(always)]
pub(super) fn numbers<R: Real, S: Simd>(
    s: S,
    out: &mut [R],
    kept: &mut [R],
    scratch: &mut [R],
    one: One<'_, R>,
) {
    let n = one.n;
    for (i, (out, kept)) in out.chunks_exact_mut(n.width).zip(kept.chunks_exact_mut(2)).enumerate() {
        let (weights, rest) = scratch.split_at_mut(n.seen(i));
        let factors = &mut rest[..weights.len()];
        let top = one.exponentials(s, weights, i, None);
        one.factors(factors, i);
        let mut sum = R::ZERO;
        for &weight in &*weights {
            sum += weight;
        }
        let share = R::ONE / sum;
        kept.copy_from_slice(&[top, share]);
        out.fill(R::ZERO);
        for (j, (&weight, &factor)) in weights.iter().zip(&*factors).enumerate() {
            add_times(s, out, weight * share * factor, one.at[2].row(one.kv, j, n.width));
        }
    }
}

/// One string, on the way back.
#[inline(always)]
pub(super) fn numbers_backward<R: Real, S: Simd>(
    s: S,
    mut drows: DRows<'_, R>,
    scratch: &mut [R],
    [dout, out, kept]: [&[R]; 3],
    one: One<'_, R>,
) {
    let n = one.n;
    for j in 0..n.keys {
        one.at[1].row_mut(drows.keys(), j, n.width).fill(R::ZERO);
        one.at[2].row_mut(drows.keys(), j, n.width).fill(R::ZERO);
    }
    let rows = dout.chunks_exact(n.width).zip(out.chunks_exact(n.width)).zip(kept.chunks_exact(2));
    for (i, ((dout, out), kept)) in rows.enumerate() {
        let (weights, rest) = scratch.split_at_mut(n.seen(i));
        let (factors, dscores) = rest[..2 * weights.len()].split_at_mut(weights.len());
        one.exponentials(s, weights, i, Some(kept[0]));
        one.factors(factors, i);
        // What softmax takes away from every weight's gradient.
        let taken = dot(s, dout, out);
        for (j, dscore) in dscores.iter_mut().enumerate() {
            let dweight = factors[j] * dot(s, dout, one.at[2].row(one.kv, j, n.width));
            let weight = weights[j] * kept[1];
            *dscore = n.factor::<R>() * weight * (dweight - taken);
            add_times(s, one.at[2].row_mut(drows.keys(), j, n.width), weight * factors[j], dout);
        }
        let q = one.at[0].row(one.q, i, n.width);
        for (j, &dscore) in dscores.iter().enumerate() {
            add_times(s, one.at[1].row_mut(drows.keys(), j, n.width), dscore, q);
        }
        let dq = one.at[0].row_mut(drows.queries(), i, n.width);
        dq.fill(R::ZERO);
        for (j, &dscore) in dscores.iter().enumerate() {
            add_times(s, dq, dscore, one.at[1].row(one.kv, j, n.width));
        }
    }
}
