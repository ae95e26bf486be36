//! Runs that were made more than once, or under settings that made no difference: each counts once.

use std::collections::BTreeMap;

use serde_json::Value;
use wug_score::{Coordinates, RunResult};

use crate::plan_fields::fields;
use crate::suite;

/// Each run once: of those that are the same, the one with the lowest settings, in the place of the first.
pub(crate) fn distinct(results: &[RunResult]) -> Vec<&RunResult> {
    let mut kept: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    let mut distinct: Vec<&RunResult> = Vec::new();
    for result in results {
        let run = &result.run;
        let alike = kept.entry((&run.protocol, cell(result), run.reading, run.seed)).or_default();
        match alike.iter().find(|i| is_same(distinct[**i], result)) {
            Some(&i) if settings(result) < settings(distinct[i]) => distinct[i] = result,
            Some(_) => {}
            None => {
                alike.push(distinct.len());
                distinct.push(result);
            }
        }
    }
    distinct
}

/// The coordinates of a run without those that its suite pools: one that made no difference leaves one run.
fn cell(result: &RunResult) -> Coordinates {
    let mut cell = result.run.coordinates.clone();
    if let Some(suite) = suite::of(result) {
        let pooled = result.run.coordinates.iter().map(|(name, _)| name).filter(|name| suite.pools(name));
        pooled.for_each(|name| cell.remove(name));
    }
    cell
}

/// The settings of a run, in an order in which 50 comes before 100.
fn settings(result: &RunResult) -> Vec<(String, Option<f64>, String)> {
    let ordered = |(name, value): (String, Value)| (name, value.as_f64(), value.to_string());
    fields(result).into_iter().map(ordered).collect()
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
