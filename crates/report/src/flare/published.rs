//! The tables of Butoi et al. 2025.

use crate::published::PublishedTable;

/// The paper.
pub(super) const PAPER: &str =
    "Butoi et al. 2025, Training Neural Networks as Recognizers of Formal Languages (ICLR)";

/// Table 2.
pub(super) const MAIN: PublishedTable = PublishedTable { text: include_str!("published/main.csv") };
/// Table 3.
pub(super) const BEST_LOSS: PublishedTable = PublishedTable { text: include_str!("published/best_loss.csv") };
/// Tables 4-21.
pub(super) const FULL: PublishedTable = PublishedTable { text: include_str!("published/full.csv") };
/// Table 22.
pub(super) const SIZES: PublishedTable = PublishedTable { text: include_str!("published/model_size.csv") };

/// All of them, by their names in print.
pub(super) const TABLES: &[(&str, PublishedTable)] =
    &[("Table 2", MAIN), ("Table 3", BEST_LOSS), ("Tables 4-21", FULL), ("Table 22", SIZES)];

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
