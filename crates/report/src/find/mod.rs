//! FIND (Kharitonov and Chaabouni 2021): Tables 1 to 8, Figure 3 and Appendices C and D with the paper's values beside ours, and the same without them for any
//! other task, learner or setting.

mod derived;
mod figures;
mod group;
mod published;
mod runs;
mod sheets;
mod tables;

use wug_score::RunResult;

use group::Group;
use runs::PreferenceRun;

use crate::plot::Figure;
use crate::published::PublishedTable;
use crate::records::Derived;
use crate::suite::Suite;
use crate::table::Table;

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

    fn published(&self) -> &'static [(&'static str, PublishedTable)] {
        published::TABLES
    }

    fn claims(&self, result: &RunResult) -> bool {
        PreferenceRun::of(result).is_some()
    }

    fn tables(&self, results: &[&RunResult]) -> Vec<Table> {
        let of = |group: &Group<'_>| [tables::main(group), tables::tests(group)];
        Group::all(results).iter().flat_map(of).flatten().collect()
    }

    fn figures(&self, results: &[&RunResult]) -> Vec<Figure> {
        Group::all(results).iter().filter_map(figures::figure).collect()
    }

    fn headline(&self, results: &[&RunResult]) -> Vec<Table> {
        Group::all(results).iter().filter_map(tables::headline).collect()
    }

    fn derived<'a>(&self, results: &[&'a RunResult]) -> Vec<Derived<'a>> {
        derived::agreement(&Group::all(results))
    }

    /// Runs of one task and learner differ in their settings, which the tables tell apart.
    fn variant(&self, result: &RunResult) -> String {
        result.run.plan.clone()
    }
}

#[cfg(test)]
mod tests;
