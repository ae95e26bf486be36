use super::super::DropoutMask;
use super::super::testing::{
    MASKS, check_finite_differences, close, close_single, dot, dropped, singles, values,
};
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

fn naive(start: &[f64], x: &[f64], p: &[f64], n: Recurrence) -> Vec<f64> {
    let (w, row) = (split(p, n), n.batch * n.hidden);
    let (mut h, mut c) = (start[..row].to_vec(), start[row..].to_vec());
    let sigmoid = |x: f64| 1.0 / (1.0 + libm::exp(-x));
    for t in 0..n.steps {
        for b in 0..n.batch {
            let x = &x[(t * n.batch + b) * n.input..][..n.input];
            let before = h[(t * n.batch + b) * n.hidden..][..n.hidden].to_vec();
            for u in 0..n.hidden {
                let sum = |gate: usize| {
                    let r = gate * n.hidden + u;
                    w.bias[r]
                        + dot(x, &w.input[r * n.input..][..n.input])
                        + dot(&before, &w.hidden[r * n.hidden..][..n.hidden])
                };
                let old = c[(t * n.batch + b) * n.hidden + u];
                let cell = sigmoid(sum(1)) * old + sigmoid(sum(0)) * libm::tanh(sum(2));
                c.push(cell);
                h.push(sigmoid(sum(3)) * libm::tanh(cell));
            }
        }
    }
    h
}

fn inputs(n: Recurrence) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let start = values(1, 2 * n.batch * n.hidden);
    let x = values(2, n.steps * n.batch * n.input);
    (start, x, values(3, 4 * n.hidden * (n.input + n.hidden + 1)))
}

#[test]
fn blocks_of_any_size_equal_one_step_at_a_time() {
    let wide = Recurrence { steps: 9, batch: 50, input: 7, hidden: 40 };
    let odd = Recurrence { steps: 3, batch: 13, input: 3, hidden: 5 };
    let all = [N, wide, odd, Recurrence { batch: 8, hidden: 11, ..odd }, Recurrence { steps: 0, ..N }];
    for (n, mask) in all.into_iter().flat_map(|n| MASKS.map(|mask| (n, mask))) {
        let (start, x, p) = inputs(n);
        let run = forward(&start, &x, mask, &p, n);
        close(&run.h, &naive(&start, &dropped(&x, mask), &p, n), 1e-12);
        let (q, start32) = (singles(&p), singles(&start));
        let (input, rest) = q.split_at(4 * n.hidden * n.input);
        let (hidden, bias) = rest.split_at(4 * n.hidden * n.hidden);
        let row = n.batch * n.hidden;
        let (mut h, mut c) = (vec![0.0f32; run.h.len()], vec![0.0f32; run.c.len()]);
        h[..row].copy_from_slice(&start32[..row]);
        c[..row].copy_from_slice(&start32[row..]);
        let mut gates = vec![0.0f32; run.gates.len()];
        let w = RecurrentWeights { input, hidden, bias };
        let workspace = &mut vec![0.0; n.workspace::<f32>(4)];
        let x = singles(&x);
        let x = masked(&x, mask);
        lstm(&mut h, &mut c, &mut gates, workspace, x, w, n);
        close_single(&h, &run.h, 2e-5);
        // Buffers of one block of steps give the same bits.
        let block = n.block::<f32>(4).min(n.steps);
        let (mut h2, mut c2) = (vec![0.0f32; h.len()], vec![0.0f32; (block + 1) * row]);
        h2[..row].copy_from_slice(&start32[..row]);
        c2[..row].copy_from_slice(&start32[row..]);
        lstm(&mut h2, &mut c2, &mut vec![0.0f32; block * 4 * row], workspace, x, w, n);
        assert_eq!(h2, h);
        assert_eq!(c2[block * row..], c[n.steps * row..]);
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
