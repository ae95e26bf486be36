//! Optimisers: Adam and SGD, with regularisation and gradient clipping.

use serde::{Deserialize, Serialize};

use crate::kernel::{AdamStep, Real, SgdStep, adam, sgd, sum_of_squares};

/// The update rule, as written in a config.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum OptimizerRule {
    /// Adam (Kingma and Ba 2015); with weight decay, `AdamW`.
    Adam {
        /// Decay of the mean of gradients.
        beta1: f64,
        /// Decay of the mean of squared gradients.
        beta2: f64,
        /// Added to the denominator.
        epsilon: f64,
        /// Whether `epsilon` is added before the bias correction of the mean of squares, as in fairseq (and in the faster form of
        /// the paper). PyTorch adds it after.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        epsilon_first: bool,
    },
    Sgd {
        /// Decay of the sum of past gradients; 0 for none.
        momentum: f64,
    },
}

/// An optimiser, as written in a config.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimizerSpec {
    pub rule: OptimizerRule,
    /// Adds `l1 · Σ|w|` to the loss.
    #[serde(default)]
    pub l1: f64,
    /// Adds `l2 · Σw²` to the loss.
    #[serde(default)]
    pub l2: f64,
    /// Decoupled weight decay: each step multiplies parameters by `1 − rate · weight_decay`.
    #[serde(default)]
    pub weight_decay: f64,
    /// The maximum norm of the gradient of all parameters; a larger gradient is scaled down.
    #[serde(default)]
    pub clip: Option<f64>,
}

impl OptimizerSpec {
    /// Adam with the constants of the paper, without regularisation or clipping.
    pub fn adam() -> Self {
        let rule = OptimizerRule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, epsilon_first: false };
        Self { rule, l1: 0.0, l2: 0.0, weight_decay: 0.0, clip: None }
    }

    pub fn sgd() -> Self {
        Self { rule: OptimizerRule::Sgd { momentum: 0.0 }, ..Self::adam() }
    }

    /// With gradients clipped at this norm.
    #[must_use]
    pub fn clipped(self, norm: f64) -> Self {
        Self { clip: Some(norm), ..self }
    }
}

/// The norm of the gradient is infinite or NaN: the run has diverged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the gradient is not finite")]
pub struct NotFinite;

/// An optimiser with its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimizer<R> {
    spec: OptimizerSpec,
    steps: u64,
    /// The mean of gradients (Adam) or their decaying sum (SGD); empty for SGD without momentum.
    mean: Vec<R>,
    /// The mean of squared gradients; empty for SGD.
    square: Vec<R>,
}

impl<R: Real> Optimizer<R> {
    /// Before the first step, for this number of parameters.
    pub fn new(spec: OptimizerSpec, parameters: usize) -> Self {
        let (mean, square) = match spec.rule {
            OptimizerRule::Adam { .. } => (parameters, parameters),
            OptimizerRule::Sgd { momentum } if momentum != 0.0 => (parameters, 0),
            OptimizerRule::Sgd { .. } => (0, 0),
        };
        Self { spec, steps: 0, mean: vec![R::ZERO; mean], square: vec![R::ZERO; square] }
    }

    /// One step at this learning rate; `scale` multiplies the gradient before clipping. Gives the norm before clipping, if
    /// there is clipping. If that norm is not finite, nothing changes.
    pub fn step(
        &mut self,
        params: &mut [R],
        gradient: &[R],
        rate: f64,
        scale: f64,
    ) -> Result<Option<f64>, NotFinite> {
        let mut gradient_scale = scale;
        let mut norm = None;
        if let Some(clip) = self.spec.clip {
            let length = scale * libm::sqrt(sum_of_squares(gradient));
            if !length.is_finite() {
                return Err(NotFinite);
            }
            // As in PyTorch: 1e-6 is added to the norm, and small gradients are not scaled up.
            gradient_scale *= (clip / (length + 1e-6)).min(1.0);
            norm = Some(length);
        }
        self.steps += 1;
        let (l1, l2, decay) = (self.spec.l1, 2.0 * self.spec.l2, rate * self.spec.weight_decay);
        match self.spec.rule {
            OptimizerRule::Adam { beta1, beta2, epsilon, epsilon_first } => {
                let t = self.steps as f64;
                let root_scale = 1.0 / libm::sqrt(1.0 - libm::pow(beta2, t));
                let step = AdamStep {
                    gradient_scale,
                    l1,
                    l2,
                    decay,
                    beta1,
                    beta2,
                    rate: rate / (1.0 - libm::pow(beta1, t)),
                    root_scale,
                    epsilon: if epsilon_first { epsilon * root_scale } else { epsilon },
                };
                adam(params, &mut self.mean, &mut self.square, gradient, &step);
            }
            OptimizerRule::Sgd { momentum } => {
                let step = SgdStep { gradient_scale, l1, l2, decay, momentum, rate };
                sgd(params, &mut self.mean, gradient, &step);
            }
        }
        Ok(norm)
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The state, for a checkpoint: steps, mean of gradients, mean of squared gradients.
    pub fn state(&self) -> (u64, &[R], &[R]) {
        (self.steps, &self.mean, &self.square)
    }

    /// Sets the state. False, and no change, if the sizes differ.
    pub fn restore(&mut self, steps: u64, mean: &[R], square: &[R]) -> bool {
        if mean.len() != self.mean.len() || square.len() != self.square.len() {
            return false;
        }
        self.steps = steps;
        self.mean.copy_from_slice(mean);
        self.square.copy_from_slice(square);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_of_adam_is_the_learning_rate() {
        let mut optimizer = Optimizer::new(OptimizerSpec::adam(), 2);
        let mut params = vec![1.0f64, -1.0];
        optimizer.step(&mut params, &[0.3, -20.0], 0.1, 1.0).unwrap();
        assert!((params[0] - 0.9).abs() < 1e-7 && (params[1] + 0.9).abs() < 1e-7, "{params:?}");
    }

    #[test]
    fn clipping_keeps_the_direction_and_limits_the_length() {
        let mut optimizer = Optimizer::new(OptimizerSpec::sgd().clipped(1.0), 2);
        let mut params = vec![0.0f64, 0.0];
        let norm = optimizer.step(&mut params, &[3.0, 4.0], 1.0, 1.0).unwrap();
        assert_eq!(norm, Some(5.0));
        assert!((params[0] + 0.6).abs() < 1e-6 && (params[1] + 0.8).abs() < 1e-6, "{params:?}");
        assert_eq!(optimizer.step(&mut params, &[f64::NAN, 1.0], 1.0, 1.0), Err(NotFinite));
        assert_eq!(optimizer.steps(), 1);
    }

    /// Five steps of fairseq 0.9.0 (Adam, its schedule, clipping at 25) on a linear regression in double precision, with
    /// large and small gradients.
    #[test]
    #[expect(clippy::unreadable_literal, reason = "the digits as they were printed")]
    fn epsilon_first_is_fairseqs_adam() {
        const X: [[f64; 2]; 4] = [
            [0.15514200678477685, 0.03875834484071072],
            [-0.4969762214130604, -1.311645734761742],
            [-1.3888971611907066, 1.6965533938295985],
            [-1.8583022125874167, 1.3866623005993102],
        ];
        const Y: [[f64; 3]; 4] = [
            [0.5517141279730953, -0.002501557224242834, 1.8780514789509182],
            [0.6229689386367041, 0.7568396240506732, 0.8954667297964884],
            [-0.27751170094514066, -1.2341296901936967, 1.1751862559419117],
            [1.8671992725524298, -1.5905012496518376, -0.6976835051373134],
        ];
        const AFTER: [f64; 9] = [
            0.33741264998541426,
            -0.5479578921155613,
            0.7185523152716057,
            -0.4191669832208759,
            -0.7035231740467469,
            -0.9758580565595046,
            0.5523533534811075,
            -0.1904825753143528,
            0.7118756502310298,
        ];
        let mut params = vec![
            0.33745781766834937,
            -0.5480030598030905,
            0.7185974826882278,
            -0.4192121499965138,
            -0.7035683417110614,
            -0.9759032244034631,
            0.5523081858715084,
            -0.19052774283320328,
            0.7119208168806939,
        ];
        let rule = OptimizerRule::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, epsilon_first: true };
        let mut optimizer = Optimizer::new(OptimizerSpec { rule, ..OptimizerSpec::adam().clipped(25.0) }, 9);
        for (update, scale) in [100.0, 1.0, 0.01, 30.0, 5.0].into_iter().enumerate() {
            let mut gradient = vec![0.0; 9];
            for (x, y) in X.iter().zip(&Y) {
                for o in 0..3 {
                    let sum = params[2 * o] * x[0] + params[2 * o + 1] * x[1] + params[6 + o];
                    let error = scale * (sum - y[o]) / 4.0;
                    gradient[2 * o] += error * x[0];
                    gradient[2 * o + 1] += error * x[1];
                    gradient[6 + o] += error;
                }
            }
            let rate = 1e-5 + update as f64 * (1e-3 - 1e-5) / 1000.0;
            optimizer.step(&mut params, &gradient, rate, 1.0).unwrap();
        }
        for (got, expected) in params.iter().zip(AFTER) {
            assert!((got - expected).abs() < 1e-15, "{got} {expected}");
        }
    }
}
