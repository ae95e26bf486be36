//! Runs that were made more than once, or under settings that made no difference: each counts once.

use std::collections::BTreeMap;

use wug_score::RunResult;

/// Each run once: the first of those that are the same.
pub(crate) fn distinct(results: &[RunResult]) -> Vec<&RunResult> {
    let mut kept: BTreeMap<_, Vec<&RunResult>> = BTreeMap::new();
    let mut distinct = Vec::new();
    for result in results {
        let run = &result.run;
        let alike = kept.entry((&run.protocol, &run.coordinates, run.reading, run.seed)).or_default();
        if !alike.iter().any(|other| is_same(other, result)) {
            alike.push(result);
            distinct.push(result);
        }
    }
    distinct
}

/// Whether two runs with the same coordinates and seed are one: all that was measured is the same, and they have the same
/// plan, or trained alike to the last bit. A memory of 50 rows and one of 100 are the same where no string needs more than 50.
fn is_same(a: &RunResult, b: &RunResult) -> bool {
    let trained_alike = !a.curve.is_empty() && a.curve == b.curve && a.parameters == b.parameters;
    (a.run.plan == b.run.plan || trained_alike)
        && a.run.data_hash == b.run.data_hash
        && a.ending == b.ending
        && a.scores == b.scores
}

/// A caution about runs that are not counted; `None` if all are.
pub(crate) fn caution(results: &[RunResult]) -> Option<String> {
    let repeats = results.len() - distinct(results).len();
    (repeats > 0).then(|| {
        format!("{repeats} of {} runs are the same as another (same seed, same training, same scores); each counts once", results.len())
    })
}
