//! What one example adds to a score, and what many add up to.

use serde::{Deserialize, Serialize};

/// One example's part of a score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    pub numerator: f64,
    /// How much there was to score.
    pub denominator: f64,
}

impl Ratio {
    /// A numerator over a denominator.
    pub fn new(numerator: f64, denominator: f64) -> Self {
        Self { numerator, denominator }
    }

    /// A value that counts once.
    pub fn once(value: f64) -> Self {
        Self::new(value, 1.0)
    }

    /// One if correct, zero if not, out of one.
    pub fn correct(correct: bool) -> Self {
        Self::once(if correct { 1.0 } else { 0.0 })
    }

    /// Numerator over denominator; `None` if that is no finite number.
    pub fn value(self) -> Option<f64> {
        finite(self.numerator / self.denominator)
    }
}

/// Sums over examples: what scores are made of, and all it takes to combine the scores of parts.
///
/// ```
/// use wug_score::{Ratio, Totals};
/// let first = Totals::of(&[Ratio::new(3.0, 4.0), Ratio::new(0.0, 1.0)]);
/// let second = Totals::of(&[Ratio::new(1.0, 3.0)]);
/// assert_eq!(first.value(), Some(3.0 / 5.0));
/// assert_eq!(first.plus(second), Totals { numerator: 4.0, denominator: 8.0, n: 3 });
/// assert_eq!(Totals::default().value(), None); // no examples, no value
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// The sum of the numerators.
    pub numerator: f64,
    /// The sum of the denominators.
    pub denominator: f64,
    pub n: usize,
}

impl Totals {
    /// The sums, independent of order.
    pub fn of(ratios: &[Ratio]) -> Self {
        Self {
            numerator: sum(ratios.iter().map(|r| r.numerator)),
            denominator: sum(ratios.iter().map(|r| r.denominator)),
            n: ratios.len(),
        }
    }

    /// A single value that is not a mean, or none.
    pub fn whole(value: Option<usize>) -> Self {
        value.map_or_else(Self::default, |value| Self { numerator: value as f64, denominator: 1.0, n: 1 })
    }

    /// The sums of both parts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            numerator: self.numerator + other.numerator,
            denominator: self.denominator + other.denominator,
            n: self.n + other.n,
        }
    }

    /// The micro-average; `None` without examples, or if it is no finite number (a model that gave
    /// probability zero to the truth, or answered NaN).
    pub fn value(self) -> Option<f64> {
        Ratio::new(self.numerator, self.denominator).value()
    }
}

/// The number, if it is finite.
pub(crate) fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// A sum that does not depend on the order of its terms, because they are sorted first.
pub(crate) fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    // An empty sum of floats is minus zero, which would be written as such.
    sorted(terms).iter().sum::<f64>() + 0.0
}

/// The numbers in ascending order.
pub(crate) fn sorted(terms: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut terms: Vec<f64> = terms.into_iter().collect();
    terms.sort_unstable_by(f64::total_cmp);
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_finite_ratios_have_no_value() {
        assert_eq!(Ratio::new(0.0, 0.0).value(), None);
        assert_eq!(Ratio::once(f64::INFINITY).value(), None);
        assert_eq!(Totals::of(&[Ratio::once(1.0), Ratio::once(f64::NAN)]).value(), None);
    }

    #[test]
    fn an_empty_sum_is_positive_zero() {
        for ratios in [vec![], vec![Ratio::once(-0.0)]] {
            assert!(Totals::of(&ratios).numerator.is_sign_positive());
        }
    }

    #[test]
    fn sums_do_not_depend_on_the_order_of_terms() {
        let terms = [1e16, 1.0, -1e16, 3.0, 0.1];
        let mut reversed = terms;
        reversed.reverse();
        assert_eq!(sum(terms).to_bits(), sum(reversed).to_bits());
    }
}
