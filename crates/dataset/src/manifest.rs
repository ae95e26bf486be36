//! What a written data set says of itself, so that anyone can make it again and see that it is the same.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wug_language::Reading;

use crate::{DataError, FileSink, FileSource, Seed};

/// The manifest's file name.
pub const MANIFEST: &str = "wug.json";

/// A data set's description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of wug that made it.
    pub wug: String,
    /// The suite.
    pub suite: String,
    /// The language or task, with its settings.
    pub name: String,
    /// `published` or `corrected`.
    pub reading: String,
    /// The seed of all randomness.
    pub seed: u64,
    /// Everything else that determines the content: sizes, ranges, options.
    pub spec: Value,
    /// What was found out while making it: counts, shares, ceilings, what was left out.
    pub facts: Value,
    /// The files.
    pub files: Vec<FileRecord>,
    /// A hash over all files' names and contents.
    pub content: String,
}

/// One file of a data set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// The BLAKE3 hash of its content.
    pub blake3: String,
}

/// Writes the files of one data set and keeps account of them.
pub struct Recorder<'a> {
    sink: &'a mut dyn FileSink,
    prefix: String,
    files: Vec<FileRecord>,
}

impl<'a> Recorder<'a> {
    /// A recorder for files under a folder (ending in `/`, or empty).
    pub fn new(sink: &'a mut dyn FileSink, prefix: &str) -> Self {
        Self { sink, prefix: prefix.to_owned(), files: Vec::new() }
    }

    /// Writes a file.
    pub fn put(
        &mut self,
        name: &str,
        mut write: impl FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), DataError> {
        let mut record = None;
        self.sink
            .put(&format!("{}{name}", self.prefix), &mut |sink| {
                let mut counted = Counted { sink, hasher: blake3::Hasher::new(), bytes: 0 };
                write(&mut counted)?;
                record = Some((counted.bytes, counted.hasher.finalize().to_hex().to_string()));
                Ok(())
            })
            .map_err(DataError::io(name))?;
        if let Some((bytes, blake3)) = record {
            self.files.push(FileRecord { name: name.to_owned(), bytes, blake3 });
        }
        Ok(())
    }

    /// Writes a text file.
    pub fn put_text(&mut self, name: &str, text: &str) -> Result<(), DataError> {
        self.put(name, |sink| sink.write_all(text.as_bytes()))
    }

    /// Writes a text file, one row per line.
    pub fn put_rows(&mut self, name: &str, rows: impl Iterator<Item = String>) -> Result<(), DataError> {
        let mut text = String::new();
        for row in rows {
            text.push_str(&row);
            text.push('\n');
        }
        self.put_text(name, &text)
    }

    /// Writes the manifest and returns it.
    pub fn finish(self, about: About) -> Result<Manifest, DataError> {
        let mut hasher = blake3::Hasher::new();
        for file in &self.files {
            hasher.update(file.name.as_bytes());
            hasher.update(&[0]);
            hasher.update(file.blake3.as_bytes());
        }
        let manifest = Manifest {
            wug: env!("CARGO_PKG_VERSION").to_owned(),
            suite: about.suite.to_owned(),
            name: about.name,
            reading: about.reading.name().to_owned(),
            seed: about.seed.value(),
            spec: about.spec,
            facts: about.facts,
            files: self.files,
            content: hasher.finalize().to_hex().to_string(),
        };
        let text =
            serde_json::to_string_pretty(&manifest).map_err(|e| DataError::file(MANIFEST, e.to_string()))?;
        self.sink
            .put(&format!("{}{MANIFEST}", self.prefix), &mut |sink| {
                sink.write_all(text.as_bytes())?;
                sink.write_all(b"\n")
            })
            .map_err(DataError::io(MANIFEST))?;
        Ok(manifest)
    }
}

/// The hash of a file's content, as manifests have it; `None` if there is no such file.
pub fn hash(library: &dyn FileSource, name: &str) -> Result<Option<String>, DataError> {
    let Some(mut file) = library.open(name).map_err(DataError::io(name))? else { return Ok(None) };
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(&mut file).map_err(DataError::io(name))?;
    Ok(Some(hasher.finalize().to_hex().to_string()))
}

/// What a data set is, before its files are known.
pub struct About {
    /// The suite.
    pub suite: &'static str,
    /// The language or task.
    pub name: String,
    /// The reading.
    pub reading: Reading,
    /// The seed.
    pub seed: Seed,
    /// What determines the content.
    pub spec: Value,
    /// What was found out.
    pub facts: Value,
}

struct Counted<'a> {
    sink: &'a mut dyn Write,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(buffer)?;
        self.hasher.update(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
