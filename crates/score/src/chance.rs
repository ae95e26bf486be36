//! What a model scores that has not read the string. A score means little without it.

use crate::ratio::finite;

/// The cross-entropy of a fair coin, `ln 2`: above it, the correct answer has less than half of the probability.
pub const FAIR_COIN: f64 = std::f64::consts::LN_2;

/// The accuracy of always giving the commoner of two answers, one of which is correct in `yes` of `n` cases;
/// `None` without cases, and where all have the same answer: who always gives it knows the answer, and does not guess.
///
/// ```
/// use wug_score::chance::majority_share;
/// assert_eq!(majority_share(1.0, 4.0), Some(0.75));
/// assert_eq!(majority_share(4.0, 4.0), None);
/// assert_eq!(majority_share(0.0, 0.0), None);
/// ```
pub fn majority_share(yes: f64, n: f64) -> Option<f64> {
    finite(yes.max(n - yes) / n).filter(|_| both_occur(yes, n))
}

/// Whether both of two answers are correct somewhere.
fn both_occur(yes: f64, n: f64) -> bool {
    0.0 < yes && yes < n
}

/// The lowest cross-entropy, in nats, of an answer that is always the same: the entropy of the share `yes /
/// n`; `None` without cases, and where all have the same answer.
///
/// ```
/// use wug_score::chance::{FAIR_COIN, share_entropy};
/// assert_eq!(share_entropy(2.0, 4.0), Some(FAIR_COIN));
/// assert_eq!(share_entropy(4.0, 4.0), None);
/// assert_eq!(share_entropy(0.0, 0.0), None);
/// ```
pub fn share_entropy(yes: f64, n: f64) -> Option<f64> {
    let p = finite(yes / n).filter(|_| both_occur(yes, n))?;
    let part = |p: f64| -p * libm::log(p);
    Some(part(p) + part(1.0 - p))
}

/// The cross-entropy, in nats per symbol, of giving `choices` things the same probability.
///
/// ```
/// use wug_score::chance::{FAIR_COIN, uniform};
/// assert_eq!(uniform(2), Some(FAIR_COIN));
/// assert_eq!(uniform(0), None);
/// ```
pub fn uniform(choices: usize) -> Option<f64> {
    finite(libm::log(choices as f64))
}
