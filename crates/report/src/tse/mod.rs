//! The table of TSE (Someya, Yoshida and Oseki 2024), both readings side by side with the paper's values, and figures of accuracy.

mod departures;
mod figures;
mod published;
mod runs;
mod table3;

use std::collections::{BTreeMap, BTreeSet};

use wug_score::RunResult;

use departures::departures;
use runs::PaperRuns;

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
        let runs = PaperRuns::of(results);
        if runs.all().is_empty() {
            return Vec::new();
        }
        let mut tables = vec![table3::table(&runs), table3::of_runs(&runs)];
        tables.extend(table3::comparisons(&runs));
        tables
    }

    fn figures(&self, results: &[&RunResult]) -> Vec<Figure> {
        figures::figures(&PaperRuns::of(results))
    }

    fn headline(&self, results: &[&RunResult]) -> Vec<Table> {
        let runs = PaperRuns::of(results);
        if runs.all().is_empty() { Vec::new() } else { vec![table3::headline(&runs)] }
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

    /// Runs of a cell have three learning rates with the same seeds.
    fn variant(&self, result: &RunResult) -> String {
        result.plan.pointer("/settings/learning_rate").map_or_else(String::new, ToString::to_string)
    }
}

/// A table of both readings without its rows.
fn blank(runs: &PaperRuns<'_>, name: &str, title: &str, keys: &[&str]) -> Table {
    let notes = [Some(format!("Paper: {}.", published::PAPER)), data_note(runs.all())];
    Table {
        id: format!("{NAME}-{name}"),
        title: title.to_owned(),
        about: BTreeMap::from([("suite".to_owned(), NAME.to_owned())]),
        notes: notes.into_iter().flatten().collect(),
        keys: keys.iter().map(|&key| key.to_owned()).collect(),
        columns: Vec::new(),
        rows: Vec::new(),
    }
}
