//! Results of runs as tables, figures and one page, with the papers' values beside ours.
//!
//! This crate takes results and gives text. It knows no files, no learners and no terminals. A [`Report`] finds for each run the
//! cell of a paper that it is nearest to, given the papers' recipes, and has all that there is to show; [`Report::render`] writes it
//! in a [`Format`]. A cell that was not run is visibly empty, and a run that no suite claims appears in the tables of its protocol.

mod bliss;
mod cells;
mod columns;
mod departures;
mod facts;
mod find;
mod flare;
mod format;
mod generic;
mod measured;
mod network;
mod overview;
mod pairs;
mod parameters;
mod pivot;
mod plan_fields;
mod plot;
mod published;
mod records;
mod repeats;
mod report;
mod run;
mod settings;
mod suite;
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
pub use records::{Derived, Logs, RecordFormat, records, records_beside};
pub use report::Report;
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

/// The report of these results where no paper's recipes are known: no paper's figure stands beside a run.
///
/// ```
/// use wug_report::{Format, ReportError, render};
/// assert!(matches!(render(&[], Format::Table), Err(ReportError::Empty)));
/// ```
pub fn render(results: &[RunResult], format: Format) -> Result<String, ReportError> {
    Report::new(results, &[])?.render(format)
}
