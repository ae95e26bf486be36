//! Splits as tables: rows with the same typed columns, as JSON lines or as Parquet.

use std::borrow::Cow;
use std::io::{self, Cursor, Read};

use wug_table::{ColumnValue, Kind, TableError, TableFormat, TableWriter, TypedColumn, read_parquet};

use crate::manifest::{DataManifest, MANIFEST, Recorder};
use crate::{DataError, FileSource};

/// The config that is loaded if none is named.
pub const DEFAULT: &str = "default";

/// A column, and what it says.
#[derive(Clone, Debug)]
pub struct DescribedColumn {
    /// Its name and type.
    pub column: TypedColumn,
    pub meaning: Cow<'static, str>,
}

impl DescribedColumn {
    /// A column of single values.
    pub fn new(name: impl Into<String>, kind: Kind, meaning: impl Into<Cow<'static, str>>) -> Self {
        Self { column: TypedColumn::new(name, kind), meaning: meaning.into() }
    }

    /// A column of lists.
    pub fn list(name: &str, kind: Kind, meaning: &'static str) -> Self {
        Self { column: TypedColumn::list(name, kind), meaning: meaning.into() }
    }
}

/// Splits with the same columns, which are loaded together.
#[derive(Clone, Debug)]
pub struct DatasetConfig {
    pub name: &'static str,
    pub fields: Vec<DescribedColumn>,
    /// Its splits, in order.
    pub splits: Vec<SplitFile>,
}

/// A file that holds a split.
#[derive(Clone, Debug)]
pub struct SplitFile {
    pub name: String,
    pub file: String,
    /// How many rows it has.
    pub rows: usize,
}

/// How the splits of one config are written.
pub struct SplitTable {
    pub format: TableFormat,
    pub config: &'static str,
    pub fields: Vec<DescribedColumn>,
}

impl SplitTable {
    /// Writes a split to a file of this stem.
    pub fn put<'v>(
        &self,
        out: &mut Recorder<'_>,
        split: &str,
        stem: &str,
        mut rows: impl Iterator<Item = Vec<ColumnValue<'v>>>,
    ) -> Result<(), DataError> {
        let file = format!("{stem}.{}", self.format.name());
        let columns: Vec<TypedColumn> = self.fields.iter().map(|field| field.column.clone()).collect();
        let mut count = 0;
        out.put(&file, |sink| {
            let mut table = TableWriter::new(sink, self.format, columns.clone()).map_err(into_io)?;
            for row in &mut rows {
                table.row(&row).map_err(into_io)?;
                count += 1;
            }
            table.finish().map_err(into_io).map(drop)
        })?;
        out.split(self.config, &self.fields, SplitFile { name: split.to_owned(), file, rows: count });
        Ok(())
    }
}

fn into_io(error: TableError) -> io::Error {
    match error {
        TableError::Io(error) => error,
        other => io::Error::other(other),
    }
}

const JSONL: &str = ".jsonl";
const PARQUET: &str = ".parquet";

/// Files of which those in Parquet can be read as JSON lines, under a name that ends in `.jsonl`. Only files that the manifest
/// knows are decoded: what their bytes decode to depends on a large library.
pub struct ParquetRows<'a> {
    pub files: &'a dyn FileSource,
    /// What the Parquet files must be.
    pub manifest: Option<&'a DataManifest>,
}

impl ParquetRows<'_> {
    /// The name of the file that is read.
    pub(crate) fn file(name: &str) -> String {
        name.strip_suffix(JSONL).map_or_else(|| name.to_owned(), |stem| format!("{stem}{PARQUET}"))
    }

    fn check(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let hash = blake3::hash(bytes).to_hex();
        let mut listed = self.manifest.iter().flat_map(|manifest| &manifest.files);
        if listed.any(|listed| listed.name == file && listed.blake3 == hash.as_str()) {
            return Ok(());
        }
        let message =
            format!("Parquet files are read only if they are as {MANIFEST} says, and this one is not");
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }
}

impl FileSource for ParquetRows<'_> {
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + '_>>> {
        let found = self.files.open(name)?;
        let file = Self::file(name);
        if found.is_some() || file == name {
            return Ok(found);
        }
        // The whole file, as its hash is checked before anything is decoded and its directory stands at the
        // end.
        let Some(bytes) = self.files.bytes(&file)? else { return Ok(None) };
        self.check(&file, &bytes)?;
        let (columns, rows) = read_parquet(bytes).map_err(into_io)?;
        let mut lines = TableWriter::new(Vec::new(), TableFormat::Jsonl, columns).map_err(into_io)?;
        for row in rows {
            row.and_then(|row| lines.row(&row)).map_err(into_io)?;
        }
        Ok(Some(Box::new(Cursor::new(lines.finish().map_err(into_io)?))))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let read_as = |name: String| match name.strip_suffix(PARQUET) {
            Some(stem) => format!("{stem}{JSONL}"),
            None => name,
        };
        Ok(self.files.names()?.into_iter().map(read_as).collect())
    }
}
