//! The tables of Butoi et al. 2025.

use wug_score::metric::Direction::Higher;
use wug_score::select::first_best;

use super::main_table::DECIMALS;
use super::runs::LOSSES;
use crate::published::PublishedTable;
use crate::table::Value;

pub(super) const PAPER: &str =
    "Butoi et al. 2025, Training Neural Networks as Recognizers of Formal Languages (ICLR)";

pub(super) const MAIN: PublishedTable = PublishedTable { text: include_str!("published/main.csv") };
pub(super) const BEST_LOSS: PublishedTable = PublishedTable { text: include_str!("published/best_loss.csv") };
pub(super) const FULL: PublishedTable = PublishedTable { text: include_str!("published/full.csv") };
pub(super) const SIZES: PublishedTable = PublishedTable { text: include_str!("published/model_size.csv") };

/// All of them, by their names in print.
pub(super) const TABLES: &[(&str, PublishedTable)] =
    &[("Table 2", MAIN), ("Table 3", BEST_LOSS), ("Tables 4-21", FULL), ("Table 22", SIZES)];

/// How many runs the paper has of each loss.
pub(super) const RUNS: usize = 10;

/// A printed value, and what it is of.
pub(super) struct Printed {
    pub(super) value: Value,
    pub(super) n: usize,
    /// Which loss it was best with, where Table 3 or Tables 4-21 say so.
    pub(super) loss: Option<&'static str>,
}

impl Printed {
    /// The number, as it is rounded when shown.
    pub(super) fn number(&self) -> Option<f64> {
        self.value.rounded()
    }
}

/// Which half of Table 2.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    InductiveBias,
    Expressivity,
}

impl Half {
    pub(super) fn validation(self) -> &'static str {
        match self {
            Self::InductiveBias => "short",
            Self::Expressivity => "long",
        }
    }
}

/// The paper's value in a cell of Table 2. If only some losses were run, it is the best of the same losses in Tables 4-21, so that
/// like is compared with like.
pub(super) fn printed(half: Half, language: &str, learner: &str, losses: &[&'static str]) -> Option<Printed> {
    if losses.len() < LOSSES.len() {
        return of_losses(half, language, learner, losses);
    }
    let column = paper_column(learner);
    let (value, n, prefix) = match half {
        Half::InductiveBias => {
            let (mean, std) = (format!("ib_{column}_mean"), format!("ib_{column}_std"));
            (MAIN.mean(&[language], &mean, &std)?, RUNS, "ib")
        }
        Half::Expressivity => (MAIN.number(&[language], &format!("ex_{column}"))?, RUNS * LOSSES.len(), "ex"),
    };
    Some(Printed { value, n, loss: BEST_LOSS.text(&[language], &format!("{prefix}_{column}")) })
}

/// The paper's name for a learner in the heads of its columns.
pub(super) fn paper_column(learner: &str) -> &str {
    if learner == "transformer" { "tf" } else { learner }
}

fn of_losses(half: Half, language: &str, learner: &str, losses: &[&'static str]) -> Option<Printed> {
    let best = |column: &str| {
        let key = |loss: &'static str| [language, learner, loss, half.validation()];
        let value = |loss: &&'static str| FULL.text(&key(loss), column)?.parse().ok();
        first_best(losses, Higher, value).map(|loss| (*loss, key(loss)))
    };
    let (loss, value, n) = match half {
        Half::InductiveBias => {
            let (loss, key) = best("long_test_mean")?;
            (loss, FULL.mean(&key, "long_test_mean", "long_test_std")?, RUNS)
        }
        Half::Expressivity => {
            let (loss, key) = best("long_test_max")?;
            (loss, FULL.number(&key, "long_test_max")?, RUNS * losses.len())
        }
    };
    Some(Printed { value: value.with_decimals(DECIMALS), n, loss: Some(loss) })
}

/// The languages, in the order of the paper.
pub(super) fn languages() -> Vec<&'static str> {
    MAIN.rows().filter_map(|row| row.first().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_row_is_here() {
        assert_eq!(languages().len(), 18);
        let rows: Vec<usize> = TABLES.iter().map(|(_, table)| table.rows().count()).collect();
        assert_eq!(rows, [18, 18, 18 * 24, 16]);
        assert_eq!(MAIN.number(&["dyck-2-3"], "ex_lstm").unwrap().show(), "0.98");
    }
}
