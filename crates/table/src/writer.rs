//! A table, row by row.

use std::collections::BTreeSet;
use std::io::Write;

use crate::parquet::RowGroups;
use crate::text::{csv_line, csv_row, json_row};
use crate::{ColumnValue, TableError, TypedColumn};

/// What a table can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values (RFC 4180) with a head, safe for spreadsheets.
    Csv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet, compressed with Snappy.
    Parquet,
}

impl TableFormat {
    pub const ALL: [Self; 3] = [Self::Csv, Self::Jsonl, Self::Parquet];

    /// Its name, as it is typed and as files end.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }

    /// The format of a name.
    ///
    /// ```
    /// use wug_table::TableFormat;
    /// assert_eq!(TableFormat::named("parquet"), Some(TableFormat::Parquet));
    /// assert_eq!(TableFormat::named("xls"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Writes a table row by row. Nothing is complete before [`finish`](Self::finish).
pub struct TableWriter<W: Write> {
    out: W,
    columns: Vec<TypedColumn>,
    rows: RowEncoder,
}

/// What is between a row and its bytes.
enum RowEncoder {
    Csv,
    Jsonl,
    Parquet(Box<RowGroups>),
}

impl<W: Write> TableWriter<W> {
    /// A table with these columns, whose names are distinct and not empty.
    pub fn new(mut out: W, format: TableFormat, columns: Vec<TypedColumn>) -> Result<Self, TableError> {
        let mut names = BTreeSet::new();
        if columns.is_empty() {
            return Err(TableError::Columns("a table needs a column".to_owned()));
        }
        // Of two fields of one name, readers of JSON keep one and lose the other.
        if let Some(twice) = columns.iter().find(|c| c.name.is_empty() || !names.insert(&c.name)) {
            return Err(TableError::Columns(format!(
                "the columns of a table have distinct names, but `{}` is given twice or is empty",
                twice.name
            )));
        }
        let rows = match format {
            TableFormat::Csv => {
                let head: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
                out.write_all(csv_line(&head).as_bytes())?;
                RowEncoder::Csv
            }
            TableFormat::Jsonl => RowEncoder::Jsonl,
            TableFormat::Parquet => RowEncoder::Parquet(Box::new(RowGroups::new(&columns)?)),
        };
        Ok(Self { out, columns, rows })
    }

    /// Adds a row: a value for each column, in their order.
    pub fn row(&mut self, values: &[ColumnValue<'_>]) -> Result<(), TableError> {
        if values.len() != self.columns.len() {
            return Err(TableError::Width { given: values.len(), allowed: self.columns.len() });
        }
        let checked = self.columns.iter().zip(values).map(|(column, value)| column.checked(value));
        let values = checked.collect::<Result<Vec<_>, _>>()?;
        match &mut self.rows {
            RowEncoder::Csv => self.out.write_all(csv_row(&values)?.as_bytes())?,
            RowEncoder::Jsonl => self.out.write_all(json_row(&self.columns, &values)?.as_bytes())?,
            RowEncoder::Parquet(groups) => groups.row(&values, &mut self.out)?,
        }
        Ok(())
    }

    /// Writes what is left, and gives back what was written to.
    pub fn finish(self) -> Result<W, TableError> {
        let Self { mut out, rows, .. } = self;
        if let RowEncoder::Parquet(groups) = rows {
            groups.finish(&mut out)?;
        }
        // A buffer that is dropped swallows the error of a full disk.
        out.flush()?;
        Ok(out)
    }
}
