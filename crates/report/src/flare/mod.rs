//! The tables and figures of FLaRe (Butoi et al. 2025), each with the paper's figures beside ours.

mod figures;
mod full;
mod hardest;
mod main_table;
mod runs;
mod setting;
mod sizes;

use wug_score::{Reading, RunResult};

use runs::Runs;
pub(crate) use runs::has_place;
pub(crate) use setting::departures;

use crate::plot::Figure;
use crate::published::{FLARE, other_data};
use crate::table::Table;

/// Every table for which there is a run, one reading after the other.
pub(crate) fn tables(results: &[RunResult]) -> Vec<Table> {
    let mut tables = Vec::new();
    for runs in readings(results) {
        tables.extend(main_table::table(&runs));
        tables.extend(main_table::losses(&runs));
        tables.extend(full::tables(&runs));
        tables.extend(sizes::table(&runs));
        tables.extend(hardest::table(&runs));
    }
    tables
}

/// Every figure for which there is a run, one reading after the other.
pub(crate) fn figures(results: &[RunResult]) -> Vec<Figure> {
    readings(results).flat_map(|runs| figures::figures(&runs)).collect()
}

/// The tables that say most, without their detail.
pub(crate) fn headline(results: &[RunResult]) -> Vec<Table> {
    let of = |runs: Runs<'_>| [main_table::headline(&runs), sizes::headline(&runs)];
    readings(results).flat_map(of).flatten().collect()
}

fn readings(results: &[RunResult]) -> impl Iterator<Item = Runs<'_>> {
    Reading::ALL.into_iter().map(|reading| Runs::of(results, reading)).filter(|runs| !runs.all().is_empty())
}

/// A table of one reading without its rows.
fn blank(runs: &Runs<'_>, name: &str, title: &str, keys: &[&str]) -> Table {
    let notes = std::iter::once(format!("Paper: {FLARE}.")).chain(other_data(runs.reading)).collect();
    Table { notes, ..Table::blank("flare", runs.reading, name, title, keys) }
}

/// A table as a terminal shows it, with these notes alone and what must always be said.
fn shortened(runs: &Runs<'_>, table: Table, notes: &[&str]) -> Table {
    let notes = notes.iter().map(|&note| note.to_owned()).chain(other_data(runs.reading)).collect();
    Table { notes, ..table }.compact()
}
