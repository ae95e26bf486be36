//! One lane per position: for any number of heads of any size. In the forward pass a register holds one element of as many
//! queries as there are lanes, and keys are broadcast, so that the softmax needs no sums across lanes. In the backward pass it
//! holds one element of as many keys. Heads are first gathered into columns, `[E, padded positions]`.

use pulp::Simd;

use super::{Attention, DRows, MAX_LANES, OneString, Strided};
use crate::kernel::Real;
use crate::kernel::simd::V;

/// Positions rounded up to whole registers of any kind.
fn padded(positions: usize) -> usize {
    positions.div_ceil(MAX_LANES) * MAX_LANES
}

/// Elements of working memory.
pub(super) fn scratch(n: &Attention) -> usize {
    let (q, k, e) = (padded(n.queries), padded(n.keys), n.size());
    let forward = 2 * e * q + MAX_LANES * n.keys;
    let backward = 4 * e * k + n.queries * e * MAX_LANES;
    forward.max(backward)
}

/// One head of one string.
#[derive(Clone, Copy)]
struct OneHead<'a, R> {
    seq: OneString<'a, R>,
    h: usize,
}

impl<R: Real> OneHead<'_, R> {
    /// The index of element `d` of this head in a row.
    #[inline(always)]
    fn at(&self, d: usize) -> usize {
        d * self.seq.n.heads + self.h
    }

    /// `columns[E, padded] = factor · this head's elements of rows[T]`, with zeros as padding: the backward pass multiplies it
    /// by weights of zero, and a NaN that a diverged step left in the workspace would spread from there.
    #[inline(always)]
    fn gather(&self, columns: &mut [R], rows: &[R], place: Strided, t: usize, factor: R) {
        for (d, column) in columns.chunks_exact_mut(padded(t)).enumerate() {
            column[t..].fill(R::ZERO);
            for (t, x) in column[..t].iter_mut().enumerate() {
                *x = factor * rows[t * place.stride + place.offset + self.at(d)];
            }
        }
    }

    /// The inverse of [`OneHead::gather`].
    #[inline(always)]
    fn scatter(&self, rows: &mut [R], columns: &[R], place: Strided, t: usize, factor: R) {
        for (d, column) in columns.chunks_exact(padded(t)).enumerate() {
            for (t, &x) in column[..t].iter().enumerate() {
                rows[t * place.stride + place.offset + self.at(d)] = factor * x;
            }
        }
    }

    /// Factors of the weights of `lanes` queries from `i` on with key `j`, or of query `i` with `lanes` keys from `j` on.
    #[inline(always)]
    fn factors<S: Simd>(&self, s: S, i: usize, j: usize, stride: usize) -> V<R, S> {
        let (n, mask, mut factors) = (self.seq.n, self.seq.mask, [R::ZERO; MAX_LANES]);
        let first = (i * n.keys + j) * n.heads + self.h;
        let lanes = V::<R, S>::lanes();
        mask.factors(&mut factors[..lanes], first as u32, stride as u32, R::of(mask.scale()));
        V::at(s, &factors, 0)
    }
}

/// All heads of one string.
#[inline(always)]
pub(super) fn positions<R: Real, S: Simd>(
    s: S,
    out: &mut [R],
    stats: &mut [R],
    scratch: &mut [R],
    seq: OneString<'_, R>,
) {
    let (n, e) = (seq.n, seq.n.size());
    let (qt, rest) = scratch.split_at_mut(e * padded(n.queries));
    let (ot, scores) = rest.split_at_mut(e * padded(n.queries));
    for h in 0..n.heads {
        let head = OneHead { seq, h };
        head.gather(qt, seq.q, seq.at[0], n.queries, n.factor());
        head.forward(s, ot, stats, scores, qt);
        head.scatter(out, ot, Strided { offset: 0, stride: n.width }, n.queries, R::ONE);
    }
}

impl<R: Real> OneHead<'_, R> {
    #[inline(always)]
    fn forward<S: Simd>(&self, s: S, ot: &mut [R], stats: &mut [R], scores: &mut [R], qt: &[R]) {
        let (n, lanes) = (self.seq.n, V::<R, S>::lanes());
        for i in (0..n.queries).step_by(lanes) {
            // As many keys as the last query of the register sees; what the others must not see is hidden in
            // the softmax.
            let keys = n.visible(i + lanes - 1);
            let scores = &mut scores[..keys * lanes];
            // Four elements at a time: four registers of queries, a broadcast key and the scores stay in
            // registers, and groups of four make up heads of any size.
            for d in (0..n.size()).step_by(4) {
                match n.size() - d {
                    1 => self.scores::<S, 1>(s, scores, &qt[i..], d),
                    2 => self.scores::<S, 2>(s, scores, &qt[i..], d),
                    3 => self.scores::<S, 3>(s, scores, &qt[i..], d),
                    _ => self.scores::<S, 4>(s, scores, &qt[i..], d),
                }
            }
            let (sum, top) = self.weigh(s, scores, i);
            let share = V::constant(s, 1.0) / sum;
            let (mut tops, mut shares) = ([R::ZERO; MAX_LANES], [R::ZERO; MAX_LANES]);
            top.put(&mut tops, 0);
            share.put(&mut shares, 0);
            for (l, stats) in stats.chunks_exact_mut(2 * n.heads).skip(i).take(lanes).enumerate() {
                (stats[self.h], stats[n.heads + self.h]) = (tops[l], shares[l]);
            }
            for d in (0..n.size()).step_by(4) {
                match n.size() - d {
                    1 => self.sums::<S, 1>(s, &mut ot[i..], scores, d, share),
                    2 => self.sums::<S, 2>(s, &mut ot[i..], scores, d, share),
                    3 => self.sums::<S, 3>(s, &mut ot[i..], scores, d, share),
                    _ => self.sums::<S, 4>(s, &mut ot[i..], scores, d, share),
                }
            }
        }
    }

    /// `scores[j] (+)= Σ_d q[d]·k[j,d]` for `C` elements from `d` on; the call with `d = 0` sets, later ones add.
    #[inline(always)]
    fn scores<S: Simd, const C: usize>(&self, s: S, scores: &mut [R], qt: &[R], d: usize) {
        let (n, at) = (self.seq.n, self.seq.at[1]);
        let q: [V<R, S>; C] = std::array::from_fn(|c| V::at(s, qt, (d + c) * padded(n.queries)));
        for (j, score) in scores.chunks_exact_mut(V::<R, S>::lanes()).enumerate() {
            let k = at.row(self.seq.kv, j, n.width);
            let mut sum = if d == 0 { V::constant(s, 0.0) } else { V::at(s, score, 0) };
            for c in 0..C {
                sum = q[c].mul_add(V::splat(s, k[self.at(d + c)]), sum);
            }
            sum.put(score, 0);
        }
    }

    /// Turns scores into exponentials, with dropout; returns their sum (before dropout) and the largest score, per query.
    #[inline(always)]
    fn weigh<S: Simd>(&self, s: S, scores: &mut [R], i: usize) -> (V<R, S>, V<R, S>) {
        let (n, lanes) = (self.seq.n, V::<R, S>::lanes());
        let steps: [R; MAX_LANES] = std::array::from_fn(|l| R::of(l as f64));
        let steps = V::at(s, &steps, 0);
        // Query i + l attends to key j if j ≤ p + i + l, p keys being its prefix; all queries of this
        // register do so up to p + i.
        let own = n.prefix + i;
        let hide = |j: usize, x: V<R, S>, hidden: f64| {
            if !n.causal || j <= own {
                return x;
            }
            steps.if_less(V::constant(s, (j - own) as f64), V::constant(s, hidden), x)
        };
        let mut top = V::constant(s, -1e30);
        for (j, score) in scores.chunks_exact(lanes).enumerate() {
            top = top.max(hide(j, V::at(s, score, 0), -1e30));
        }
        let mut sum = V::constant(s, 0.0);
        for (j, score) in scores.chunks_exact_mut(lanes).enumerate() {
            let mut weight = hide(j, (V::at(s, score, 0) - top).exp(), 0.0);
            sum = sum + weight;
            if !self.seq.mask.keeps_all() {
                weight = weight * self.factors(s, i, j, n.keys * n.heads);
            }
            weight.put(score, 0);
        }
        (sum, top)
    }

    /// `out[d] = share · Σ_j weights[j]·v[j,d]` for `C` elements from `d` on.
    #[inline(always)]
    fn sums<S: Simd, const C: usize>(&self, s: S, ot: &mut [R], weights: &[R], d: usize, share: V<R, S>) {
        let (n, at) = (self.seq.n, self.seq.at[2]);
        let mut sums = [V::<R, S>::constant(s, 0.0); C];
        for (j, weight) in weights.chunks_exact(V::<R, S>::lanes()).enumerate() {
            let (weight, v) = (V::at(s, weight, 0), at.row(self.seq.kv, j, n.width));
            for c in 0..C {
                sums[c] = weight.mul_add(V::splat(s, v[self.at(d + c)]), sums[c]);
            }
        }
        for (c, sum) in sums.into_iter().enumerate() {
            (sum * share).put(ot, (d + c) * padded(n.queries));
        }
    }
}

/// The backward pass of all heads of one string.
#[inline(always)]
pub(super) fn positions_backward<R: Real, S: Simd>(
    s: S,
    mut drows: DRows<'_, R>,
    scratch: &mut [R],
    saved: [&[R]; 3],
    seq: OneString<'_, R>,
) {
    let n = seq.n;
    let len = n.size() * padded(n.keys);
    let (kt, rest) = scratch.split_at_mut(len);
    let (vt, rest) = rest.split_at_mut(len);
    let (dkt, rest) = rest.split_at_mut(len);
    let (dvt, dq) = rest.split_at_mut(len);
    for h in 0..n.heads {
        let head = OneHead { seq, h };
        let factor = n.factor();
        head.gather(kt, seq.kv, seq.at[1], n.keys, factor);
        head.gather(vt, seq.kv, seq.at[2], n.keys, R::ONE);
        head.backward(s, [&mut *dkt, &mut *dvt], dq, [&*kt, &*vt], saved);
        let lanes = V::<R, S>::lanes();
        for (i, dq) in dq.chunks_exact(n.size() * lanes).take(n.queries).enumerate() {
            let row = seq.at[0].row_mut(drows.queries(), i, n.width);
            for d in 0..n.size() {
                // Lanes are summed once per query, after all keys.
                row[head.at(d)] = V::<R, S>::at(s, dq, d * lanes).sum();
            }
        }
        head.scatter(drows.keys(), dkt, seq.at[1], n.keys, factor);
        head.scatter(drows.keys(), dvt, seq.at[2], n.keys, R::ONE);
    }
}

impl<R: Real> OneHead<'_, R> {
    /// Gradients of keys and values by column, and of each query as one register per element, whose lanes are still to be summed.
    #[inline(always)]
    fn backward<S: Simd>(
        &self,
        s: S,
        [dkt, dvt]: [&mut [R]; 2],
        dq: &mut [R],
        [kt, vt]: [&[R]; 2],
        [dout, out, stats]: [&[R]; 3],
    ) {
        let (n, lanes) = (self.seq.n, V::<R, S>::lanes());
        let (e, width) = (n.size(), padded(n.keys));
        dq[..n.queries * e * lanes].fill(R::ZERO);
        dkt.fill(R::ZERO);
        dvt.fill(R::ZERO);
        for (i, dq) in dq.chunks_exact_mut(e * lanes).take(n.queries).enumerate() {
            let q = self.seq.at[0].row(self.seq.q, i, n.width);
            let (g, out) = (&dout[i * n.width..][..n.width], &out[i * n.width..][..n.width]);
            // The term that the softmax subtracts from the gradient of every weight, Σ weight · dweight = dout · out.
            let taken: R = (0..e).map(|d| g[self.at(d)] * out[self.at(d)]).sum();
            let stats = &stats[i * 2 * n.heads..][..2 * n.heads];
            let (top, share) = (V::splat(s, stats[self.h]), V::splat(s, stats[n.heads + self.h]));
            // By key: a register of keys adds to its own columns of `dkt` and `dvt`, and only `dq` has to be
            // summed over lanes.
            for j in (0..n.visible(i)).step_by(lanes) {
                let (mut score, mut dweight) = (V::constant(s, 0.0), V::constant(s, 0.0));
                for d in 0..e {
                    score = V::at(s, kt, d * width + j).mul_add(V::splat(s, q[self.at(d)]), score);
                    dweight = V::at(s, vt, d * width + j).mul_add(V::splat(s, g[self.at(d)]), dweight);
                }
                let mut weight = (score - top).exp() * share;
                if j + lanes > n.visible(i) {
                    let mut visible = [R::ZERO; MAX_LANES];
                    // Multiplied rather than cut off: columns are padded with zeros, so whole registers can be
                    // written.
                    visible[..n.visible(i) - j].fill(R::ONE);
                    weight = weight * V::at(s, &visible, 0);
                }
                let mut used = weight;
                if !self.seq.mask.keeps_all() {
                    let factors = self.factors(s, i, j, n.heads);
                    used = weight * factors;
                    dweight = dweight * factors;
                }
                let dscore = weight * (dweight - V::splat(s, taken));
                for d in 0..e {
                    let at = d * width + j;
                    dscore.mul_add(V::splat(s, q[self.at(d)]), V::at(s, dkt, at)).put(dkt, at);
                    used.mul_add(V::splat(s, g[self.at(d)]), V::at(s, dvt, at)).put(dvt, at);
                    dscore.mul_add(V::at(s, kt, at), V::at(s, dq, d * lanes)).put(dq, d * lanes);
                }
            }
        }
    }
}
