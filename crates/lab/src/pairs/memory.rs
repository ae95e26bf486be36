//! How much memory a run needs, so that a sweep that cannot run here is refused before it begins.

use wug_score::plan::{PairStrings, Precision};

use super::PairsPlan;

/// Copies of the parameters: the parameters, the best ones, gradients and two moments.
const COPIES: f64 = 5.0;

/// Values per symbol, layer and unit that the backward pass needs: gates, states, sublayers.
const SAVED: f64 = 24.0;

/// The most logits of a batch, with their gradients, in bytes.
const LOGITS: f64 = 256e6;

/// About how many bytes the run needs at its peak; an upper estimate, right to a small factor.
pub(super) fn memory(plan: &PairsPlan) -> f64 {
    let count = |name: &str| plan.learner.settings.count(name).unwrap_or(0) as f64;
    let width = match plan.precision {
        Precision::F32 => 4.0,
        Precision::F64 => 8.0,
    };
    let PairStrings { training, validation, test, out_of_distribution, lengths, greater_lengths, .. } =
        &plan.data;
    let (near, far) = (lengths.last as f64, greater_lengths.last as f64);
    let strings = (training + validation + 2 * test) as f64 * near + 2.0 * *out_of_distribution as f64 * far;
    let batch = if count("batch") > 0.0 { count("batch").min(512.0) } else { 512.0 };
    let memory = count("memory").min(far) * count("memory_width");
    let states = batch * far * (count("layers").max(1.0) * count("hidden") * SAVED + memory);
    // Symbols are kept as they are drawn, known and encoded; the log-probability of each is kept while a split is scored.
    plan.learner.parameters.unwrap_or(0) as f64 * COPIES * width + states * width + strings * 24.0 + LOGITS
}
