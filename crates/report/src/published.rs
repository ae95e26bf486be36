//! The figures that papers printed, so that ours can stand beside them.

use wug_score::Reading;

use crate::table::{Decimals, Value, distinct};

/// Butoi et al. 2025, where the FLaRe tables are from.
pub(crate) const FLARE: &str =
    "Butoi et al. 2025, Training Neural Networks as Recognizers of Formal Languages (ICLR)";

/// Table 2.
pub(crate) const FLARE_MAIN: Grid = Grid { text: include_str!("published/flare_main.csv") };
/// Table 3.
pub(crate) const FLARE_BEST_LOSS: Grid = Grid { text: include_str!("published/flare_best_loss.csv") };
/// Tables 4-21.
pub(crate) const FLARE_FULL: Grid = Grid { text: include_str!("published/flare_full.csv") };
/// Table 22.
pub(crate) const FLARE_SIZES: Grid = Grid { text: include_str!("published/flare_model_size.csv") };

/// Lan, Chemla and Katzir 2023, where the index is from.
pub(crate) const BLISS: &str =
    "Lan, Chemla and Katzir 2023, Benchmarking Neural Network Generalization for Grammar Induction";
/// Its Table 2.
pub(crate) const BLISS_INDEX: Grid = Grid { text: include_str!("published/bliss_index.csv") };

/// A printed table: a head, and rows that begin with their names.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    text: &'static str,
}

impl Grid {
    /// The rows, without the head.
    pub(crate) fn rows(self) -> impl Iterator<Item = Vec<&'static str>> {
        self.text.lines().skip(1).map(|line| line.split(',').collect())
    }

    /// What is printed in a cell; `None` if nothing is.
    pub(crate) fn text(self, row: &[&str], column: &str) -> Option<&'static str> {
        let at = self.text.lines().next()?.split(',').position(|name| name == column)?;
        let start = row.join(",") + ",";
        let rest = self.text.lines().find_map(|line| line.strip_prefix(&start))?;
        rest.split(',').nth(at.checked_sub(row.len())?).filter(|text| !text.is_empty())
    }

    /// The number that is printed in a cell, to as many decimals.
    pub(crate) fn number(self, row: &[&str], column: &str) -> Option<Value> {
        let text = self.text(row, column)?;
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some(Value::number(text.parse().ok()?, Decimals(decimals)))
    }

    /// A mean with its standard deviation from the column beside it.
    pub(crate) fn mean(self, row: &[&str], column: &str, std: &str) -> Option<Value> {
        let Value::Number { value, places, .. } = self.number(row, column)? else { return None };
        Some(Value::with_std(value, self.text(row, std).and_then(|text| text.parse().ok()), places))
    }
}

/// The languages, in the order of the paper.
pub(crate) fn flare_languages() -> Vec<&'static str> {
    FLARE_MAIN.rows().filter_map(|row| row.first().copied()).collect()
}

/// The languages of the index, in the order of the paper.
pub(crate) fn bliss_languages() -> Vec<&'static str> {
    distinct(BLISS_INDEX.rows().filter_map(|row| row.first().copied()))
}

/// The learners of the index, in the order of the paper.
pub(crate) fn bliss_learners() -> Vec<&'static str> {
    distinct(BLISS_INDEX.rows().filter_map(|row| row.get(1).copied()))
}

/// That the papers' figures are not of our data, where they are not.
pub(crate) fn other_data(reading: Reading) -> Option<String> {
    let said = "The paper's figures are of the published data, ours of the corrected.";
    (reading == Reading::Corrected).then(|| said.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_row_is_here() {
        assert_eq!((flare_languages().len(), bliss_languages().len(), bliss_learners().len()), (18, 6, 4));
        for (grid, rows, columns) in [
            (FLARE_MAIN, 18, 10),
            (FLARE_BEST_LOSS, 18, 7),
            (FLARE_FULL, 18 * 24, 12),
            (FLARE_SIZES, 16, 10),
            (BLISS_INDEX, 6 * 4, 4),
        ] {
            assert_eq!(grid.rows().count(), rows);
            assert!(grid.rows().all(|row| row.len() == columns));
        }
    }

    #[test]
    fn a_cell_is_found_by_its_names_and_an_empty_one_is_none() {
        let row = ["repeat-01", "transformer", "R", "short"];
        assert_eq!(FLARE_FULL.text(&row, "short_test_acc"), None);
        assert_eq!(FLARE_FULL.mean(&row, "long_test_mean", "long_test_std").unwrap().show(), "0.717 ± 0.09");
        assert_eq!(FLARE_MAIN.number(&["dyck-2-3"], "ex_lstm").unwrap().show(), "0.98");
        assert_eq!(FLARE_MAIN.number(&["dyck-2-4"], "ex_lstm"), None);
    }
}
