//! One step of an optimiser over all parameters at once, and the norm by which gradients are clipped.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// The sum of squares, added in single chunks and then in double precision.
pub fn sum_of_squares<R: Real>(x: &[R]) -> f64 {
    dispatch!(sum_of_squares_body(x))
}

#[inline(always)]
fn sum_of_squares_body<R: Real, S: Simd>(s: S, x: &[R]) -> f64 {
    let lanes = V::<R, S>::lanes();
    let mut total = 0.0;
    for chunk in x.chunks(1024) {
        let mut sums = [V::constant(s, 0.0); 4];
        let mut i = 0;
        while i + 4 * lanes <= chunk.len() {
            for (j, sum) in sums.iter_mut().enumerate() {
                let x = V::at(s, chunk, i + j * lanes);
                *sum = x.mul_add(x, *sum);
            }
            i += 4 * lanes;
        }
        while i < chunk.len() {
            let x = V::at(s, chunk, i);
            sums[0] = x.mul_add(x, sums[0]);
            i += lanes;
        }
        total += ((sums[0] + sums[1]) + (sums[2] + sums[3])).sum().wide();
    }
    total
}

/// The numbers of one Adam step, all resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Multiplies every gradient (clipping; one over the number of accumulated batches).
    pub gradient_scale: f64,
    /// Added to the gradient: `l1 · sign(w) + l2 · w`.
    pub l1: f64,
    /// See `l1`.
    pub l2: f64,
    /// Parameters are first multiplied by one minus this (learning rate × decoupled weight decay).
    pub decay: f64,
    /// β₁, the memory of the mean.
    pub beta1: f64,
    /// β₂, the memory of the square.
    pub beta2: f64,
    /// Learning rate over `1 − β₁ᵗ`.
    pub rate: f64,
    /// One over `√(1 − β₂ᵗ)`.
    pub root_scale: f64,
    /// Keeps the division finite.
    pub epsilon: f64,
}

/// `m = β₁m + (1−β₁)g`, `v = β₂v + (1−β₂)g²`, `w −= rate · m / (√v · root_scale + ε)`.
pub fn adam<R: Real>(w: &mut [R], m: &mut [R], v: &mut [R], g: &[R], step: &AdamStep) {
    dispatch!(adam_body(w, m, v, g, step));
}

#[inline(always)]
fn adam_body<R: Real, S: Simd>(s: S, w: &mut [R], m: &mut [R], v: &mut [R], g: &[R], step: &AdamStep) {
    let c = |x: f64| V::<R, S>::constant(s, x);
    let (scale, l2, keep) = (c(step.gradient_scale), c(step.l2), c(1.0 - step.decay));
    let (beta1, rest1, beta2, rest2) =
        (c(step.beta1), c(1.0 - step.beta1), c(step.beta2), c(1.0 - step.beta2));
    let (rate, root_scale, epsilon) = (c(-step.rate), c(step.root_scale), c(step.epsilon));
    for i in (0..w.len()).step_by(V::<R, S>::lanes()) {
        let old = V::at(s, w, i);
        let mut grad = old.mul_add(l2, V::at(s, g, i) * scale);
        if step.l1 != 0.0 {
            grad = grad + sign(s, old) * c(step.l1);
        }
        let mean = beta1.mul_add(V::at(s, m, i), rest1 * grad);
        let square = beta2.mul_add(V::at(s, v, i), rest2 * grad * grad);
        mean.put(m, i);
        square.put(v, i);
        let denominator = square.sqrt().mul_add(root_scale, epsilon);
        (mean / denominator).mul_add(rate, old * keep).put(w, i);
    }
}

/// −1, 0 or 1.
#[inline(always)]
fn sign<R: Real, S: Simd>(s: S, x: V<R, S>) -> V<R, S> {
    let (zero, one) = (V::constant(s, 0.0), V::constant(s, 1.0));
    zero.if_less(x, one, x.if_less(zero, -one, zero))
}

/// The numbers of one step of gradient descent, all resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdStep {
    /// Multiplies every gradient.
    pub gradient_scale: f64,
    /// Added to the gradient: `l1 · sign(w) + l2 · w`.
    pub l1: f64,
    /// See `l1`.
    pub l2: f64,
    /// Parameters are first multiplied by one minus this.
    pub decay: f64,
    /// The memory of past gradients; zero for none.
    pub momentum: f64,
    /// The learning rate.
    pub rate: f64,
}

/// `m = momentum · m + g`, `w −= rate · m`. Without momentum, `m` may be empty.
pub fn sgd<R: Real>(w: &mut [R], m: &mut [R], g: &[R], step: &SgdStep) {
    dispatch!(sgd_body(w, m, g, step));
}

#[inline(always)]
fn sgd_body<R: Real, S: Simd>(s: S, w: &mut [R], m: &mut [R], g: &[R], step: &SgdStep) {
    let c = |x: f64| V::<R, S>::constant(s, x);
    for i in (0..w.len()).step_by(V::<R, S>::lanes()) {
        let old = V::at(s, w, i);
        let mut grad = old.mul_add(c(step.l2), V::at(s, g, i) * c(step.gradient_scale));
        if step.l1 != 0.0 {
            grad = grad + sign(s, old) * c(step.l1);
        }
        if step.momentum != 0.0 {
            grad = V::at(s, m, i).mul_add(c(step.momentum), grad);
            grad.put(m, i);
        }
        grad.mul_add(c(-step.rate), old * c(1.0 - step.decay)).put(w, i);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{close, numbers};
    use super::*;

    const STEP: AdamStep = AdamStep {
        gradient_scale: 0.5,
        l1: 0.01,
        l2: 0.02,
        decay: 0.001,
        beta1: 0.9,
        beta2: 0.999,
        rate: 0.1,
        root_scale: 3.0,
        epsilon: 1e-8,
    };

    #[test]
    fn adam_is_what_the_formula_says() {
        let n = 13;
        let (w, m, g) = (numbers(1, n), numbers(2, n), numbers(4, n));
        let v: Vec<f64> = numbers(3, n).iter().map(|x| x * x).collect();
        let (mut w2, mut m2, mut v2) = (w.clone(), m.clone(), v.clone());
        adam(&mut w2, &mut m2, &mut v2, &g, &STEP);
        for i in 0..n {
            let grad = 0.5 * g[i] + 0.01 * w[i].signum() + 0.02 * w[i];
            let mean = 0.9 * m[i] + 0.1 * grad;
            let square = 0.999 * v[i] + 0.001 * grad * grad;
            let expected = w[i] * 0.999 - 0.1 * mean / (square.sqrt() * 3.0 + 1e-8);
            close(&[w2[i], m2[i], v2[i]], &[expected, mean, square], 1e-14);
        }
    }

    #[test]
    fn descent_is_what_the_formula_says() {
        let n = 13;
        let (w, m, g) = (numbers(1, n), numbers(2, n), numbers(4, n));
        let step =
            SgdStep { gradient_scale: 0.5, l1: 0.01, l2: 0.02, decay: 0.001, momentum: 0.9, rate: 0.1 };
        let (mut w2, mut m2) = (w.clone(), m.clone());
        sgd(&mut w2, &mut m2, &g, &step);
        for i in 0..n {
            let mean = 0.9 * m[i] + 0.5 * g[i] + 0.01 * w[i].signum() + 0.02 * w[i];
            close(&[w2[i], m2[i]], &[w[i] * 0.999 - 0.1 * mean, mean], 1e-14);
        }
        let mut w3 = w.clone();
        sgd(&mut w3, &mut [], &g, &SgdStep { momentum: 0.0, ..step });
        assert_ne!(w3, w2);
    }

    #[test]
    fn squares_add_up_whatever_the_length() {
        for n in [0, 1, 7, 32, 1023, 1025, 5000] {
            let x = numbers(1, n);
            let expected: f64 = x.iter().map(|x| x * x).sum();
            close(&[sum_of_squares(&x)], &[expected], 1e-12);
            let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            close(&[sum_of_squares(&single)], &[expected], 1e-5);
        }
        assert!(!sum_of_squares(&[1.0f32, f32::NAN]).is_finite());
    }
}
