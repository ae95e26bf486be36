//! Measurements of a run, found among its scores.

use wug_score::metric::RECOGNITION_ACCURACY;
use wug_score::{Measurement, Metric, RunResult, Stratum};

/// The split whose strings are longer than those of the training set.
pub(crate) const TEST: &str = "test";

/// Recognition accuracy on the long test set.
pub(crate) fn test_accuracy(run: &RunResult) -> Option<f64> {
    run.value(TEST, RECOGNITION_ACCURACY.metric.name)
}

/// The test accuracies of the runs that have one.
pub(crate) fn accuracies(runs: &[&RunResult]) -> Vec<f64> {
    runs.iter().filter_map(|run| test_accuracy(run)).collect()
}

/// The test accuracy of always giving the commoner answer.
pub(crate) fn chance(run: &RunResult) -> Option<f64> {
    run.whole(TEST, RECOGNITION_ACCURACY.metric.name)?.chance
}

/// A metric on the strings of the long test set that are about as long as each other.
pub(crate) struct OfLength {
    pub(crate) centre: f64,
    pub(crate) value: f64,
    pub(crate) spread: f64,
}

/// A metric against length, from short to long.
pub(crate) fn by_length(run: &RunResult, metric: &Metric) -> Vec<OfLength> {
    let of = run.scores.iter().filter(|m| m.split == TEST && m.metric == metric.name);
    let point = |m: &Measurement| match m.stratum {
        Stratum::Length(window) => {
            Some(OfLength { centre: window.centre(), value: m.value?, spread: m.spread.unwrap_or(0.0) })
        }
        _ => None,
    };
    let mut points: Vec<OfLength> = of.filter_map(point).collect();
    points.sort_by(|a, b| a.centre.total_cmp(&b.centre));
    points
}
