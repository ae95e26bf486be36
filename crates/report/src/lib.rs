//! Results of runs as tables, figures and one page, with the papers' figures beside ours.
//!
//! This room takes results and gives text. It knows no files, no learners and no terminals. [`tables`] and
//! [`figures`] say what there is to show; [`render`] writes it in a [`Format`]. A cell that was not run is
//! visibly empty, and a run that has no place in the tables of a paper appears in a table of its own.

mod bliss;
mod flare;
mod format;
mod generic;
mod measured;
mod overview;
mod plot;
mod published;
mod records;
mod summary;
mod table;
mod write;

use thiserror::Error;
use wug_score::RunResult;

pub use format::Format;
pub use plot::Figure;
pub use records::{RecordFormat, records};
pub use summary::Summary;
pub use table::{ABSENT, Cell, Column, Decimals, Row, Table, Value};

/// Why there is no report.
#[derive(Debug, Error)]
pub enum ReportError {
    /// Nothing was given.
    #[error("there are no results to report")]
    Empty,
    /// Tables that cannot be written as JSON.
    #[error("cannot write the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The report of these results.
///
/// ```
/// use wug_report::{Format, ReportError, render};
/// assert!(matches!(render(&[], Format::Table), Err(ReportError::Empty)));
/// ```
pub fn render(results: &[RunResult], format: Format) -> Result<String, ReportError> {
    if results.is_empty() {
        return Err(ReportError::Empty);
    }
    let summary = Summary::of(results);
    Ok(match format {
        Format::Table => write::text(&summary, &headline(results)),
        Format::Markdown => write::markdown(&summary, &tables(results)),
        Format::Csv => write::csv(&tables(results)),
        Format::Json => write::json(&summary, &tables(results))?,
        Format::Html => write::html(&summary, &tables(results), &figures(results)),
    })
}

/// Every table for which there is a run.
pub fn tables(results: &[RunResult]) -> Vec<Table> {
    let others = others(results);
    let mut tables = flare::tables(results);
    tables.extend(bliss::tables(results));
    tables.extend(overview::tables(&others));
    tables.extend(generic::tables(&others));
    tables.extend(summary::bad_runs(results));
    tables
}

/// Every figure for which there is a run.
pub fn figures(results: &[RunResult]) -> Vec<Figure> {
    let mut figures = flare::figures(results);
    figures.extend(bliss::figures(results));
    figures.extend(overview::figures(&others(results)));
    figures
}

/// The tables that say most, small enough for a terminal.
fn headline(results: &[RunResult]) -> Vec<Table> {
    let others = others(results);
    let glance = overview::headline(&others);
    let mut tables = flare::headline(results);
    tables.extend(bliss::headline(results));
    // What can be seen at a glance is not listed in full as well.
    tables.extend(if glance.is_empty() { generic::tables(&others) } else { glance });
    tables.extend(summary::bad_runs(results));
    tables
}

/// The runs that have no place in the tables of a paper. Those of the index have tables of their own, whatever they are of.
fn others(results: &[RunResult]) -> Vec<&RunResult> {
    let placed = |result: &RunResult| flare::has_place(result) || bliss::Trial::of(result).is_some();
    results.iter().filter(|result| !placed(result)).collect()
}
