//! Estimates over runs with their 95 % intervals: of a mean, and of the share of runs that pass.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use serde::Serialize;

use crate::Aggregate;
use crate::ratio::finite;

/// The level of every interval here.
pub const LEVEL: f64 = 0.95;
/// The quantile of the normal distribution that goes with it.
const Z: f64 = 1.959_963_984_540_054;

/// A value and the ends of its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// A function that keeps or reverses order, of the value and of both ends.
    #[must_use]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let (a, b) = (f(self.low), f(self.high));
        Self { value: f(self.value), low: a.min(b), high: a.max(b) }
    }
}

/// The mean of independent runs with Student's t interval; `None` with fewer than two, or if one is not finite.
///
/// ```
/// use wug_score::estimate::mean_of_runs;
/// // t with 2 degrees of freedom is 4.3027: 2 ± 4.3027 · 1 / √3.
/// let mean = mean_of_runs(&[1.0, 2.0, 3.0]).unwrap();
/// assert!((mean.value - 2.0).abs() < 1e-12 && (mean.high - 4.484_137).abs() < 1e-5);
/// assert_eq!(mean_of_runs(&[1.0]), None);
/// ```
pub fn mean_of_runs(values: &[f64]) -> Option<Estimate> {
    let value = Aggregate::Mean.of(values)?;
    let std = Aggregate::SampleStd.of(values)?;
    let n = values.len();
    let half = finite(student(n - 1) * std / (n as f64).sqrt())?;
    Some(Estimate { value, low: value - half, high: value + half })
}

/// The t beyond which, on both sides together, a share `1 - LEVEL` of Student's distribution lies.
fn student(degrees: usize) -> f64 {
    // The share within ±t is a finite sum in the angle whose tangent is t/√degrees, and grows with it.
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    // Sixty halvings of π/2 end below the precision of a double. There is no closed form of the inverse for
    // any number of degrees.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if within(middle, degrees) < LEVEL { low = middle } else { high = middle }
    }
    (degrees as f64).sqrt() * libm::tan(low)
}

/// Abramowitz and Stegun 26.7.3 and 26.7.4.
fn within(angle: f64, degrees: usize) -> f64 {
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let odd = degrees % 2;
    let mut term = if odd == 1 { cosine } else { 1.0 };
    let mut sum = 0.0;
    for k in (odd + 2..=degrees).step_by(2) {
        sum += term;
        term *= cosine * cosine * (k - 1) as f64 / k as f64;
    }
    if odd == 1 { FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

/// The share of runs that pass, with Wilson's score interval; `None` without runs.
///
/// ```
/// use wug_score::estimate::share_of_runs;
/// let share = share_of_runs(1, 45).unwrap();
/// assert!((share.low - 0.0039).abs() < 1e-4 && (share.high - 0.1157).abs() < 1e-4);
/// assert_eq!(share_of_runs(0, 0), None);
/// ```
pub fn share_of_runs(passed: usize, of: usize) -> Option<Estimate> {
    let n = of as f64;
    let p = finite(passed as f64 / n)?;
    // Not the normal interval p ± Z·√(p(1 − p)/n): it has no width where none or all of a handful of runs
    // pass, which is common.
    let scale = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    // Where none or all pass, that end is exact but for rounding.
    let low = if passed == 0 { 0.0 } else { centre - half };
    let high = if passed == of { 1.0 } else { centre + half };
    Some(Estimate { value: p, low, high })
}

#[cfg(test)]
mod tests {
    use wug_dataset::Seed;
    use wug_language::draw;

    use super::*;

    // scipy.stats.t.ppf(0.975, ν), scipy 1.17.
    #[test]
    fn quantiles_of_student_are_those_of_tables() {
        for (degrees, t) in [
            (1, 12.706_204_736),
            (2, 4.302_652_730),
            (3, 3.182_446_305),
            (4, 2.776_445_105),
            (9, 2.262_157_163),
            (30, 2.042_272_456),
            (99, 1.984_216_952),
        ] {
            assert!((student(degrees) - t).abs() < 1e-6, "{degrees}: {}", student(degrees));
        }
    }

    // statsmodels.stats.proportion.proportion_confint(k, n, method="wilson").
    #[test]
    fn shares_of_none_and_all_keep_a_width() {
        let none = share_of_runs(0, 3).unwrap();
        assert!(none.low.abs() < 1e-15 && (none.high - 0.561_497).abs() < 1e-6, "{none:?}");
        let all = share_of_runs(3, 3).unwrap();
        assert!((all.low - 0.438_503).abs() < 1e-6 && (all.high - 1.0).abs() < 1e-15, "{all:?}");
    }

    #[test]
    fn intervals_cover_the_truth_about_as_often_as_they_say() {
        let mut rng = Seed::new(5).derive("cover").rng();
        let (mut means, mut shares) = (0, 0);
        for _ in 0..2000 {
            // The sum of twelve is close to normal.
            let runs: Vec<f64> =
                (0..4).map(|_| (0..12).map(|_| draw::unit(&mut rng)).sum::<f64>() - 6.0).collect();
            let mean = mean_of_runs(&runs).unwrap();
            means += usize::from(mean.low <= 0.0 && 0.0 <= mean.high);
            let passed = (0..20).filter(|_| draw::chance(&mut rng, 0.2)).count();
            let share = share_of_runs(passed, 20).unwrap();
            shares += usize::from(share.low <= 0.2 && 0.2 <= share.high);
        }
        assert!((1870..=1930).contains(&means), "{means} of 2000");
        assert!((1840..=1960).contains(&shares), "{shares} of 2000");
    }

    #[test]
    fn runs_that_agree_have_an_interval_of_one_point() {
        let mean = mean_of_runs(&[0.1; 5]).unwrap();
        assert_eq!((mean.low.to_bits(), mean.high.to_bits()), (0.1_f64.to_bits(), 0.1_f64.to_bits()));
        assert_eq!(mean_of_runs(&[0.1, f64::NAN]), None);
    }
}
