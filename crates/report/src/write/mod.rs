//! Tables as text of several kinds.

mod csv;
mod markdown;
mod text;

use serde::Serialize;

pub(crate) use csv::{csv, csv_line};
pub(crate) use markdown::markdown;
pub(crate) use text::text;

use crate::summary::Summary;
use crate::table::Table;

/// As one JSON object, with an end of line.
pub(crate) fn json(summary: &Summary, tables: &[Table]) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Report<'a> {
        summary: &'a Summary,
        tables: &'a [Table],
    }
    Ok(serde_json::to_string_pretty(&Report { summary, tables })? + "\n")
}
