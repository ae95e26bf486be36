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
        // The input side of a whole block of steps is one product. The recurrent side waits for the state
        // before it.
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
            // (1−z)·n + z·h as n + z·(h−n): one fused operation after the difference.
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
            // r multiplies the recurrent sum q alone: it gets dnew·q, and q gets dnew·r. That is why the two
            // sides have gradients of their own.
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
    use proptest::prelude::*;

    use super::super::testing::{
        MASKS, check_finite_differences, dot, dropped, near, random, size, values, wide,
    };
    use super::super::{DropoutMask, naive};
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

    /// One unit, one string, one step at a time: states, gates, and the sums of the recurrent side.
    fn naive(h0: &[f64], x: &[f64], w: Gru<'_, f64>, n: Recurrence) -> [Vec<f64>; 3] {
        let (mut h, mut gates, mut sums) = (h0.to_vec(), vec![], vec![]);
        for at in 0..n.steps * n.batch {
            let before = h[at * n.hidden..][..n.hidden].to_vec();
            let a = naive::affine(w.input, w.input_bias, &x[at * n.input..][..n.input]);
            let q = naive::affine(w.hidden, w.hidden_bias, &before);
            let row = |gate: usize, u: usize| gate * n.hidden + u;
            let both = |gate: usize, u: usize| naive::sigmoid(a[row(gate, u)] + q[row(gate, u)]);
            let new = |u: usize| libm::tanh(a[row(2, u)] + both(0, u) * q[row(2, u)]);
            gates.extend((0..2).flat_map(|gate| (0..n.hidden).map(move |u| both(gate, u))));
            gates.extend((0..n.hidden).map(new));
            h.extend((0..n.hidden).map(|u| (1.0 - both(1, u)) * new(u) + both(1, u) * before[u]));
            sums.extend(q);
        }
        [h, gates, sums]
    }

    /// Backpropagation through time, one sum at a time: the gradients of inputs and initial states, and of the four parameters in
    /// the order of [`Gru`].
    fn naive_backward(
        x: &[f64],
        [h, gates, sums]: &[Vec<f64>; 3],
        w: Gru<'_, f64>,
        dh: &[f64],
        n: Recurrence,
    ) -> [Vec<f64>; 6] {
        let Recurrence { steps, batch, input, hidden } = n;
        let (mut dx, mut dh) = (vec![0.0; x.len()], dh.to_vec());
        let lengths = [3 * hidden * input, 3 * hidden * hidden, 3 * hidden, 3 * hidden];
        let [mut dw_in, mut dw_hidden, mut db_in, mut db_hidden] = lengths.map(|len| vec![0.0; len]);
        for at in (0..steps * batch).rev() {
            let (before, after) = (at * hidden, (at + batch) * hidden);
            for u in 0..hidden {
                let [r, z, new] = [0, 1, 2].map(|gate| gates[(at * 3 + gate) * hidden + u]);
                let (d, q) = (dh[after + u], sums[(at * 3 + 2) * hidden + u]);
                let dnew = d * (1.0 - z) * (1.0 - new * new);
                let dr = dnew * q * r * (1.0 - r);
                let dz = d * (h[before + u] - new) * z * (1.0 - z);
                dh[before + u] += d * z;
                for (gate, da, dq) in [(0, dr, dr), (1, dz, dz), (2, dnew, dnew * r)] {
                    let unit = gate * hidden + u;
                    let (row_in, row) =
                        (unit * input..(unit + 1) * input, unit * hidden..(unit + 1) * hidden);
                    let inputs = at * input..(at + 1) * input;
                    naive::dot_backward(
                        da,
                        &w.input[row_in.clone()],
                        &x[inputs.clone()],
                        &mut dw_in[row_in],
                        &mut dx[inputs],
                    );
                    naive::dot_backward(
                        dq,
                        &w.hidden[row.clone()],
                        &h[before..before + hidden],
                        &mut dw_hidden[row],
                        &mut dh[before..before + hidden],
                    );
                    db_in[unit] += da;
                    db_hidden[unit] += dq;
                }
            }
        }
        dh.truncate(batch * hidden);
        [dx, dh, dw_in, dw_hidden, db_in, db_hidden]
    }

    fn check<R: Real>(n: Recurrence, mask: DropoutMask, seed: u64) {
        let Recurrence { steps, batch, input, hidden } = n;
        let (row, scale) = (batch * hidden, R::of(1.0 / (input.max(hidden) as f64).sqrt()));
        let weights = 3 * hidden * (input + hidden);
        let lengths = [row, steps * batch * input, weights + 6 * hidden, (steps + 1) * row];
        let [h0, x, mut p, g] = lengths.map(|len| random::<R>(seed + len as u64, len));
        // As large as weights are at the start of training, so that rounding does not grow from step to step.
        p[..weights].iter_mut().for_each(|w| *w *= scale);
        let inputs = MaskedSlice { values: &x[..], mask };
        let (h, mut gates, mut sums) = forward(&h0, inputs, &p, n);
        let (wide_p, x_dropped, terms) = (wide(&p), dropped(&wide(&x), mask), (steps + 1) * (input + hidden));
        let run = naive(&wide(&h0), &x_dropped, split(&wide_p, n), n);
        for (got, expected) in [&h, &gates, &sums].into_iter().zip(&run) {
            near(got, expected, terms);
        }
        let expected = naive_backward(&x_dropped, &run, split(&wide_p, n), &wide(&g), n);
        let (mut dx, mut dh, mut dp) = (vec![R::of(9.0); x.len()], g.clone(), vec![R::ZERO; p.len()]);
        let (dw_in, rest) = dp.split_at_mut(3 * hidden * input);
        let (dw_hidden, rest) = rest.split_at_mut(3 * hidden * hidden);
        let (input_bias, hidden_bias) = rest.split_at_mut(3 * hidden);
        let dw = GruGradients { input: dw_in, hidden: dw_hidden, input_bias, hidden_bias };
        let mut workspace = vec![R::of(f64::NAN); n.inputs::<R>(GRU_SUMS)];
        let w = split(&p, n);
        gru_backward(&mut dx, &mut dh, dw, &mut gates, &mut sums, &mut workspace, &h, inputs, w, n);
        near(&dx, &dropped(&expected[0], mask), 4 * terms);
        near(&dh[..row], &expected[1], 4 * terms);
        near(&dp, &expected[2..].concat(), 4 * terms + steps * batch);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_shape_equals_the_naive_twin(
            (steps, batch) in (0usize..5, size()),
            (input, hidden, seed) in (size(), size(), 0u64..1000),
        ) {
            let n = Recurrence { steps, batch, input, hidden };
            for mask in MASKS {
                check::<f32>(n, mask, seed);
                check::<f64>(n, mask, seed);
            }
        }
    }

    fn inputs(n: Recurrence) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let x = values(2, n.steps * n.batch * n.input);
        (values(1, n.batch * n.hidden), x, values(3, 3 * n.hidden * (n.input + n.hidden + 2)))
    }

    /// More steps than one block has.
    #[test]
    fn blocks_of_steps_equal_the_naive_twin() {
        let n = Recurrence { steps: 9, batch: 50, input: 7, hidden: 40 };
        for mask in MASKS {
            check::<f32>(n, mask, 1);
            check::<f64>(n, mask, 1);
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
