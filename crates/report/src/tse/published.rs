//! The table of Someya, Yoshida and Oseki 2024.

use crate::published::PublishedTable;
use crate::table::{Decimals, Value};

pub(super) const PAPER: &str =
    "Someya, Yoshida and Oseki 2024, Targeted Syntactic Evaluation on the Chomsky Hierarchy (LREC-COLING)";

/// Table 3, in per cent.
pub(super) const TABLE3: PublishedTable = PublishedTable { text: include_str!("published/table3.csv") };

/// How many runs the paper chooses the best of: ten seeds with three learning rates each.
pub(super) const RUNS: usize = 30;

/// The accuracy from which on the paper says that a language was captured.
pub(super) const CAPTURED: f64 = 0.9;

/// The languages, in the order of the paper.
#[cfg(test)]
pub(super) const LANGUAGES: [&str; 4] = ["adj-np", "np-vp", "nested", "cross-serial"];

/// The learners, with their names in the columns of the table.
pub(super) const LEARNERS: [(&str, &str); 3] =
    [("lstm", "lstm"), (STACK_RNN, "stack_rnn"), ("transformer", "transformer")];

pub(super) const STACK_RNN: &str = "joulin-stack-rnn";

/// The place of a learner among those of the paper, however it was trained: `joulin-stack-rnn by SGD` is the paper's Stack-RNN.
pub(super) fn place(learner: &str) -> Option<usize> {
    let name = learner.split(' ').next()?;
    LEARNERS.iter().position(|(known, _)| *known == name)
}

/// The printed accuracy of a learner, as a share.
pub(super) fn printed(language: &str, terminals: usize, learner: &str, split: &str) -> Option<Value> {
    let (_, column) = LEARNERS[place(learner)?];
    let end = if split == "test" { "in" } else { "out" };
    let value = TABLE3.text(&[language, &terminals.to_string()], &format!("{column}_{end}"))?;
    Some(Value::number(value.parse::<f64>().ok()? / 100.0, Decimals(4)))
}

/// The rows of the table.
pub(super) fn rows() -> Vec<(&'static str, usize)> {
    TABLE3.rows().filter_map(|row| Some((*row.first()?, row.get(1)?.parse().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_row_is_here() {
        assert!([TABLE3].into_iter().all(PublishedTable::is_rectangular));
        assert_eq!(rows().len(), 20);
        assert!(rows().iter().all(|(language, _)| LANGUAGES.contains(language)));
        let value = printed("cross-serial", 5, "joulin-stack-rnn", "out-of-distribution");
        assert_eq!(value.unwrap().show(), "0.7969");
        assert_eq!(printed("adj-np", 500, "lstm", "test").unwrap().show(), "0.9206");
        assert_eq!(printed("adj-np", 500, "gru", "test"), None);
    }
}
