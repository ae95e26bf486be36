//! What batches do to a score whose steps are sequences.

use std::collections::BTreeSet;

use wug_score::wade::StepUnit;

use super::runs::WadeRun;

/// A note on runs that see several sequences at a time where T counts sequences; `None` if there are none.
pub(super) fn note(runs: &[WadeRun<'_>]) -> Option<String> {
    let measures = runs.iter().map(|run| &run.plan.measure);
    let batches: BTreeSet<usize> = measures
        .filter(|measure| measure.wade.unit == StepUnit::Sequences && measure.batch > 1)
        .map(|measure| measure.batch)
        .collect();
    let bound = |batch: &usize| format!("{} for batches of {batch}", 1.0 / *batch as f64);
    let bounds: Vec<String> = batches.iter().map(bound).collect();
    (!bounds.is_empty()).then(|| {
        format!(
            "With T in sequences, WADE is at most 1/B by construction for a learner that sees B sequences at a time, because the first evaluation is after B of them: at most {}. Such scores are not comparable with those of batches of 1.",
            bounds.join(", ")
        )
    })
}
