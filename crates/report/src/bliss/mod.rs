//! The index of BLISS (Lan, Chemla and Katzir 2023): its Table 2 and Figure 3 with the paper's values beside ours, the
//! details behind them, and the same without the paper's values for any other language, learner or setting.

mod best_of;
mod departures;
mod derived;
mod detail;
mod index_run;
mod index_table;
mod networks;
mod published;
mod rows;
mod solved;

use wug_score::RunResult;

use index_run::IndexRun;
use rows::RunGroup;

use crate::plot::Figure;
use crate::published::PublishedTable;
use crate::records::Derived;
use crate::suite::Suite;
use crate::table::Table;

const NAME: &str = "bliss";
/// The protocol of its runs.
const PROTOCOL: &str = "generalization";

/// The suite. It claims every run of the index; those that are not as in the paper have tables without its values.
pub(crate) struct Bliss;

impl Suite for Bliss {
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
        IndexRun::of(result).is_some()
    }

    fn tables(&self, results: &[&RunResult]) -> Vec<Table> {
        let mut tables = Vec::new();
        for group in RunGroup::all(results) {
            tables.extend(index_table::table(&group));
            tables.extend(best_of::table(&group));
            tables.extend(solved::table(&group));
            tables.extend(detail::tables(&group));
        }
        tables
    }

    fn figures(&self, results: &[&RunResult]) -> Vec<Figure> {
        let mut figures: Vec<Figure> = RunGroup::all(results).iter().filter_map(solved::figure).collect();
        figures.extend(networks::figures(results));
        figures
    }

    fn headline(&self, results: &[&RunResult]) -> Vec<Table> {
        let of = |group: RunGroup<'_>| [index_table::headline(&group), solved::headline(&group)];
        RunGroup::all(results).into_iter().flat_map(of).flatten().collect()
    }

    fn derived<'a>(&self, results: &[&'a RunResult]) -> Vec<Derived<'a>> {
        RunGroup::all(results).iter().flat_map(derived::indices).collect()
    }

    /// Runs of one factor differ in their configurations, which the tables tell apart.
    fn variant(&self, result: &RunResult) -> String {
        result.run.plan.clone()
    }

    /// The index is the best of these configurations.
    fn pools(&self, setting: &str) -> bool {
        rows::CONFIGURED.contains(&setting)
    }

    fn data_key(&self, result: &RunResult) -> String {
        IndexRun::of(result).map_or_else(String::new, IndexRun::data_key)
    }
}
