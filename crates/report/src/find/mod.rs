//! FIND (Kharitonov and Chaabouni 2021): Tables 1 to 8, Figure 3 and Appendices C and D with the paper's values beside ours, and the same without them for any
//! other task, learner or setting.

mod derived;
mod figures;
mod group;
mod published;
mod runs;
mod sheets;
mod tables;

use group::SheetRuns;
use runs::PreferenceRun;

use crate::cells::PaperCells;
use crate::records::Derived;
use crate::run::AnyRun;
use crate::suite::{Contents, Suite};

const NAME: &str = "find";

/// The suite. It claims every run of the protocol; those that are not as in the paper have tables without its values.
pub(crate) struct Find;

impl Suite for Find {
    fn name(&self) -> &'static str {
        NAME
    }

    fn paper(&self) -> &'static str {
        published::PAPER
    }

    fn claims(&self, run: AnyRun<'_>) -> bool {
        PreferenceRun::of(run).is_some()
    }

    fn contents(&self, cells: &PaperCells<'_>, runs: &[AnyRun<'_>]) -> Contents {
        let mut contents = Contents::default();
        for group in SheetRuns::all(cells, runs) {
            contents.tables.extend(tables::main(&group));
            contents.tables.extend(tables::tests(&group));
            contents.figures.extend(figures::figure(&group));
            contents.headline.extend(tables::headline(&group));
        }
        contents
    }

    fn derived<'r>(&self, cells: &PaperCells<'_>, runs: &[AnyRun<'r>]) -> Vec<Derived<'r>> {
        derived::agreement(&SheetRuns::all(cells, runs))
    }

    /// Runs of one task and learner differ in their settings, which the tables tell apart.
    fn variant(&self, run: AnyRun<'_>) -> String {
        run.run.plan.clone()
    }
}

#[cfg(test)]
mod tests;
