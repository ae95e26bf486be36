//! The tables and figures of FLaRe (Butoi et al. 2025), each with the paper's values beside ours.

mod best_of;
mod derived;
mod figures;
mod full;
mod hardest;
mod main_table;
mod published;
mod runs;
mod sizes;

use wug_score::Reading;

use runs::FlareRuns;

use crate::cells::PaperCells;
use crate::plan_fields::data_note;
use crate::records::Derived;
use crate::run::AnyRun;
use crate::suite::{Contents, Suite};
use crate::table::{Scope, Table};

const NAME: &str = "flare";

/// The suite. It claims the runs on the paper's data.
pub(crate) struct Flare;

impl Suite for Flare {
    fn name(&self) -> &'static str {
        NAME
    }

    fn paper(&self) -> &'static str {
        published::PAPER
    }

    fn claims(&self, run: AnyRun<'_>) -> bool {
        runs::claimed(run).is_some()
    }

    fn pool(&self, run: AnyRun<'_>) -> Option<String> {
        let run = runs::claimed(run)?;
        Some(format!("{} {:?}", run.plan.reading, runs::cell_of(run)))
    }

    fn contents(&self, cells: &PaperCells<'_>, runs: &[AnyRun<'_>]) -> Contents {
        let mut contents = Contents::default();
        for runs in readings(cells, runs) {
            contents.tables.extend(main_table::table(&runs));
            contents.tables.extend(main_table::best_of(&runs));
            contents.tables.extend(main_table::losses(&runs));
            contents.tables.extend(full::tables(&runs));
            contents.tables.extend(sizes::table(&runs));
            contents.tables.extend(sizes::best_of(&runs));
            contents.tables.extend(hardest::table(&runs));
            contents.figures.extend(figures::figures(&runs));
            contents.headline.extend(main_table::headline(&runs));
            contents.headline.extend(sizes::headline(&runs));
        }
        contents
    }

    fn derived<'r>(&self, cells: &PaperCells<'_>, runs: &[AnyRun<'r>]) -> Vec<Derived<'r>> {
        readings(cells, runs).flat_map(|runs| derived::figures(&runs)).collect()
    }
}

/// The runs of each reading that has some.
fn readings<'r>(cells: &PaperCells<'_>, runs: &[AnyRun<'r>]) -> impl Iterator<Item = FlareRuns<'r>> {
    let of = |reading| FlareRuns::of(cells, runs, reading);
    Reading::ALL.into_iter().map(of).filter(|runs| !runs.all().is_empty())
}

/// A table of one reading without its rows.
fn blank(runs: &FlareRuns<'_>, name: &str, title: &str, keys: &[&str]) -> Table {
    let notes =
        [Some(format!("Paper: {}.", published::PAPER)), runs.reading_note.clone(), data_note(runs.all())];
    let notes = notes.into_iter().flatten().collect();
    Table { notes, ..Table::blank(Scope::Suite(NAME), runs.reading, name, title, keys) }
}

/// A table as a terminal shows it, with only these notes and those that no table may lack.
fn shortened(runs: &FlareRuns<'_>, table: Table, notes: &[&str]) -> Table {
    let notes = notes.iter().map(|&note| note.to_owned()).chain(runs.reading_note.clone()).collect();
    Table { notes, ..table }.compact()
}
