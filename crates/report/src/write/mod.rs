//! Tables as text of several kinds.

mod csv;
mod html;
mod markdown;
#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;

pub(crate) use csv::csv;
pub(crate) use html::html;
pub(crate) use markdown::markdown;
pub(crate) use text::text;
use wug_table::one_line;
pub use wug_table::{escaped_json, visible};

use crate::summary::Summary;
use crate::table::Table;

/// As one JSON object, with an end of line.
pub(crate) fn json(summary: &Summary, tables: &[Table]) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Report<'a> {
        summary: &'a Summary,
        tables: &'a [Table],
    }
    Ok(escaped_json(&serde_json::to_string_pretty(&Report { summary, tables })?) + "\n")
}

/// Text escaped for HTML and XML, attribute values included, in one line.
pub(crate) fn escaped_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
