use proptest::prelude::*;

use super::super::testing::{
    MASKS, check_finite_differences, dot, dropped, near, random, size, values, wide,
};
use super::super::{DropoutMask, naive};
use super::*;

const N: Recurrence = Recurrence { steps: 4, batch: 2, input: 3, hidden: 5 };

fn split(p: &[f64], n: Recurrence) -> RecurrentWeights<'_, f64> {
    let (input, rest) = p.split_at(4 * n.hidden * n.input);
    let (hidden, bias) = rest.split_at(4 * n.hidden * n.hidden);
    RecurrentWeights { input, hidden, bias }
}

fn masked<R>(values: &[R], mask: DropoutMask) -> Inputs<'_, R> {
    Inputs::Values(MaskedSlice { values, mask })
}

struct Run {
    h: Vec<f64>,
    c: Vec<f64>,
    gates: Vec<f64>,
}

fn forward(start: &[f64], x: &[f64], mask: DropoutMask, p: &[f64], n: Recurrence) -> Run {
    let row = n.batch * n.hidden;
    let (mut h, mut c) = (vec![0.0; (n.steps + 1) * row], vec![0.0; (n.steps + 1) * row]);
    h[..row].copy_from_slice(&start[..row]);
    c[..row].copy_from_slice(&start[row..]);
    let mut gates = vec![0.0; n.steps * 4 * row];
    lstm(&mut h, &mut c, &mut gates, &mut vec![0.0; n.workspace::<f64>(4)], masked(x, mask), split(p, n), n);
    Run { h, c, gates }
}

/// One unit, one string, one step at a time: states, cells and gates.
fn naive(start: &[f64], x: &[f64], w: RecurrentWeights<'_, f64>, n: Recurrence) -> Run {
    let row = n.batch * n.hidden;
    let mut run = Run { h: start[..row].to_vec(), c: start[row..].to_vec(), gates: vec![] };
    for at in 0..n.steps * n.batch {
        let x = naive::affine(w.input, w.bias, &x[at * n.input..][..n.input]);
        let before = naive::affine(w.hidden, &[], &run.h[at * n.hidden..][..n.hidden]);
        let sum = |gate: usize, u: usize| x[gate * n.hidden + u] + before[gate * n.hidden + u];
        let squash = |gate| if gate == 2 { libm::tanh } else { naive::sigmoid };
        run.gates.extend((0..4).flat_map(|gate| (0..n.hidden).map(move |u| squash(gate)(sum(gate, u)))));
        let gate = |gate: usize, u: usize| run.gates[(at * 4 + gate) * n.hidden + u];
        for u in 0..n.hidden {
            let cell = gate(1, u) * run.c[at * n.hidden + u] + gate(0, u) * gate(2, u);
            run.c.push(cell);
            run.h.push(gate(3, u) * libm::tanh(cell));
        }
    }
    run
}

/// Backpropagation through time, one sum at a time: the gradients of inputs, of initial states and cells, and of input weights,
/// recurrent weights and biases.
fn naive_backward(
    x: &[f64],
    run: &Run,
    w: RecurrentWeights<'_, f64>,
    dh: &[f64],
    dc: &[f64],
    n: Recurrence,
) -> [Vec<f64>; 6] {
    let Recurrence { steps, batch, input, hidden } = n;
    let (mut dx, mut dh, mut dc) = (vec![0.0; x.len()], dh.to_vec(), dc.to_vec());
    let [mut dw_in, mut dw_hidden, mut dbias] =
        [4 * hidden * input, 4 * hidden * hidden, 4 * hidden].map(|len| vec![0.0; len]);
    for at in (0..steps * batch).rev() {
        let (before, after) = (at * hidden, (at + batch) * hidden);
        for u in 0..hidden {
            let [i, f, g, o] = [0, 1, 2, 3].map(|gate| run.gates[(at * 4 + gate) * hidden + u]);
            let (dstate, squashed) = (dh[after + u], libm::tanh(run.c[after + u]));
            let dcell = &mut dc[(at % batch) * hidden + u];
            let dnew = *dcell + dstate * o * (1.0 - squashed * squashed);
            *dcell = dnew * f;
            let dsums = [
                dnew * g * i * (1.0 - i),
                dnew * run.c[before + u] * f * (1.0 - f),
                dnew * i * (1.0 - g * g),
                dstate * squashed * o * (1.0 - o),
            ];
            for (gate, dsum) in dsums.into_iter().enumerate() {
                let unit = gate * hidden + u;
                let (row_in, row) = (unit * input..(unit + 1) * input, unit * hidden..(unit + 1) * hidden);
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
                    &run.h[before..before + hidden],
                    &mut dw_hidden[row],
                    &mut dh[before..before + hidden],
                );
                dbias[unit] += dsum;
            }
        }
    }
    dh.truncate(batch * hidden);
    [dx, dh, dc, dw_in, dw_hidden, dbias]
}

/// Forward and backward, fused or apart as the batch decides.
fn check<R: Real>(n: Recurrence, mask: DropoutMask, seed: u64) {
    let Recurrence { steps, batch, input, hidden } = n;
    let (row, scale) = (batch * hidden, R::of(1.0 / (input.max(hidden) as f64).sqrt()));
    let lengths = [
        2 * row,
        steps * batch * input,
        4 * hidden * input,
        4 * hidden * hidden,
        4 * hidden,
        (steps + 1) * row,
        row,
    ];
    let [start, x, w_in, w_hidden, bias, g, g_cell] = lengths.map(|len| random::<R>(seed + len as u64, len));
    // As large as weights are at the start of training, so that rounding does not grow from step to step.
    let [w_in, w_hidden] = [w_in, w_hidden].map(|w| w.into_iter().map(|w| scale * w).collect::<Vec<_>>());
    let w = RecurrentWeights { input: &w_in[..], hidden: &w_hidden[..], bias: &bias[..] };
    let mut h = [&start[..row], &vec![R::of(9.0); steps * row]].concat();
    let mut c = [&start[row..], &vec![R::of(9.0); steps * row]].concat();
    let mut gates = vec![R::of(9.0); steps * 4 * row];
    let mut workspace = vec![R::of(f64::NAN); n.workspace::<R>(4)];
    lstm(&mut h, &mut c, &mut gates, &mut workspace, masked(&x, mask), w, n);
    let wide_w = [wide(&w_in), wide(&w_hidden), wide(&bias)];
    let wide_w = RecurrentWeights { input: &wide_w[0], hidden: &wide_w[1], bias: &wide_w[2] };
    let (x_dropped, terms) = (dropped(&wide(&x), mask), (steps + 1) * (input + hidden));
    let run = naive(&wide(&start), &x_dropped, wide_w, n);
    near(&h, &run.h, terms);
    near(&c, &run.c, terms);
    near(&gates, &run.gates, terms);

    let expected = naive_backward(&x_dropped, &run, wide_w, &wide(&g), &wide(&g_cell), n);
    let (mut dx, mut dh, mut dc) = (vec![R::of(9.0); x.len()], g.clone(), g_cell);
    let [mut dw_in, mut dw_hidden, mut dbias] =
        [w_in.len(), w_hidden.len(), bias.len()].map(|len| vec![R::ZERO; len]);
    let dw = RecurrentGradients {
        into: Accumulate::Set,
        input: &mut dw_in,
        hidden: &mut dw_hidden,
        bias: &mut dbias,
    };
    let inputs = MaskedSlice { values: &x[..], mask };
    lstm_backward(&mut dx, &mut dh, &mut dc, dw, &mut gates, &mut workspace, &h, &c, inputs, w, n);
    near(&dx, &dropped(&expected[0], mask), 4 * terms);
    near(&dh[..row], &expected[1], 4 * terms);
    near(&dc, &expected[2], 4 * terms);
    for (got, expected) in [dw_in, dw_hidden, dbias].iter().zip(&expected[3..]) {
        near(got, expected, 4 * terms + steps * batch);
    }
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
    let start = values(1, 2 * n.batch * n.hidden);
    let x = values(2, n.steps * n.batch * n.input);
    (start, x, values(3, 4 * n.hidden * (n.input + n.hidden + 1)))
}

/// Buffers of one block of steps give the same bits as buffers of all.
#[test]
fn blocks_of_any_size_equal_all_steps_at_once() {
    let wide = Recurrence { steps: 9, batch: 50, input: 7, hidden: 40 };
    let odd = Recurrence { steps: 3, batch: 13, input: 3, hidden: 5 };
    let all = [N, wide, odd, Recurrence { batch: 8, hidden: 11, ..odd }, Recurrence { steps: 0, ..N }];
    for (n, mask) in all.into_iter().flat_map(|n| MASKS.map(|mask| (n, mask))) {
        check::<f32>(n, mask, 1);
        check::<f64>(n, mask, 1);
        let (start, x, p) = inputs(n);
        let (run, row) = (forward(&start, &x, mask, &p, n), n.batch * n.hidden);
        let block = n.block::<f64>(4).min(n.steps);
        let (mut h, mut c) = (vec![0.0; run.h.len()], vec![0.0; (block + 1) * row]);
        h[..row].copy_from_slice(&start[..row]);
        c[..row].copy_from_slice(&start[row..]);
        let (mut gates, mut workspace) = (vec![0.0; block * 4 * row], vec![0.0; n.workspace::<f64>(4)]);
        lstm(&mut h, &mut c, &mut gates, &mut workspace, masked(&x, mask), split(&p, n), n);
        assert_eq!(h, run.h);
        assert_eq!(c[block * row..], run.c[n.steps * row..]);
    }
}

/// To the same bits: the terms left out are zeros (as long as weights are finite).
#[test]
fn symbols_equal_one_hot_rows() {
    for (batch, input, hidden) in [(13, 3, 5), (50, 7, 40), (2, 3, 5), (8, 1, 11)] {
        let n = Recurrence { steps: 9, batch, input, hidden };
        let (start, _, p) = inputs(n);
        let symbols: Vec<u32> = (0..n.steps * batch).map(|i| (i * i % input) as u32).collect();
        let x: Vec<f64> = symbols
            .iter()
            .flat_map(|&symbol| (0..input).map(move |i| f64::from(u8::from(i == symbol as usize))))
            .collect();
        for p in [&p[..], &p[..4 * hidden * (input + hidden)]] {
            let (dense, row) = (forward(&start, &x, DropoutMask::NONE, p, n), batch * hidden);
            let (mut h, mut c) = (dense.h.clone(), dense.c.clone());
            h[row..].fill(9.0);
            c[row..].fill(9.0);
            let (mut gates, mut workspace) = (vec![9.0; dense.gates.len()], vec![9.0; n.workspace::<f64>(4)]);
            let x = Inputs::Symbols(&symbols);
            lstm(&mut h, &mut c, &mut gates, &mut workspace, x, split(p, n), n);
            assert_eq!((h, c, gates), (dense.h, dense.c, dense.gates));
        }
    }
}

#[test]
fn gradients_match_finite_differences() {
    MASKS.into_iter().for_each(grads);
}

fn grads(mask: DropoutMask) {
    let n = N;
    let (start, x, p) = inputs(n);
    let row = n.batch * n.hidden;
    let (g, g_cell) = (values(4, (n.steps + 1) * row), values(5, row));
    let loss = |run: &Run| dot(&run.h, &g) + dot(&run.c[n.steps * row..], &g_cell);
    let mut run = forward(&start, &x, mask, &p, n);
    let (mut dx, mut dh, mut dc) = (vec![9.0; x.len()], g.clone(), g_cell.clone());
    let mut dp = vec![0.0; p.len()];
    let (input, rest) = dp.split_at_mut(4 * n.hidden * n.input);
    let (hidden, bias) = rest.split_at_mut(4 * n.hidden * n.hidden);
    let dw = RecurrentGradients { into: Accumulate::Add, input, hidden, bias };
    let workspace = &mut vec![0.0; n.workspace::<f64>(4)];
    let (w, masked) = (split(&p, n), MaskedSlice { values: &x[..], mask });
    lstm_backward(&mut dx, &mut dh, &mut dc, dw, &mut run.gates, workspace, &run.h, &run.c, masked, w, n);
    check_finite_differences(&x, &dx, |x| loss(&forward(&start, x, mask, &p, n)));
    check_finite_differences(&p, &dp, |p| loss(&forward(&start, &x, mask, p, n)));
    let dstart = [&dh[..row], &dc[..]].concat();
    check_finite_differences(&start, &dstart, |start| loss(&forward(start, &x, mask, &p, n)));
}
