//! The suites: which results are shown beside the tables of which paper.
//!
//! A suite is one folder with its paper's tables and constants, and one entry in [`SUITES`]. The rest of the crate knows
//! no suite and no paper: what no suite claims is shown by its protocol.

use wug_score::RunResult;

use crate::bliss::Bliss;
use crate::find::Find;
use crate::flare::Flare;
use crate::plot::Figure;
use crate::published::PublishedTable;
use crate::records::Derived;
use crate::repeats;
use crate::table::Table;
use crate::tse::Tse;
use crate::wade::Wade;

/// Every suite, in the order of the report.
pub static SUITES: &[&dyn Suite] = &[&Flare, &Bliss, &Wade, &Tse, &Find];

/// The tables and figures of one paper, with its values beside ours.
pub trait Suite: Sync {
    /// Its name, which begins the ids of its tables.
    fn name(&self) -> &'static str;

    fn paper(&self) -> &'static str;

    /// The tables that the paper printed, each with its name in print.
    fn published(&self) -> &'static [(&'static str, PublishedTable)];

    /// Whether a result is shown by this suite.
    fn claims(&self, result: &RunResult) -> bool;

    /// Every table for which there is one of the claimed results.
    fn tables(&self, results: &[&RunResult]) -> Vec<Table>;

    /// Every figure for which there is one of the claimed results.
    fn figures(&self, results: &[&RunResult]) -> Vec<Figure>;

    /// The most important tables, small enough for a terminal.
    fn headline(&self, results: &[&RunResult]) -> Vec<Table>;

    /// Figures that it derives from several of the claimed results, for exports.
    fn derived<'a>(&self, _results: &[&'a RunResult]) -> Vec<Derived<'a>> {
        Vec::new()
    }

    /// Why results that it does not claim are not comparable with the paper's; `None` if they are of something else.
    fn not_comparable(&self, _unclaimed: &[&RunResult]) -> Option<String> {
        None
    }

    /// What distinguishes claimed results that have the same coordinates and seed.
    fn variant(&self, _result: &RunResult) -> String {
        String::new()
    }

    /// Whether its tables pool claimed results that differ in this setting, of which an experiment lists several values.
    fn pools(&self, _setting: &str) -> bool {
        false
    }

    /// What the data of a claimed result depend on besides the language and the reading.
    fn data_key(&self, _result: &RunResult) -> String {
        String::new()
    }
}

/// The suite that claims a result: the first that does.
pub fn of(result: &RunResult) -> Option<&'static dyn Suite> {
    SUITES.iter().copied().find(|suite| suite.claims(result))
}

/// A suite with the results that it claims.
pub(crate) type Claim<'a> = (&'static dyn Suite, Vec<&'a RunResult>);

/// The results that each suite claims, and those that none does, each run once.
pub(crate) fn split(results: &[RunResult]) -> (Vec<Claim<'_>>, Vec<&RunResult>) {
    let mut claims: Vec<Claim<'_>> = SUITES.iter().map(|suite| (*suite, Vec::new())).collect();
    let mut unclaimed = Vec::new();
    for result in repeats::distinct(results) {
        match claims.iter_mut().find(|(suite, _)| suite.claims(result)) {
            Some((_, claimed)) => claimed.push(result),
            None => unclaimed.push(result),
        }
    }
    (claims, unclaimed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_distinct_and_printed_tables_are_rectangular() {
        let names: BTreeSet<&str> = SUITES.iter().map(|suite| suite.name()).collect();
        assert_eq!(names.len(), SUITES.len());
        for suite in SUITES {
            assert!(suite.paper().contains("20"), "{}", suite.name());
            for (name, table) in suite.published() {
                let columns = table.rows().next().map_or(0, |row| row.len());
                assert!(columns > 1, "{} {name}", suite.name());
                assert!(table.rows().all(|row| row.len() == columns), "{} {name}", suite.name());
            }
        }
    }
}
