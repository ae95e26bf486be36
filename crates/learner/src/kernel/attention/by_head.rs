//! One lane per head: a register holds one element of every head. Rows are read in place, and no lane is masked, because the
//! loop over the keys of a query ends with the last one it attends to.
//!
//! Each query makes several passes over its keys (scores, exponentials, weighted sum; and backwards exponentials, values,
//! keys) rather than one: each loop then has all that it needs in registers.

use pulp::Simd;

use super::{DRows, MAX_LANES, OneString, positions, positions_backward};
use crate::kernel::Real;
use crate::kernel::simd::V;

/// By head if there is one head per lane, else by position.
#[inline(always)]
pub(super) fn either<R: Real, S: Simd, const E: usize>(
    s: S,
    out: &mut [R],
    stats: &mut [R],
    scratch: &mut [R],
    seq: OneString<'_, R>,
) {
    if seq.n.heads == V::<R, S>::lanes() {
        heads::<R, S, E>(s, out, stats, scratch, seq);
    } else {
        positions(s, out, stats, scratch, seq);
    }
}

/// The same for the backward pass.
#[inline(always)]
pub(super) fn either_backward<R: Real, S: Simd, const E: usize>(
    s: S,
    drows: DRows<'_, R>,
    scratch: &mut [R],
    saved: [&[R]; 3],
    seq: OneString<'_, R>,
) {
    if seq.n.heads == V::<R, S>::lanes() {
        heads_backward::<R, S, E>(s, drows, scratch, saved, seq);
    } else {
        positions_backward(s, drows, scratch, saved, seq);
    }
}

#[inline(always)]
fn dot<R: Real, S: Simd, const E: usize>(s: S, a: &[V<R, S>; E], b: &[V<R, S>; E]) -> V<R, S> {
    let mut sum = V::constant(s, 0.0);
    for e in 0..E {
        sum = a[e].mul_add(b[e], sum);
    }
    sum
}

/// The dropout factors of weight (i, j) of every head, if anything is dropped.
#[inline(always)]
fn factors<R: Real, S: Simd>(s: S, seq: &OneString<'_, R>, i: usize, j: usize) -> Option<V<R, S>> {
    if seq.mask.keeps_all() {
        return None;
    }
    // The mask counts by query, key and head: the factors of all heads are neighbours.
    let (lanes, mut factors) = (V::<R, S>::lanes(), [R::ZERO; MAX_LANES]);
    let first = ((i * seq.n.keys + j) * lanes) as u32;
    seq.mask.factors(&mut factors[..lanes], first, 1, R::of(seq.mask.scale()));
    Some(V::at(s, &factors, 0))
}

#[inline(always)]
fn heads<R: Real, S: Simd, const E: usize>(
    s: S,
    out: &mut [R],
    stats: &mut [R],
    scratch: &mut [R],
    seq: OneString<'_, R>,
) {
    let (n, lanes, [at_q, at_k, at_v]) = (seq.n, V::<R, S>::lanes(), seq.at);
    let factor = V::splat(s, n.factor());
    for (i, (out, stats)) in out.chunks_exact_mut(n.width).zip(stats.chunks_exact_mut(2 * lanes)).enumerate()
    {
        // 1/√E goes to the query once instead of to every score.
        let q = V::<R, S>::array::<E>(s, at_q.row(seq.q, i, n.width)).map(|q| q * factor);
        let weights = V::<R, S>::regs_mut(&mut scratch[..n.visible(i) * lanes]);
        // The softmax of all heads at once, each in its own lane: no step needs a sum across lanes.
        let mut top = V::constant(s, -1e30);
        for (score, row) in weights.iter_mut().zip(seq.kv.chunks_exact(at_k.stride)) {
            let sum = dot(s, &q, &V::array(s, &row[at_k.offset..]));
            top = top.max(sum);
            *score = sum.reg();
        }
        for weight in &mut *weights {
            *weight = (V::of(s, *weight) - top).exp().reg();
        }
        let (mut sum, mut sums) = (V::constant(s, 0.0), [V::constant(s, 0.0); E]);
        for (j, (&weight, row)) in weights.iter().zip(seq.kv.chunks_exact(at_v.stride)).enumerate() {
            let mut weight = V::of(s, weight);
            sum = sum + weight;
            if let Some(factors) = factors(s, &seq, i, j) {
                weight = weight * factors;
            }
            let v: [V<R, S>; E] = V::array(s, &row[at_v.offset..]);
            for e in 0..E {
                sums[e] = weight.mul_add(v[e], sums[e]);
            }
        }
        let share = V::constant(s, 1.0) / sum;
        // Weights are never divided by their sum: dividing the outputs costs E multiplications instead of one
        // per key.
        V::write(sums.map(|sum| sum * share), out);
        V::write([top, share], stats);
    }
}

#[inline(always)]
fn heads_backward<R: Real, S: Simd, const E: usize>(
    s: S,
    mut drows: DRows<'_, R>,
    scratch: &mut [R],
    [dout, out, stats]: [&[R]; 3],
    seq: OneString<'_, R>,
) {
    let (n, lanes, [at_q, at_k, at_v]) = (seq.n, V::<R, S>::lanes(), seq.at);
    let factor = V::splat(s, n.factor());
    // Every query adds to the gradients of keys and values, so these start from zero; each query has its own
    // gradient.
    for j in 0..n.keys {
        at_k.row_mut(drows.keys(), j, n.width).fill(R::ZERO);
        at_v.row_mut(drows.keys(), j, n.width).fill(R::ZERO);
    }
    let rows = dout.chunks_exact(n.width).zip(out.chunks_exact(n.width)).zip(stats.chunks_exact(2 * lanes));
    for (i, ((dout, out), stats)) in rows.enumerate() {
        let q = V::<R, S>::array::<E>(s, at_q.row(seq.q, i, n.width)).map(|q| q * factor);
        let g = V::<R, S>::array::<E>(s, dout);
        // The term that the softmax subtracts from the gradient of every weight, Σ weight · dweight = dout · out.
        let taken = dot(s, &g, &V::array(s, out));
        let [top, share]: [V<R, S>; 2] = V::array(s, stats);
        let weights = V::<R, S>::regs_mut(&mut scratch[..n.visible(i) * lanes]);
        for (score, row) in weights.iter_mut().zip(seq.kv.chunks_exact(at_k.stride)) {
            *score = dot(s, &q, &V::array(s, &row[at_k.offset..])).reg();
        }
        for weight in &mut *weights {
            *weight = (V::of(s, *weight) - top).exp().reg();
        }
        let rows = seq.kv.chunks_exact(at_v.stride).zip(drows.keys().chunks_exact_mut(at_v.stride));
        for (j, (weight, (row, drow))) in weights.iter_mut().zip(rows).enumerate() {
            let share = V::of(s, *weight) * share;
            let (mut used, mut dweight) = (share, dot(s, &g, &V::array(s, &row[at_v.offset..])));
            if let Some(factors) = factors(s, &seq, i, j) {
                used = used * factors;
                dweight = dweight * factors;
            }
            V::update::<E>(s, &mut drow[at_v.offset..], |e, dv| used.mul_add(g[e], dv));
            *weight = (share * (dweight - taken)).reg();
        }
        let mut dq = [V::constant(s, 0.0); E];
        let rows = seq.kv.chunks_exact(at_k.stride).zip(drows.keys().chunks_exact_mut(at_k.stride));
        for (&dscore, (row, drow)) in weights.iter().zip(rows) {
            let (dscore, k) = (V::of(s, dscore), V::<R, S>::array::<E>(s, &row[at_k.offset..]));
            for e in 0..E {
                dq[e] = dscore.mul_add(k[e], dq[e]);
            }
            V::update::<E>(s, &mut drow[at_k.offset..], |e, dk| dscore.mul_add(q[e], dk));
        }
        V::write(dq.map(|dq| dq * factor), at_q.row_mut(drows.queries(), i, n.width));
    }
}
