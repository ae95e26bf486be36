//! Confidence in a score: percentile intervals from resampling examples or seeds.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wug_dataset::Seed;
use wug_language::draw;

use crate::aggregate::quantile;
use crate::best_of::{Draws, expected_best};
use crate::ratio::{finite, sorted};
use crate::{Aggregate, Ratio};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Examples: how the value would vary with other strings.
    Examples,
    /// Seeds: how the mean would vary with other runs.
    Seeds,
}

/// An interval with what it takes to read it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// The share of resamples inside it.
    pub level: f64,
    pub over: Over,
    /// How many of them there were.
    pub n: usize,
    /// How many resamples were drawn.
    pub resamples: usize,
}

/// Why there is no bootstrap.
#[derive(Debug, Error, PartialEq)]
pub enum BadBootstrap {
    /// A level that is no share.
    #[error("a bootstrap interval of level {0} was asked for; levels lie between 0 and 1")]
    Level(f64),
    #[error("a bootstrap of 0 resamples was asked for; it takes at least 1")]
    Resamples,
}

/// The percentile bootstrap (Efron 1979). The same seed gives the same interval, whatever the
/// order of the values.
///
/// ```
/// use wug_dataset::Seed;
/// use wug_score::{Bootstrap, Ratio};
/// let bootstrap = Bootstrap::new(Seed::new(1), 1_000, 0.95).unwrap();
/// let coin: Vec<Ratio> = (0..100).map(|i| Ratio::correct(i % 2 == 0)).collect();
/// let interval = bootstrap.over_examples(&coin).unwrap();
/// // The exact 95 % interval of a share of 50 in 100 is about 0.40..0.60.
/// assert!((interval.low - 0.4).abs() < 0.02 && (interval.high - 0.6).abs() < 0.02);
/// assert_eq!((interval.n, interval.level), (100, 0.95));
/// assert_eq!(bootstrap.over_examples(&coin[..1]), None); // one example has no spread
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    seed: Seed,
    resamples: usize,
    level: f64,
}

impl Bootstrap {
    /// So many resamples and an interval that holds this share of them.
    pub fn new(seed: Seed, resamples: usize, level: f64) -> Result<Self, BadBootstrap> {
        if !(level > 0.0 && level < 1.0) {
            return Err(BadBootstrap::Level(level));
        }
        if resamples == 0 {
            return Err(BadBootstrap::Resamples);
        }
        Ok(Self { seed, resamples, level })
    }

    /// As reports use it: a fixed seed, so that the same results give the same report.
    pub fn of_report() -> Self {
        Self { seed: Seed::new(0), resamples: 1000, level: crate::estimate::LEVEL }
    }

    /// The interval of a micro-average, examples being drawn with replacement; `None` with fewer than two, or
    /// if it is not finite.
    pub fn over_examples(&self, ratios: &[Ratio]) -> Option<Interval> {
        let mut ratios = ratios.to_vec();
        // Examples are drawn by their places: sorted, they give the same interval in whatever order they
        // were evaluated.
        ratios.sort_unstable_by(|a, b| {
            a.numerator.total_cmp(&b.numerator).then(a.denominator.total_cmp(&b.denominator))
        });
        self.interval(&ratios, Over::Examples, |draws| {
            let zero = Ratio::new(0.0, 0.0);
            let add =
                |t: Ratio, r: &Ratio| Ratio::new(t.numerator + r.numerator, t.denominator + r.denominator);
            draws.iter().fold(zero, add).value()
        })
    }

    /// The interval of an aggregate over runs, runs being drawn with replacement; `None` with fewer than two,
    /// or if it is undefined. With the handful of seeds that papers have, such intervals are too narrow; the
    /// maximum has no interval worth the name.
    pub fn over_seeds(&self, values: &[f64], aggregate: Aggregate) -> Option<Interval> {
        self.interval(&sorted(values.iter().copied()), Over::Seeds, |draws| aggregate.of(draws))
    }

    /// The interval of the expected best of so many runs of each kind, runs of a kind being drawn with replacement; `None`
    /// with fewer than two, or if there are not enough. It cannot reach above the best run there is.
    pub fn over_best(&self, kinds: &[Draws<'_>]) -> Option<Interval> {
        let runs: Vec<Vec<f64>> = kinds.iter().map(|kind| sorted(kind.values.iter().copied())).collect();
        let mut draws = runs.clone();
        self.resampled(runs.iter().map(Vec::len).sum(), Over::Seeds, |below| {
            for (drawn, of) in draws.iter_mut().zip(&runs) {
                drawn.iter_mut().for_each(|slot| *slot = of[below(of.len())]);
            }
            let kinds: Vec<Draws<'_>> =
                draws.iter().zip(kinds).map(|(values, kind)| Draws { values, n: kind.n }).collect();
            expected_best(&kinds)
        })
    }

    fn interval<T: Copy>(
        &self,
        items: &[T],
        over: Over,
        statistic: impl Fn(&[T]) -> Option<f64>,
    ) -> Option<Interval> {
        let mut draws = items.to_vec();
        self.resampled(items.len(), over, |below| {
            draws.iter_mut().for_each(|slot| *slot = items[below(items.len())]);
            statistic(&draws)
        })
    }

    /// The interval of what is computed from each resample of n things; which are drawn is asked by number.
    fn resampled(
        &self,
        n: usize,
        over: Over,
        mut resample: impl FnMut(&mut dyn FnMut(usize) -> usize) -> Option<f64>,
    ) -> Option<Interval> {
        if n < 2 {
            return None;
        }
        let purpose = match over {
            Over::Examples => "bootstrap/examples",
            Over::Seeds => "bootstrap/seeds",
        };
        let mut rng = self.seed.derive(purpose).rng();
        let mut values = Vec::with_capacity(self.resamples);
        for _ in 0..self.resamples {
            // A resample without a value leaves no interval. Passing over it would show how sure the value
            // is where it happens to be defined.
            values.push(resample(&mut |n| draw::below(&mut rng, n)).and_then(finite)?);
        }
        let values = sorted(values);
        let tail = (1.0 - self.level) / 2.0;
        let (low, high) = (quantile(&values, tail)?, quantile(&values, 1.0 - tail)?);
        Some(Interval { low, high, level: self.level, over, n, resamples: self.resamples })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_cover_the_truth_about_as_often_as_they_say() {
        let truth = 0.8;
        let mut covered = 0;
        for i in 0..400 {
            let seed = Seed::new(3).nth(i);
            let mut rng = seed.derive("data").rng();
            let data: Vec<Ratio> = (0..100).map(|_| Ratio::correct(draw::chance(&mut rng, truth))).collect();
            let interval = Bootstrap::new(seed, 300, 0.9).unwrap().over_examples(&data).unwrap();
            covered += usize::from((interval.low..=interval.high).contains(&truth));
        }
        // 360 are promised; the percentile interval falls a little short at 100 examples.
        assert!((335..=385).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn constant_values_have_an_interval_of_one_point() {
        let bootstrap = Bootstrap::new(Seed::new(1), 50, 0.95).unwrap();
        let i = bootstrap.over_seeds(&[0.1; 7], Aggregate::Mean).unwrap();
        assert_eq!((i.low.to_bits(), i.high.to_bits()), (0.1_f64.to_bits(), 0.1_f64.to_bits()));
        assert_eq!((i.n, i.resamples, i.over), (7, 50, Over::Seeds));
    }

    #[test]
    fn the_best_of_n_has_an_interval_that_ends_at_the_best_run() {
        let bootstrap = Bootstrap::new(Seed::new(1), 500, 0.95).unwrap();
        let values: Vec<f64> = (0..40).map(|i| 0.5 + 0.01 * f64::from(i)).collect();
        let best = |n| bootstrap.over_best(&[Draws { values: &values, n }]);
        let (five, all) = (best(5).unwrap(), best(40).unwrap());
        let expected = expected_best(&[Draws { values: &values, n: 5 }]).unwrap();
        assert!(five.low < expected && expected < five.high && five.high < 0.89, "{five:?}");
        assert!((all.high - 0.89).abs() < 1e-12 && all.low > 0.8, "{all:?}");
        assert_eq!(best(41), None);
        let of_one = bootstrap.over_seeds(&values, Aggregate::Mean).unwrap();
        let single = best(1).unwrap();
        assert!((of_one.low - single.low).abs() < 1e-12 && (of_one.high - single.high).abs() < 1e-12);
    }

    #[test]
    fn intervals_depend_on_the_seed_and_not_on_the_order() {
        let values = [0.3, 0.9, 0.5, 0.7];
        let reversed = [0.7, 0.5, 0.9, 0.3];
        let of = |seed, values: &[f64]| {
            Bootstrap::new(Seed::new(seed), 97, 0.9).unwrap().over_seeds(values, Aggregate::Mean).unwrap()
        };
        assert_eq!(of(1, &values), of(1, &reversed));
        assert_ne!(of(1, &values), of(2, &values));
    }

    #[test]
    fn impossible_requests_say_why() {
        let error = Bootstrap::new(Seed::new(1), 10, 95.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a bootstrap interval of level 95 was asked for; levels lie between 0 and 1"
        );
        assert!(Bootstrap::new(Seed::new(1), 0, 0.5).is_err());
        assert!(Bootstrap::new(Seed::new(1), 1, f64::NAN).is_err());
        let bootstrap = Bootstrap::new(Seed::new(1), 10, 0.5).unwrap();
        assert_eq!(bootstrap.over_examples(&[]), None);
        assert_eq!(bootstrap.over_examples(&[Ratio::once(f64::NAN); 3]), None);
    }
}
