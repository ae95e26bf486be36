//! The table of Lan, Chemla and Katzir 2023.

use crate::published::PublishedTable;
use crate::table::distinct;

pub(super) const PAPER: &str =
    "Lan, Chemla and Katzir 2023, Benchmarking Neural Network Generalization for Grammar Induction";

pub(super) const INDEX: PublishedTable = PublishedTable { text: include_str!("published/index.csv") };

/// The factors of the paper.
pub(super) const FACTORS: [usize; 4] = [1, 2, 4, 10];

/// How many runs at each factor the paper's index of a learner is the best of (App. A): configurations times
/// seeds. It does not say of the others.
pub(super) fn runs(learner: &str) -> Option<usize> {
    match learner {
        "lstm" => Some(21 * 3),
        "stack-lstm" => Some(4 * 3),
        "baby-ntm" => Some(2 * 3),
        _ => None,
    }
}

/// The languages, in the order of the paper.
pub(super) fn languages() -> Vec<&'static str> {
    distinct(INDEX.rows().filter_map(|row| row.first().copied()))
}

/// The learners, in the order of the paper.
pub(super) fn learners() -> Vec<&'static str> {
    distinct(INDEX.rows().filter_map(|row| row.get(1).copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_row_is_here() {
        assert!([INDEX].into_iter().all(PublishedTable::is_rectangular));
        assert_eq!((languages().len(), learners().len(), INDEX.rows().count()), (6, 4, 6 * 4));
    }
}
