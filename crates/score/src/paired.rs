//! Paired comparisons over runs: Student's t-test, its effect size, and the correction of Holm for several of them.

use serde::Serialize;

use crate::Aggregate;
use crate::ratio::finite;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedTest {
    /// The number of pairs.
    pub n: usize,
    /// The mean of the differences, first minus second.
    pub difference: f64,
    /// The mean in units of the standard deviation of the differences (Cohen's d of paired samples).
    pub effect: f64,
    /// Student's t, with n − 1 degrees of freedom.
    pub t: f64,
    pub p: f64,
}

/// Tests whether paired values differ. `None` with fewer than two pairs, if a value is not finite, or if all differences are
/// the same, for which t is not defined.
///
/// ```
/// use wug_score::paired::paired_t;
/// // Differences 1, 2, 3: mean 2, standard deviation 1, t = 2·√3 with 2 degrees of freedom.
/// let test = paired_t(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
/// assert_eq!((test.n, test.difference, test.effect), (3, 2.0, 2.0));
/// assert!((test.t - 12.0_f64.sqrt()).abs() < 1e-12 && (test.p - 0.074_179_9).abs() < 1e-6);
/// assert_eq!(paired_t(&[1.0], &[2.0]), None);
/// ```
///
/// # Panics
/// If there are not as many values on one side as on the other.
pub fn paired_t(first: &[f64], second: &[f64]) -> Option<PairedTest> {
    assert_eq!(first.len(), second.len(), "values are paired");
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let difference = Aggregate::Mean.of(&differences)?;
    let std = Aggregate::SampleStd.of(&differences)?;
    let n = differences.len();
    let effect = finite(difference / std)?;
    let t = finite(effect * (n as f64).sqrt())?;
    Some(PairedTest { n, difference, effect, t, p: two_sided(t, n - 1) })
}

/// The share of Student's distribution beyond ±t.
fn two_sided(t: f64, degrees: usize) -> f64 {
    let v = degrees as f64;
    // The tail is a regularised incomplete beta function; as one minus the rest, small ones would be lost.
    incomplete_beta(v / (v + t * t), 0.5 * v, 0.5).clamp(0.0, 1.0)
}

/// The regularised incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8, Lentz's method).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front = libm::exp(
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x),
    );
    // The fraction converges fast on this side of the mean; on the other, I_x(a, b) = 1 − I_{1−x}(b, a).
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    // Lentz divides by partial denominators, which may vanish.
    const TINY: f64 = 1e-300;
    let away = |x: f64| if x.abs() < TINY { TINY } else { x };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for m in 1..1000 {
        let m = f64::from(m);
        for step in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / away(1.0 + step * d);
            c = away(1.0 + step / c);
            h *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    h
}

/// The p-values corrected for their number by Holm's method, in their order: the probability of any false alarm among them
/// stays below a level at which the corrected ones are compared.
///
/// ```
/// use wug_score::paired::holm;
/// // 0.01·3, then the larger of that and 0.02·2, then of those and 0.5.
/// assert_eq!(holm(&[0.02, 0.5, 0.01]), [0.04, 0.5, 0.03]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    let (mut corrected, mut least) = (vec![0.0; p.len()], 0.0_f64);
    for (rank, &i) in order.iter().enumerate() {
        // Step down: a p-value is multiplied by the number of those that are not smaller, and none is
        // corrected to less than an earlier one.
        least = least.max((p[i] * (p.len() - rank) as f64).min(1.0));
        corrected[i] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    // By numerical integration of the density, and Abramowitz and Stegun's Table 26.10.
    #[test]
    fn tails_are_those_of_tables() {
        for (t, degrees, p) in [
            (1.0, 1, 0.5),
            (12.706_204_736, 1, 0.05),
            (2.0, 9, 0.076_552_8),
            (-2.0, 9, 0.076_552_8),
            (10.0, 4, 5.620_036e-4),
            (3.390_6, 99, 1.003_04e-3),
            (40.0, 99, 6.385_085e-63),
        ] {
            let got = two_sided(t, degrees);
            assert!((got / p - 1.0).abs() < 1e-5, "{t} {degrees}: {got} {p}");
        }
        assert!((two_sided(0.0, 5) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn equal_differences_and_single_pairs_have_no_test() {
        assert_eq!(paired_t(&[1.0, 2.0], &[0.0, 1.0]), None);
        assert_eq!(paired_t(&[], &[]), None);
        assert_eq!(paired_t(&[f64::NAN, 1.0], &[0.0, 0.0]), None);
    }

    #[test]
    fn corrections_keep_the_order_and_end_at_one() {
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.9, 0.9]), [1.0, 1.0]);
    }
}
