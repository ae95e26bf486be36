//! The strings of a data set, split by split, in the order of its files.

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use wug_dataset::FileSource;
use wug_dataset::manifest::MANIFEST;
use wug_dataset::tabular::ParquetRows;

use crate::LabError;
use crate::disk::{Directory, read_manifest};

/// A split and its strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitStrings {
    pub name: String,
    /// Its strings, tokens separated by spaces, in order.
    pub strings: Vec<String>,
}

/// The column that every row of strings has.
#[derive(Deserialize)]
struct Row {
    string: String,
}

/// The splits of a data set that hold strings: files of rows, or of plain text.
pub fn read_splits(directory: &Path) -> Result<Vec<SplitStrings>, LabError> {
    let files = Directory::open(directory)?;
    let path = directory.join(MANIFEST);
    let manifest = read_manifest(directory)?.ok_or_else(|| LabError::corrupt(&path, "is missing"))?;
    let source = ParquetRows { files: &files, manifest: Some(&manifest) };
    let mut splits = Vec::new();
    for file in &manifest.files {
        let Some((name, kind)) = file.name.rsplit_once('.') else { continue };
        if name.contains('/') || name == "tests" {
            continue;
        }
        let read_as = if kind == "parquet" { format!("{name}.jsonl") } else { file.name.clone() };
        let strings = match kind {
            "jsonl" | "parquet" => rows(&source, &read_as, directory)?,
            "txt" => lines(&source, &read_as, directory)?,
            _ => continue,
        };
        splits.push(SplitStrings { name: name.to_owned(), strings });
    }
    if splits.is_empty() {
        return Err(LabError::Usage(format!(
            "{} has no files of strings; write it as jsonl",
            directory.display()
        )));
    }
    Ok(splits)
}

fn open<'s>(
    source: &'s ParquetRows<'_>,
    name: &str,
    directory: &Path,
) -> Result<BufReader<Box<dyn Read + 's>>, LabError> {
    let path = directory.join(name);
    let file = source.open(name).map_err(LabError::disk(&path))?;
    file.map(BufReader::new).ok_or_else(|| LabError::corrupt(&path, "is missing"))
}

fn rows(source: &ParquetRows<'_>, name: &str, directory: &Path) -> Result<Vec<String>, LabError> {
    let path = directory.join(name);
    let mut strings = Vec::new();
    for (i, line) in open(source, name, directory)?.lines().enumerate() {
        let line = line.map_err(LabError::disk(&path))?;
        let row: Row = serde_json::from_str(&line)
            .map_err(|error| LabError::corrupt(&path, format!("line {}: {error}", i + 1)))?;
        strings.push(row.string);
    }
    Ok(strings)
}

/// Plain text: a string per line, between two `#`, a character per symbol.
fn lines(source: &ParquetRows<'_>, name: &str, directory: &Path) -> Result<Vec<String>, LabError> {
    let path = directory.join(name);
    let mut strings = Vec::new();
    for line in open(source, name, directory)?.lines() {
        let line = line.map_err(LabError::disk(&path))?;
        let inner = line.trim_matches('#');
        strings.push(inner.chars().map(String::from).collect::<Vec<_>>().join(" "));
    }
    Ok(strings)
}
