//! Whether two groups of runs differ by more than noise: a permutation test of their means, which assumes no distribution.

use wug_dataset::Seed;
use wug_language::draw;

use crate::Aggregate;

/// Up to so many ways to divide the runs are all tried; of more, so many are drawn.
const WAYS: u64 = 200_000;

/// The share of all ways to divide the runs of both groups into groups of their sizes in which the means differ at least as
/// much as they do, in either direction (Fisher 1935). `None` if a group is empty or a value is not finite. Where there are too many
/// ways, of 10+10 runs not yet, a sample of them with a fixed seed is tried.
///
/// ```
/// use wug_score::permutation::p_value;
/// // Of the 70 ways, only this one and its mirror image differ as much.
/// assert_eq!(p_value(&[1.0, 0.9, 0.8, 1.0], &[0.5, 0.6, 0.5, 0.4]), Some(2.0 / 70.0));
/// assert_eq!(p_value(&[1.0, 0.9], &[0.5]), Some(1.0 / 3.0));
/// ```
pub fn p_value(a: &[f64], b: &[f64]) -> Option<f64> {
    let all = [a, b].concat();
    let mean = Aggregate::Mean.of(&all)?;
    let observed = (Aggregate::Mean.of(a)? - mean).abs() * a.len() as f64;
    Aggregate::Mean.of(b)?;
    // Sums in another order differ in their last bits.
    let least = observed - 1e-9 * (1.0 + observed);
    let all: Vec<f64> = all.iter().map(|x| x - mean).collect();
    let ways = ways(a.len(), b.len());
    if ways <= WAYS {
        return Some(extreme(&all, a.len(), 0.0, least) as f64 / ways as f64);
    }
    let mut rng = Seed::new(0).derive("permutation").rng();
    let mut drawn = all;
    let hits = (1..WAYS).filter(|_| {
        draw::shuffle(&mut rng, &mut drawn);
        drawn[..a.len()].iter().sum::<f64>().abs() >= least
    });
    // The division that was observed is one of them.
    Some((1 + hits.count()) as f64 / WAYS as f64)
}

/// The smallest value that the test can give for groups of these sizes.
///
/// ```
/// use wug_score::permutation::smallest_p;
/// assert_eq!((smallest_p(3, 3), smallest_p(4, 4)), (0.1, 2.0 / 70.0)); // three runs are too few for 5 %
/// ```
pub fn smallest_p(a: usize, b: usize) -> f64 {
    (2.0 / ways(a, b) as f64).min(1.0)
}

/// In how many ways a + b runs can be divided so; of more than fit, the most that does.
fn ways(a: usize, b: usize) -> u64 {
    let mut ways: u128 = 1;
    for i in 1..=a.min(b) as u128 {
        ways = ways * (a.max(b) as u128 + i) / i;
        if ways > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    u64::try_from(ways).unwrap_or(u64::MAX)
}

/// How many choices of so many of the values have a sum, with that of those chosen already, at least so far from zero.
fn extreme(values: &[f64], choose: usize, sum: f64, least: f64) -> u64 {
    match values {
        _ if choose == 0 => u64::from(sum.abs() >= least),
        [first, rest @ ..] if values.len() >= choose => {
            // Every choice costs one addition, because the sum of what was chosen is handed down.
            extreme(rest, choose - 1, sum + first, least) + extreme(rest, choose, sum, least)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // scipy 1.17: permutation_test((a, b), lambda a, b: abs(mean(a) - mean(b)), alternative="greater", n_resamples=inf).
    #[test]
    fn the_test_is_that_of_scipy() {
        for (a, b, p) in [
            (&[0.93, 0.95, 0.91, 0.97, 0.94][..], &[0.90, 0.96, 0.89, 0.92][..], 0.285_714_285_714),
            (&[1.0, 1.0, 1.0, 0.99], &[0.5, 0.6, 1.0, 0.5, 0.7], 0.047_619_047_619),
            (&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], 1.0),
        ] {
            assert!((p_value(a, b).unwrap() - p).abs() < 1e-9, "{a:?} {b:?}: {:?}", p_value(a, b));
        }
    }

    #[test]
    fn many_runs_are_sampled_and_come_close() {
        let a: Vec<f64> = (0..11).map(|i| 0.5 + 0.01 * f64::from(i)).collect();
        let b: Vec<f64> = (0..11).map(|i| 0.52 + 0.011 * f64::from(i)).collect();
        let centred = |x: &f64| x - Aggregate::Mean.of(&[&a[..], &b[..]].concat()).unwrap();
        let all: Vec<f64> = a.iter().chain(&b).map(centred).collect();
        let least = all[..11].iter().sum::<f64>().abs() - 1e-9;
        let exact = extreme(&all, 11, 0.0, least) as f64 / ways(11, 11) as f64;
        let sampled = p_value(&a, &b).unwrap();
        assert!(ways(11, 11) > WAYS && (sampled - exact).abs() < 0.005, "{sampled} {exact}");
        assert_eq!(p_value(&a, &b), Some(sampled));
    }

    #[test]
    fn nothing_is_decided_about_nothing() {
        assert_eq!(
            (p_value(&[], &[1.0]), p_value(&[1.0], &[]), p_value(&[1.0], &[f64::NAN])),
            (None, None, None)
        );
        assert_eq!((ways(3, 3), ways(10, 10), ways(2000, 2000)), (20, 184_756, u64::MAX));
    }
}
