//! Tables as text of several kinds.

mod csv;
mod html;
mod markdown;
#[cfg(test)]
mod tests;
mod text;
mod visible;

use serde::Serialize;

pub(crate) use csv::{csv, csv_line};
pub(crate) use html::html;
pub(crate) use markdown::markdown;
pub(crate) use text::text;
pub use visible::visible;
pub(crate) use visible::{is_hidden, one_line};

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

/// JSON of the same value that can be shown in a terminal and be part of a page: hidden characters and `</`, which are
/// only found inside strings, become escapes. Line breaks between values stay.
pub(crate) fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // Inside a string a line break is written as an escape already.
            '\n' => out.push(c),
            '/' if out.ends_with('<') => out.push_str("\\/"),
            c if is_hidden(c) => {
                out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
            }
            c => out.push(c),
        }
    }
    out
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
