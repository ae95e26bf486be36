//! Tables as lines of text.

use std::borrow::Cow;

use crate::{ColumnValue, TypedColumn, is_hidden, visible};

/// A field of CSV: visible, in quotes where it needs them, and with an apostrophe before whatever a spreadsheet would take
/// for a formula. Numbers stay numbers.
///
/// ```
/// use wug_table::csv_field;
/// assert_eq!(csv_field("-1.5"), "-1.5");
/// assert_eq!(csv_field("=A1,B1"), "\"'=A1,B1\"");
/// ```
pub fn csv_field(text: &str) -> String {
    let text = visible(text);
    // Spreadsheets run what begins so, and results hold names from files of others.
    let formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    let text = if formula { Cow::Owned(format!("'{text}")) } else { text };
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
}

/// A line of CSV.
pub fn csv_line(fields: &[String]) -> String {
    fields.iter().map(|field| csv_field(field)).collect::<Vec<_>>().join(",") + "\n"
}

/// JSON of the same value that can be shown in a terminal and be part of a page: hidden characters and `</`, which are
/// only found inside strings, become escapes. Line breaks between values stay.
pub fn escaped_json(json: &str) -> String {
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

/// A row of CSV. An absent value is nothing at all and empty text is a pair of quotes, for readers that tell them apart; a
/// list is written as JSON. An infinite number is `-inf` or `inf`, which readers of CSV take for a number.
pub(crate) fn csv_row(values: &[ColumnValue<'_>]) -> Result<String, serde_json::Error> {
    let field = |value: &ColumnValue<'_>| {
        Ok(match value {
            ColumnValue::Null => String::new(),
            ColumnValue::Text(text) if text.is_empty() => "\"\"".to_owned(),
            ColumnValue::Text(text) => csv_field(text),
            ColumnValue::Float(x) if x.is_infinite() => x.to_string(),
            other => csv_field(&json(other)?),
        })
    };
    let fields = values.iter().map(field).collect::<Result<Vec<_>, serde_json::Error>>()?;
    // A line that is empty would be no row for most readers.
    let line = fields.join(",");
    Ok(if line.is_empty() { "\"\"\n".to_owned() } else { line + "\n" })
}

/// A row as one JSON object, absent values included.
pub(crate) fn json_row(
    columns: &[TypedColumn],
    values: &[ColumnValue<'_>],
) -> Result<String, serde_json::Error> {
    let field = |(column, value): (&TypedColumn, &ColumnValue<'_>)| {
        Ok(format!("{}:{}", serde_json::to_string(&column.name)?, json(value)?))
    };
    let fields = columns.iter().zip(values).map(field).collect::<Result<Vec<_>, serde_json::Error>>()?;
    Ok(format!("{{{}}}\n", escaped_json(&fields.join(","))))
}

/// A checked value as JSON. Floats always have a point or an exponent, so that a column of them is not read as whole numbers.
/// JSON has no infinity: it is the text `"-inf"` or `"inf"`, because `null` is an absent value.
fn json(value: &ColumnValue<'_>) -> Result<String, serde_json::Error> {
    Ok(match value {
        ColumnValue::Null => "null".to_owned(),
        ColumnValue::Text(text) => serde_json::to_string(text)?,
        ColumnValue::Integer(n) => n.to_string(),
        ColumnValue::Float(x) if x.is_infinite() => format!("\"{x}\""),
        ColumnValue::Float(x) => format!("{x:?}"),
        ColumnValue::Boolean(on) => on.to_string(),
        ColumnValue::List(values) => {
            let values = values.iter().map(json).collect::<Result<Vec<_>, _>>()?;
            format!("[{}]", values.join(","))
        }
    })
}
