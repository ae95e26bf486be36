//! How much memory a run needs, so that a sweep that cannot run here is refused before it begins.

use wug_score::plan::Precision;

use super::GeneralizationPlan;

/// Copies of the parameters: the parameters, the best ones, gradients and two moments.
const COPIES: f64 = 5.0;

/// Values per symbol, layer and unit that the backward pass needs: gates, states, sublayers.
const SAVED: f64 = 24.0;

/// Symbols of test strings that are read at a time, in bytes, with what is predicted after each.
const EVALUATION: f64 = 512e6;

/// A length that training strings rarely exceed: the languages draw geometric counts.
const LENGTH: f64 = 100.0;

/// About how many bytes the run needs at its peak; an upper estimate, right to a small factor.
pub(super) fn memory(plan: &GeneralizationPlan) -> f64 {
    let count = |name: &str| plan.learner.settings.count(name).unwrap_or(0) as f64;
    let width = match plan.precision {
        Precision::F32 => 4.0,
        Precision::F64 => 8.0,
    };
    let (hidden, layers) = (count("hidden"), count("layers").max(1.0));
    // An LSTM has 8·d² parameters per layer, a transformer (4 + 2·feedforward)·d².
    let per_unit = if count("heads") > 0.0 { 4.0 + 2.0 * count("feedforward") } else { 8.0 };
    let parameters = layers * per_unit * hidden * hidden;
    let strings = if count("batch") > 0.0 {
        count("batch").min(plan.data.training as f64)
    } else {
        plan.data.training as f64
    };
    // One batch of equal strings is trained on as one of them; their number is that of the lengths at most.
    let strings = if count("batch") > 0.0 { strings } else { strings.min(4.0 * LENGTH) };
    let memory = count("memory").min(LENGTH) * count("memory_width");
    let scores = plan.data.test.strings as f64 * plan.measure.margins.len() as f64 * 64.0;
    parameters * COPIES * width
        + strings * LENGTH * (layers * hidden * SAVED + memory) * width
        + plan.data.training as f64 * LENGTH * 16.0
        + scores
        + EVALUATION
}
