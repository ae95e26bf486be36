//! The table of TSE (Someya, Yoshida and Oseki 2024): corrected, as the paper describes and as its code does it, side by side with
//! the paper's values; runs with other settings that were asked for apart from it; and figures of accuracy.

mod figures;
mod published;
mod runs;
mod table3;

use std::collections::BTreeMap;

use runs::{PlacedRun, TseRuns};

use crate::cells::PaperCells;
use crate::plan_fields::data_note;
use crate::run::AnyRun;
use crate::suite::{Contents, Suite};
use crate::table::{Table, distinct};

const NAME: &str = "tse";

/// The suite. It claims the runs on the paper's data.
pub(crate) struct Tse;

impl Suite for Tse {
    fn name(&self) -> &'static str {
        NAME
    }

    fn paper(&self) -> &'static str {
        published::PAPER
    }

    fn claims(&self, run: AnyRun<'_>) -> bool {
        PlacedRun::of(run).is_some()
    }

    fn pool(&self, run: AnyRun<'_>) -> Option<String> {
        let run = PlacedRun::of(run)?;
        Some(format!("{} {:?}", run.table, run.cell()?))
    }

    fn contents(&self, _cells: &PaperCells<'_>, runs: &[AnyRun<'_>]) -> Contents {
        let placed: Vec<PlacedRun<'_>> = runs.iter().filter_map(|run| PlacedRun::of(*run)).collect();
        let mut tables = distinct(placed.iter().map(|run| run.table));
        // The paper's own first.
        tables.sort_unstable();
        let mut contents = Contents::default();
        for table in tables {
            let runs = TseRuns::of(&placed, table);
            contents.tables.extend([table3::table(&runs), table3::of_runs(&runs)]);
            contents.tables.extend(table3::comparisons(&runs));
            contents.figures.extend(figures::figures(&runs));
            contents.headline.push(table3::headline(&runs));
        }
        contents
    }

    /// Runs of a cell have three learning rates with the same seeds; cells differ in how learners are trained too.
    fn variant(&self, run: AnyRun<'_>) -> String {
        run.cell().map_or_else(String::new, |cell| {
            format!("{:?} {:?}", cell.recipe.version, cell.recipe.plan.learner)
        })
    }
}

/// What titles of a table begin with.
fn title(table: &str) -> String {
    match table {
        "3" => "Table 3".to_owned(),
        "3-normal" => "Table 3, terminals from a normal distribution".to_owned(),
        "3-search" => "Not the paper's settings, found by search (27 tried at T = 5)".to_owned(),
        other => format!("Table {other}"),
    }
}

/// What to know of the settings of a table.
fn note(runs: &TseRuns<'_>) -> Option<String> {
    let by_sgd = || runs.learners().iter().find(|learner| learner.ends_with(" by SGD"));
    match runs.table {
        "3" => by_sgd().map(|learner| format!("{learner}: SGD, as the released configuration says, at the learning rates that the paper has for SGD; the paper says AdamW. Batches of 512 either way.")),
        "3-normal" => Some("The paper says that terminals are drawn from a normal distribution, without its mean or deviation; the released code draws them uniformly. Here: mean (T - 1)/2, standard deviation T/4.".to_owned()),
        "3-search" => Some("SGD with batches of 2,048. No source has this setting: the paper says AdamW and batches of 512, the released configuration SGD. It was found among 27 settings of the Stack-RNN by its fit to the paper's figures of np-vp at T = 5, so that its fit there is no evidence; it does not fit T = 50 (docs/errata.md).".to_owned()),
        _ => None,
    }
}

/// The end of the ids of the tables that are made of the runs of one.
fn suffix<'r>(runs: &TseRuns<'r>) -> &'r str {
    runs.table.strip_prefix('3').unwrap_or(runs.table)
}

/// A table of these runs without its rows.
fn blank(runs: &TseRuns<'_>, name: &str, head: &str, keys: &[&str]) -> Table {
    let notes = [note(runs), Some(format!("Paper: {}.", published::PAPER)), data_note(runs.all())];
    Table {
        id: format!("{NAME}-{name}{}", suffix(runs)),
        title: format!("{}: {head}", title(runs.table)),
        about: BTreeMap::from([("suite".to_owned(), NAME.to_owned())]),
        notes: notes.into_iter().flatten().collect(),
        keys: keys.iter().map(|&key| key.to_owned()).collect(),
        columns: Vec::new(),
        rows: Vec::new(),
    }
}
