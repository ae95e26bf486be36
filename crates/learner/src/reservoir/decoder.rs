//! Linear decoders that learn from one answer at a time: softmax regression, or a logistic regression for each label against the
//! rest. Stochastic gradient descent with a constant rate, or Adam; weights start at zero.

use wug_parameter::choices;

use super::features::FeatureRows;
use crate::kernel::Real;
use crate::optim::{Optimizer, OptimizerSpec};

choices! {
    pub enum DecoderKind {
        Softmax = "softmax",
        /// For each label a logistic regression that tells it from the rest; one for both of two labels (the published decoder).
        OneVsRest = "one-vs-rest",
    }
}

choices! {
    /// What features are made to have mean 0 and variance 1 with.
    pub enum Standardization {
        /// Nothing: they stay as they are.
        None = "none",
        /// The mean and variance of all training features, known before the first step (published).
        Prior = "prior",
        /// The mean and variance of the features seen so far.
        Running = "running",
    }
}

/// A decoder, as settings say it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecoderSpec {
    pub kind: DecoderKind,
    /// What is done to features before.
    pub standardization: Standardization,
    pub rate: f64,
    /// The factor of ½·|w|² in the loss; biases are free.
    pub weight_decay: f64,
    /// Whether steps are those of Adam.
    pub adam: bool,
}

/// Adam over weights and biases.
#[derive(Clone, Debug)]
struct AdamState<R> {
    weights: Optimizer<R>,
    biases: Optimizer<R>,
    /// The gradient by the weights.
    gradient: Vec<R>,
}

impl<R: Real> AdamState<R> {
    fn new(weight_decay: f64, weights: usize, biases: usize) -> Self {
        let decayed = OptimizerSpec { l2: weight_decay / 2.0, ..OptimizerSpec::adam() };
        Self {
            weights: Optimizer::new(decayed, weights),
            biases: Optimizer::new(OptimizerSpec::adam(), biases),
            gradient: vec![R::ZERO; weights],
        }
    }

    /// One step from the derivative of the loss by the score of each unit.
    fn step(&mut self, [weights, biases]: [&mut [R]; 2], grads: &[f64], row: &[R], rate: f64) {
        let grads: Vec<R> = grads.iter().map(|&grad| R::of(grad)).collect();
        for (gradient, grad) in self.gradient.chunks_exact_mut(row.len()).zip(&grads) {
            gradient.iter_mut().zip(row).for_each(|(gradient, x)| *gradient = *grad * *x);
        }
        // A step can only fail where gradients are clipped.
        let _ = self.weights.step(weights, &self.gradient, rate, 1.0);
        let _ = self.biases.step(biases, &grads, rate, 1.0);
    }
}

#[derive(Clone, Debug)]
struct Moments {
    count: f64,
    mean: Vec<f64>,
    /// Sums of squared deviations.
    squares: Vec<f64>,
}

impl Moments {
    fn new(width: usize) -> Self {
        Self { count: 0.0, mean: vec![0.0; width], squares: vec![0.0; width] }
    }

    /// Those of all rows, in two passes.
    fn of<R: Real>(rows: &impl FeatureRows<R>, row: &mut [R]) -> Self {
        let mut all = Self::new(row.len());
        all.count = rows.len() as f64;
        for i in 0..rows.len() {
            rows.read(i, row);
            all.mean.iter_mut().zip(&*row).for_each(|(sum, x)| *sum += x.wide());
        }
        all.mean.iter_mut().for_each(|sum| *sum /= all.count.max(1.0));
        for i in 0..rows.len() {
            rows.read(i, row);
            for ((square, mean), x) in all.squares.iter_mut().zip(&all.mean).zip(&*row) {
                let deviation = x.wide() - mean;
                *square += deviation * deviation;
            }
        }
        all
    }

    fn add<R: Real>(&mut self, row: &[R]) {
        self.count += 1.0;
        let share = 1.0 / self.count;
        for ((mean, square), x) in self.mean.iter_mut().zip(&mut self.squares).zip(row) {
            let x = x.wide();
            let before = x - *mean;
            *mean += before * share;
            *square += before * (x - *mean);
        }
    }

    /// The factor of each feature: 1 over its standard deviation, or 1 if it is constant.
    fn factors<R: Real>(&self) -> Vec<R> {
        let factor = |(square, mean): (&f64, &f64)| {
            let variance = square / self.count.max(1.0);
            // A feature is constant if its variance is rounding, as scikit-learn has it.
            let rounding = self.count * f64::EPSILON;
            let constant = variance <= rounding * variance + (rounding * mean) * (rounding * mean);
            R::of(if constant { 1.0 } else { 1.0 / libm::sqrt(variance) })
        };
        self.squares.iter().zip(&self.mean).map(factor).collect()
    }
}

/// A decoder in training.
#[derive(Clone, Debug)]
pub struct LinearDecoder<R> {
    spec: DecoderSpec,
    width: usize,
    /// What it chooses from, ascending.
    labels: Vec<u32>,
    weights: Vec<R>,
    biases: Vec<R>,
    /// None for plain gradient descent.
    adam: Option<AdamState<R>>,
    moments: Moments,
    /// Mean and factor of each feature, as now used.
    mean: Vec<R>,
    factors: Vec<R>,
    row: Vec<R>,
}

impl<R: Real> LinearDecoder<R> {
    /// Before the first step, for rows of `width` features. Labels ascend.
    pub fn new(spec: DecoderSpec, width: usize, labels: Vec<u32>) -> Self {
        let units = units(spec.kind, labels.len());
        Self {
            spec,
            width,
            labels,
            weights: vec![R::ZERO; units * width],
            biases: vec![R::ZERO; units],
            adam: spec.adam.then(|| AdamState::new(spec.weight_decay, units * width, units)),
            moments: Moments::new(width),
            mean: vec![R::ZERO; width],
            factors: vec![R::ONE; width],
            row: vec![R::ZERO; width],
        }
    }

    /// Takes all training features into account before the first step, if they are to be standardised so.
    pub fn prepare(&mut self, rows: &impl FeatureRows<R>) {
        if self.spec.standardization == Standardization::Prior {
            self.moments = Moments::of(rows, &mut self.row);
            self.standardize_as_known();
        }
    }

    fn standardize_as_known(&mut self) {
        self.factors = self.moments.factors();
        self.mean = self.moments.mean.iter().map(|&mean| R::of(mean)).collect();
    }

    /// Learns from one answer: one step of gradient descent.
    pub fn learn(&mut self, rows: &impl FeatureRows<R>, row: usize, label: u32) {
        rows.read(row, &mut self.row);
        if self.spec.standardization == Standardization::Running {
            self.moments.add(&self.row);
            self.standardize_as_known();
        }
        for ((x, mean), factor) in self.row.iter_mut().zip(&self.mean).zip(&self.factors) {
            *x = (*x - *mean) * *factor;
        }
        let grads = self.grads(label);
        if let Some(adam) = &mut self.adam {
            adam.step([&mut self.weights, &mut self.biases], &grads, &self.row, self.spec.rate);
            return;
        }
        let keep = R::of(1.0 - self.spec.rate * self.spec.weight_decay);
        for ((weights, bias), grad) in
            self.weights.chunks_exact_mut(self.width).zip(&mut self.biases).zip(grads)
        {
            let step = R::of(-self.spec.rate * grad);
            for (weight, x) in weights.iter_mut().zip(&self.row) {
                *weight = *weight * keep + step * *x;
            }
            *bias += step;
        }
    }

    /// The derivative of the loss by the score of each unit.
    fn grads(&self, label: u32) -> Vec<f64> {
        let scores: Vec<f64> = self
            .weights
            .chunks_exact(self.width)
            .zip(&self.biases)
            .map(|(weights, bias)| (dot(weights, &self.row) + *bias).wide())
            .collect();
        match self.spec.kind {
            DecoderKind::OneVsRest => {
                // The one unit of two labels is for the larger.
                let first = usize::from(scores.len() < self.labels.len());
                let own = |(k, score): (usize, &f64)| logistic_grad(*score, self.labels[k + first] == label);
                scores.iter().enumerate().map(own).collect()
            }
            DecoderKind::Softmax => {
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let exps: Vec<f64> = scores.iter().map(|score| libm::exp(score - most)).collect();
                let total: f64 = exps.iter().sum();
                let grad = |(e, of): (&f64, &u32)| e / total - f64::from(u8::from(*of == label));
                exps.iter().zip(&self.labels).map(grad).collect()
            }
        }
    }

    /// The likeliest label of each row; the first of equals.
    pub fn predict(&self, rows: &impl FeatureRows<R>) -> Vec<u32> {
        let (n, units) = (rows.len(), self.biases.len());
        if n == 0 || units == 0 {
            return vec![self.labels.first().copied().unwrap_or(0); n];
        }
        let scores = self.scores(rows);
        if units < self.labels.len() {
            return scores.iter().map(|score| self.labels[usize::from(*score > R::ZERO)]).collect();
        }
        let best = |row: usize| {
            let mut best = 0;
            for k in 1..units {
                if scores[k * n + row] > scores[best * n + row] {
                    best = k;
                }
            }
            self.labels[best]
        };
        (0..n).map(best).collect()
    }

    /// The score `[K,N]` of each unit for each row.
    pub fn scores(&self, rows: &impl FeatureRows<R>) -> Vec<R> {
        let n = rows.len();
        // Features stay as they are stored: weights and biases take the standardisation on.
        let mut weights = self.weights.clone();
        let mut offsets = self.biases.clone();
        for (weights, offset) in weights.chunks_exact_mut(self.width).zip(&mut offsets) {
            for ((weight, mean), factor) in weights.iter_mut().zip(&self.mean).zip(&self.factors) {
                *weight *= *factor;
                *offset -= *weight * *mean;
            }
        }
        let mut scores = vec![R::ZERO; offsets.len() * n];
        rows.products(&weights, &mut scores);
        for (scores, offset) in scores.chunks_exact_mut(n).zip(offsets) {
            scores.iter_mut().for_each(|score| *score += offset);
        }
        scores
    }

    /// Weights `[K, width]` and biases, for standardised features.
    pub fn parameters(&self) -> (&[R], &[R]) {
        (&self.weights, &self.biases)
    }
}

/// How many units there are for so many labels.
pub fn units(kind: DecoderKind, labels: usize) -> usize {
    match (kind, labels) {
        (DecoderKind::OneVsRest, 2) => 1,
        (_, labels) => labels,
    }
}

/// The derivative of log(1 + exp(-z)) by the score, with z the score times ±1.
fn logistic_grad(score: f64, positive: bool) -> f64 {
    let sign = if positive { 1.0 } else { -1.0 };
    let z = sign * score;
    // The bounds of scikit-learn: beyond them one of the two terms is lost to rounding.
    if z > 18.0 {
        -sign * libm::exp(-z)
    } else if z < -18.0 {
        -sign
    } else {
        -sign / (1.0 + libm::exp(z))
    }
}

fn dot<R: Real>(a: &[R], b: &[R]) -> R {
    // Eight sums side by side, in a fixed order: the compiler turns them into registers, which it may not do
    // with one sum.
    let mut sums = [R::ZERO; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: R = a_rest.iter().zip(b_rest).map(|(a, b)| *a * *b).sum();
    sums.into_iter().sum::<R>() + rest
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::DenseRows;
    use super::*;

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    }

    fn rows(value: &Value) -> DenseRows<f64> {
        let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
        let mut dense = DenseRows::zeros(rows.len(), rows[0].len());
        rows.iter().enumerate().for_each(|(i, row)| dense.row_mut(i).copy_from_slice(row));
        dense
    }

    fn close(ours: &[f64], theirs: &Value) {
        let flat = |value: &Value| match value {
            Value::Array(items) if items.first().is_some_and(Value::is_array) => {
                items.iter().flat_map(numbers).collect::<Vec<_>>()
            }
            other => numbers(other),
        };
        let theirs = flat(theirs);
        assert_eq!(ours.len(), theirs.len());
        assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-9), "{ours:?} {theirs:?}");
    }

    fn decoder(case: &Value, rate: f64, weight_decay: f64) -> LinearDecoder<f64> {
        let labels = numbers(&case["classes"]).iter().map(|&x| x as u32).collect();
        let (kind, standardization) = (DecoderKind::OneVsRest, Standardization::Prior);
        let spec = DecoderSpec { kind, standardization, rate, weight_decay, adam: false };
        let mut decoder = LinearDecoder::new(spec, 6, labels);
        decoder.prepare(&rows(&case["X_raw"]));
        decoder
    }

    /// scikit-learn's `SGDClassifier` after a `StandardScaler`, driven as the released code drives them.
    #[test]
    fn one_vs_rest_is_that_of_the_released_code() {
        let golden: Value =
            serde_json::from_str(include_str!("../../../../testdata/learner/reservoirs.json")).unwrap();
        for name in ["two_class", "four_class"] {
            let case = &golden["decoder"][name];
            let (x, xt) = (rows(&case["X_raw"]), rows(&case["Xt_raw"]));
            let y: Vec<u32> = numbers(&case["y"]).iter().map(|&y| y as u32).collect();
            let yt: Vec<u32> = numbers(&case["yt"]).iter().map(|&y| y as u32).collect();
            let mut decoder = decoder(case, 0.001, 0.001);
            close(&decoder.mean, &case["scaler_mean"]);
            let factors: Vec<f64> = numbers(&case["scaler_scale"]).iter().map(|s| 1.0 / s).collect();
            assert!(decoder.factors.iter().zip(factors).all(|(a, b)| (a - b).abs() < 1e-9));
            // After the first row alone, then after each block of eight, the first row among them again.
            let fit = &case["reference_fit"];
            for (k, block) in [0..1, 0..8, 8..16, 16..24].into_iter().enumerate() {
                block.for_each(|row| decoder.learn(&x, row, y[row]));
                close(&decoder.weights, &fit["snapshots"][k]["coef"]);
                close(&decoder.biases, &fit["snapshots"][k]["intercept"]);
                let right = decoder.predict(&xt).iter().zip(&yt).filter(|(a, b)| a == b).count();
                let theirs = fit["test_accuracy"][k].as_f64().unwrap();
                assert!((right as f64 / 10.0 - theirs).abs() < 1e-9, "{name} {k}");
            }
            let predicted: Vec<f64> = decoder.predict(&xt).into_iter().map(f64::from).collect();
            assert_eq!(predicted, numbers(&fit["final_predictions"]));
            let (n, units) = (10, decoder.biases.len());
            let scores = decoder.scores(&xt);
            let by_row: Vec<f64> = (0..n * units).map(|i| scores[i % units * n + i / units]).collect();
            close(&by_row, &fit["final_decision_function_on_Xt"]);
        }
    }

    #[test]
    fn large_steps_are_those_of_the_released_code() {
        let golden: Value =
            serde_json::from_str(include_str!("../../../../testdata/learner/reservoirs.json")).unwrap();
        for name in ["two_class", "four_class"] {
            let case = &golden["decoder"][name];
            let x = rows(&case["X_raw"]);
            let mut decoder = decoder(case, 0.5, 0.05);
            let mut done = 0;
            for step in case["amplified"]["steps"].as_array().unwrap() {
                for row in done..step["step"].as_u64().unwrap() as usize {
                    decoder.learn(&x, row, case["y"][row].as_u64().unwrap() as u32);
                }
                done = step["step"].as_u64().unwrap() as usize;
                close(&decoder.weights, &step["coef"]);
                close(&decoder.biases, &step["intercept"]);
            }
            assert_eq!(done, 16);
        }
    }

    const ALL: [Standardization; 3] =
        [Standardization::None, Standardization::Running, Standardization::Prior];

    fn softmax(standardization: Standardization, adam: bool) -> DecoderSpec {
        DecoderSpec { kind: DecoderKind::Softmax, standardization, rate: 0.1, weight_decay: 0.0, adam }
    }

    /// Whatever the size of the gradient, which differs from weight to weight.
    #[test]
    fn the_first_step_of_adam_is_the_learning_rate() {
        let mut rows = DenseRows::<f64>::zeros(1, 3);
        rows.row_mut(0).copy_from_slice(&[0.25, -4.0, 0.0]);
        let mut decoder = LinearDecoder::new(softmax(Standardization::None, true), 3, vec![2, 5]);
        decoder.learn(&rows, 0, 5);
        let expected = [-0.1, 0.1, 0.0, 0.1, -0.1, 0.0];
        assert!(decoder.weights.iter().zip(expected).all(|(w, e)| (w - e).abs() < 1e-7), "{decoder:?}");
        assert!((decoder.biases[0] + 0.1).abs() < 1e-7 && (decoder.biases[1] - 0.1).abs() < 1e-7);
    }

    #[test]
    fn softmax_learns_what_can_be_told_apart() {
        for (standardization, adam) in ALL.into_iter().flat_map(|s| [(s, false), (s, true)]) {
            let spec = softmax(standardization, adam);
            let mut rows = DenseRows::<f32>::zeros(3, 4);
            (0..3).for_each(|i| rows.row_mut(i)[i] = 1.0);
            let mut decoder = LinearDecoder::new(spec, 4, vec![2, 5, 7]);
            decoder.prepare(&rows);
            assert_eq!(decoder.predict(&rows), [2, 2, 2]);
            for _ in 0..200 {
                [2, 5, 7].into_iter().enumerate().for_each(|(i, label)| decoder.learn(&rows, i, label));
            }
            assert_eq!(decoder.predict(&rows), [2, 5, 7], "{standardization:?} {adam}");
        }
    }
}
