//! Multi-head attention: scores, mask, softmax and weighted sum of each head in one go, never storing the weights.
//!
//! Lanes are *positions*, not features, so that heads of four numbers are as quick as heads of sixty-four. On the way
//! forward eight queries share a register and keys are broadcast; softmax then needs no sums across lanes. On the way
//! back eight keys share a register and queries are broadcast; weights are computed again from the saved logarithm of
//! each row's sum. Rows of queries, keys and values are read where the projection left them.

use pulp::Simd;

use super::dropout::Mask;
use super::simd::{V, dispatch};
use super::{Lane, Real};

/// The sizes of an attention layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    /// `B`, strings.
    pub batch: usize,
    /// Positions that ask.
    pub queries: usize,
    /// Positions that answer.
    pub keys: usize,
    /// `D`, numbers per position over all heads.
    pub width: usize,
    /// Heads; must divide `D`.
    pub heads: usize,
    /// Whether a position sees only itself and those before it.
    pub causal: bool,
}

/// More lanes than any register has.
const MAX_LANES: usize = 16;

impl Attention {
    /// Positions rounded up to whole registers of any kind.
    fn padded(positions: usize) -> usize {
        positions.div_ceil(MAX_LANES) * MAX_LANES
    }

    /// Numbers of working memory that either direction needs.
    pub fn scratch(&self) -> usize {
        let (q, k) = (Self::padded(self.queries), Self::padded(self.keys));
        let e = self.width / self.heads;
        let forward = 2 * e * q + MAX_LANES * self.keys;
        let backward = 4 * e * k + self.queries * (e * MAX_LANES + 1);
        forward.max(backward)
    }

    /// Numbers of `log_sums`: one per string, head and query.
    pub fn log_sums(&self) -> usize {
        self.batch * self.heads * self.queries
    }
}

/// Where a matrix of positions lies: rows of `stride` numbers, of which head `h` owns `E` from `offset + h·E`.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: usize,
    stride: usize,
}

/// Self-attention. `qkv[B,T,3D]` holds queries, keys and values side by side; `out[B,T,D]`.
///
/// `log_sums` is kept for the way back; `mask` drops attention weights.
pub fn attention<R: Real>(
    out: &mut [R],
    log_sums: &mut [R],
    scratch: &mut [R],
    qkv: &[R],
    mask: Mask,
    n: Attention,
) {
    let row = 3 * n.width;
    let places = [0, n.width, 2 * n.width].map(|offset| Place { offset, stride: row });
    for b in 0..n.batch {
        let qkv = &qkv[b * n.queries * row..(b + 1) * n.queries * row];
        let out = &mut out[b * n.queries * n.width..(b + 1) * n.queries * n.width];
        let log_sums = &mut log_sums[b * n.heads * n.queries..(b + 1) * n.heads * n.queries];
        dispatch!(string(out, log_sums, &mut *scratch, [qkv; 2], places, mask, b, n));
    }
}

/// Attention of `q[B,Tq,D]` to `kv[B,Tk,2D]`, keys and values side by side.
pub fn cross_attention<R: Real>(
    out: &mut [R],
    log_sums: &mut [R],
    scratch: &mut [R],
    (q, kv): (&[R], &[R]),
    mask: Mask,
    n: Attention,
) {
    let (q_row, kv_row) = (n.queries * n.width, n.keys * 2 * n.width);
    let places = cross_places(n);
    for b in 0..n.batch {
        let rows = [&q[b * q_row..(b + 1) * q_row], &kv[b * kv_row..(b + 1) * kv_row]];
        let out = &mut out[b * q_row..(b + 1) * q_row];
        let log_sums = &mut log_sums[b * n.heads * n.queries..(b + 1) * n.heads * n.queries];
        dispatch!(string(out, log_sums, &mut *scratch, rows, places, mask, b, n));
    }
}

fn cross_places(n: Attention) -> [Place; 3] {
    let kv = 2 * n.width;
    [
        Place { offset: 0, stride: n.width },
        Place { offset: 0, stride: kv },
        Place { offset: n.width, stride: kv },
    ]
}

/// `columns[E, padded] = factor · rows[positions, E]ᵀ`; the padding is left alone.
#[inline(always)]
fn transpose<R: Real>(
    columns: &mut [R],
    rows: &[R],
    place: Place,
    (positions, e): (usize, usize),
    factor: R,
) {
    let padded = Attention::padded(positions);
    for t in 0..positions {
        let row = &rows[t * place.stride + place.offset..][..e];
        for (d, &x) in row.iter().enumerate() {
            columns[d * padded + t] = factor * x;
        }
    }
}

/// `rows[positions, E] = factor · columns[E, padded]ᵀ`.
#[inline(always)]
fn transpose_back<R: Real>(
    rows: &mut [R],
    columns: &[R],
    place: Place,
    (positions, e): (usize, usize),
    factor: R,
) {
    let padded = Attention::padded(positions);
    for t in 0..positions {
        let row = &mut rows[t * place.stride + place.offset..][..e];
        for (d, x) in row.iter_mut().enumerate() {
            *x = factor * columns[d * padded + t];
        }
    }
}

/// All heads of one string.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
fn string<R: Real, S: Simd>(
    s: S,
    out: &mut [R],
    log_sums: &mut [R],
    scratch: &mut [R],
    [q, kv]: [&[R]; 2],
    [at_q, at_k, at_v]: [Place; 3],
    mask: Mask,
    b: usize,
    n: Attention,
) {
    let e = n.width / n.heads;
    let padded = Attention::padded(n.queries);
    let (qt, rest) = scratch.split_at_mut(e * padded);
    let (ot, scores) = rest.split_at_mut(e * padded);
    let factor = R::ONE / R::of(e as f64).root();
    for h in 0..n.heads {
        let shift = |place: Place| Place { offset: place.offset + h * e, ..place };
        transpose(qt, q, shift(at_q), (n.queries, e), factor);
        let head = Head { k: shift(at_k), v: shift(at_v), mask: mask.nth(b * n.heads + h), e, n };
        let log_sums = &mut log_sums[h * n.queries..(h + 1) * n.queries];
        head.forward(s, ot, log_sums, scores, qt, kv);
        let place = Place { offset: h * e, stride: n.width };
        transpose_back(out, ot, place, (n.queries, e), R::ONE);
    }
}

/// One head of one string.
#[derive(Clone, Copy)]
struct Head {
    k: Place,
    v: Place,
    mask: Mask,
    e: usize,
    n: Attention,
}

impl Head {
    #[inline(always)]
    fn forward<R: Real, S: Simd>(
        self,
        s: S,
        ot: &mut [R],
        log_sums: &mut [R],
        scores: &mut [R],
        qt: &[R],
        kv: &[R],
    ) {
        let (lanes, padded) = (V::<R, S>::lanes(), Attention::padded(self.n.queries));
        for i in (0..self.n.queries).step_by(lanes) {
            let keys = if self.n.causal { (i + lanes).min(self.n.keys) } else { self.n.keys };
            let qt = &qt[i..];
            // Scores of `lanes` queries with every key, four features at a time.
            let mut d = 0;
            while d + 4 <= self.e {
                self.scores::<R, S, 4>(s, scores, qt, kv, d, keys);
                d += 4;
            }
            while d < self.e {
                self.scores::<R, S, 1>(s, scores, qt, kv, d, keys);
                d += 1;
            }
            let (sum, top) = self.weigh(s, scores, i, keys);
            let mut rows = [R::ZERO; MAX_LANES];
            sum.put(&mut rows, 0);
            let mut tops = [R::ZERO; MAX_LANES];
            top.put(&mut tops, 0);
            for (l, log_sum) in log_sums[i..].iter_mut().take(lanes).enumerate() {
                *log_sum = tops[l] + R::of(libm::log(rows[l].wide()));
            }
            self.drop_weights(s, scores, i, keys);
            let share = V::constant(s, 1.0) / sum;
            let mut d = 0;
            while d + 4 <= self.e {
                self.sums::<R, S, 4>(s, &mut ot[i..], scores, kv, (d, keys, padded), share);
                d += 4;
            }
            while d < self.e {
                self.sums::<R, S, 1>(s, &mut ot[i..], scores, kv, (d, keys, padded), share);
                d += 1;
            }
        }
    }

    /// `scores[j] (+)= Σ_d q[d]·k[j,d]` for `C` features from `d` on; the first of them sets, later ones add.
    #[inline(always)]
    fn scores<R: Real, S: Simd, const C: usize>(
        self,
        s: S,
        scores: &mut [R],
        qt: &[R],
        kv: &[R],
        d: usize,
        keys: usize,
    ) {
        let (lanes, padded) = (V::<R, S>::lanes(), Attention::padded(self.n.queries));
        let q: [V<R, S>; C] = std::array::from_fn(|c| V::at(s, qt, (d + c) * padded));
        for (j, score) in scores.chunks_exact_mut(lanes).take(keys).enumerate() {
            let k = &kv[j * self.k.stride + self.k.offset + d..][..C];
            let mut sum = if d == 0 { V::constant(s, 0.0) } else { V::at(s, score, 0) };
            for c in 0..C {
                sum = q[c].mul_add(V::splat(s, k[c]), sum);
            }
            sum.put(score, 0);
        }
    }

    /// Scores become exponentials; gives their sum and the largest score, per query.
    #[inline(always)]
    fn weigh<R: Real, S: Simd>(self, s: S, scores: &mut [R], i: usize, keys: usize) -> (V<R, S>, V<R, S>) {
        let lanes = V::<R, S>::lanes();
        // Query i + l sees key j if j ≤ i + l: below the diagonal block, always.
        let free = if self.n.causal { i.min(keys) } else { keys };
        let mut steps = [R::ZERO; MAX_LANES];
        for (l, step) in steps.iter_mut().enumerate() {
            *step = R::of(l as f64);
        }
        let steps = V::at(s, &steps, 0);
        let hidden = |j: usize| V::constant(s, (j - i) as f64);
        let lowest = V::constant(s, -1e30);
        let mut top = lowest;
        for (j, score) in scores.chunks_exact_mut(lanes).take(keys).enumerate() {
            let mut x = V::at(s, score, 0);
            if j >= free {
                x = steps.if_less(hidden(j), lowest, x);
                x.put(score, 0);
            }
            top = top.max(x);
        }
        let mut sum = V::constant(s, 0.0);
        for (j, score) in scores.chunks_exact_mut(lanes).take(keys).enumerate() {
            let mut x = (V::at(s, score, 0) - top).exp();
            if j >= free {
                x = steps.if_less(hidden(j), V::constant(s, 0.0), x);
            }
            sum = sum + x;
            x.put(score, 0);
        }
        (sum, top)
    }

    #[inline(always)]
    fn drop_weights<R: Real, S: Simd>(self, s: S, scores: &mut [R], i: usize, keys: usize) {
        if self.mask.keeps_all() {
            return;
        }
        let (lanes, scale) = (V::<R, S>::lanes(), R::of(self.mask.scale()));
        let mut factors = [R::ZERO; MAX_LANES];
        for (j, score) in scores.chunks_exact_mut(lanes).take(keys).enumerate() {
            self.mask.factors(&mut factors[..lanes], (j * self.n.queries + i) as u32, 1, scale);
            (V::at(s, score, 0) * V::at(s, &factors, 0)).put(score, 0);
        }
    }

    /// `out[d] = share · Σ_j weights[j]·v[j,d]` for `C` features from `d` on.
    #[inline(always)]
    fn sums<R: Real, S: Simd, const C: usize>(
        self,
        s: S,
        ot: &mut [R],
        weights: &[R],
        kv: &[R],
        (d, keys, padded): (usize, usize, usize),
        share: V<R, S>,
    ) {
        let mut sums = [V::<R, S>::constant(s, 0.0); C];
        for (j, weight) in weights.chunks_exact(V::<R, S>::lanes()).take(keys).enumerate() {
            let (weight, v) = (V::at(s, weight, 0), &kv[j * self.v.stride + self.v.offset + d..][..C]);
            for c in 0..C {
                sums[c] = weight.mul_add(V::splat(s, v[c]), sums[c]);
            }
        }
        for (c, sum) in sums.into_iter().enumerate() {
            (sum * share).put(ot, (d + c) * padded);
        }
    }
}

/// The way back of [`attention`]: `dqkv[B,T,3D]` from `dout[B,T,D]` and what was kept.
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn attention_backward<R: Real>(
    dqkv: &mut [R],
    scratch: &mut [R],
    dout: &[R],
    out: &[R],
    log_sums: &[R],
    qkv: &[R],
    mask: Mask,
    n: Attention,
) {
    let row = 3 * n.width;
    let places = [0, n.width, 2 * n.width].map(|offset| Place { offset, stride: row });
    for b in 0..n.batch {
        let rows = [&qkv[b * n.queries * row..(b + 1) * n.queries * row]; 2];
        let range = b * n.queries * n.width..(b + 1) * n.queries * n.width;
        let saved = [&dout[range.clone()], &out[range]];
        let log_sums = &log_sums[b * n.heads * n.queries..(b + 1) * n.heads * n.queries];
        let drows = DRows::Shared(&mut dqkv[b * n.queries * row..(b + 1) * n.queries * row]);
        dispatch!(string_backward(drows, &mut *scratch, saved, log_sums, rows, places, mask, b, n));
    }
}

/// The way back of [`cross_attention`].
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn cross_attention_backward<R: Real>(
    (dq, dkv): (&mut [R], &mut [R]),
    scratch: &mut [R],
    dout: &[R],
    out: &[R],
    log_sums: &[R],
    (q, kv): (&[R], &[R]),
    mask: Mask,
    n: Attention,
) {
    let (q_row, kv_row) = (n.queries * n.width, n.keys * 2 * n.width);
    let places = cross_places(n);
    for b in 0..n.batch {
        let rows = [&q[b * q_row..(b + 1) * q_row], &kv[b * kv_row..(b + 1) * kv_row]];
        let saved = [&dout[b * q_row..(b + 1) * q_row], &out[b * q_row..(b + 1) * q_row]];
        let log_sums = &log_sums[b * n.heads * n.queries..(b + 1) * n.heads * n.queries];
        let drows = DRows::Apart(&mut dq[b * q_row..(b + 1) * q_row], &mut dkv[b * kv_row..(b + 1) * kv_row]);
        dispatch!(string_backward(drows, &mut *scratch, saved, log_sums, rows, places, mask, b, n));
    }
}

/// Gradients of queries and of keys and values: one matrix or two.
enum DRows<'a, R> {
    Shared(&'a mut [R]),
    Apart(&'a mut [R], &'a mut [R]),
}

impl<R> DRows<'_, R> {
    fn queries(&mut self) -> &mut [R] {
        match self {
            Self::Shared(rows) | Self::Apart(rows, _) => rows,
        }
    }

    fn keys(&mut self) -> &mut [R] {
        match self {
            Self::Shared(rows) | Self::Apart(_, rows) => rows,
        }
    }
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
fn string_backward<R: Real, S: Simd>(
    s: S,
    mut drows: DRows<'_, R>,
    scratch: &mut [R],
    [dout, out]: [&[R]; 2],
    log_sums: &[R],
    [q, kv]: [&[R]; 2],
    [at_q, at_k, at_v]: [Place; 3],
    mask: Mask,
    b: usize,
    n: Attention,
) {
    let e = n.width / n.heads;
    let padded = Attention::padded(n.keys);
    let factor = R::ONE / R::of(e as f64).root();
    let (kt, rest) = scratch.split_at_mut(e * padded);
    let (vt, rest) = rest.split_at_mut(e * padded);
    let (dkt, rest) = rest.split_at_mut(e * padded);
    let (dvt, rest) = rest.split_at_mut(e * padded);
    let (dots, dq) = rest.split_at_mut(n.queries);
    for h in 0..n.heads {
        let shift = |place: Place| Place { offset: place.offset + h * e, ..place };
        let own = Place { offset: h * e, stride: n.width };
        transpose(kt, kv, shift(at_k), (n.keys, e), factor);
        transpose(vt, kv, shift(at_v), (n.keys, e), R::ONE);
        let rows = dout.chunks_exact(n.width).zip(out.chunks_exact(n.width));
        for (dot, (dout, out)) in dots.iter_mut().zip(rows) {
            *dot = dout[h * e..][..e].iter().zip(&out[h * e..][..e]).map(|(&d, &o)| d * o).sum();
        }
        let head = HeadBack {
            q: shift(at_q),
            own,
            mask: mask.nth(b * n.heads + h),
            e,
            n,
            log_sums: &log_sums[h * n.queries..(h + 1) * n.queries],
            dots,
            q_rows: q,
            dout,
        };
        if e == 4 {
            head.backward_4(s, dkt, dvt, dq, kt, vt);
        } else {
            head.backward(s, dkt, dvt, dq, kt, vt);
        }
        head.queries_home(s, drows.queries(), dq);
        transpose_back(drows.keys(), dkt, shift(at_k), (n.keys, e), factor);
        transpose_back(drows.keys(), dvt, shift(at_v), (n.keys, e), R::ONE);
    }
}

/// One head of one string on the way back.
#[derive(Clone, Copy)]
struct HeadBack<'a, R> {
    q: Place,
    own: Place,
    mask: Mask,
    e: usize,
    n: Attention,
    log_sums: &'a [R],
    /// Σ dout·out of each query: what softmax takes away from every weight's gradient.
    dots: &'a [R],
    q_rows: &'a [R],
    dout: &'a [R],
}

impl<R: Real> HeadBack<'_, R> {
    /// The first query that sees any key from `j` on.
    fn first(&self, j: usize) -> usize {
        if self.n.causal { j.min(self.n.queries) } else { 0 }
    }

    /// From score and gradient of weight: the weight as used (after dropout) and the gradient of the score.
    #[inline(always)]
    fn weigh<S: Simd>(
        &self,
        s: S,
        score: V<R, S>,
        dweight: V<R, S>,
        i: usize,
        j: usize,
    ) -> (V<R, S>, V<R, S>) {
        let lanes = V::<R, S>::lanes();
        let mut weight = (score - V::splat(s, self.log_sums[i])).exp();
        let keys = if self.n.causal { (i + 1).min(self.n.keys) } else { self.n.keys };
        if j + lanes > keys {
            // Some of these keys are not seen.
            let mut seen = [R::ZERO; MAX_LANES];
            seen[..keys.saturating_sub(j).min(lanes)].fill(R::ONE);
            weight = weight * V::at(s, &seen, 0);
        }
        let (mut used, mut dweight) = (weight, dweight);
        if !self.mask.keeps_all() {
            let mut factors = [R::ZERO; MAX_LANES];
            let (start, stride) = ((j * self.n.queries + i) as u32, self.n.queries as u32);
            self.mask.factors(&mut factors[..lanes], start, stride, R::of(self.mask.scale()));
            let factors = V::at(s, &factors, 0);
            used = weight * factors;
            dweight = dweight * factors;
        }
        (used, weight * (dweight - V::splat(s, self.dots[i])))
    }

    /// Heads of four numbers: keys, values and their gradients all live in registers.
    #[inline(always)]
    fn backward_4<S: Simd>(&self, s: S, dkt: &mut [R], dvt: &mut [R], dq: &mut [R], kt: &[R], vt: &[R]) {
        let (lanes, padded) = (V::<R, S>::lanes(), Attention::padded(self.n.keys));
        let zero = V::<R, S>::constant(s, 0.0);
        dq[..self.n.queries * 4 * lanes].fill(R::ZERO);
        for j in (0..self.n.keys).step_by(lanes) {
            let k: [V<R, S>; 4] = std::array::from_fn(|d| V::at(s, kt, d * padded + j));
            let v: [V<R, S>; 4] = std::array::from_fn(|d| V::at(s, vt, d * padded + j));
            let (mut dk, mut dv) = ([zero; 4], [zero; 4]);
            let first = self.first(j);
            for (i, dq) in dq.chunks_exact_mut(4 * lanes).enumerate().take(self.n.queries).skip(first) {
                let q = &self.q_rows[i * self.q.stride + self.q.offset..][..4];
                let g = &self.dout[i * self.own.stride + self.own.offset..][..4];
                let (mut score, mut dweight) = (zero, zero);
                for d in 0..4 {
                    score = k[d].mul_add(V::splat(s, q[d]), score);
                    dweight = v[d].mul_add(V::splat(s, g[d]), dweight);
                }
                let (used, dscore) = self.weigh(s, score, dweight, i, j);
                for d in 0..4 {
                    dk[d] = dscore.mul_add(V::splat(s, q[d]), dk[d]);
                    dv[d] = used.mul_add(V::splat(s, g[d]), dv[d]);
                    dscore.mul_add(k[d], V::at(s, dq, d * lanes)).put(dq, d * lanes);
                }
            }
            for d in 0..4 {
                dk[d].put(dkt, d * padded + j);
                dv[d].put(dvt, d * padded + j);
            }
        }
    }

    /// Heads of any size.
    #[inline(always)]
    fn backward<S: Simd>(&self, s: S, dkt: &mut [R], dvt: &mut [R], dq: &mut [R], kt: &[R], vt: &[R]) {
        let (lanes, padded, e) = (V::<R, S>::lanes(), Attention::padded(self.n.keys), self.e);
        let zero = V::<R, S>::constant(s, 0.0);
        dq[..self.n.queries * e * lanes].fill(R::ZERO);
        dkt.fill(R::ZERO);
        dvt.fill(R::ZERO);
        for j in (0..self.n.keys).step_by(lanes) {
            let first = self.first(j);
            for (i, dq) in dq.chunks_exact_mut(e * lanes).enumerate().take(self.n.queries).skip(first) {
                let q = &self.q_rows[i * self.q.stride + self.q.offset..][..e];
                let g = &self.dout[i * self.own.stride + self.own.offset..][..e];
                let (mut score, mut dweight) = (zero, zero);
                for d in 0..e {
                    score = V::at(s, kt, d * padded + j).mul_add(V::splat(s, q[d]), score);
                    dweight = V::at(s, vt, d * padded + j).mul_add(V::splat(s, g[d]), dweight);
                }
                let (used, dscore) = self.weigh(s, score, dweight, i, j);
                for d in 0..e {
                    let at = d * padded + j;
                    dscore.mul_add(V::splat(s, q[d]), V::at(s, dkt, at)).put(dkt, at);
                    used.mul_add(V::splat(s, g[d]), V::at(s, dvt, at)).put(dvt, at);
                    dscore.mul_add(V::at(s, kt, at), V::at(s, dq, d * lanes)).put(dq, d * lanes);
                }
            }
        }
    }

    /// Adds up the lanes of every query's gradient and puts it in its row.
    #[inline(always)]
    fn queries_home<S: Simd>(&self, s: S, rows: &mut [R], dq: &[R]) {
        let lanes = V::<R, S>::lanes();
        for (i, dq) in dq.chunks_exact(self.e * lanes).take(self.n.queries).enumerate() {
            let row = &mut rows[i * self.q.stride + self.q.offset..][..self.e];
            for (d, x) in row.iter_mut().enumerate() {
                *x = V::<R, S>::at(s, dq, d * lanes).sum();
            }
        }
    }
}

const _: () = assert!(MAX_LANES >= 8, "f32 has eight lanes in 256 bits");
const _: fn() -> usize = <f32 as Lane>::lanes::<pulp::Scalar>;

#[cfg(test)]
mod tests {
    use super::super::testing::{close, close_single, dot, numbers, singles, slope};
    use super::*;

    fn forward<R: Real>(qkv: &[R], mask: Mask, n: Attention) -> (Vec<R>, Vec<R>) {
        let mut out = vec![R::ZERO; n.batch * n.queries * n.width];
        let mut log_sums = vec![R::ZERO; n.log_sums()];
        attention(&mut out, &mut log_sums, &mut vec![R::of(7.0); n.scratch()], qkv, mask, n);
        (out, log_sums)
    }

    /// One weight at a time.
    fn naive(q: &[f64], kv: &[f64], mask: Mask, n: Attention, packed: bool) -> Vec<f64> {
        let (d, e) = (n.width, n.width / n.heads);
        let (q_row, kv_row, k_at) = if packed { (3 * d, 3 * d, d) } else { (d, 2 * d, 0) };
        let mut out = vec![0.0; n.batch * n.queries * d];
        for b in 0..n.batch {
            for h in 0..n.heads {
                for i in 0..n.queries {
                    let keys = if n.causal { i + 1 } else { n.keys };
                    let q = &q[(b * n.queries + i) * q_row + h * e..][..e];
                    let row = |j: usize, at: usize| &kv[(b * n.keys + j) * kv_row + at + h * e..][..e];
                    let w: Vec<f64> =
                        (0..keys).map(|j| libm::exp(dot(q, row(j, k_at)) / (e as f64).sqrt())).collect();
                    let sum: f64 = w.iter().sum();
                    for (j, w) in w.iter().enumerate() {
                        let factor: f64 =
                            mask.nth(b * n.heads + h).factor((j * n.queries + i) as u32, mask.scale());
                        for (c, v) in row(j, k_at + d).iter().enumerate() {
                            out[(b * n.queries + i) * d + h * e + c] += factor * w / sum * v;
                        }
                    }
                }
            }
        }
        out
    }

    fn shapes() -> Vec<Attention> {
        let shape = |batch, t, heads, e, causal| Attention {
            batch,
            queries: t,
            keys: t,
            width: heads * e,
            heads,
            causal,
        };
        vec![
            shape(2, 5, 2, 3, true),
            shape(1, 11, 2, 4, true),
            shape(2, 9, 1, 4, false),
            shape(1, 20, 3, 6, true),
            shape(1, 1, 1, 1, true),
            shape(1, 17, 1, 2, false),
        ]
    }

    #[test]
    fn fused_equals_one_weight_at_a_time() {
        for n in shapes() {
            for mask in [Mask::new(1, 0.0), Mask::new(1, 0.4)] {
                let qkv = numbers(1, n.batch * n.queries * 3 * n.width);
                let (out, _) = forward(&qkv, mask, n);
                close(&out, &naive(&qkv, &qkv, mask, n, true), 1e-13);
                close_single(&forward(&singles(&qkv), mask, n).0, &out, 1e-5);
            }
        }
    }

    #[test]
    fn slopes_are_differences() {
        for n in shapes() {
            for mask in [Mask::new(1, 0.0), Mask::new(2, 0.4)] {
                let qkv = numbers(1, n.batch * n.queries * 3 * n.width);
                let g = numbers(2, n.batch * n.queries * n.width);
                let (out, log_sums) = forward(&qkv, mask, n);
                let mut dqkv = vec![9.0; qkv.len()];
                let mut scratch = vec![7.0; n.scratch()];
                attention_backward(&mut dqkv, &mut scratch, &g, &out, &log_sums, &qkv, mask, n);
                slope(&qkv, &dqkv, |x| dot(&forward(x, mask, n).0, &g));
            }
        }
    }

    #[test]
    fn queries_may_ask_elsewhere() {
        let n = Attention { batch: 2, queries: 3, keys: 10, width: 8, heads: 2, causal: false };
        let mask = Mask::new(3, 0.3);
        let (q, kv) = (numbers(1, 2 * 3 * 8), numbers(2, 2 * 10 * 16));
        let g = numbers(3, q.len());
        let run = |q: &[f64], kv: &[f64]| {
            let (mut out, mut log_sums) = (vec![0.0; q.len()], vec![0.0; n.log_sums()]);
            cross_attention(&mut out, &mut log_sums, &mut vec![0.0; n.scratch()], (q, kv), mask, n);
            (out, log_sums)
        };
        let (out, log_sums) = run(&q, &kv);
        close(&out, &naive(&q, &kv, mask, n, false), 1e-13);
        let (mut dq, mut dkv) = (vec![0.0; q.len()], vec![0.0; kv.len()]);
        let mut scratch = vec![0.0; n.scratch()];
        let d = (&mut dq[..], &mut dkv[..]);
        cross_attention_backward(d, &mut scratch, &g, &out, &log_sums, (&q, &kv), mask, n);
        slope(&q, &dq, |q| dot(&run(q, &kv).0, &g));
        slope(&kv, &dkv, |kv| dot(&run(&q, kv).0, &g));
    }

    #[test]
    fn a_causal_position_does_not_see_the_future() {
        let n = Attention { batch: 1, queries: 12, keys: 12, width: 8, heads: 2, causal: true };
        let mut qkv = numbers(1, 12 * 24);
        let (before, _) = forward(&qkv, Mask::new(0, 0.0), n);
        qkv[7 * 24..].fill(1e3);
        let (after, _) = forward(&qkv, Mask::new(0, 0.0), n);
        close(&after[..7 * 8], &before[..7 * 8], 1e-13);
    }
}
