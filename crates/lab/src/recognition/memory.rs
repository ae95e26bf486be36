//! How much memory a run needs, so that a sweep that cannot run here is refused before it begins.

use wug_learner::registry::keys;
use wug_score::plan::{Precision, RecognitionData};

use super::RecognitionPlan;
use super::training::size_or_usual;

/// Bytes of a symbol of a data set: the symbol twice, its next-symbol set as a set and as bits.
const PER_SYMBOL: f64 = 64.0;

/// Copies of the parameters: the parameters, the best ones, gradients and two moments.
const COPIES: f64 = 5.0;

/// Values per symbol, layer and unit that the backward pass needs: gates, states, sublayers.
const SAVED: f64 = 24.0;

/// About how many bytes the run needs at its peak; an upper estimate, right to a small factor.
pub(super) fn memory(plan: &RecognitionPlan) -> f64 {
    let RecognitionData { training, validation, test, held_out, distances, short, long, longest, .. } =
        plan.data;
    let symbols = (training + validation + held_out) as f64 * short as f64
        + validation as f64 * long as f64
        + (test + distances) as f64 * longest as f64;
    let width = match plan.precision {
        Precision::F32 => 4.0,
        Precision::F64 => 8.0,
    };
    let settings = &plan.learner.settings;
    let layers = settings.find(&keys::LAYERS).unwrap_or(1) as f64;
    // A recurrent layer of d units has at least 2·d² parameters.
    let units = (size_or_usual(plan) as f64 / (2.0 * layers)).sqrt();
    // A string that is longer than a batch has a batch of its own.
    let batch = settings.get(&keys::BATCH_SYMBOLS).max(short).max(longest) as f64;
    let rows = settings.find(&keys::ROWS).unwrap_or(0).min(longest) as f64;
    let row = settings.find(&keys::MEMORY_WIDTH).unwrap_or(0) as f64;
    symbols * PER_SYMBOL
        + size_or_usual(plan) as f64 * COPIES * width
        + batch * (layers * units * SAVED + rows * row) * width
}
