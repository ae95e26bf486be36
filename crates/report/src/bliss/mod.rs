//! The index of BLISS (Lan, Chemla and Katzir 2023): its Table 2 and Figure 3 with the paper's figures beside ours, what lies
//! behind them, and the same for any other language, learner or setting.

mod detail;
mod group;
mod index_table;
mod reach;
mod setting;
mod trial;

use wug_score::RunResult;

use group::Group;
pub(crate) use trial::Trial;

use crate::plot::Figure;
use crate::table::Table;

/// Every table for which there is a run, the paper's first.
pub(crate) fn tables(results: &[RunResult]) -> Vec<Table> {
    let mut tables = Vec::new();
    for group in Group::all(results) {
        tables.extend(index_table::table(&group));
        tables.extend(reach::table(&group));
        tables.extend(detail::tables(&group));
    }
    tables
}

/// Every figure for which there is a run.
pub(crate) fn figures(results: &[RunResult]) -> Vec<Figure> {
    Group::all(results).iter().filter_map(reach::figure).collect()
}

/// The tables that say most, without their detail.
pub(crate) fn headline(results: &[RunResult]) -> Vec<Table> {
    let of = |group: Group<'_>| [index_table::headline(&group), reach::headline(&group)];
    Group::all(results).into_iter().flat_map(of).flatten().collect()
}
