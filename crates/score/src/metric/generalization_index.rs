//! How much training data is needed? The accuracies of Lan, Chemla and Katzir (2023), their index, and how far strings
//! are solved without exception.
//!
//! Test sets have millions of steps, which are counted as they are evaluated ([`crate::steps`]) and never stored, so that these
//! metrics are made of counts ([`Metric::measured`]) and score no [`Example`](crate::Example). Their chance level is
//! what a degenerate learner scores on the same strings: repeating the last symbol is correct at nearly
//! every step of aⁿbⁿ without any training.

use super::{Direction, Metric, MetricUnit};

/// *M*det over all deterministic steps of all strings.
///
/// ```
/// use wug_score::{StringSteps, metric::DETERMINISTIC_ACCURACY, correct_steps};
/// // Repeating the last symbol of aaabbb: after the first b come b, b and the end, and only the end is missed.
/// let score = DETERMINISTIC_ACCURACY.measured(correct_steps(&[StringSteps { scored: 3, correct: 2 }]), None);
/// assert_eq!(score.value(), Some(2.0 / 3.0));
/// ```
pub static DETERMINISTIC_ACCURACY: Metric = Metric {
    name: "deterministic_accuracy",
    meaning: "share of steps with one possible symbol at which it is the likeliest, over all strings",
    ..INDEX
};

/// The share of strings whose deterministic steps are correct, up to the margin.
pub static DETERMINISTIC_ACCEPTANCE: Metric = Metric {
    name: "deterministic_acceptance",
    meaning: "share of strings whose steps with one possible symbol are correct, up to the error margin",
    ..INDEX
};

/// *M*cat over all steps of all strings.
pub static CATEGORICAL_ACCURACY: Metric = Metric {
    name: "categorical_accuracy",
    meaning: "share of steps at which exactly the possible symbols have probabilities above the error margin",
    chance_of: Some("giving every symbol and the end the same probability"),
    ..INDEX
};

/// The share of strings all of whose steps are correct.
pub static CATEGORICAL_ACCEPTANCE: Metric = Metric {
    name: "categorical_acceptance",
    meaning: "share of strings at all of whose steps exactly the possible symbols are above the error margin",
    chance_of: Some("giving every symbol and the end the same probability"),
    ..INDEX
};

/// The index 𝔹, absent where it is below every factor that was tried.
///
/// ```
/// use wug_score::{Totals, generalization_index, metric::GENERALIZATION_INDEX};
/// let index = generalization_index([(1, true), (2, true), (4, false)]);
/// let score = GENERALIZATION_INDEX.measured(Totals::whole(index), None);
/// assert_eq!(score.value(), Some(2.0));
/// assert_eq!(GENERALIZATION_INDEX.measured(Totals::whole(None), None).value(), None); // "<1"
/// ```
pub static GENERALIZATION_INDEX: Metric = Metric {
    name: "generalization_index",
    unit: MetricUnit::Factor,
    meaning: "largest b so that the model trained on 10^N/b strings solves the next 10^N*b",
    cite: "Lan et al. 2023, Eq. 1",
    ..INDEX
};

/// How far strings are solved without exception, shortest first: up to which length; or, where a test begins with the first
/// string of a language, how many of them, which for aⁿbⁿ is the n of Figure 3.
pub static SOLVED_LENGTH: Metric = Metric {
    name: "solved_length",
    unit: MetricUnit::Symbols,
    meaning: "length of the longest string that is accepted together with all before it; in a test from the first string on, how many are",
    cite: "Lan et al. 2023, Figure 3",
    ..INDEX
};

/// What all have in common.
const INDEX: Metric = Metric {
    name: "",
    unit: MetricUnit::Fraction,
    better: Direction::Higher,
    meaning: "",
    chance_of: Some("repeating the last symbol"),
    cite: "Lan et al. 2023, §3.5",
};
