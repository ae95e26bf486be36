//! One step of an optimiser over all parameters, and the norm by which gradients are clipped.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Partial sums side by side: as many as multiplications are in flight.
const SUMS: usize = 8;

/// The sum of squares: of chunks in the precision of `x`, of their sums in double precision.
pub fn sum_of_squares<R: Real>(x: &[R]) -> f64 {
    dispatch!(sum_of_squares_body(x))
}

#[inline(always)]
fn sum_of_squares_body<R: Real, S: Simd>(s: S, x: &[R]) -> f64 {
    let mut total = 0.0;
    // Sums of 1,024 in the precision of x are long enough to be fast; their total in double precision does
    // not lose small gradients beside large ones.
    for chunk in x.chunks(1024) {
        let mut sums = [V::<R, S>::constant(s, 0.0); SUMS];
        let (regs, rest) = V::<R, S>::regs(chunk).as_chunks::<SUMS>();
        for regs in regs {
            for (sum, &x) in sums.iter_mut().zip(regs) {
                *sum = V::of(s, x).mul_add(V::of(s, x), *sum);
            }
        }
        let last = V::at(s, chunk, chunk.len() - chunk.len() % V::<R, S>::lanes());
        for x in rest.iter().map(|&x| V::of(s, x)).chain([last]) {
            sums[0] = x.mul_add(x, sums[0]);
        }
        let mut sum = sums[0];
        for &more in &sums[1..] {
            sum = sum + more;
        }
        total += sum.sum().wide();
    }
    total
}

/// The constants of one Adam step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Multiplies every gradient (clipping; one over the number of accumulated batches).
    pub gradient_scale: f64,
    /// Added to the gradient: `l1 · sign(w) + l2 · w`.
    pub l1: f64,
    pub l2: f64,
    /// Parameters are first multiplied by one minus this (learning rate × decoupled weight decay).
    pub decay: f64,
    /// β₁, the decay of the mean.
    pub beta1: f64,
    /// β₂, the decay of the mean of squares.
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
    let adam = AdamConstants::new(s, step);
    let whole = w.len() - w.len() % V::<R, S>::lanes();
    // Whole registers apart from the rest: a bounds check at each of them takes as long as the arithmetic.
    let regs = V::<R, S>::regs_mut(w).iter_mut().zip(V::<R, S>::regs_mut(m));
    let regs = regs.zip(V::<R, S>::regs_mut(v)).zip(V::<R, S>::regs(g));
    for (((w, m), v), &g) in regs {
        let after = adam.after([V::of(s, *w), V::of(s, *m), V::of(s, *v)], V::of(s, g));
        (*w, *m, *v) = (after[0].reg(), after[1].reg(), after[2].reg());
    }
    if whole < w.len() {
        let before = [V::at(s, w, whole), V::at(s, m, whole), V::at(s, v, whole)];
        let after = adam.after(before, V::at(s, g, whole));
        after[0].put(w, whole);
        after[1].put(m, whole);
        after[2].put(v, whole);
    }
}

/// The constants of a step, broadcast to registers.
#[derive(Clone, Copy)]
struct AdamConstants<R: Real, S: Simd> {
    scale: V<R, S>,
    l1: Option<V<R, S>>,
    l2: V<R, S>,
    keep: V<R, S>,
    /// β and 1 − β.
    mean: [V<R, S>; 2],
    square: [V<R, S>; 2],
    rate: V<R, S>,
    root_scale: V<R, S>,
    epsilon: V<R, S>,
    s: S,
}

impl<R: Real, S: Simd> AdamConstants<R, S> {
    #[inline(always)]
    fn new(s: S, step: &AdamStep) -> Self {
        Self {
            scale: V::constant(s, step.gradient_scale),
            l1: if step.l1 == 0.0 { None } else { Some(V::constant(s, step.l1)) },
            l2: V::constant(s, step.l2),
            keep: V::constant(s, 1.0 - step.decay),
            mean: [V::constant(s, step.beta1), V::constant(s, 1.0 - step.beta1)],
            square: [V::constant(s, step.beta2), V::constant(s, 1.0 - step.beta2)],
            rate: V::constant(s, -step.rate),
            root_scale: V::constant(s, step.root_scale),
            epsilon: V::constant(s, step.epsilon),
            s,
        }
    }

    /// Weights, means and squares after a step, from those before.
    #[inline(always)]
    fn after(&self, [w, m, v]: [V<R, S>; 3], g: V<R, S>) -> [V<R, S>; 3] {
        // L1 and L2 are part of the gradient, and so of its moments; decoupled decay (AdamW, Loshchilov and
        // Hutter 2019) multiplies the weight alone.
        let mut grad = w.mul_add(self.l2, g * self.scale);
        if let Some(l1) = self.l1 {
            grad = grad + sign(self.s, w) * l1;
        }
        let mean = self.mean[0].mul_add(m, self.mean[1] * grad);
        let square = self.square[0].mul_add(v, self.square[1] * grad * grad);
        // Both bias corrections are in `rate` and `root_scale`, once per step (the efficient form in section
        // 2 of Kingma and Ba 2015).
        let denominator = square.sqrt().mul_add(self.root_scale, self.epsilon);
        [(mean / denominator).mul_add(self.rate, w * self.keep), mean, square]
    }
}

/// −1, 0 or 1.
#[inline(always)]
fn sign<R: Real, S: Simd>(s: S, x: V<R, S>) -> V<R, S> {
    let (zero, one) = (V::constant(s, 0.0), V::constant(s, 1.0));
    zero.if_less(x, one, x.if_less(zero, -one, zero))
}

/// The constants of one step of gradient descent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdStep {
    pub gradient_scale: f64,
    /// Added to the gradient: `l1 · sign(w) + l2 · w`.
    pub l1: f64,
    pub l2: f64,
    /// Parameters are first multiplied by one minus this.
    pub decay: f64,
    /// The decay of past gradients; zero for none.
    pub momentum: f64,
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
            // As in PyTorch, the rate multiplies the sum of gradients, not the gradients in it.
            grad = V::at(s, m, i).mul_add(c(step.momentum), grad);
            grad.put(m, i);
        }
        grad.mul_add(c(-step.rate), old * c(1.0 - step.decay)).put(w, i);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{close, near, random, size_or_none, values, wide};
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

    /// One parameter at a time: weights, means and squares after a step.
    fn naive_adam([w, m, v, g]: [&[f64]; 4], step: &AdamStep) -> [Vec<f64>; 3] {
        let [mut weights, mut means, mut squares] = [const { Vec::new() }; 3];
        for i in 0..w.len() {
            let grad = step.gradient_scale * g[i] + step.l1 * sign_of(w[i]) + step.l2 * w[i];
            let mean = step.beta1 * m[i] + (1.0 - step.beta1) * grad;
            let square = step.beta2 * v[i] + (1.0 - step.beta2) * grad * grad;
            let denominator = square.sqrt() * step.root_scale + step.epsilon;
            weights.push(w[i] * (1.0 - step.decay) - step.rate * mean / denominator);
            means.push(mean);
            squares.push(square);
        }
        [weights, means, squares]
    }

    /// Weights and means after a step.
    fn naive_sgd([w, m, g]: [&[f64]; 3], step: &SgdStep) -> [Vec<f64>; 2] {
        let [mut weights, mut means] = [const { Vec::new() }; 2];
        for i in 0..w.len() {
            let grad = step.gradient_scale * g[i] + step.l1 * sign_of(w[i]) + step.l2 * w[i];
            let mean = step.momentum * m[i] + grad;
            weights.push(w[i] * (1.0 - step.decay) - step.rate * mean);
            means.push(mean);
        }
        [weights, means]
    }

    fn sign_of(x: f64) -> f64 {
        if x == 0.0 { 0.0 } else { x.signum() }
    }

    fn check<R: Real>(n: usize, l1: f64, momentum: f64, seed: u64) {
        let [mut w, m, g] = [0, 1, 2].map(|k| random::<R>(seed + k, n));
        // The sign of zero is zero.
        w.iter_mut().step_by(7).for_each(|w| *w = R::ZERO);
        let v: Vec<R> = random::<R>(seed + 3, n).into_iter().map(|x| x * x).collect();
        let step = AdamStep { l1, ..STEP };
        let expected = naive_adam([&wide(&w), &wide(&m), &wide(&v), &wide(&g)], &step);
        let (mut w2, mut m2, mut v2) = (w.clone(), m.clone(), v);
        adam(&mut w2, &mut m2, &mut v2, &g, &step);
        for (got, expected) in [w2, m2, v2].iter().zip(&expected) {
            near(got, expected, 8);
        }
        let AdamStep { gradient_scale, l2, decay, rate, .. } = STEP;
        let step = SgdStep { gradient_scale, l1, l2, decay, momentum, rate };
        let expected = naive_sgd([&wide(&w), &wide(&m), &wide(&g)], &step);
        let (mut w2, mut m2) = (w, if momentum == 0.0 { vec![] } else { m });
        sgd(&mut w2, &mut m2, &g, &step);
        near(&w2, &expected[0], 8);
        if momentum != 0.0 {
            near(&m2, &expected[1], 8);
        }
    }

    proptest! {
        #[test]
        fn any_length_equals_the_naive_twin(n in size_or_none(), seed in 0u64..1000) {
            for (l1, momentum) in [(0.0, 0.0), (0.01, 0.9)] {
                check::<f32>(n, l1, momentum, seed);
                check::<f64>(n, l1, momentum, seed);
            }
        }
    }

    #[test]
    fn squares_add_up_whatever_the_length() {
        for n in [0, 1, 7, 32, 1023, 1025, 5000] {
            let x = values(1, n);
            let expected: f64 = x.iter().map(|x| x * x).sum();
            close(&[sum_of_squares(&x)], &[expected], 1e-12);
            let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            close(&[sum_of_squares(&single)], &[expected], 1e-5);
        }
        assert!(!sum_of_squares(&[1.0f32, f32::NAN]).is_finite());
    }
}
