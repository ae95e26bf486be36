//! A GRU layer over a whole sequence. Gates are in the order reset, update, new (r, z, n), as in PyTorch, where the reset gate
//! acts on the *sum* of the recurrent side: `n = tanh(sₙ + r·(Wₙh + bₙ))`. That is why both sides have their own sums and
//! their own bias. See [`super::rnn()`] for the layout of time and for blocks of steps.

use pulp::Simd;

use super::simd::{V, dispatch};
use super::{
    Accumulate, Activation, MaskedSlice, Mat, Real, Recurrence, activate, column_sums, drop_in_place, matmul,
};

/// Sums per unit: three gates on both sides.
pub const GRU_SUMS: usize = 6;

/// The parameters of a layer: weights `[3H,I]` and `[3H,H]`, biases `[3H]` each.
#[derive(Clone, Copy, Debug)]
pub struct Gru<'a, R> {
    pub input: &'a [R],
    pub hidden: &'a [R],
    pub input_bias: &'a [R],
    pub hidden_bias: &'a [R],
}

/// Where their gradients are added.
#[derive(Debug)]
pub struct GruGradients<'a, R> {
    pub input: &'a mut [R],
    pub hidden: &'a mut [R],
    pub input_bias: &'a mut [R],
    pub hidden_bias: &'a mut [R],
}

/// `r, z = σ(·)`, `n = tanh(sₙ + r·qₙ)`, `h[t+1] = (1−z)·n + z·h[t]`.
///
/// `h` is `[T+1,B,H]` with the initial state in front; `gates` and `sums`, both `[T,B,3H]`, are saved for the backward
/// pass; `workspace` has [`Recurrence::inputs`] elements for [`GRU_SUMS`].
pub fn gru<R: Real>(
    h: &mut [R],
    gates: &mut [R],
    sums: &mut [R],
    workspace: &mut [R],
    x: MaskedSlice<'_, R>,
    w: Gru<'_, R>,
    n: Recurrence,
) {
    let (b, row_in, row, row_gates) =
        (n.batch, n.batch * n.input, n.batch * n.hidden, n.batch * 3 * n.hidden);
    for (from, to) in n.blocks(n.block::<R>(GRU_SUMS)) {
        let inp = Mat::new(x.read(from * row_in..to * row_in, workspace), (to - from) * b, n.input);
        let block = &mut gates[from * row_gates..to * row_gates];
        matmul(block, Accumulate::Set, inp, Mat::new(w.input, 3 * n.hidden, n.input).t());
        activate(block, w.input_bias, Activation::Identity);
        for t in from..to {
            let gates = &mut gates[t * row_gates..(t + 1) * row_gates];
            let sums = &mut sums[t * row_gates..(t + 1) * row_gates];
            let (before, after) = h[t * row..(t + 2) * row].split_at_mut(row);
            let wh = Mat::new(w.hidden, 3 * n.hidden, n.hidden);
            matmul(sums, Accumulate::Set, Mat::new(before, b, n.hidden), wh.t());
            activate(sums, w.hidden_bias, Activation::Identity);
            dispatch!(cells(&mut *after, &mut *gates, &*sums, &*before, n.hidden));
        }
    }
}

/// One step of `B` rows: activates the gates in place, then writes the new states.
#[inline(always)]
fn cells<R: Real, S: Simd>(s: S, h: &mut [R], gates: &mut [R], sums: &[R], before: &[R], hidden: usize) {
    let rows = h.chunks_exact_mut(hidden).zip(gates.chunks_exact_mut(3 * hidden));
    for (((h, gates), sums), before) in
        rows.zip(sums.chunks_exact(3 * hidden)).zip(before.chunks_exact(hidden))
    {
        let (gr, rest) = gates.split_at_mut(hidden);
        let (gz, gn) = rest.split_at_mut(hidden);
        for u in (0..hidden).step_by(V::<R, S>::lanes()) {
            let sum = |which: usize| V::at(s, &sums[which * hidden..][..hidden], u);
            let r = (V::at(s, gr, u) + sum(0)).sigmoid();
            let z = (V::at(s, gz, u) + sum(1)).sigmoid();
            let new = r.mul_add(sum(2), V::at(s, gn, u)).tanh();
            r.put(gr, u);
            z.put(gz, u);
            new.put(gn, u);
            z.mul_add(V::at(s, before, u) - new, new).put(h, u);
        }
    }
}

/// The backward pass. `dh[T+1,B,H]` comes in as the gradient of every state; `dh[0]` ends as that of the initial state, the
/// rest is overwritten. `gates` and `sums` become the gradients of the input side's and the recurrent side's sums;
/// `workspace` is as in the forward pass.
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn gru_backward<R: Real>(
    dx: &mut [R],
    dh: &mut [R],
    dw: GruGradients<'_, R>,
    gates: &mut [R],
    sums: &mut [R],
    workspace: &mut [R],
    h: &[R],
    x: MaskedSlice<'_, R>,
    w: Gru<'_, R>,
    n: Recurrence,
) {
    let (b, row_in, row, row_gates) =
        (n.batch, n.batch * n.input, n.batch * n.hidden, n.batch * 3 * n.hidden);
    let GruGradients { input: dinput, hidden: dhidden, input_bias, hidden_bias } = dw;
    for (from, to) in n.blocks(n.block::<R>(GRU_SUMS)).rev() {
        for t in (from..to).rev() {
            let gates = &mut gates[t * row_gates..(t + 1) * row_gates];
            let sums = &mut sums[t * row_gates..(t + 1) * row_gates];
            let (dbefore, dafter) = dh[t * row..(t + 2) * row].split_at_mut(row);
            dispatch!(cells_backward(
                &mut *dbefore,
                &mut *gates,
                &mut *sums,
                &*dafter,
                &h[t * row..][..row],
                n.hidden
            ));
            let wh = Mat::new(w.hidden, 3 * n.hidden, n.hidden);
            matmul(dbefore, Accumulate::Add, Mat::new(sums, b, 3 * n.hidden), wh);
        }
        let steps = (to - from) * b;
        let dgates = Mat::new(&gates[from * row_gates..to * row_gates], steps, 3 * n.hidden);
        let dsums = Mat::new(&sums[from * row_gates..to * row_gates], steps, 3 * n.hidden);
        let inputs = from * row_in..to * row_in;
        if !dx.is_empty() {
            let dinp = &mut dx[inputs.clone()];
            matmul(dinp, Accumulate::Set, dgates, Mat::new(w.input, 3 * n.hidden, n.input));
            drop_in_place(dinp, x.mask, inputs.start);
        }
        matmul(dinput, Accumulate::Add, dgates.t(), Mat::new(x.read(inputs, workspace), steps, n.input));
        matmul(dhidden, Accumulate::Add, dsums.t(), Mat::new(&h[from * row..to * row], steps, n.hidden));
        column_sums(input_bias, dgates.data());
        column_sums(hidden_bias, dsums.data());
    }
}

/// One step of `B` rows; `dbefore` gains the part that bypasses the gates.
#[inline(always)]
fn cells_backward<R: Real, S: Simd>(
    s: S,
    dbefore: &mut [R],
    gates: &mut [R],
    sums: &mut [R],
    dh: &[R],
    before: &[R],
    hidden: usize,
) {
    let one = V::constant(s, 1.0);
    let rows = dbefore.chunks_exact_mut(hidden).zip(gates.chunks_exact_mut(3 * hidden));
    let rows = rows.zip(sums.chunks_exact_mut(3 * hidden)).zip(dh.chunks_exact(hidden));
    for ((((dbefore, gates), sums), dh), before) in rows.zip(before.chunks_exact(hidden)) {
        let (gr, rest) = gates.split_at_mut(hidden);
        let (gz, gn) = rest.split_at_mut(hidden);
        let (sr, rest) = sums.split_at_mut(hidden);
        let (sz, sn) = rest.split_at_mut(hidden);
        for u in (0..hidden).step_by(V::<R, S>::lanes()) {
            let (r, z, new) = (V::at(s, gr, u), V::at(s, gz, u), V::at(s, gn, u));
            let (dh, before, q) = (V::at(s, dh, u), V::at(s, before, u), V::at(s, sn, u));
            let dnew = dh * (one - z) * (-new).mul_add(new, one);
            let dz = dh * (before - new) * z * (one - z);
            let dr = dnew * q * r * (one - r);
            dr.put(gr, u);
            dr.put(sr, u);
            dz.put(gz, u);
            dz.put(sz, u);
            dnew.put(gn, u);
            (dnew * r).put(sn, u);
            dh.mul_add(z, V::at(s, dbefore, u)).put(dbefore, u);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::DropoutMask;
    use super::super::testing::{
        MASKS, check_finite_differences, close, close_single, dot, dropped, singles, values,
    };
    use super::*;

    const N: Recurrence = Recurrence { steps: 4, batch: 2, input: 3, hidden: 5 };

    fn split<R>(p: &[R], n: Recurrence) -> Gru<'_, R> {
        let (input, rest) = p.split_at(3 * n.hidden * n.input);
        let (hidden, rest) = rest.split_at(3 * n.hidden * n.hidden);
        let (input_bias, hidden_bias) = rest.split_at(3 * n.hidden);
        Gru { input, hidden, input_bias, hidden_bias }
    }

    fn forward<R: Real>(h0: &[R], x: MaskedSlice<'_, R>, p: &[R], n: Recurrence) -> (Vec<R>, Vec<R>, Vec<R>) {
        let row = n.batch * n.hidden;
        let mut h = vec![R::ZERO; (n.steps + 1) * row];
        h[..row].copy_from_slice(h0);
        let (mut gates, mut sums) = (vec![R::ZERO; n.steps * 3 * row], vec![R::ZERO; n.steps * 3 * row]);
        let mut workspace = vec![R::ZERO; n.inputs::<R>(GRU_SUMS)];
        gru(&mut h, &mut gates, &mut sums, &mut workspace, x, split(p, n), n);
        (h, gates, sums)
    }

    fn naive(h0: &[f64], x: &[f64], p: &[f64], n: Recurrence) -> Vec<f64> {
        let w = split(p, n);
        let mut h = h0.to_vec();
        let sigmoid = |x: f64| 1.0 / (1.0 + libm::exp(-x));
        for t in 0..n.steps {
            for b in 0..n.batch {
                let x = &x[(t * n.batch + b) * n.input..][..n.input];
                let before = h[(t * n.batch + b) * n.hidden..][..n.hidden].to_vec();
                for u in 0..n.hidden {
                    let row = |gate: usize| gate * n.hidden + u;
                    let a = |g| w.input_bias[row(g)] + dot(x, &w.input[row(g) * n.input..][..n.input]);
                    let q =
                        |g| w.hidden_bias[row(g)] + dot(&before, &w.hidden[row(g) * n.hidden..][..n.hidden]);
                    let (r, z) = (sigmoid(a(0) + q(0)), sigmoid(a(1) + q(1)));
                    let new = libm::tanh(a(2) + r * q(2));
                    h.push((1.0 - z) * new + z * before[u]);
                }
            }
        }
        h
    }

    fn inputs(n: Recurrence) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let x = values(2, n.steps * n.batch * n.input);
        (values(1, n.batch * n.hidden), x, values(3, 3 * n.hidden * (n.input + n.hidden + 2)))
    }

    #[test]
    fn blocks_of_any_size_equal_one_step_at_a_time() {
        let wide = Recurrence { steps: 9, batch: 50, input: 7, hidden: 40 };
        for (n, mask) in [N, wide].into_iter().flat_map(|n| MASKS.map(|mask| (n, mask))) {
            let (h0, x, p) = inputs(n);
            let (h, ..) = forward(&h0, MaskedSlice { values: &x, mask }, &p, n);
            close(&h, &naive(&h0, &dropped(&x, mask), &p, n), 1e-12);
            let x = MaskedSlice { values: &singles(&x), mask };
            let (single, ..) = forward(&singles(&h0), x, &singles(&p), n);
            close_single(&single, &h, 2e-5);
        }
    }

    #[test]
    fn gradients_match_finite_differences() {
        MASKS.into_iter().for_each(grads);
    }

    fn grads(mask: DropoutMask) {
        let n = N;
        let (h0, x, p) = inputs(n);
        let g = values(4, (n.steps + 1) * n.batch * n.hidden);
        let forward = |h0: &[f64], x: &[f64], p: &[f64]| forward(h0, MaskedSlice { values: x, mask }, p, n);
        let loss = |h0: &[f64], x: &[f64], p: &[f64]| dot(&forward(h0, x, p).0, &g);
        let (h, mut gates, mut sums) = forward(&h0, &x, &p);
        let (mut dx, mut dh, mut dp) = (vec![9.0; x.len()], g.clone(), vec![0.0; p.len()]);
        let (input, rest) = dp.split_at_mut(3 * n.hidden * n.input);
        let (hidden, rest) = rest.split_at_mut(3 * n.hidden * n.hidden);
        let (input_bias, hidden_bias) = rest.split_at_mut(3 * n.hidden);
        let dw = GruGradients { input, hidden, input_bias, hidden_bias };
        let workspace = &mut vec![0.0; n.inputs::<f64>(GRU_SUMS)];
        let inputs = MaskedSlice { values: &x[..], mask };
        gru_backward(&mut dx, &mut dh, dw, &mut gates, &mut sums, workspace, &h, inputs, split(&p, n), n);
        check_finite_differences(&x, &dx, |x| loss(&h0, x, &p));
        check_finite_differences(&p, &dp, |p| loss(&h0, &x, p));
        check_finite_differences(&h0, &dh[..h0.len()], |h0| loss(h0, &x, &p));
    }
}
