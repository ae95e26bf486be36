//! The tables and figures of FLaRe (Butoi et al. 2025), each with the paper's values beside ours.

mod best_of;
mod departures;
mod derived;
mod figures;
mod full;
mod hardest;
mod main_table;
mod published;
mod runs;
mod sizes;

use std::collections::BTreeSet;

use wug_score::{Reading, RunResult};

use departures::departures;
use runs::PaperRuns;

use crate::plan_fields::data_note;
use crate::plot::Figure;
use crate::published::{PublishedTable, other_data};
use crate::records::Derived;
use crate::suite::Suite;
use crate::table::{Scope, Table};

const NAME: &str = "flare";
/// The protocol of its runs.
const PROTOCOL: &str = "recognition";

/// The suite. It claims the runs that are as in the paper.
pub(crate) struct Flare;

impl Suite for Flare {
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
        let mut tables = Vec::new();
        for runs in readings(results) {
            tables.extend(main_table::table(&runs));
            tables.extend(main_table::best_of(&runs));
            tables.extend(main_table::losses(&runs));
            tables.extend(full::tables(&runs));
            tables.extend(sizes::table(&runs));
            tables.extend(sizes::best_of(&runs));
            tables.extend(hardest::table(&runs));
        }
        tables
    }

    fn figures(&self, results: &[&RunResult]) -> Vec<Figure> {
        readings(results).flat_map(|runs| figures::figures(&runs)).collect()
    }

    fn headline(&self, results: &[&RunResult]) -> Vec<Table> {
        let of = |runs: PaperRuns<'_>| [main_table::headline(&runs), sizes::headline(&runs)];
        readings(results).flat_map(of).flatten().collect()
    }

    fn derived<'a>(&self, results: &[&'a RunResult]) -> Vec<Derived<'a>> {
        readings(results).flat_map(|runs| derived::figures(&runs)).collect()
    }

    fn not_comparable(&self, unclaimed: &[&RunResult]) -> Option<String> {
        let own = unclaimed.iter().filter(|result| result.run.protocol == PROTOCOL);
        let departures: BTreeSet<&str> = own.flat_map(|result| departures(result)).collect();
        let departures = departures.into_iter().collect::<Vec<_>>().join(", ");
        (!departures.is_empty()).then(|| {
            format!(
                "Not to be compared with the paper's figures, which are of other data or settings: {departures}."
            )
        })
    }
}

/// The runs of each reading that has some.
fn readings<'a>(results: &[&'a RunResult]) -> impl Iterator<Item = PaperRuns<'a>> {
    Reading::ALL
        .into_iter()
        .map(|reading| PaperRuns::of(results, reading))
        .filter(|runs| !runs.all().is_empty())
}

/// A table of one reading without its rows.
fn blank(runs: &PaperRuns<'_>, name: &str, title: &str, keys: &[&str]) -> Table {
    let notes =
        [Some(format!("Paper: {}.", published::PAPER)), other_data(runs.reading), data_note(runs.all())];
    let notes = notes.into_iter().flatten().collect();
    Table { notes, ..Table::blank(Scope::Suite(NAME), runs.reading, name, title, keys) }
}

/// A table as a terminal shows it, with only these notes and those that no table may lack.
fn shortened(runs: &PaperRuns<'_>, table: Table, notes: &[&str]) -> Table {
    let notes = notes.iter().map(|&note| note.to_owned()).chain(other_data(runs.reading)).collect();
    Table { notes, ..table }.compact()
}
