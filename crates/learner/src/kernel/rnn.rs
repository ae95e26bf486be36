//! A simple recurrent layer over a whole sequence, and the block structure that all recurrent layers share.
//!
//! States are `h[T+1,B,H]` with the initial state in `h[0]`: `h[0..T]` are the states *before* each step and `h[1..=T]` those
//! after. So whatever does not depend on the previous step is one matrix product over all steps (`x · Wᵢᵀ` forward; gradients
//! of inputs and weights backward). These products are taken in blocks of steps ([`Recurrence::block`]), small enough that the
//! sums are still in cache when the steps read them.

use super::packed::{self, PackedWeight};
use super::simd::MAX_LANES;
use super::{
    Accumulate, Activation, MaskedSlice, Mat, Real, activate, activate_backward, column_sums, drop_in_place,
    matmul,
};

/// The fewest rows (steps × strings) in a block.
const ROWS: usize = 128;

/// Rows of a step between product and activation: few enough to be still in the first-level cache.
const AT_ONCE: usize = 4 * packed::ROWS;

/// The sizes of a recurrent layer: `T`, `B`, `I`, `H`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recurrence {
    pub steps: usize,
    pub batch: usize,
    /// `I`, elements of the input of a step.
    pub input: usize,
    pub hidden: usize,
}

impl Recurrence {
    /// Steps in a block of a layer with `sums` sums per unit (`G`): as many as keep the sums within 256 KiB, but not fewer than
    /// make `ROWS` rows, because every block costs one more pass over the gradients of the weights.
    pub fn block<R>(&self, sums: usize) -> usize {
        let fitting = (1 << 18) / (self.batch * sums * self.hidden * size_of::<R>()).max(1);
        fitting.max(ROWS / self.batch.max(1)).clamp(1, self.steps.max(1))
    }

    /// Elements of workspace that the kernels of a layer with `sums` sums per unit (1, or 4 for an LSTM) need: for packed
    /// weights, and for the inputs of a block of steps after dropout.
    pub fn workspace<R>(&self, sums: usize) -> usize {
        // An upper bound for both layouts: each gate may be padded to whole registers, and biases packed with the weights.
        let workspace = |k: usize| packed::workspace(self.batch, k, sums * (self.hidden + MAX_LANES));
        workspace(self.input) + workspace(self.hidden) + workspace(1) + self.inputs::<R>(sums)
    }

    /// Elements of the inputs of a block of steps.
    pub fn inputs<R>(&self, sums: usize) -> usize {
        self.block::<R>(sums) * self.batch * self.input
    }

    /// The blocks of steps, first to last.
    pub(super) fn blocks(&self, block: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> + use<> {
        let steps = self.steps;
        (0..steps.div_ceil(block)).map(move |i| (i * block, ((i + 1) * block).min(steps)))
    }
}

/// The parameters of a layer with `G` sums per unit (1, or 4 gates).
#[derive(Clone, Copy, Debug)]
pub struct RecurrentWeights<'a, R> {
    pub input: &'a [R],
    pub hidden: &'a [R],
    pub bias: &'a [R],
}

/// Where their gradients go.
#[derive(Debug)]
pub struct RecurrentGradients<'a, R> {
    /// Whether the gradients of weights replace what was there (that of the bias is always added).
    pub into: Accumulate,
    /// `[G·H, I]`; for an LSTM, empty if it is deferred
    pub input: &'a mut [R],
    /// `[G·H, H]`; the same
    pub hidden: &'a mut [R],
    pub bias: &'a mut [R],
}

/// `h[t+1] = f(x[t]·Wᵢᵀ + h[t]·Wₕᵀ + b)` for every step; `h[T+1,B,H]` holds the initial state in `h[0]`,
/// `workspace` has [`Recurrence::workspace`] elements.
pub fn rnn<R: Real>(
    h: &mut [R],
    workspace: &mut [R],
    x: MaskedSlice<'_, R>,
    w: RecurrentWeights<'_, R>,
    n: Recurrence,
    f: Activation,
) {
    let (row_in, row) = (n.batch * n.input, n.batch * n.hidden);
    let (w_in, workspace) = PackedWeight::new(Mat::new(w.input, n.hidden, n.input).t(), n.batch, workspace);
    let (w_hidden, workspace) =
        PackedWeight::new(Mat::new(w.hidden, n.hidden, n.hidden).t(), n.batch, workspace);
    for (from, to) in n.blocks(n.block::<R>(1)) {
        // The sums are written where the states will be, so that each step works in place.
        let sums = &mut h[(from + 1) * row..(to + 1) * row];
        w_in.product_with(sums, x.read(from * row_in..to * row_in, workspace), w.bias);
        for t in from..to {
            let (before, after) = h[t * row..(t + 2) * row].split_at_mut(row);
            let rows = after.chunks_mut(AT_ONCE * n.hidden).zip(before.chunks(AT_ONCE * n.hidden));
            for (after, before) in rows {
                // The only product that has to wait for the step before.
                w_hidden.product(after, Accumulate::Add, before);
                activate(after, &[], f);
            }
        }
    }
}

/// The backward pass. `dh[T+1,B,H]` comes in as the gradient of every state and is overwritten: `dh[0]` ends as that of the
/// initial state, the rest as that of the sums. `dx` may be empty if it is not required; `workspace` is as in the forward pass.
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn rnn_backward<R: Real>(
    dx: &mut [R],
    dh: &mut [R],
    workspace: &mut [R],
    dw: RecurrentGradients<'_, R>,
    h: &[R],
    x: MaskedSlice<'_, R>,
    w: RecurrentWeights<'_, R>,
    n: Recurrence,
    f: Activation,
) {
    let (b, row_in, row) = (n.batch, n.batch * n.input, n.batch * n.hidden);
    let (w_in, workspace) = PackedWeight::new(Mat::new(w.input, n.hidden, n.input), b, workspace);
    let (w_hidden, workspace) = PackedWeight::new(Mat::new(w.hidden, n.hidden, n.hidden), b, workspace);
    let RecurrentGradients { into, input: dinput, hidden: dhidden, bias: dbias } = dw;
    let mut into = first_into(into, n, dinput, dhidden);
    // Last step first: the gradient of a state is complete when the step after it is done.
    for (from, to) in n.blocks(n.block::<R>(1)).rev() {
        for t in (from..to).rev() {
            let (before, after) = dh[t * row..(t + 2) * row].split_at_mut(row);
            let rows = before.chunks_mut(AT_ONCE * n.hidden).zip(after.chunks_mut(AT_ONCE * n.hidden));
            let states = h[(t + 1) * row..(t + 2) * row].chunks(AT_ONCE * n.hidden);
            for ((before, after), states) in rows.zip(states) {
                activate_backward(after, states, f);
                w_hidden.product(before, Accumulate::Add, after);
            }
        }
        let (dsums, steps) = (&dh[(from + 1) * row..(to + 1) * row], (to - from) * b);
        let dsums = Mat::new(dsums, steps, n.hidden);
        let inputs = from * row_in..to * row_in;
        if !dx.is_empty() {
            let dinp = &mut dx[inputs.clone()];
            w_in.product(dinp, Accumulate::Set, dsums.data());
            drop_in_place(dinp, x.mask, inputs.start);
        }
        matmul(dinput, into, dsums.t(), Mat::new(x.read(inputs, workspace), steps, n.input));
        matmul(dhidden, into, dsums.t(), Mat::new(&h[from * row..to * row], steps, n.hidden));
        into = Accumulate::Add;
        if !dbias.is_empty() {
            column_sums(dbias, dsums.data());
        }
    }
}

/// How the first block of steps writes the gradients of the weights. Without any step, no block would replace them, so
/// they are cleared here.
pub(super) fn first_into<R: Real>(
    into: Accumulate,
    n: Recurrence,
    dinput: &mut [R],
    dhidden: &mut [R],
) -> Accumulate {
    if into == Accumulate::Set && n.steps == 0 {
        dinput.fill(R::ZERO);
        dhidden.fill(R::ZERO);
    }
    into
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

    fn weights(p: &[f64], n: Recurrence) -> RecurrentWeights<'_, f64> {
        let (input, rest) = p.split_at(n.hidden * n.input);
        let (hidden, bias) = rest.split_at(n.hidden * n.hidden);
        RecurrentWeights { input, hidden, bias }
    }

    fn forward(h0: &[f64], x: MaskedSlice<'_, f64>, p: &[f64], n: Recurrence, f: Activation) -> Vec<f64> {
        let mut h = vec![0.0; (n.steps + 1) * n.batch * n.hidden];
        h[..h0.len()].copy_from_slice(h0);
        rnn(&mut h, &mut vec![0.0; n.workspace::<f64>(1)], x, weights(p, n), n, f);
        h
    }

    /// One unit, one string, one step at a time.
    fn naive(h0: &[f64], x: &[f64], w: RecurrentWeights<'_, f64>, n: Recurrence, f: Activation) -> Vec<f64> {
        let mut h = h0.to_vec();
        for at in 0..n.steps * n.batch {
            let x = naive::affine(w.input, w.bias, &x[at * n.input..][..n.input]);
            let before = naive::affine(w.hidden, &[], &h[at * n.hidden..][..n.hidden]);
            h.extend(x.iter().zip(before).map(|(x, before)| naive::activate(x + before, f)));
        }
        h
    }

    /// Backpropagation through time, one sum at a time: the gradients of inputs, of initial states, and of input weights,
    /// recurrent weights and biases.
    fn naive_backward(
        x: &[f64],
        h: &[f64],
        w: RecurrentWeights<'_, f64>,
        dh: &[f64],
        n: Recurrence,
        f: Activation,
    ) -> [Vec<f64>; 5] {
        let Recurrence { steps, batch, input, hidden } = n;
        let (mut dx, mut dh) = (vec![0.0; x.len()], dh.to_vec());
        let [mut dw_in, mut dw_hidden, mut dbias] =
            [hidden * input, hidden * hidden, hidden].map(|len| vec![0.0; len]);
        for at in (0..steps * batch).rev() {
            let (before, after) = (at * hidden, (at + batch) * hidden);
            for u in 0..hidden {
                let dsum = dh[after + u] * naive::derivative(h[after + u], f);
                let (row_in, row) = (u * input..(u + 1) * input, u * hidden..(u + 1) * hidden);
                let inputs = at * input..(at + 1) * input;
                naive::dot_backward(
                    dsum,
                    &w.input[row_in.clone()],
                    &x[inputs.clone()],
                    &mut dw_in[row_in],
                    &mut dx[inputs],
                );
                naive::dot_backward(
                    dsum,
                    &w.hidden[row.clone()],
                    &h[before..before + hidden],
                    &mut dw_hidden[row],
                    &mut dh[before..before + hidden],
                );
                dbias[u] += dsum;
            }
        }
        dh.truncate(batch * hidden);
        [dx, dh, dw_in, dw_hidden, dbias]
    }

    fn check<R: Real>(n: Recurrence, mask: DropoutMask, f: Activation, seed: u64) {
        let Recurrence { steps, batch, input, hidden } = n;
        let (row, scale) = (batch * hidden, R::of(1.0 / (input.max(hidden) as f64).sqrt()));
        let lengths =
            [row, steps * batch * input, hidden * input, hidden * hidden, hidden, (steps + 1) * row];
        let [h0, x, w_in, w_hidden, bias, g] = lengths.map(|len| random::<R>(seed + len as u64, len));
        // As large as weights are at the start of training, so that rounding does not grow from step to step.
        let [w_in, w_hidden] = [w_in, w_hidden].map(|w| w.into_iter().map(|w| scale * w).collect::<Vec<_>>());
        let w = RecurrentWeights { input: &w_in[..], hidden: &w_hidden[..], bias: &bias[..] };
        let mut h = [h0.clone(), vec![R::of(9.0); steps * row]].concat();
        let mut workspace = vec![R::of(f64::NAN); n.workspace::<R>(1)];
        let inputs = MaskedSlice { values: &x[..], mask };
        rnn(&mut h, &mut workspace, inputs, w, n, f);
        let (wide_w, wide_h) = ([wide(&w_in), wide(&w_hidden), wide(&bias)], wide(&h));
        let wide_w = RecurrentWeights { input: &wide_w[0], hidden: &wide_w[1], bias: &wide_w[2] };
        let (x_dropped, terms) = (dropped(&wide(&x), mask), (steps + 1) * (input + hidden));
        near(&h, &naive(&wide(&h0), &x_dropped, wide_w, n, f), terms);

        let [dx, dh0, dw_in, dw_hidden, dbias] = naive_backward(&x_dropped, &wide_h, wide_w, &wide(&g), n, f);
        let (mut kernel_dx, mut dh) = (vec![R::of(9.0); x.len()], g.clone());
        let [mut input, mut hidden, mut bias] =
            [w_in.len(), w_hidden.len(), bias.len()].map(|len| vec![R::ZERO; len]);
        let dw = RecurrentGradients {
            into: Accumulate::Set,
            input: &mut input,
            hidden: &mut hidden,
            bias: &mut bias,
        };
        rnn_backward(&mut kernel_dx, &mut dh, &mut workspace, dw, &h, inputs, w, n, f);
        near(&kernel_dx, &dropped(&dx, mask), terms);
        near(&dh[..row], &dh0, terms);
        let terms = terms + steps * batch;
        near(&input, &dw_in, terms);
        near(&hidden, &dw_hidden, terms);
        near(&bias, &dbias, terms);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_shape_equals_the_naive_twin(
            (steps, batch) in (0usize..5, size()),
            (input, hidden, seed) in (size(), size(), 0u64..1000),
        ) {
            let n = Recurrence { steps, batch, input, hidden };
            for (f, mask) in [Activation::Tanh, Activation::Sigmoid].into_iter().zip(MASKS) {
                check::<f32>(n, mask, f, seed);
                check::<f64>(n, mask, f, seed);
            }
        }
    }

    /// More steps than one block has.
    #[test]
    fn blocks_of_steps_equal_the_naive_twin() {
        let n = Recurrence { steps: 30, batch: 33, input: 7, hidden: 40 };
        assert!(n.block::<f64>(1) < n.steps && n.block::<f32>(1) <= n.steps);
        for mask in MASKS {
            check::<f32>(n, mask, Activation::Tanh, 1);
            check::<f64>(n, mask, Activation::Tanh, 1);
        }
    }

    #[test]
    fn gradients_match_finite_differences() {
        let n = N;
        let h0 = values(1, n.batch * n.hidden);
        let x = values(2, n.steps * n.batch * n.input);
        let p = values(3, n.hidden * (n.input + n.hidden + 1));
        let g = values(4, (n.steps + 1) * n.batch * n.hidden);
        for (f, mask) in [Activation::Tanh, Activation::Relu].into_iter().zip(MASKS) {
            let forward =
                |h0: &[f64], x: &[f64], p: &[f64]| forward(h0, MaskedSlice { values: x, mask }, p, n, f);
            let h = forward(&h0, &x, &p);
            let (mut dx, mut dh, mut dp) = (vec![9.0; x.len()], g.clone(), vec![7.0; p.len()]);
            let (input, rest) = dp.split_at_mut(n.hidden * n.input);
            let (hidden, bias) = rest.split_at_mut(n.hidden * n.hidden);
            bias.fill(0.0);
            let dw = RecurrentGradients { into: Accumulate::Set, input, hidden, bias };
            let workspace = &mut vec![0.0; n.workspace::<f64>(1)];
            rnn_backward(
                &mut dx,
                &mut dh,
                workspace,
                dw,
                &h,
                MaskedSlice { values: &x, mask },
                weights(&p, n),
                n,
                f,
            );
            check_finite_differences(&x, &dx, |x| dot(&forward(&h0, x, &p), &g));
            check_finite_differences(&p, &dp, |p| dot(&forward(&h0, &x, p), &g));
            check_finite_differences(&h0, &dh[..h0.len()], |h0| dot(&forward(h0, &x, &p), &g));
        }
    }
}
