//! The tables and the figure of WADE (Cisneros, Sivic and Mikolov 2022), each with the paper's values beside ours.

mod batch;
mod figure;
mod imdb;
mod published;
mod runs;
mod tables;

use wug_score::{Reading, RunResult};

use runs::PaperRuns;

use crate::plot::Figure;
use crate::published::{PublishedTable, other_data};
use crate::suite::Suite;
use crate::table::{Scope, Table};

const NAME: &str = "wade";
/// The protocol of its runs.
const PROTOCOL: &str = "speed";

/// The suite. It claims the runs on its ten tasks with the paper's budget that were made as their reading says, those on reviews, and
/// people's answers.
pub(crate) struct Wade;

impl Suite for Wade {
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
        runs::is_of_paper(result) || runs::is_of_reviews(result)
    }

    fn tables(&self, results: &[&RunResult]) -> Vec<Table> {
        let mut all = Vec::new();
        for runs in readings(results) {
            all.extend(tables::scores(&runs));
            all.extend(tables::accuracies(&runs));
            all.extend(tables::above_chance(&runs));
            all.extend(tables::detail(&runs));
            all.extend(tables::rules(&runs));
        }
        all.extend(imdb::tables(results));
        all
    }

    fn figures(&self, results: &[&RunResult]) -> Vec<Figure> {
        readings(results).iter().filter_map(figure::figure).collect()
    }

    fn headline(&self, results: &[&RunResult]) -> Vec<Table> {
        let of = |runs: &PaperRuns<'_>| [tables::headline(runs), tables::rules(runs)];
        readings(results).iter().flat_map(of).flatten().chain(imdb::tables(results)).collect()
    }

    fn not_comparable(&self, unclaimed: &[&RunResult]) -> Option<String> {
        let tasks = published::tasks();
        let own =
            |result: &&&RunResult| result.run.protocol == PROTOCOL && tasks.contains(&result.run.language());
        let other = unclaimed.iter().any(|result| own(&result)).then(|| {
            "Not to be compared with the paper's figures, which are of 1,200 sequences, seen once by reservoirs and ten times by others, with the unit, the evaluations, the score, the decoder and the sizes of their reading."
                .to_owned()
        });
        let notes: Vec<String> = other.into_iter().chain(batch::note(unclaimed)).collect();
        (!notes.is_empty()).then(|| notes.join(" "))
    }

    /// Runs of one learner differ in their settings, which the tables tell apart.
    fn variant(&self, result: &RunResult) -> String {
        result.run.plan.clone()
    }
}

/// The runs of each reading that has some. People's answers alone are shown beside the paper's in the corrected reading.
fn readings<'a>(results: &[&'a RunResult]) -> Vec<PaperRuns<'a>> {
    Reading::ALL
        .into_iter()
        .map(|reading| PaperRuns::of(results, reading))
        .filter(|runs| !runs.is_empty())
        .collect()
}

/// A table of one reading without its rows.
fn blank(runs: &PaperRuns<'_>, name: &str, title: &str, keys: &[&str]) -> Table {
    let notes = [Some(format!("Paper: {}.", published::PAPER)), other_data(runs.reading)];
    let notes = notes.into_iter().flatten().collect();
    Table { notes, ..Table::blank(Scope::Suite(NAME), runs.reading, name, title, keys) }
}

/// A table as a terminal shows it, with only these notes and those that no table may lack.
fn shortened(table: Table, runs: &PaperRuns<'_>, notes: &[&str]) -> Table {
    let notes = notes.iter().map(|&note| note.to_owned());
    let notes = notes.chain(other_data(runs.reading)).chain(batch::note(&runs.all)).collect();
    Table { notes, ..table }.compact()
}
