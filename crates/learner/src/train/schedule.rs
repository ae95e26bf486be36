//! Learning rate schedules.

use serde::{Deserialize, Serialize};

/// How the learning rate changes, as written in a config.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Schedule {
    Constant {
        rate: f64,
    },
    /// Multiplied by `factor` after more than `patience` epochs in a row without a strictly smaller validation loss.
    Plateau {
        rate: f64,
        factor: f64,
        /// Epochs without improvement that do not change the rate.
        patience: usize,
    },
    /// Linear warmup from `first` to `peak`, then `peak · √(warmup / step)`.
    InverseRoot {
        /// The rate of the first step.
        first: f64,
        peak: f64,
        /// Steps until the maximum.
        warmup: u64,
    },
}

/// A schedule with its state, as written in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    schedule: Schedule,
    current: f64,
    best: Option<f64>,
    bad: usize,
}

impl Rate {
    /// Before the first step.
    pub fn new(schedule: Schedule) -> Self {
        let current = match schedule {
            Schedule::Constant { rate } | Schedule::Plateau { rate, .. } => rate,
            Schedule::InverseRoot { first, .. } => first,
        };
        Self { schedule, current, best: None, bad: 0 }
    }

    /// The rate of the step after `done` others.
    pub fn at(&self, done: u64) -> f64 {
        match self.schedule {
            Schedule::InverseRoot { first, peak, warmup } if done < warmup => {
                // fairseq counts updates from 0, so the first step has the rate `first`.
                first + done as f64 * (peak - first) / warmup as f64
            }
            Schedule::InverseRoot { peak, warmup, .. } => {
                // A warmup of 0 reaches this with no step done.
                peak * libm::sqrt(warmup as f64 / done.max(1) as f64)
            }
            Schedule::Constant { .. } | Schedule::Plateau { .. } => self.current,
        }
    }

    /// For how many epochs the validation loss has not become smaller.
    pub(super) fn waited(&self) -> usize {
        self.bad
    }

    /// Updates the rate after an epoch with this validation loss.
    pub fn end_epoch(&mut self, loss: f64) {
        let Schedule::Plateau { factor, patience, .. } = self.schedule else { return };
        if self.best.is_none_or(|best| loss < best) {
            self.best = Some(loss);
            self.bad = 0;
            return;
        }
        self.bad += 1;
        // PyTorch's patience: the rate falls after one epoch more than that, and counting begins anew.
        if self.bad > patience {
            self.current *= factor;
            self.bad = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plateau_halves_the_rate_at_the_fifth_epoch_without_improvement() {
        let mut rate = Rate::new(Schedule::Plateau { rate: 1.0, factor: 0.5, patience: 4 });
        let mut rates = Vec::new();
        for loss in [3.0, 2.0, 2.0, 2.5, 2.0, 2.0, 2.0, 1.9, 5.0] {
            rate.end_epoch(loss);
            rates.push(rate.at(0));
        }
        assert_eq!(rates, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5]);
    }

    #[test]
    fn warmup_ends_at_the_peak() {
        let rate = Rate::new(Schedule::InverseRoot { first: 1e-5, peak: 1e-3, warmup: 1000 });
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(rate.at(0), 1e-5);
        close(rate.at(500), 5.05e-4);
        close(rate.at(1000), 1e-3);
        close(rate.at(3000), 1e-3 / 3f64.sqrt());
    }
}
