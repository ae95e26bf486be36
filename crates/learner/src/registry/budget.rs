//! Hidden sizes from a budget of parameters, so that architectures can be compared at equal size.

use super::setting::Settings;
use super::{RecognizerRole, RecognizerTask};
use crate::model::{RecognizerModel, SpecError};

/// How a size is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// The root of the published quadratic, which approximates the count, rounded half to even; `Nearest` for learners that
    /// have no published formula.
    Published,
    /// The size whose true count is nearest the budget; the smaller of two equally near.
    Nearest,
}

/// The hidden size of a recognizer that comes nearest a budget of parameters.
///
/// ```
/// use wug_learner::registry::{Matching, RecognizerTask, Role, Settings, find, matched_hidden};
/// // The sizes of Butoi et al. 2025: 64,000 parameters, two symbols.
/// let task = RecognizerTask { alphabet: 2, language_modeling: false, next_symbols: false };
/// let published = |name| {
///     let role = find(name, Role::Recognizer).unwrap().recognizer.as_ref().unwrap();
///     matched_hidden(role, &Settings::defaults(role.settings), 64_000, task, Matching::Published).unwrap()
/// };
/// assert_eq!(["rnn", "lstm", "transformer"].map(published), [79, 40, 32]);
/// ```
pub fn matched_hidden(
    role: &RecognizerRole,
    settings: &Settings,
    budget: usize,
    task: RecognizerTask,
    matching: Matching,
) -> Result<usize, SpecError> {
    let unit = (role.unit)(settings);
    match (matching, role.published) {
        (Matching::Published, Some(formula)) => Ok(published(formula(task.alphabet), budget, unit)),
        _ => nearest(unit, budget, |d| {
            Ok(RecognizerModel::new((role.build)(settings, d, task))?.layout().count())
        }),
    }
}

fn published((a, b): (f64, f64), budget: usize, unit: usize) -> usize {
    let root = (-b + libm::sqrt(b * b - 4.0 * a * (1.0 - budget as f64))) / (2.0 * a);
    // `as` takes a negative root (a budget below everything) to zero.
    #[expect(clippy::cast_sign_loss, reason = "see above")]
    let multiples = libm::rint(root / unit as f64) as usize;
    unit * multiples.max(1)
}

/// The multiple of `unit` whose count is nearest; counts grow with the size.
fn nearest(
    unit: usize,
    budget: usize,
    count: impl Fn(usize) -> Result<usize, SpecError>,
) -> Result<usize, SpecError> {
    let (mut low, mut high) = (1, 1);
    while count(high * unit)? < budget {
        (low, high) = (high, 2 * high);
    }
    // The count of `low` is below the budget (or it is the least size), that of `high` is not.
    while high - low > 1 {
        let middle = low.midpoint(high);
        if count(middle * unit)? < budget {
            low = middle;
        } else {
            high = middle;
        }
    }
    let distance = |d: usize| Ok::<_, SpecError>(count(d * unit)?.abs_diff(budget));
    Ok(unit * if distance(low)? <= distance(high)? { low } else { high })
}
