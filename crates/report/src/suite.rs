//! The suites: which results are shown beside the tables of which paper.
//!
//! A suite is one folder with its paper's tables and constants, and one entry in [`SUITES`]. The rest of the crate knows
//! no suite and, but for the number of reviews in `facts`, no paper: what no suite claims is shown by its protocol.

use std::collections::BTreeSet;

use crate::bliss::Bliss;
use crate::cells::PaperCells;
use crate::departures::apart_note;
use crate::find::Find;
use crate::flare::Flare;
use crate::plot::Figure;
use crate::records::Derived;
use crate::run::AnyRun;
use crate::table::Table;
use crate::tse::Tse;
use crate::wade::Wade;

/// Every suite, in the order of the report.
pub(crate) static SUITES: &[&dyn Suite] = &[&Flare, &Bliss, &Wade, &Tse, &Find];

/// What there is to show of some runs.
#[derive(Default)]
pub(crate) struct Contents {
    pub(crate) tables: Vec<Table>,
    pub(crate) figures: Vec<Figure>,
    /// The most important tables, small enough for a terminal.
    pub(crate) headline: Vec<Table>,
}

/// The tables and figures of one paper, with its values beside ours.
pub(crate) trait Suite: Sync {
    /// Its name, which begins the ids of its tables.
    fn name(&self) -> &'static str;

    fn paper(&self) -> &'static str;

    /// Whether a run is shown by this suite.
    fn claims(&self, run: AnyRun<'_>) -> bool;

    /// The cell in which runs are pooled whether or not they are as in the paper. Where some are, it has no others.
    fn pool(&self, _run: AnyRun<'_>) -> Option<String> {
        None
    }

    /// What is to be known of runs that it does not claim, whatever the paper has.
    fn caution(&self, _unclaimed: &[AnyRun<'_>]) -> Option<String> {
        None
    }

    /// All that there is to show of the claimed runs.
    fn contents(&self, cells: &PaperCells<'_>, runs: &[AnyRun<'_>]) -> Contents;

    /// Figures that it derives from several of the claimed runs, for exports.
    fn derived<'r>(&self, _cells: &PaperCells<'_>, _runs: &[AnyRun<'r>]) -> Vec<Derived<'r>> {
        Vec::new()
    }

    /// What distinguishes claimed runs that have the same coordinates and seed.
    fn variant(&self, _run: AnyRun<'_>) -> String {
        String::new()
    }
}

/// The suite that claims a run: the first that does.
pub(crate) fn of(run: AnyRun<'_>) -> Option<&'static dyn Suite> {
    SUITES.iter().copied().find(|suite| suite.claims(run))
}

/// A suite with the runs that it claims.
pub(crate) type SuiteClaim<'r> = (&'static dyn Suite, Vec<AnyRun<'r>>);

/// The runs that each suite claims, and those that none does.
pub(crate) fn split<'r>(runs: &[AnyRun<'r>]) -> (Vec<SuiteClaim<'r>>, Vec<AnyRun<'r>>) {
    let mut claims: Vec<SuiteClaim<'r>> = SUITES.iter().map(|suite| (*suite, Vec::new())).collect();
    let mut unclaimed = Vec::new();
    for &run in runs {
        // The first suite that claims a run has it alone, so no run is counted in two papers.
        match claims.iter_mut().find(|(suite, _)| suite.claims(run)) {
            Some((_, claimed)) => claimed.push(run),
            None => unclaimed.push(run),
        }
    }
    for (suite, claimed) in &mut claims {
        // A mean over runs that are as in the paper and runs that are not would be of neither.
        let as_in_paper = claimed.iter().filter(|run| run.is_as_in_paper());
        let full: BTreeSet<String> = as_in_paper.filter_map(|run| suite.pool(*run)).collect();
        let stays = |run: AnyRun<'_>| {
            run.is_as_in_paper() || suite.pool(run).is_none_or(|pool| !full.contains(&pool))
        };
        let (staying, others) = std::mem::take(claimed).into_iter().partition(|run| stays(*run));
        *claimed = staying;
        unclaimed.extend::<Vec<_>>(others);
    }
    (claims, unclaimed)
}

/// Why runs that no suite claims are not comparable with the papers' figures, a note for each paper.
pub(crate) fn not_comparable(unclaimed: &[AnyRun<'_>]) -> Vec<String> {
    let notes = |suite: &&'static dyn Suite| {
        let own = |run: &&AnyRun<'_>| run.cell().is_some_and(|cell| cell.suite() == suite.name());
        let apart = apart_note(suite.paper(), unclaimed.iter().filter(own).copied());
        apart.into_iter().chain(suite.caution(unclaimed))
    };
    SUITES.iter().flat_map(notes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_papers_have_a_year() {
        let names: BTreeSet<&str> = SUITES.iter().map(|suite| suite.name()).collect();
        assert_eq!(names.len(), SUITES.len());
        assert!(SUITES.iter().all(|suite| suite.paper().contains("20")));
    }
}
