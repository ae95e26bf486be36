//! What the best of n runs would be, from the runs there are: papers report the best of 6 to 63, and the best of three is
//! no match for it.

use crate::Estimate;
use crate::ratio::sorted;

/// Runs of one kind, and how many such runs the best is to be of.
#[derive(Clone, Copy, Debug)]
pub struct Draws<'a> {
    /// The scores of the runs there are.
    pub values: &'a [f64],
    /// How many are drawn, without replacement.
    pub n: usize,
}

/// The expected highest score among so many runs of each kind: the mean over all ways to choose them, which is unbiased.
/// `None` if there are fewer runs of a kind than are drawn, if none is drawn, or if a score is not finite.
///
/// ```
/// use wug_score::best_of::{Draws, expected_best};
/// let best = |n| expected_best(&[Draws { values: &[0.5, 0.6, 1.0], n }]);
/// assert!((best(2).unwrap() - (0.6 + 1.0 + 1.0) / 3.0).abs() < 1e-12);
/// assert_eq!(best(4), None);
/// ```
pub fn expected_best(kinds: &[Draws<'_>]) -> Option<f64> {
    let drawn = || kinds.iter().filter(|kind| kind.n > 0);
    if drawn().any(|kind| kind.values.len() < kind.n) {
        return None;
    }
    let all = sorted(drawn().flat_map(|kind| kind.values.iter().copied()));
    let (least, most) = (*all.first()?, *all.last()?);
    let (mut sum, mut before) = (0.0, 0.0);
    // The mean of a maximum from its distribution function, Σ x·(F(x) − F(before)): quadratic in the runs,
    // where the choices of n runs are too many to list.
    for x in all {
        let below = drawn().map(|kind| none_above(kind, x)).product::<f64>();
        sum += x * (below - before);
        before = below;
    }
    // Scores that are not finite are sorted to the ends.
    (least.is_finite() && most.is_finite()).then(|| sum.clamp(least, most))
}

/// The probability that none of the runs drawn is above a score.
fn none_above(kind: &Draws<'_>, score: f64) -> f64 {
    let total = kind.values.len();
    let below = kind.values.iter().filter(|x| **x <= score).count();
    // C(below, n) / C(total, n) as a product of n ratios: the binomials themselves would overflow.
    (0..kind.n).map(|i| below.saturating_sub(i) as f64 / (total - i) as f64).product()
}

/// The probability that at least one of n runs passes, if a share of all runs does.
///
/// ```
/// use wug_score::{best_of::any_passes, estimate::share_of_runs};
/// // One of 45 passes: the best of twelve may, or may not.
/// let best = any_passes(share_of_runs(1, 45).unwrap(), 12);
/// assert!((best.value - 0.236).abs() < 1e-3 && best.low < 0.05 && best.high > 0.75);
/// ```
pub fn any_passes(share: Estimate, n: usize) -> Estimate {
    share.map(|p| 1.0 - libm::pow(1.0 - p, n as f64))
}

/// The index of the best of n runs at each factor: the largest factor that any of them solves, `None` if none is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestIndex {
    /// As likely to be reached as not.
    pub median: Option<usize>,
    /// Reached with probability 0.95 even if every share is as low as its interval allows.
    pub low: Option<usize>,
    /// Reached with probability 0.05 if every share is as high as its interval allows.
    pub high: Option<usize>,
}

impl BestIndex {
    /// From the share of runs that solve each factor.
    pub fn of(shares: &[(usize, Estimate)], n: usize) -> Self {
        let reached = |least: f64, end: fn(&Estimate) -> f64| {
            let reach = |factor: usize| reaches(shares.iter().map(|(b, share)| (*b, end(share))), n, factor);
            shares.iter().map(|(factor, _)| *factor).filter(|factor| reach(*factor) >= least).max()
        };
        Self {
            median: reached(0.5, |share| share.value),
            low: reached(0.95, |share| share.low),
            high: reached(0.05, |share| share.high),
        }
    }
}

/// The probability that some factor from this one on is solved by one of n runs at it.
fn reaches(shares: impl Iterator<Item = (usize, f64)>, n: usize, factor: usize) -> f64 {
    // The models of two factors are trained apart, so that the probabilities of failing multiply.
    let none = shares.filter(|(b, _)| *b >= factor).map(|(_, p)| libm::pow(1.0 - p, n as f64));
    1.0 - none.product::<f64>()
}

#[cfg(test)]
mod tests {
    use wug_dataset::Seed;
    use wug_language::draw;

    use super::*;
    use crate::estimate::share_of_runs;

    /// The highest of every way to choose n of the values.
    fn bests(values: &[f64], n: usize) -> Vec<f64> {
        let chosen = (0_u32..1 << values.len()).filter(|subset| subset.count_ones() as usize == n);
        let best = |subset: u32| {
            let of = values.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1);
            of.map(|(_, x)| *x).fold(f64::NEG_INFINITY, f64::max)
        };
        chosen.map(best).collect()
    }

    #[test]
    fn the_expected_best_is_the_mean_over_all_subsets() {
        let values = [0.7, 0.2, 0.9, 0.9, 0.1, 0.5, 0.5, 1.0];
        let others = [0.3, 0.95, 0.95, 0.6, 0.1];
        for n in 1..=values.len() {
            let bests = bests(&values, n);
            let mean = bests.iter().sum::<f64>() / bests.len() as f64;
            let best = expected_best(&[Draws { values: &values, n }]).unwrap();
            assert!((best - mean).abs() < 1e-12, "{n}: {best} {mean}");
        }
        for (n, m) in [(1, 1), (3, 2), (8, 5), (2, 0)] {
            let (ours, theirs) = (bests(&values, n), bests(&others, m));
            let pairs: Vec<f64> = ours.iter().flat_map(|a| theirs.iter().map(move |b| a.max(*b))).collect();
            let mean = pairs.iter().sum::<f64>() / pairs.len() as f64;
            let kinds = [Draws { values: &values, n }, Draws { values: &others, n: m }];
            assert!((expected_best(&kinds).unwrap() - mean).abs() < 1e-12, "{n} {m}");
        }
    }

    #[test]
    fn the_expected_best_is_unbiased() {
        // The best of three uniform draws is 3/4 on average, whatever the number of runs it is estimated from.
        let mut rng = Seed::new(8).derive("unbiased").rng();
        let (mut sum, times) = (0.0, 20_000);
        for _ in 0..times {
            let values: Vec<f64> = (0..5).map(|_| draw::unit(&mut rng)).collect();
            sum += expected_best(&[Draws { values: &values, n: 3 }]).unwrap();
        }
        assert!((sum / f64::from(times) - 0.75).abs() < 0.005, "{}", sum / f64::from(times));
    }

    #[test]
    fn without_enough_runs_there_is_no_best() {
        let of = |values: &[f64], n| expected_best(&[Draws { values, n }]);
        assert_eq!((of(&[], 1), of(&[0.5], 2), of(&[0.5], 0)), (None, None, None));
        assert_eq!((of(&[0.5, f64::NAN], 1), of(&[f64::INFINITY], 1)), (None, None));
        assert_eq!(expected_best(&[]), None);
        assert_eq!(of(&[0.1; 7], 3), Some(0.1));
    }

    /// Draws the best of n runs at each factor many times, and takes what a share of them reach.
    fn simulated(shares: &[(usize, f64)], n: usize, least: f64) -> Option<usize> {
        let mut rng = Seed::new(9).derive("index").rng();
        let times = 20_000;
        let mut indices: Vec<Option<usize>> = (0..times)
            .map(|_| {
                let solved = shares.iter().filter(|(_, p)| (0..n).any(|_| draw::chance(&mut rng, *p)));
                solved.map(|(factor, _)| *factor).max()
            })
            .collect();
        indices.sort_unstable_by(|a, b| b.cmp(a));
        indices[(least * f64::from(times)) as usize]
    }

    #[test]
    fn the_index_of_the_best_is_as_simulated() {
        for (counts, n) in [([3, 2, 1, 1], 12), ([9, 9, 0, 0], 3), ([0, 0, 0, 0], 63), ([0, 1, 0, 3], 6)] {
            let shares: Vec<(usize, Estimate)> = [1, 2, 4, 10]
                .into_iter()
                .zip(counts)
                .map(|(factor, passed)| (factor, share_of_runs(passed, 20).unwrap()))
                .collect();
            let at = |end: fn(&Estimate) -> f64| {
                shares.iter().map(|(b, share)| (*b, end(share))).collect::<Vec<_>>()
            };
            let simulated = BestIndex {
                median: simulated(&at(|share| share.value), n, 0.5),
                low: simulated(&at(|share| share.low), n, 0.95),
                high: simulated(&at(|share| share.high), n, 0.05),
            };
            assert_eq!(BestIndex::of(&shares, n), simulated, "{counts:?} {n}");
        }
    }
}
