//! Losses and their gradients: softmax cross-entropy and binary cross-entropy, in nats, and the squared error of a
//! probability. One value per row; the tape weights and sums them.

use pulp::Simd;

use super::Real;
use super::simd::{MAX_LANES, V, dispatch};

/// `losses[n] = −ln softmax(logits[n,·])[targets[n]]`; `probabilities[N,V]` are saved for the backward pass.
pub fn softmax_cross_entropy<R: Real>(
    losses: &mut [R],
    probabilities: &mut [R],
    logits: &[R],
    targets: &[u32],
    v: usize,
) {
    probabilities.copy_from_slice(logits);
    for (((loss, row), logits), &target) in
        losses.iter_mut().zip(probabilities.chunks_exact_mut(v)).zip(logits.chunks_exact(v)).zip(targets)
    {
        // From logits rather than −ln p: a probability that is rounded to zero would have an infinite loss.
        *loss = softmax(row) - logits[target as usize];
    }
}

/// Turns one row of logits into probabilities; returns the logarithm of the sum of their exponentials.
pub fn softmax<R: Real>(row: &mut [R]) -> R {
    let (top, sum) = dispatch!(softmax_row(row));
    // One logarithm per row: double precision costs nothing here.
    top + R::of(libm::log(sum.wide()))
}

/// Turns rows of `v` logits into probabilities.
pub fn softmax_rows<R: Real>(rows: &mut [R], v: usize) {
    dispatch!(softmax_each(rows, v));
}

#[inline(always)]
fn softmax_each<R: Real, S: Simd>(s: S, rows: &mut [R], v: usize) {
    if v < V::<R, S>::lanes() {
        softmax_narrow(s, rows, v);
    } else {
        for row in rows.chunks_exact_mut(v) {
            softmax_row(s, row);
        }
    }
}

/// The same for rows narrower than a register: a register holds one column of as many rows as it has lanes.
#[inline(always)]
fn softmax_narrow<R: Real, S: Simd>(s: S, rows: &mut [R], v: usize) {
    let mut columns = [[R::ZERO; MAX_LANES]; MAX_LANES];
    let columns = &mut columns[..v];
    for rows in rows.chunks_mut(v * V::<R, S>::lanes()) {
        // Transposed in a buffer on the stack: for 2 or 3 symbols most lanes of a register per row would be
        // idle.
        for (r, row) in rows.chunks_exact(v).enumerate() {
            for (column, &logit) in columns.iter_mut().zip(row) {
                column[r] = logit;
            }
        }
        let mut top = V::at(s, &columns[0], 0);
        for column in &columns[1..] {
            top = V::at(s, column, 0).max(top);
        }
        let mut sum = V::constant(s, 0.0);
        for column in &mut *columns {
            let e = (V::at(s, column, 0) - top).exp();
            e.put(column, 0);
            sum = sum + e;
        }
        let share = V::constant(s, 1.0) / sum;
        for column in &mut *columns {
            (V::at(s, column, 0) * share).put(column, 0);
        }
        for (r, row) in rows.chunks_exact_mut(v).enumerate() {
            for (p, column) in row.iter_mut().zip(&*columns) {
                *p = column[r];
            }
        }
    }
}

/// Returns the largest logit and `Σ exp(logit − largest)`.
#[inline(always)]
fn softmax_row<R: Real, S: Simd>(s: S, row: &mut [R]) -> (R, R) {
    let lanes = V::<R, S>::lanes();
    if row.len() <= lanes {
        return softmax_register(s, row);
    }
    let whole = row.len() - row.len() % lanes;
    let mut top = V::splat(s, row[0]);
    for i in (0..whole).step_by(lanes) {
        top = V::at(s, row, i).max(top);
    }
    let top = row[whole..].iter().fold(top.maximum(), |a, &b| if b > a { b } else { a });
    let mut sum = V::constant(s, 0.0);
    for i in (0..row.len()).step_by(lanes) {
        let e = (V::at(s, row, i) - V::splat(s, top)).exp();
        e.put(row, i);
        // Read back, so that lanes past the end of the row are zero.
        sum = sum + V::at(s, row, i);
    }
    let sum = sum.sum();
    let share = V::splat(s, R::ONE / sum);
    for i in (0..row.len()).step_by(lanes) {
        (V::at(s, row, i) * share).put(row, i);
    }
    (top, sum)
}

/// The same for a row that fits in a register: it is read and written once.
#[inline(always)]
fn softmax_register<R: Real, S: Simd>(s: S, row: &mut [R]) -> (R, R) {
    let n = row.len();
    // Lanes past the row repeat its first logit, so that the maximum is that of the row.
    let x = V::below(s, n, V::at(s, row, 0), V::splat(s, row[0]));
    let top = x.maximum();
    let e = V::below(s, n, (x - V::splat(s, top)).exp(), V::constant(s, 0.0));
    let sum = e.sum();
    (e * V::splat(s, R::ONE / sum)).put(row, 0);
    (top, sum)
}

/// `dlogits[n,·] = weight[n] · (probabilities[n,·] − one-hot(targets[n]))`.
pub fn softmax_cross_entropy_backward<R: Real>(
    dlogits: &mut [R],
    probabilities: &[R],
    targets: &[u32],
    weights: &[R],
    v: usize,
) {
    let rows = dlogits.chunks_exact_mut(v).zip(probabilities.chunks_exact(v));
    for (((dlogits, p), &target), &weight) in rows.zip(targets).zip(weights) {
        for (d, &p) in dlogits.iter_mut().zip(p) {
            *d = weight * p;
        }
        dlogits[target as usize] -= weight;
    }
}

/// `losses[n] = −ln σ(±logit)`: the binary cross-entropy of a logit with `targets[n]` ∈ [0, 1].
pub fn logistic_cross_entropy<R: Real>(losses: &mut [R], logits: &[R], targets: &[R]) {
    for ((loss, &z), &y) in losses.iter_mut().zip(logits).zip(targets) {
        let z = z.wide();
        // z.max(0) would turn NaN into zero; this keeps it.
        let positive = if z < 0.0 { 0.0 } else { z };
        // max(z, 0) − z·y + ln(1 + e^−|z|): the exponential is of a number that is not positive and cannot
        // overflow.
        *loss = R::of(positive - z * y.wide() + libm::log1p(libm::exp(-z.abs())));
    }
}

/// `dlogits[n] = weights[n] · (σ(logits[n]) − targets[n])`.
pub fn logistic_cross_entropy_backward<R: Real>(
    dlogits: &mut [R],
    logits: &[R],
    targets: &[R],
    weights: &[R],
) {
    for (((d, &z), &y), &weight) in dlogits.iter_mut().zip(logits).zip(targets).zip(weights) {
        *d = weight * (sigmoid(z) - y);
    }
}

/// `losses[n] = (σ(logits[n]) − targets[n])²`.
pub fn squared_error<R: Real>(losses: &mut [R], logits: &[R], targets: &[R]) {
    for ((loss, &z), &y) in losses.iter_mut().zip(logits).zip(targets) {
        let off = sigmoid(z) - y;
        *loss = off * off;
    }
}

/// `dlogits[n] = weights[n] · 2 (σ − targets[n]) · σ (1 − σ)`, with `σ` that of `logits[n]`.
pub fn squared_error_backward<R: Real>(dlogits: &mut [R], logits: &[R], targets: &[R], weights: &[R]) {
    for (((d, &z), &y), &weight) in dlogits.iter_mut().zip(logits).zip(targets).zip(weights) {
        let p = sigmoid(z);
        *d = weight * R::of(2.0) * (p - y) * p * (R::ONE - p);
    }
}

fn sigmoid<R: Real>(z: R) -> R {
    R::of(1.0 / (1.0 + libm::exp(-z.wide())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::super::testing::{
        check_finite_differences, close, close_single, dot, near, random, singles, size, size_or_none,
        values, wide,
    };
    use super::*;

    fn symbol_losses<R: Real>(logits: &[R], targets: &[u32], v: usize) -> (Vec<R>, Vec<R>) {
        let (mut losses, mut p) = (vec![R::ZERO; targets.len()], vec![R::ZERO; logits.len()]);
        softmax_cross_entropy(&mut losses, &mut p, logits, targets, v);
        (losses, p)
    }

    /// The losses, the probabilities and the gradient by the logits, one symbol at a time.
    fn naive(logits: &[f64], targets: &[u32], weights: &[f64], v: usize) -> [Vec<f64>; 3] {
        let [mut losses, mut all, mut gradient] = [const { Vec::new() }; 3];
        for (row, logits) in logits.chunks(v).enumerate() {
            let p = naive::softmax(logits);
            losses.push(-libm::log(p[targets[row] as usize]));
            for (symbol, p) in p.iter().enumerate() {
                let is_target = f64::from(u8::from(symbol == targets[row] as usize));
                gradient.push(weights[row] * (p - is_target));
            }
            all.extend(p);
        }
        [losses, all, gradient]
    }

    fn check<R: Real>(n: usize, v: usize, size: f64, seed: u64) {
        let logits: Vec<R> = values(seed, n * v).iter().map(|x| R::of(size * x)).collect();
        let (targets, weights): (Vec<u32>, Vec<R>) =
            ((0..n).map(|i| (i * 7 % v) as u32).collect(), random(seed, n));
        let [losses, p, gradient] = naive(&wide(&logits), &targets, &wide(&weights), v);
        let (got, probabilities) = symbol_losses(&logits, &targets, v);
        // A difference of two logits is rounded as they are: by ε times their size.
        let terms = v + 2 * size as usize;
        near(&got, &losses, terms);
        near(&probabilities, &p, terms);
        let mut rows = logits.clone();
        softmax_rows(&mut rows, v);
        near(&rows, &p, terms);
        let mut dlogits = vec![R::of(9.0); n * v];
        softmax_cross_entropy_backward(&mut dlogits, &probabilities, &targets, &weights, v);
        near(&dlogits, &gradient, terms);
    }

    proptest! {
        #[test]
        fn any_shape_equals_the_naive_twin(
            (n, v) in (size_or_none(), prop_oneof![size(), 40usize..80]),
            (size, seed) in (prop_oneof![Just(1.0), Just(30.0)], 0u64..1000),
        ) {
            check::<f32>(n, v, size, seed);
            check::<f64>(n, v, size, seed);
        }

        /// The losses of single logits are their own naive form but for what keeps them from overflowing.
        #[test]
        fn binary_losses_equal_the_naive_twin(n in size_or_none(), seed in 0u64..1000) {
            check_binary::<f32>(n, seed);
            check_binary::<f64>(n, seed);
        }
    }

    fn check_binary<R: Real>(n: usize, seed: u64) {
        let z: Vec<R> = values(seed, n).iter().map(|x| R::of(5.0 * x)).collect();
        let y: Vec<R> = values(seed + 1, n).iter().map(|x| R::of(x.abs())).collect();
        let (mut losses, mut dlogits, weights) =
            (vec![R::of(9.0); n], vec![R::of(9.0); n], random::<R>(seed, n));
        let twin = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
            z.iter().zip(&y).map(|(z, y)| f(naive::sigmoid(z.wide()), y.wide())).collect()
        };
        let weighted = |grads: Vec<f64>| -> Vec<f64> {
            grads.iter().zip(&weights).map(|(grad, weight)| weight.wide() * grad).collect()
        };
        logistic_cross_entropy(&mut losses, &z, &y);
        near(&losses, &twin(&|p, y| -y * libm::log(p) - (1.0 - y) * libm::log(1.0 - p)), 1);
        logistic_cross_entropy_backward(&mut dlogits, &z, &y, &weights);
        near(&dlogits, &weighted(twin(&|p, y| p - y)), 1);
        squared_error(&mut losses, &z, &y);
        near(&losses, &twin(&|p, y| (p - y) * (p - y)), 1);
        squared_error_backward(&mut dlogits, &z, &y, &weights);
        near(&dlogits, &weighted(twin(&|p, y| 2.0 * (p - y) * p * (1.0 - p))), 1);
    }

    /// To the same bits, whatever rows stand beside it.
    #[test]
    fn rows_match_the_softmax_of_each() {
        for (v, rows) in [(1, 3), (2, 9), (3, 8), (3, 21), (5, 1), (7, 17), (8, 3), (13, 2)] {
            let logits: Vec<f64> = values(1, rows * v).iter().map(|x| 30.0 * x).collect();
            let (mut all, single) = (logits.clone(), singles(&logits));
            let mut all_single = single.clone();
            softmax_rows(&mut all, v);
            softmax_rows(&mut all_single, v);
            close_single(&all_single, &all, 1e-6);
            for (i, (logits, single)) in logits.chunks(v).zip(single.chunks(v)).enumerate() {
                let (mut row, mut alone) = (logits.to_vec(), single.to_vec());
                softmax(&mut row);
                close(&all[i * v..][..v], &row, 1e-15);
                softmax_rows(&mut alone, v);
                assert_eq!(all_single[i * v..][..v], alone);
            }
        }
    }

    #[test]
    fn gradients_match_finite_differences() {
        let (v, logits, targets, weights) = (5, values(1, 15), [4, 0, 2], values(2, 3));
        let (_, p) = symbol_losses(&logits, &targets, v);
        let mut d = vec![0.0; 15];
        softmax_cross_entropy_backward(&mut d, &p, &targets, &weights, v);
        check_finite_differences(&logits, &d, |x| dot(&symbol_losses(x, &targets, v).0, &weights));

        let (truth, weights) = (vec![0.0, 1.0, 1.0, 0.0, 1.0], values(3, 5));
        let loss = |z: &[f64]| {
            let mut losses = vec![0.0; 5];
            logistic_cross_entropy(&mut losses, z, &truth);
            losses
        };
        let z = &logits[..5];
        let mut d = vec![0.0; 5];
        logistic_cross_entropy_backward(&mut d, z, &truth, &weights);
        check_finite_differences(z, &d, |z| dot(&loss(z), &weights));
        let expected: Vec<f64> = z
            .iter()
            .zip(&truth)
            .map(|(z, y)| libm::log(1.0 + libm::exp(if *y > 0.5 { -z } else { *z })))
            .collect();
        close(&loss(z), &expected, 1e-14);
    }

    #[test]
    fn squared_errors_match_the_formula_and_their_gradients_finite_differences() {
        let (z, truth, weights) = (values(1, 5), [0.0, 1.0, 1.0, 0.0, 0.5], values(3, 5));
        let loss = |z: &[f64]| {
            let mut losses = vec![0.0; 5];
            squared_error(&mut losses, z, &truth);
            losses
        };
        let square = |(z, y): (&f64, &f64)| libm::pow(1.0 / (1.0 + libm::exp(-z)) - y, 2.0);
        close(&loss(&z), &z.iter().zip(&truth).map(square).collect::<Vec<_>>(), 1e-15);
        let mut d = vec![9.0; 5];
        squared_error_backward(&mut d, &z, &truth, &weights);
        check_finite_differences(&z, &d, |z| dot(&loss(z), &weights));
    }

    #[test]
    fn huge_logits_do_not_overflow_and_nan_stays_nan() {
        let mut loss = [0.0f32; 3];
        logistic_cross_entropy(&mut loss, &[1e4, -1e4, f32::NAN], &[0.0, 0.0, 1.0]);
        assert!((loss[0] - 1e4).abs() < 1.0 && loss[1] == 0.0 && loss[2].is_nan());
        let (losses, _) = symbol_losses(&[f32::NAN, 0.0], &[1], 2);
        assert!(losses[0].is_nan());
    }
}
