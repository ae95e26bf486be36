//! The index of BLISS (Lan, Chemla and Katzir 2023): its Table 2 and Figure 3 with the paper's values beside ours, the
//! details behind them, and the same without the paper's values for any other language, learner or setting.

mod best_of;
mod derived;
mod detail;
mod index_run;
mod index_table;
mod networks;
mod published;
mod rows;
mod solved;

use index_run::IndexRun;
use rows::RunGroup;

use crate::cells::PaperCells;
use crate::records::Derived;
use crate::run::{AnyRun, of_kind};
use crate::suite::{Contents, Suite};

const NAME: &str = "bliss";

/// The suite. It claims every run of the index; those that are not as in the paper have tables without its values.
pub(crate) struct Bliss;

impl Suite for Bliss {
    fn name(&self) -> &'static str {
        NAME
    }

    fn paper(&self) -> &'static str {
        published::PAPER
    }

    fn claims(&self, run: AnyRun<'_>) -> bool {
        IndexRun::of(run).is_some()
    }

    fn contents(&self, cells: &PaperCells<'_>, runs: &[AnyRun<'_>]) -> Contents {
        let mut contents = Contents::default();
        for group in RunGroup::all(cells, runs) {
            contents.tables.extend(index_table::table(&group));
            contents.tables.extend(best_of::table(&group));
            contents.tables.extend(solved::table(&group));
            contents.tables.extend(detail::tables(&group));
            contents.figures.extend(solved::figure(&group));
            contents.headline.extend(index_table::headline(&group));
            contents.headline.extend(solved::headline(&group));
        }
        contents.figures.extend(networks::figures(&of_kind(runs)));
        contents
    }

    fn derived<'r>(&self, cells: &PaperCells<'_>, runs: &[AnyRun<'r>]) -> Vec<Derived<'r>> {
        RunGroup::all(cells, runs).iter().flat_map(derived::indices).collect()
    }

    /// Runs of one factor differ in their configurations, which the tables tell apart.
    fn variant(&self, run: AnyRun<'_>) -> String {
        run.run.plan.clone()
    }
}
