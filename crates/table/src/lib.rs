//! Tables of typed columns, written row by row as CSV, JSON lines or Parquet.
//!
//! Equal rows give equal bytes, and memory does not grow with the number of rows. An absent value is an empty field, `null`
//! or Parquet's null; so is what is not a number. Infinity is a number of its own: `-inf` in CSV, the text `"-inf"` in JSON,
//! which has no infinite numbers, and itself in Parquet. Parquet and JSON lines say exactly what was given. CSV is safe to open in a spreadsheet: control characters are written as escapes, and text that a spreadsheet
//! would take for a formula begins with an apostrophe.
//!
//! ```
//! use wug_table::{TypedColumn, Kind, TableFormat, TableWriter, ColumnValue};
//! let columns = vec![TypedColumn::new("string", Kind::Text), TypedColumn::new("length", Kind::Integer)];
//! let mut table = TableWriter::new(Vec::new(), TableFormat::Csv, columns)?;
//! table.row(&["0 1".into(), 2_usize.into()])?;
//! table.row(&["".into(), ColumnValue::Null])?;
//! assert_eq!(table.finish()?, b"string,length\n0 1,2\n\"\",\n");
//! # Ok::<(), wug_table::TableError>(())
//! ```

mod column;
mod error;
mod parquet;
#[cfg(test)]
mod tests;
mod text;
mod visible;
mod writer;

pub use column::{ColumnValue, Kind, TypedColumn};
pub use error::TableError;
pub use parquet::read_parquet;
pub use text::{csv_field, csv_line, escaped_json};
pub use visible::{is_hidden, one_line, visible};
pub use writer::{TableFormat, TableWriter};
