//! Measurements of a run, found among its scores.

use std::ops::Deref;

use wug_score::metric::RECOGNITION_ACCURACY;
use wug_score::{Measurement, Metric, RunResult, Stratum};

/// The split whose strings are longer than those of the training set.
pub(crate) const TEST: &str = "test";

/// Recognition accuracy on the long test set.
pub(crate) fn test_accuracy(run: &RunResult) -> Option<f64> {
    run.value(TEST, RECOGNITION_ACCURACY.metric.name)
}

/// The test accuracies of the runs that have one.
pub(crate) fn accuracies(runs: &[impl Deref<Target = RunResult>]) -> Vec<f64> {
    runs.iter().filter_map(|run| test_accuracy(run)).collect()
}

/// The test accuracy of always giving the commoner answer.
pub(crate) fn chance(run: &RunResult) -> Option<f64> {
    run.whole(TEST, RECOGNITION_ACCURACY.metric.name)?.chance
}

/// A metric on the strings of the long test set that are about as long as each other, against their length, from short to
/// long: the points of each run that has some.
pub(crate) fn over_lengths(runs: &[impl Deref<Target = RunResult>], metric: &Metric) -> Vec<Vec<(f64, f64)>> {
    let point = |m: &Measurement| match m.stratum {
        Stratum::Length(window) => Some((window.centre(), m.value?)),
        _ => None,
    };
    let points = |run: &RunResult| {
        let of = run.scores.iter().filter(|m| m.split == TEST && m.metric == metric.name);
        let mut points: Vec<(f64, f64)> = of.filter_map(point).collect();
        // Results need not list strata in order, and a line must not turn back.
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    runs.iter().map(|run| points(run)).filter(|points| !points.is_empty()).collect()
}
