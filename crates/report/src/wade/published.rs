//! The tables of Cisneros, Sivic and Mikolov 2022.

use crate::published::PublishedTable;
use crate::table::Value;

pub(super) const PAPER: &str =
    "Cisneros, Sivic and Mikolov 2022, Benchmarking Learning Efficiency in Deep Reservoir Computing";

/// Table 4: WADE, and the human expert's.
pub(super) const SCORES: PublishedTable = PublishedTable { text: include_str!("published/scores.csv") };
pub(super) const ACCURACY: PublishedTable = PublishedTable { text: include_str!("published/accuracy.csv") };
/// Table 2: text classification, both times a hundred.
pub(super) const IMDB: PublishedTable = PublishedTable { text: include_str!("published/imdb.csv") };

/// The runs that a mean of the paper is of.
pub(super) const RUNS: usize = 100;

/// The learners, in the order of the paper.
pub(super) const LEARNERS: [&str; 6] = ["reca", "esn", "rnn", "lstm", "transformer", "human"];

/// The rules of the released notebook, in the order of the tasks: the best by test accuracy.
pub(super) const RULES: [u64; 10] = [34, 35, 37, 99, 206, 199, 156, 222, 1, 36];

/// The tasks, in the order of the paper.
pub(super) fn tasks() -> Vec<&'static str> {
    SCORES.rows().filter_map(|row| row.first().copied()).collect()
}

/// What is printed of a learner on a task.
pub(super) fn printed(table: PublishedTable, task: &str, learner: &str) -> Option<Value> {
    table.mean(&[task], learner, &format!("{learner}_std"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_row_is_here() {
        assert!([SCORES, ACCURACY, IMDB].into_iter().all(PublishedTable::is_rectangular));
        assert_eq!((tasks().len(), SCORES.rows().count(), ACCURACY.rows().count()), (10, 10, 10));
        assert_eq!(printed(SCORES, "qa", "reca").unwrap().show(), "0.31 ± 0.08");
        assert_eq!(printed(SCORES, "periodic", "human").unwrap().show(), "1.00");
        assert_eq!(printed(SCORES, "adj-qa", "human"), None);
        assert_eq!(printed(ACCURACY, "adj-qa-ct", "transformer").unwrap().show(), "0.57 ± 0.04");
        assert_eq!(IMDB.number(&["gru"], "wade_x100").unwrap().show(), "2.711");
    }
}
