//! What batches do to a score whose steps are sequences.

use std::collections::BTreeSet;

use serde_json::Value;
use wug_score::RunResult;

use super::runs::count;

/// A note on runs that see several sequences at a time where T counts sequences; `None` if there are none.
pub(super) fn note(results: &[&RunResult]) -> Option<String> {
    let batches: BTreeSet<u64> = results
        .iter()
        .filter(|run| run.plan.pointer("/wade/unit").and_then(Value::as_str) == Some("sequences"))
        .filter_map(|run| count(run, "batch"))
        .filter(|batch| *batch > 1)
        .collect();
    let bound = |batch: &u64| format!("{} for batches of {batch}", 1.0 / *batch as f64);
    let bounds: Vec<String> = batches.iter().map(bound).collect();
    (!bounds.is_empty()).then(|| {
        format!(
            "With T in sequences, WADE is at most 1/B by construction for a learner that sees B sequences at a time, because the first evaluation is after B of them: at most {}. Such scores are not comparable with those of batches of 1.",
            bounds.join(", ")
        )
    })
}
