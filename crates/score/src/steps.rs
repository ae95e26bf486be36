//! Predictions scored step by step: what the index of Lan, Chemla and Katzir (2023) is made of.
//!
//! At each step a model gives a probability to everything that may come: the end of the string first, then
//! the symbols in the order of the alphabet. A [`StepRule`] says whether that is correct, a [`StringSteps`] counts over
//! a string, and an [`Acceptance`] says whether a set of strings counts as solved.
//!
//! The paper leaves two things open. Its §3.5 asks that every string be accepted, its §5.3 that a share of
//! *all* steps be correct, and only the latter fits its Table 2: both are here. And "the majority probability" is
//! taken for the highest one, as in the code of the same authors (the first of equals).

use wug_language::{NextSet, Symbol};

use crate::{Ratio, Totals};

/// When a step is correct, with the error margin ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepRule {
    /// *M*det: where only one thing can come, it has the highest probability. Other steps are not scored. The
    /// margin is the share of incorrect steps that is forgiven.
    ///
    /// ```
    /// use wug_dataset::language::{NextSet, Symbol};
    /// use wug_score::StepRule;
    /// let rule = StepRule::Deterministic { margin: 0.005 };
    /// let only_b = NextSet::of([Symbol(1)]); // of the alphabet a b
    /// assert!(rule.scores(&only_b) && !rule.scores(&NextSet::of([Symbol(0), Symbol(1)])));
    /// assert!(rule.is_correct(&only_b, &[0.3, 0.3, 0.4]));
    /// assert!(!rule.is_correct(&only_b, &[0.4, 0.2, 0.4])); // the end comes first
    /// ```
    Deterministic {
        /// ε, from 0 to 1.
        margin: f64,
    },
    /// *M*cat: exactly what can come has a probability above the margin, at every step. Nothing is forgiven; at
    /// a margin of 0 no softmax can pass unless it underflows.
    ///
    /// ```
    /// use wug_dataset::language::NextSet;
    /// use wug_score::StepRule;
    /// let rule = StepRule::Categorical { margin: 0.005 };
    /// let end = NextSet::only_end();
    /// assert!(rule.is_correct(&end, &[0.99, 0.005, 0.005])); // at the margin is not above it
    /// assert!(!rule.is_correct(&end, &[0.98, 0.01, 0.01]));
    /// ```
    Categorical {
        /// ε, from 0 to 1.
        margin: f64,
    },
}

impl StepRule {
    /// Whether a step at which this may come is scored.
    pub fn scores(self, next: &NextSet) -> bool {
        match self {
            Self::Deterministic { .. } => next.size() == 1,
            Self::Categorical { .. } => true,
        }
    }

    /// Whether a step that is scored is correct. `probabilities` has an entry for the end, then one for each symbol.
    #[inline]
    pub fn is_correct(self, next: &NextSet, probabilities: &[f64]) -> bool {
        match self {
            Self::Deterministic { .. } => may_come(next, highest(probabilities)),
            Self::Categorical { margin } => {
                let mut entries = probabilities.iter().enumerate();
                entries.all(|(i, &p)| (p > margin) == may_come(next, i))
            }
        }
    }

    /// The share of incorrect steps that is forgiven.
    pub fn forgiven(self) -> f64 {
        match self {
            Self::Deterministic { margin } => margin,
            Self::Categorical { .. } => 0.0,
        }
    }
}

/// The index of the highest probability, the first of equals.
fn highest(probabilities: &[f64]) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, &p) in probabilities.iter().enumerate() {
        // NaN is greater than nothing: a row of NaN counts as the end of the string.
        if p > best.1 {
            best = (i, p);
        }
    }
    best.0
}

fn may_come(next: &NextSet, index: usize) -> bool {
    match index.checked_sub(1) {
        None => next.end(),
        Some(symbol) => next.contains(Symbol(symbol as u16)),
    }
}

/// The steps of one string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StringSteps {
    /// How many were scored.
    pub scored: usize,
    /// How many of them were correct.
    pub correct: usize,
}

impl StringSteps {
    /// Counts so many more steps.
    #[inline]
    pub fn count(&mut self, correct: bool, times: usize) {
        self.scored += times;
        self.correct += if correct { times } else { 0 };
    }

    /// Whether at most this share of the steps is incorrect; also if none was scored.
    ///
    /// ```
    /// use wug_score::StringSteps;
    /// let steps = StringSteps { scored: 200, correct: 199 };
    /// assert!(steps.accepted(0.005) && !steps.accepted(0.0)); // one in two hundred
    /// ```
    pub fn accepted(self, forgiven: f64) -> bool {
        // A product, because the share of incorrect steps is 0/0 where none is scored.
        (self.scored - self.correct) as f64 <= forgiven * self.scored as f64
    }

    fn plus(self, other: Self) -> Self {
        Self { scored: self.scored + other.scored, correct: self.correct + other.correct }
    }
}

/// The share of correct steps over all strings: the micro-average.
///
/// ```
/// use wug_score::{StringSteps, correct_steps};
/// let strings = [StringSteps { scored: 2, correct: 1 }, StringSteps { scored: 6, correct: 6 }];
/// assert_eq!(correct_steps(&strings).value(), Some(7.0 / 8.0));
/// ```
pub fn correct_steps(strings: &[StringSteps]) -> Totals {
    let all = total(strings);
    Totals { numerator: all.correct as f64, denominator: all.scored as f64, n: strings.len() }
}

/// The share of accepted strings.
///
/// ```
/// use wug_score::{StringSteps, accepted_strings};
/// let strings = [StringSteps { scored: 2, correct: 1 }, StringSteps { scored: 6, correct: 6 }];
/// assert_eq!(accepted_strings(&strings, 0.0).value(), Some(1.0 / 2.0));
/// ```
pub fn accepted_strings(strings: &[StringSteps], forgiven: f64) -> Totals {
    Totals::of(&strings.iter().map(|s| Ratio::correct(s.accepted(forgiven))).collect::<Vec<_>>())
}

/// The index of the first string that is not accepted.
///
/// ```
/// use wug_score::{StringSteps, first_rejected};
/// let strings = [3, 2, 3].map(|correct| StringSteps { scored: 3, correct });
/// assert_eq!(first_rejected(&strings, 0.0), Some(1));
/// assert_eq!(first_rejected(&strings, 0.5), None);
/// ```
pub fn first_rejected(strings: &[StringSteps], forgiven: f64) -> Option<usize> {
    strings.iter().position(|s| !s.accepted(forgiven))
}

/// When a test set is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// Enough of all steps are correct: the criterion of Table 2 of the paper.
    AllSteps,
    /// Every string is accepted by itself: what §3.5 of the paper says.
    EveryString,
}

impl Acceptance {
    /// Both, the paper's own first.
    pub const ALL: [Self; 2] = [Self::AllSteps, Self::EveryString];

    /// Its name, as records write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllSteps => "all_steps",
            Self::EveryString => "every_string",
        }
    }

    /// Whether the strings are solved; `None` if no step was scored.
    ///
    /// ```
    /// use wug_score::{Acceptance, StringSteps};
    /// // One incorrect step in 21 is forgiven among 1,000 others, but not within its own string.
    /// let strings = [StringSteps { scored: 21, correct: 20 }, StringSteps { scored: 979, correct: 979 }];
    /// assert_eq!(Acceptance::AllSteps.holds(&strings, 0.005), Some(true));
    /// assert_eq!(Acceptance::EveryString.holds(&strings, 0.005), Some(false));
    /// assert_eq!(Acceptance::AllSteps.holds(&[], 0.005), None);
    /// ```
    pub fn holds(self, strings: &[StringSteps], forgiven: f64) -> Option<bool> {
        let all = total(strings);
        (all.scored > 0).then(|| match self {
            Self::AllSteps => all.accepted(forgiven),
            Self::EveryString => first_rejected(strings, forgiven).is_none(),
        })
    }
}

fn total(strings: &[StringSteps]) -> StringSteps {
    strings.iter().fold(StringSteps::default(), |sum, &s| sum.plus(s))
}

/// How many strings to train on and to test on for a factor: 10ᴺ/b and 10ᴺ·b; `None` if b does not divide 10ᴺ
/// or the sizes overflow.
///
/// ```
/// use wug_score::index_sizes;
/// assert_eq!(index_sizes(3, 4), Some((250, 4000)));
/// assert_eq!(index_sizes(3, 3), None);
/// assert_eq!(index_sizes(3, 0), None);
/// ```
pub fn index_sizes(order: u32, b: usize) -> Option<(usize, usize)> {
    let base = 10_usize.checked_pow(order)?;
    (b > 0 && base.is_multiple_of(b)).then_some(())?;
    Some((base / b, base.checked_mul(b)?))
}

/// The index: the largest factor whose test set was solved by the model that was trained for it; `None` (written `<1`)
/// if there is none. A factor need not hold for smaller ones to hold, nor the other way round.
///
/// ```
/// use wug_score::generalization_index;
/// assert_eq!(generalization_index([(1, true), (2, false), (4, true), (10, false)]), Some(4));
/// assert_eq!(generalization_index([(1, false), (2, false)]), None);
/// ```
pub fn generalization_index(trials: impl IntoIterator<Item = (usize, bool)>) -> Option<usize> {
    trials.into_iter().filter(|&(_, solved)| solved).map(|(b, _)| b).max()
}
