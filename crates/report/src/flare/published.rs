//! The tables of Butoi et al. 2025.

use wug_score::metric::Direction::Higher;
use wug_score::plan::{Loss, Validation};
use wug_score::select::first_best;

use super::main_table::DECIMALS;
use super::runs::{FlareCell, SIZE};
use crate::departures::PaperFigure;
use crate::published::PublishedTable;

pub(super) const PAPER: &str =
    "Butoi et al. 2025, Training Neural Networks as Recognizers of Formal Languages (ICLR)";

pub(super) const MAIN: PublishedTable = PublishedTable { text: include_str!("published/main.csv") };
pub(super) const BEST_LOSS: PublishedTable = PublishedTable { text: include_str!("published/best_loss.csv") };
pub(super) const FULL: PublishedTable = PublishedTable { text: include_str!("published/full.csv") };
pub(super) const SIZES: PublishedTable = PublishedTable { text: include_str!("published/model_size.csv") };

/// How many runs the paper has of each loss.
pub(super) const RUNS: usize = 10;

/// A printed value, and what it is of.
pub(super) struct BestFigure {
    pub(super) figure: PaperFigure,
    /// Which loss it was best with, where Table 3 or Tables 4-21 say so.
    pub(super) loss: Option<String>,
}

/// Which half of Table 2.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    InductiveBias,
    Expressivity,
}

impl Half {
    pub(super) fn validation(self) -> Validation {
        match self {
            Self::InductiveBias => Validation::Short,
            Self::Expressivity => Validation::Long,
        }
    }

    /// The cell of a loss.
    pub(super) fn cell<'p>(self, language: &'p str, learner: &'p str, loss: Loss) -> FlareCell<'p> {
        FlareCell { language, learner, loss, validation: self.validation(), size: SIZE }
    }
}

/// The paper's value in a cell of Table 2. If only some losses were run, it is the best of the same losses in Tables 4-21, so that
/// like is compared with like.
pub(super) fn printed(half: Half, language: &str, learner: &str, losses: &[Loss]) -> Option<BestFigure> {
    if losses.len() < Loss::ALL.len() {
        return of_losses(half, language, learner, losses);
    }
    let column = paper_column(learner);
    let (value, n, prefix) = match half {
        Half::InductiveBias => {
            let (mean, std) = (format!("ib_{column}_mean"), format!("ib_{column}_std"));
            (MAIN.mean(&[language], &mean, &std)?, RUNS, "ib")
        }
        Half::Expressivity => {
            (MAIN.number(&[language], &format!("ex_{column}"))?, RUNS * Loss::ALL.len(), "ex")
        }
    };
    let loss = BEST_LOSS.text(&[language], &format!("{prefix}_{column}")).map(str::to_owned);
    Some(BestFigure { figure: PaperFigure { value, n: Some(n) }, loss })
}

/// The paper's name for a learner in the heads of its columns.
pub(super) fn paper_column(learner: &str) -> &str {
    if learner == "transformer" { "tf" } else { learner }
}

fn of_losses(half: Half, language: &str, learner: &str, losses: &[Loss]) -> Option<BestFigure> {
    let best = |column: &str| {
        let key = |loss: Loss| [language, learner, loss.name(), half.validation().name()];
        let value = |loss: &Loss| FULL.text(&key(*loss), column)?.parse().ok();
        // In the order R, +LM, +NS, +LM+NS, as the released script breaks ties.
        first_best(losses, Higher, value).map(|loss| (*loss, key(*loss)))
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
    // Printed with three decimals in Tables 4 to 21, and shown with the two of Table 2.
    let figure = PaperFigure { value: value.with_decimals(DECIMALS), n: Some(n) };
    Some(BestFigure { figure, loss: Some(loss.name().to_owned()) })
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
        assert!([MAIN, BEST_LOSS, FULL, SIZES].into_iter().all(PublishedTable::is_rectangular));
        assert_eq!(languages().len(), 18);
        let rows = [MAIN, BEST_LOSS, FULL, SIZES].map(|table| table.rows().count());
        assert_eq!(rows, [18, 18, 18 * 24, 16]);
        assert_eq!(MAIN.number(&["dyck-2-3"], "ex_lstm").unwrap().show(), "0.98");
    }
}
