//! Which of two strings a model prefers, from the log-probabilities of their symbols.
//!
//! Where the strings of a pair are equally long, comparing sums and comparing means is the same. Where they are not, a sum favours
//! the shorter one, a mean does not, and the mean of probabilities can favour a string with an impossible symbol: all three are
//! measured, and each says its name.

use std::cmp::Ordering;

use crate::Ratio;

/// What of the two strings of a pair is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    /// The sum of log-probabilities: the probability of the whole string.
    Sum,
    /// The mean of log-probabilities.
    Mean,
    /// The mean of probabilities.
    MeanProbability,
}

/// What counts for a pair whose strings are found equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ties {
    /// Nothing: the good string must be strictly better.
    Wrong,
    /// One half, as if a coin were thrown.
    Half,
}

impl Comparison {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sum, Self::Mean, Self::MeanProbability];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::MeanProbability => "mean probability",
        }
    }

    /// The number of a string that is compared; higher is better.
    ///
    /// ```
    /// use wug_score::pairs::Comparison::*;
    /// let logs = [0.5_f64.ln(), 0.25_f64.ln()];
    /// assert!((Sum.of(&logs) - 0.125_f64.ln()).abs() < 1e-12);
    /// assert!((Mean.of(&logs) - 0.125_f64.ln() / 2.0).abs() < 1e-12);
    /// assert!((MeanProbability.of(&logs) - 0.375).abs() < 1e-12);
    /// ```
    pub fn of(self, log_probs: &[f64]) -> f64 {
        let n = log_probs.len() as f64;
        match self {
            Self::Sum => log_probs.iter().sum(),
            Self::Mean => log_probs.iter().sum::<f64>() / n,
            Self::MeanProbability => log_probs.iter().map(|&log| libm::exp(log)).sum::<f64>() / n,
        }
    }

    /// What a pair counts: one if the good string is preferred. What is not a number is not preferred.
    ///
    /// ```
    /// use wug_score::pairs::{Comparison::Sum, Ties};
    /// let value = |good: f64, bad: f64, ties| Sum.preference(&[good], &[bad], ties).numerator;
    /// assert_eq!([Ties::Wrong, Ties::Half].map(|ties| value(-1.0, -2.0, ties)), [1.0, 1.0]);
    /// assert_eq!([Ties::Wrong, Ties::Half].map(|ties| value(-2.0, -2.0, ties)), [0.0, 0.5]);
    /// ```
    pub fn preference(self, good: &[f64], bad: &[f64], ties: Ties) -> Ratio {
        match (self.of(good).partial_cmp(&self.of(bad)), ties) {
            (Some(Ordering::Equal), Ties::Half) => Ratio::once(0.5),
            (order, _) => Ratio::correct(order == Some(Ordering::Greater)),
        }
    }
}
