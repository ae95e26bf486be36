//! One lane per element: for a single head that fills registers by itself, as in the attention of recurrent networks. Scores
//! are dot products and outputs weighted sums of whole rows, which are read in place.

use pulp::Simd;

use super::{Attention, DRows, MAX_LANES, OneString};
use crate::kernel::Real;
use crate::kernel::rows::{add_times, dot};
use crate::kernel::simd::V;

/// Whether the layer has a single head of at least two registers.
pub(super) fn pays(n: &Attention) -> bool {
    n.heads == 1 && n.size() >= 2 * MAX_LANES
}

fn largest<R: Real>(scores: &[R]) -> R {
    // Finite, because −∞ minus itself would be NaN.
    let mut most = R::of(-1e30);
    for &score in scores {
        most = if most < score { score } else { most };
    }
    most
}

impl<R: Real> OneString<'_, R> {
    /// `exp(score − top)` of query `i` with all keys it attends to. Returns `top`, the largest score, which the
    /// backward pass knows already.
    #[inline(always)]
    fn exponentials<S: Simd>(&self, s: S, weights: &mut [R], i: usize, top: Option<R>) -> R {
        let (n, q) = (self.n, self.at[0].row(self.q, i, self.n.width));
        // A dot product per key: rows are contiguous and hold at least two registers, so nothing is
        // transposed.
        for (j, weight) in weights.iter_mut().enumerate() {
            *weight = n.factor::<R>() * dot(s, q, self.at[1].row(self.kv, j, n.width));
        }
        let top = top.unwrap_or_else(|| largest(weights));
        for j in (0..weights.len()).step_by(V::<R, S>::lanes()) {
            (V::at(s, weights, j) - V::splat(s, top)).exp().put(weights, j);
        }
        top
    }

    /// The dropout factors of the weights of query `i`.
    #[inline(always)]
    fn factors(&self, factors: &mut [R], i: usize) {
        if self.mask.keeps_all() {
            factors.fill(R::ONE);
        } else {
            self.mask.factors(factors, (i * self.n.keys) as u32, 1, R::of(self.mask.scale()));
        }
    }
}

#[inline(always)]
pub(super) fn elements<R: Real, S: Simd>(
    s: S,
    out: &mut [R],
    stats: &mut [R],
    scratch: &mut [R],
    seq: OneString<'_, R>,
) {
    let n = seq.n;
    for (i, (out, stats)) in out.chunks_exact_mut(n.width).zip(stats.chunks_exact_mut(2)).enumerate() {
        let (weights, rest) = scratch.split_at_mut(n.visible(i));
        let factors = &mut rest[..weights.len()];
        let top = seq.exponentials(s, weights, i, None);
        seq.factors(factors, i);
        let mut sum = R::ZERO;
        for &weight in &*weights {
            sum += weight;
        }
        // Weights are divided by their sum as they are used: one division per query.
        let share = R::ONE / sum;
        stats.copy_from_slice(&[top, share]);
        out.fill(R::ZERO);
        for (j, (&weight, &factor)) in weights.iter().zip(&*factors).enumerate() {
            add_times(s, out, weight * share * factor, seq.at[2].row(seq.kv, j, n.width));
        }
    }
}

/// The backward pass of one string.
#[inline(always)]
pub(super) fn elements_backward<R: Real, S: Simd>(
    s: S,
    mut drows: DRows<'_, R>,
    scratch: &mut [R],
    [dout, out, stats]: [&[R]; 3],
    seq: OneString<'_, R>,
) {
    let n = seq.n;
    for j in 0..n.keys {
        seq.at[1].row_mut(drows.keys(), j, n.width).fill(R::ZERO);
        seq.at[2].row_mut(drows.keys(), j, n.width).fill(R::ZERO);
    }
    let rows = dout.chunks_exact(n.width).zip(out.chunks_exact(n.width)).zip(stats.chunks_exact(2));
    for (i, ((dout, out), stats)) in rows.enumerate() {
        let (weights, rest) = scratch.split_at_mut(n.visible(i));
        let (factors, dscores) = rest[..2 * weights.len()].split_at_mut(weights.len());
        seq.exponentials(s, weights, i, Some(stats[0]));
        seq.factors(factors, i);
        // The term that the softmax subtracts from the gradient of every weight, Σ weight · dweight = dout · out.
        let taken = dot(s, dout, out);
        // Values, keys and the query in loops of their own: keys and values lie side by side in a row, and a
        // loop over both would read and write four streams.
        for (j, dscore) in dscores.iter_mut().enumerate() {
            let dweight = factors[j] * dot(s, dout, seq.at[2].row(seq.kv, j, n.width));
            let weight = weights[j] * stats[1];
            *dscore = n.factor::<R>() * weight * (dweight - taken);
            add_times(s, seq.at[2].row_mut(drows.keys(), j, n.width), weight * factors[j], dout);
        }
        let q = seq.at[0].row(seq.q, i, n.width);
        for (j, &dscore) in dscores.iter().enumerate() {
            add_times(s, seq.at[1].row_mut(drows.keys(), j, n.width), dscore, q);
        }
        let dq = seq.at[0].row_mut(drows.queries(), i, n.width);
        dq.fill(R::ZERO);
        for (j, &dscore) in dscores.iter().enumerate() {
            add_times(s, dq, dscore, seq.at[1].row(seq.kv, j, n.width));
        }
    }
}
