//! Results of runs as tables, figures and one page, with the papers' values beside ours.
//!
//! This crate takes results and gives text. It knows no files, no learners and no terminals. [`tables`] and
//! [`figures`] list what there is to show; [`render`] writes it in a [`Format`]. A cell that was not run is
//! visibly empty, and a run that no [suite] claims appears in the tables of its protocol.

mod bliss;
mod columns;
mod find;
mod flare;
mod format;
mod generic;
mod measured;
mod network;
mod overview;
mod pairs;
mod parameters;
mod plan_fields;
mod plot;
mod published;
mod records;
mod repeats;
mod settings;
pub mod suite;
mod summary;
mod table;
mod tse;
mod wade;
mod write;

use thiserror::Error;
use wug_score::RunResult;

pub use format::Format;
pub use network::NetworkPicture;
pub use plot::Figure;
pub use published::PublishedTable;
pub use records::{Derived, Logs, RecordFormat, records, records_beside};
pub use summary::Summary;
pub use table::{ABSENT, Cell, Column, Decimals, IntervalKind, Rank, Row, Table, Uncertainty, Value};
pub use write::{escaped_json, visible};
pub use wug_table::{TableError, TableFormat};

/// Why there is no report.
#[derive(Debug, Error)]
pub enum ReportError {
    #[error("there are no results to report")]
    Empty,
    /// Tables that cannot be written as JSON.
    #[error("cannot write the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A table that cannot be written.
    #[error("cannot write the table: {0}")]
    Table(#[from] TableError),
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
    let (claims, unclaimed) = suite::split(results);
    let mut tables: Vec<Table> = claims.iter().flat_map(|(suite, own)| suite.tables(own)).collect();
    tables.extend(overview::tables(&unclaimed));
    tables.extend(pairs::tables(&unclaimed));
    tables.extend(generic::tables(&unclaimed));
    tables.extend(settings::tables(&repeats::distinct(results)));
    tables.extend(summary::bad_runs(results));
    tables
}

/// Every figure for which there is a run.
pub fn figures(results: &[RunResult]) -> Vec<Figure> {
    let (claims, unclaimed) = suite::split(results);
    let mut figures: Vec<Figure> = claims.iter().flat_map(|(suite, own)| suite.figures(own)).collect();
    figures.extend(overview::figures(&unclaimed));
    figures.extend(pairs::figures(&unclaimed));
    figures
}

/// The most important tables, small enough for a terminal. What the overview shows is not listed in full as well.
fn headline(results: &[RunResult]) -> Vec<Table> {
    let (claims, unclaimed) = suite::split(results);
    let (_, others): (Vec<_>, Vec<_>) =
        unclaimed.iter().partition(|result| overview::shows(result) || pairs::shows(result));
    let mut tables: Vec<Table> = claims.iter().flat_map(|(suite, own)| suite.headline(own)).collect();
    tables.extend(overview::headline(&unclaimed));
    tables.extend(pairs::headline(&unclaimed));
    tables.extend(generic::tables(&others));
    tables.extend(summary::bad_runs(results));
    tables
}
