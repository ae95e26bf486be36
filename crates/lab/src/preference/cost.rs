//! How long a run takes and how much memory it needs, before it begins.

use wug_score::plan::{Precision, RuleMeasure};

use super::PreferencePlan;

/// How much there is to train on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) pairs: usize,
    pub(super) holdout: usize,
    pub(super) rules: usize,
    /// Symbols of a training pair, with its ends, on the average.
    pub(super) symbols: f64,
    /// Symbols of a hold-out pair, with its ends, on the average over rules.
    pub(super) holdout_symbols: f64,
    /// Trainings of the description length, those that rules share counted once; without sharing, and with the last one.
    pub(super) trainings: [usize; 2],
}

/// Seconds per parameter and update: the optimiser and the gradients that it reads.
const UPDATE: f64 = 1.1e-9;
/// Seconds per parameter and symbol of the longest pair: weights are read once per step of a recurrent network.
const STEP: f64 = 1.0e-10;
/// Seconds per parameter and symbol of all pairs.
const SYMBOL: f64 = 6.0e-11;
/// Seconds per parameter and symbol of an output that is decoded.
const DECODED: f64 = 6.0e-11;
/// Seconds per decoded symbol that do not depend on size.
const DECODED_OVERHEAD: f64 = 3e-6;
/// Seconds per update that does not depend on size.
const OVERHEAD: f64 = 2e-4;

/// Copies of the parameters: the parameters, the best ones, gradients and two moments.
const COPIES: f64 = 5.0;
/// Values per symbol, layer and unit that the backward pass needs.
const SAVED: f64 = 24.0;

fn count(plan: &PreferencePlan, name: &str) -> Option<f64> {
    plan.learner.settings.count(name).map(|n| n as f64)
}

/// Seconds of one training on the training pairs and this many examples of the hold-out.
fn training(plan: &PreferencePlan, work: Work, examples: f64) -> f64 {
    let Work { pairs, symbols, holdout_symbols, .. } = work;
    let all = pairs as f64 * symbols + examples * holdout_symbols;
    let (pairs, longest) = (pairs as f64 + examples, symbols.max(holdout_symbols));
    // Batches that are drawn have as many pairs whatever there is to draw from.
    let in_batch = count(plan, "batch").map_or(all, |batch| all / pairs.max(1.0) * batch);
    let parameters = plan.learner.parameters.unwrap_or(1_000_000) as f64;
    // Only recurrent networks read all weights again at every symbol.
    let steps = if count(plan, "heads").or(count(plan, "kernel")).is_some() { 0.0 } else { longest };
    let update = OVERHEAD + parameters * (UPDATE + STEP * steps + SYMBOL * in_batch);
    count(plan, "updates").unwrap_or(1.0) * update
}

/// Seconds of greedy decoding for all training and hold-out inputs.
fn decoding(plan: &PreferencePlan, work: Work) -> f64 {
    let Work { pairs, holdout, symbols, holdout_symbols, .. } = work;
    let most = plan.measure.output[1] as f64;
    // After a few updates most learners do not know yet when to end; later, outputs are about as long as those of the rules.
    let is_trained = count(plan, "updates") >= count(plan, "warmup");
    let length = if is_trained { symbols.max(holdout_symbols).min(most) } else { most };
    let parameters = plan.learner.parameters.unwrap_or(1_000_000) as f64;
    (pairs as f64 + holdout as f64) * length * (DECODED_OVERHEAD + DECODED * parameters)
}

/// About how many seconds the run takes on one core of an ordinary machine; right to a factor of two.
pub(super) fn seconds(plan: &PreferencePlan, work: Work) -> f64 {
    let Work { holdout, trainings: [trainings, _], .. } = work;
    let decoding = if plan.measure.has(RuleMeasure::Agreement) { decoding(plan, work) } else { 0.0 };
    let first = training(plan, work, 0.0) + decoding;
    if !plan.measure.has(RuleMeasure::DescriptionLength) {
        return first;
    }
    // On the average half of the hold-out has been sent.
    first + (trainings as f64 - 1.0).max(0.0) * training(plan, work, holdout as f64 / 2.0)
}

/// About how many bytes the run needs at its peak; an upper estimate, right to a small factor.
pub(super) fn memory(plan: &PreferencePlan, work: Work) -> f64 {
    let width = match plan.precision {
        Precision::F32 => 4.0,
        Precision::F64 => 8.0,
    };
    let Work { pairs, holdout, rules, symbols, holdout_symbols, .. } = work;
    // Numbers of a damaged plan add up to more than fits into a whole number.
    let (pairs, holdout, rules) = (pairs as f64, holdout as f64, rules as f64);
    let of = |name: &str| count(plan, name).unwrap_or(1.0);
    let all = (pairs * symbols + holdout * holdout_symbols).max(1.0);
    let batch = count(plan, "batch").map_or(1.0, |batch| (batch / (pairs + holdout).max(1.0)).min(1.0));
    let units = of("hidden") + of("embedding") * of("kernel");
    let data = (pairs + holdout * (1.0 + rules)) * symbols.max(holdout_symbols) * 16.0;
    plan.learner.parameters.unwrap_or(0) as f64 * COPIES * width
        + all * batch * of("layers") * units * SAVED * width
        + data
}
