//! Which of two strings a model prefers, from the log-probabilities of their symbols.
//!
//! Where the strings of a pair are equally long, comparing sums and comparing means is the same. Where they are not, a sum favours
//! the shorter one, a mean does not, and the mean of probabilities can favour a string with an impossible symbol: all three are
//! measured, and each says its name.
//!
//! Rounding must not decide which string is preferred: sums do not depend on the order of their terms, and what is [equal but for
//! rounding](TIE) is a tie.

use std::cmp::Ordering;

use crate::Ratio;
use crate::ratio::sorted;

/// Two strings tie if what is compared of them differs by no more than this share of the greater one. A mean of a few hundred numbers
/// is rounded by a thousandth of this; the output of a model in single precision by a thousand times as much.
pub const TIE: f64 = 1e-12;

/// What of the two strings of a pair is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairComparison {
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

impl PairComparison {
    pub const ALL: [Self; 3] = [Self::Sum, Self::Mean, Self::MeanProbability];

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
    /// use wug_score::pairs::PairComparison::*;
    /// let logs = [0.5_f64.ln(), 0.25_f64.ln()];
    /// assert!((Sum.of(&logs) - 0.125_f64.ln()).abs() < 1e-12);
    /// assert!((Mean.of(&logs) - 0.125_f64.ln() / 2.0).abs() < 1e-12);
    /// assert!((MeanProbability.of(&logs) - 0.375).abs() < 1e-12);
    /// ```
    pub fn of(self, log_probs: &[f64]) -> f64 {
        StringScore::new(log_probs).by(self)
    }

    /// What a pair counts: one if the good string is preferred. What is not a number is not preferred; what differs by no more than
    /// [`TIE`] is a tie.
    ///
    /// ```
    /// use wug_score::pairs::{PairComparison::Sum, Ties};
    /// let value = |good: f64, bad: f64, ties| Sum.preference(&[good], &[bad], ties).numerator;
    /// assert_eq!([Ties::Wrong, Ties::Half].map(|ties| value(-1.0, -2.0, ties)), [1.0, 1.0]);
    /// assert_eq!([Ties::Wrong, Ties::Half].map(|ties| value(-2.0, -2.0, ties)), [0.0, 0.5]);
    /// ```
    pub fn preference(self, good: &[f64], bad: &[f64], ties: Ties) -> Ratio {
        self.preferred(&StringScore::new(good), &StringScore::new(bad), ties)
    }

    /// The same of strings whose numbers are known.
    pub fn preferred(self, good: &StringScore, bad: &StringScore, ties: Ties) -> Ratio {
        match (order(good.by(self), bad.by(self)), ties) {
            (Some(Ordering::Equal), Ties::Half) => Ratio::once(0.5),
            (order, _) => Ratio::correct(order == Some(Ordering::Greater)),
        }
    }
}

/// What every comparison compares of one string.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StringScore {
    sum: f64,
    probabilities: f64,
    n: f64,
}

impl StringScore {
    /// From the log-probabilities of its symbols. They are sorted once, so that no sum depends on their order.
    pub fn new(log_probs: &[f64]) -> Self {
        let terms = sorted(log_probs.iter().copied());
        let probabilities = terms.iter().map(|&log| libm::exp(log)).sum();
        Self { sum: terms.iter().sum(), probabilities, n: terms.len() as f64 }
    }

    fn by(&self, comparison: PairComparison) -> f64 {
        match comparison {
            PairComparison::Sum => self.sum,
            PairComparison::Mean => self.sum / self.n,
            PairComparison::MeanProbability => self.probabilities / self.n,
        }
    }
}

/// Which of two numbers is greater, or that they are equal but for rounding; `None` if one is not a number.
fn order(a: f64, b: f64) -> Option<Ordering> {
    // Relative, as sums grow with the length of a string. Of two impossible strings the difference is NaN,
    // and `partial_cmp` finds them equal.
    let tie = (a - b).abs() <= TIE * a.abs().max(b.abs());
    if tie && a.is_finite() && b.is_finite() { Some(Ordering::Equal) } else { a.partial_cmp(&b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model that gives every symbol the same probability finds strings of all lengths equal by their means.
    #[test]
    fn rounding_does_not_decide_between_means_of_equal_terms() {
        for symbols in [3.0_f64, 7.0, 11.0, 31.0] {
            let log = -symbols.ln();
            for n in 1..100 {
                for comparison in [PairComparison::Mean, PairComparison::MeanProbability] {
                    let tie = comparison.preference(&vec![log; n], &vec![log; n + 1], Ties::Half);
                    assert_eq!(tie, Ratio::once(0.5), "{comparison:?} {symbols} {n}");
                }
            }
        }
    }

    /// A unigram model finds a string and the same symbols in another order equally likely.
    #[test]
    fn the_order_of_symbols_does_not_change_a_sum() {
        let good = [0.1_f64, 0.2, 0.3, 0.7, 0.05, 0.6, 0.9].map(f64::ln);
        for first in 0..good.len() {
            let mut bad = good;
            bad.rotate_left(first);
            for comparison in PairComparison::ALL {
                assert_eq!(comparison.of(&good).to_bits(), comparison.of(&bad).to_bits());
                assert_eq!(comparison.preference(&good, &bad, Ties::Half), Ratio::once(0.5));
            }
        }
    }

    #[test]
    fn infinite_and_missing_numbers_are_compared_as_they_are() {
        let (impossible, some) = ([f64::NEG_INFINITY], [-1.0]);
        let of = |good: &[f64], bad: &[f64]| PairComparison::Sum.preference(good, bad, Ties::Half).numerator;
        assert_eq!(
            [of(&some, &impossible), of(&impossible, &some)].map(f64::to_bits),
            [1.0, 0.0_f64].map(f64::to_bits)
        );
        assert_eq!(of(&impossible, &impossible).to_bits(), 0.5_f64.to_bits());
        assert_eq!(of(&[f64::NAN], &some).to_bits(), 0.0_f64.to_bits());
        assert_eq!(of(&[-1.0], &[-1.0 - 1e-9]).to_bits(), 1.0_f64.to_bits());
    }
}
