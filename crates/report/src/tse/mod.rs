//! The table of TSE (Someya, Yoshida and Oseki 2024): corrected, as the paper describes and as its code does it, side by side with
//! the paper's values; runs with other settings that were asked for apart from it; and figures of accuracy.

mod departures;
mod figures;
mod published;
mod runs;
mod table3;
mod version;

use std::collections::{BTreeMap, BTreeSet};

use wug_score::RunResult;

use departures::departures;
use runs::PaperRuns;
use version::{Group, Version};

use crate::pairs::PROTOCOL;
use crate::plan_fields::data_note;
use crate::plot::Figure;
use crate::published::PublishedTable;
use crate::suite::Suite;
use crate::table::Table;

const NAME: &str = "tse";

/// The suite. It claims the runs that are as in the paper.
pub(crate) struct Tse;

impl Suite for Tse {
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
        runs::is_of_paper(result)
    }

    fn tables(&self, results: &[&RunResult]) -> Vec<Table> {
        let tables = |runs: &PaperRuns<'_>| {
            let own = [Some(table3::table(runs)), Some(table3::of_runs(runs)), table3::comparisons(runs)];
            own.into_iter().flatten().collect::<Vec<_>>()
        };
        groups(results).iter().flat_map(tables).collect()
    }

    fn figures(&self, results: &[&RunResult]) -> Vec<Figure> {
        groups(results).iter().flat_map(figures::figures).collect()
    }

    fn headline(&self, results: &[&RunResult]) -> Vec<Table> {
        groups(results).iter().map(table3::headline).collect()
    }

    fn not_comparable(&self, unclaimed: &[&RunResult]) -> Option<String> {
        let own = unclaimed.iter().filter(|result| result.run.protocol == PROTOCOL);
        let departures: BTreeSet<&str> = own.flat_map(|result| departures(result)).collect();
        let departures = departures.into_iter().collect::<Vec<_>>().join(", ");
        (!departures.is_empty()).then(|| {
            format!(
                "Not to be compared with the figures of TSE, which are of other data or settings: {departures}."
            )
        })
    }

    /// Runs of a cell have three learning rates with the same seeds; cells differ in the optimiser and the version too.
    fn variant(&self, result: &RunResult) -> String {
        let rate =
            result.plan.pointer("/settings/learning_rate").map_or_else(String::new, ToString::to_string);
        [runs::learner(result), Version::of(result).name(), &rate].join(" ")
    }
}

/// The runs of each group that has some.
fn groups<'a>(results: &[&'a RunResult]) -> Vec<PaperRuns<'a>> {
    let all = Group::ALL.map(|group| PaperRuns::of(results, group));
    all.into_iter().filter(|runs| !runs.all().is_empty()).collect()
}

/// A table of a group without its rows.
fn blank(runs: &PaperRuns<'_>, name: &str, title: &str, keys: &[&str]) -> Table {
    let group = runs.group;
    let notes =
        [group.note(runs.learners()), Some(format!("Paper: {}.", published::PAPER)), data_note(runs.all())];
    Table {
        id: format!("{NAME}-{name}{}", group.suffix()),
        title: format!("{}: {title}", group.title()),
        about: BTreeMap::from([("suite".to_owned(), NAME.to_owned())]),
        notes: notes.into_iter().flatten().collect(),
        keys: keys.iter().map(|&key| key.to_owned()).collect(),
        columns: Vec::new(),
        rows: Vec::new(),
    }
}
