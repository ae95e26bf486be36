//! The tables and the figure of WADE (Cisneros, Sivic and Mikolov 2022), each with the paper's values beside ours.

mod batch;
mod detail;
mod figure;
mod imdb;
mod published;
mod runs;
mod tables;

use wug_score::Reading;
use wug_score::plan::Speed;

use runs::WadeRuns;

use crate::cells::PaperCells;
use crate::run::{AnyRun, of_kind};
use crate::suite::{Contents, Suite};
use crate::table::{Scope, Table};

const NAME: &str = "wade";
/// The suite. It claims the runs on the paper's sequences of its ten tasks, those on reviews, and people's answers.
pub(crate) struct Wade;

impl Suite for Wade {
    fn name(&self) -> &'static str {
        NAME
    }

    fn paper(&self) -> &'static str {
        published::PAPER
    }

    fn claims(&self, run: AnyRun<'_>) -> bool {
        runs::claimed(run).is_some()
    }

    fn caution(&self, unclaimed: &[AnyRun<'_>]) -> Option<String> {
        batch::note(&of_kind::<Speed>(unclaimed))
    }

    fn contents(&self, cells: &PaperCells<'_>, runs: &[AnyRun<'_>]) -> Contents {
        let mut contents = Contents::default();
        // People's answers alone are shown beside the paper's in the corrected reading.
        let readings = Reading::ALL.into_iter().map(|reading| WadeRuns::of(cells, runs, reading));
        for runs in readings.filter(|runs| !runs.is_empty()) {
            contents.tables.extend(tables::scores(&runs));
            contents.tables.extend(tables::accuracies(&runs));
            contents.tables.extend(tables::above_chance(&runs));
            contents.tables.extend(detail::table(&runs));
            let rules = tables::rules(&runs);
            contents.tables.extend(rules.clone());
            contents.headline.extend(tables::headline(&runs));
            contents.headline.extend(rules);
            contents.figures.extend(figure::figure(&runs));
        }
        let reviews = imdb::tables(cells, &of_kind(runs));
        contents.tables.extend(reviews.clone());
        contents.headline.extend(reviews);
        contents
    }

    /// Runs of one learner differ in their settings, which the tables tell apart.
    fn variant(&self, run: AnyRun<'_>) -> String {
        run.run.plan.clone()
    }
}

/// A table of one reading without its rows.
fn blank(runs: &WadeRuns<'_>, name: &str, title: &str, keys: &[&str]) -> Table {
    let notes = [Some(format!("Paper: {}.", published::PAPER)), runs.reading_note.clone()];
    let notes = notes.into_iter().flatten().collect();
    Table { notes, ..Table::blank(Scope::Suite(NAME), runs.reading, name, title, keys) }
}

/// A table as a terminal shows it, with only these notes and those that no table may lack.
fn shortened(table: Table, runs: &WadeRuns<'_>, notes: &[&str]) -> Table {
    let notes = notes.iter().map(|&note| note.to_owned());
    let notes = notes.chain(runs.reading_note.clone()).chain(batch::note(&runs.all)).collect();
    Table { notes, ..table }.compact()
}
