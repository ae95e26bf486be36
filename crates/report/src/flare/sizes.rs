//! Table 22: models of several sizes.

use wug_score::Aggregate;
use wug_score::plan::{Loss, Validation};

use super::best_of::{self, BestRow};
use super::main_table::DECIMALS;
use super::published::{RUNS, SIZES, paper_column};
use super::runs::{BestLoss, FlareCell, FlareRun, FlareRuns};
use super::{blank, shortened};
use crate::departures::PaperFigure;
use crate::parameters;
use crate::pivot::Pivot;
use crate::plan_fields::spread_note;
use crate::summary::bad_endings;
use crate::table::{BEST_OF_NOTE, Cell, Column, Table, Value};

/// What the paper's figures are of.
const PAPER: &str = "The paper's figures are the best of 10 runs.";

/// A learner of a size: a column.
#[derive(Clone, Copy)]
struct SizedLearner<'p> {
    learner: &'p str,
    size: usize,
}

impl<'p> SizedLearner<'p> {
    fn cell(self, language: &'p str) -> FlareCell<'p> {
        // App. H: the setup of expressivity with a recognition head alone.
        let (loss, validation) = (Loss::R, Validation::Long);
        FlareCell { language, learner: self.learner, loss, validation, size: self.size }
    }

    fn printed(self, language: &str) -> Option<PaperFigure> {
        let column = format!("{}_{}", paper_column(self.learner), thousands(self.size));
        Some(PaperFigure { value: SIZES.number(&[language], &column)?, n: Some(RUNS) })
    }

    /// The size asked for, and the parameters that runs of it have.
    fn head(self, runs: &[FlareRun<'_>]) -> String {
        let own = runs.iter().copied().filter(|run| run.learner() == self.learner);
        let own = own.filter(|run| run.plan.learner.size == Some(self.size));
        let parameters = parameters::range(own).map_or_else(String::new, |range| format!(" ({range})"));
        thousands(self.size) + &parameters
    }
}

/// The learners and sizes of the table; none unless something of another size than usual was run.
fn grid<'r>(runs: &FlareRuns<'r>) -> Vec<SizedLearner<'r>> {
    if !runs.has_sizes() {
        return Vec::new();
    }
    let sizes = runs.sizes();
    // An external learner that was asked for no size has one of its own, which is in no column.
    let without_size = |learner: &&str| {
        let mut own = runs.all().iter().filter(|run| run.learner() == *learner).peekable();
        own.peek().is_some() && own.all(|run| run.plan.learner.size.is_none())
    };
    let learners = runs.learners().into_iter().filter(|learner| !without_size(learner));
    learners.flat_map(|learner| sizes.iter().map(move |&size| SizedLearner { learner, size })).collect()
}

/// Table 22; `None` without runs of other sizes.
pub(super) fn table(runs: &FlareRuns<'_>) -> Option<Table> {
    let grid = grid(runs);
    let of = |language: &'static str| grid.iter().map(move |at| runs.at(at.cell(language)));
    let all: Vec<_> = runs.languages().into_iter().flat_map(of).flatten().collect();
    let run = |language: &&'static str| of(language).any(|runs| !runs.is_empty());
    let languages = runs.languages().into_iter().filter(run);
    let mut table = Pivot::new()
        .columns(
            grid.iter(),
            |at| Column::of(at.learner, at.head(&all)),
            |language: &&'static str, at| {
                let best = best(runs, language, **at);
                let ours = best.as_ref().map(|best| Value::number(best.value, DECIMALS));
                let n = best.map(|best| best.scores().len());
                let ours = Cell { n, best_of: true, ..Cell::maybe(ours) };
                ours.with_paper(runs.at(at.cell(language)), at.printed(language))
            },
        )
        .fill(
            blank(runs, "22", "Table 22: models of several sizes", &["language"]),
            languages.map(|language| (vec![language.to_owned()], language)),
        );
    table.notes.push("Recognition accuracy on the long test set (lengths 0-500): the maximum over the runs with the loss R and validation on lengths 0-80. In the heads, the size asked for and in brackets the trainable parameters that there are.".to_owned());
    table.notes.extend([PAPER, BEST_OF_NOTE].map(str::to_owned));
    table.notes.extend(spread_note(runs.languages().into_iter().flat_map(of)));
    table.notes.extend(parameters::misses(&all));
    let bad = Some(bad_endings(&all)).filter(|bad| !bad.is_empty());
    table.notes.extend(bad.map(|bad| format!("Of the runs with this loss, {bad}.")));
    (!grid.is_empty()).then_some(table)
}

/// How the best runs of Table 22 compare with the best of the paper's.
pub(super) fn best_of(runs: &FlareRuns<'_>) -> Option<Table> {
    let grid = grid(runs);
    let mut rows = Vec::new();
    for language in runs.languages() {
        for at in &grid {
            let Some(ours) = best(runs, language, *at) else { continue };
            let keys = vec![language.to_owned(), at.learner.to_owned(), thousands(at.size)];
            rows.push(BestRow { keys, ours, paper: at.printed(language), of: runs.at(at.cell(language)) });
        }
    }
    best_of::table(runs, "22", "Table 22: the best of how many", &["language", "learner", "size"], &rows)
}

fn best(runs: &FlareRuns<'_>, language: &str, at: SizedLearner<'_>) -> Option<BestLoss> {
    runs.best_among(&[Loss::R], Aggregate::Max, |_| at.cell(language))
}

/// Table 22 in short.
pub(super) fn headline(runs: &FlareRuns<'_>) -> Option<Table> {
    let ours = "The best run with the loss R and validation on lengths 0-80, tested on lengths 0-500.";
    table(runs).map(|table| shortened(runs, table, &[ours, PAPER]))
}

/// `64k` for 64 000.
fn thousands(size: usize) -> String {
    if size.is_multiple_of(1000) { format!("{}k", size / 1000) } else { size.to_string() }
}
