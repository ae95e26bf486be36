//! The manifest of a data set: what it is, so that anyone can make it again and see that it is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Component, Path};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use wug_language::Reading;

use crate::card::{CARD, card};
use crate::suite::{DataFormat, Descriptor, Written};
use crate::tabular::{DatasetConfig, DescribedColumn, SplitFile};
use crate::{DataError, FileSink, FileSource, Seed};

/// The manifest's file name.
pub const MANIFEST: &str = "wug.json";

/// A data set's description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataManifest {
    /// The version of wug that made it.
    pub wug: String,
    pub suite: String,
    /// The language or task, with its settings.
    pub name: String,
    pub reading: String,
    /// The seed of all randomness.
    pub seed: u64,
    /// Everything else that determines the content: sizes, ranges, options.
    pub spec: Value,
    /// Facts found while making it: counts, shares, ceilings, what was left out.
    pub facts: Value,
    /// The files. Names that lead out of the directory, and the same name twice, are refused when a manifest is read.
    #[serde(deserialize_with = "checked_files")]
    pub files: Vec<FileRecord>,
    /// A hash over the names and contents of all files but the card.
    pub content: String,
}

/// One file of a data set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its name from the directory on, with `/` between folders.
    pub name: String,
    pub bytes: u64,
    /// The BLAKE3 hash of its content.
    pub blake3: String,
}

/// Whoever reads a manifest joins its names to a directory: they must stay inside it.
fn checked_files<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FileRecord>, D::Error> {
    let files = Vec::<FileRecord>::deserialize(deserializer)?;
    let mut names = BTreeSet::new();
    for FileRecord { name, .. } in &files {
        let normal = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        // What `Path` lets through: a backslash, which separates folders on Windows alone, and second
        // spellings of a name such as `a//b`.
        let odd = name.contains(['\\', '\0']) || name.split('/').any(|part| matches!(part, "" | "."));
        if !normal || odd {
            return Err(D::Error::custom(format!(
                "`{name}` is no name of a file inside the directory; names are relative, such as `test/main.tok`"
            )));
        }
        if !names.insert(name) {
            return Err(D::Error::custom(format!("`{name}` is listed twice")));
        }
    }
    Ok(files)
}

/// Writes the files of one data set and records their names, sizes and hashes.
pub struct Recorder<'a> {
    sink: &'a mut dyn FileSink,
    prefix: String,
    files: Vec<FileRecord>,
    configs: Vec<DatasetConfig>,
    counts: Vec<(String, usize)>,
}

impl<'a> Recorder<'a> {
    /// A recorder for files under a folder (ending in `/`, or empty).
    pub fn new(sink: &'a mut dyn FileSink, prefix: &str) -> Self {
        Self { sink, prefix: prefix.to_owned(), files: Vec::new(), configs: Vec::new(), counts: Vec::new() }
    }

    pub fn put(
        &mut self,
        name: &str,
        mut write: impl FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), DataError> {
        let mut record = None;
        self.sink
            .put(&format!("{}{name}", self.prefix), &mut |sink| {
                // Hashed as it is written, because a data set need not fit into memory.
                let mut counted = CountingWriter { sink, hasher: blake3::Hasher::new(), bytes: 0 };
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

    /// Says that a file holds a split of a config, with these columns.
    pub fn split(&mut self, config: &'static str, fields: &[DescribedColumn], split: SplitFile) {
        self.count(&split.name, split.rows);
        match self.configs.iter_mut().find(|known| known.name == config) {
            Some(known) => known.splits.push(split),
            None => self.configs.push(DatasetConfig {
                name: config,
                fields: fields.to_vec(),
                splits: vec![split],
            }),
        }
    }

    /// Says how many examples a split has.
    pub fn count(&mut self, split: &str, examples: usize) {
        self.counts.push((split.to_owned(), examples));
    }

    /// Writes the card and the manifest, and returns the manifest and what can be loaded.
    pub fn finish(mut self, about: About) -> Result<(DataManifest, Vec<DatasetConfig>), DataError> {
        let mut hasher = blake3::Hasher::new();
        for file in &self.files {
            hasher.update(file.name.as_bytes());
            // No name has a zero byte, so that the end of a name cannot pass for the beginning of a hash.
            hasher.update(&[0]);
            hasher.update(file.blake3.as_bytes());
        }
        let content = hasher.finalize().to_hex().to_string();
        // After the hash was taken: the wording of a card may change, and the data are the same.
        let text = card(&about, &self.files, &self.configs, &self.counts);
        self.put_text(CARD, &text)?;
        let manifest = DataManifest {
            wug: env!("CARGO_PKG_VERSION").to_owned(),
            suite: about.suite.name.to_owned(),
            name: about.written.name,
            reading: about.reading.name().to_owned(),
            seed: about.seed.value(),
            spec: json!({ "format": about.format.name(), "data": about.written.spec }),
            facts: about.written.facts,
            files: self.files,
            content,
        };
        let text =
            serde_json::to_string_pretty(&manifest).map_err(|e| DataError::file(MANIFEST, e.to_string()))?;
        self.sink
            .put(&format!("{}{MANIFEST}", self.prefix), &mut |sink| {
                sink.write_all(text.as_bytes())?;
                sink.write_all(b"\n")
            })
            .map_err(DataError::io(MANIFEST))?;
        Ok((manifest, self.configs))
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
    pub suite: &'static Descriptor,
    /// The layout of the files.
    pub format: DataFormat,
    pub reading: Reading,
    pub seed: Seed,
    /// The options that were given.
    pub options: BTreeMap<String, String>,
    pub written: Written,
}

struct CountingWriter<'a> {
    sink: &'a mut dyn Write,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl Write for CountingWriter<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(buffer)?;
        // A sink may take less than it is given.
        self.hasher.update(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(names: &[&str]) -> Result<DataManifest, serde_json::Error> {
        let file = |name: &&str| FileRecord { name: (*name).to_owned(), bytes: 1, blake3: "0".to_owned() };
        let manifest = DataManifest {
            wug: "0.1.0".to_owned(),
            suite: "flare".to_owned(),
            name: "parity".to_owned(),
            reading: "corrected".to_owned(),
            seed: 0,
            spec: Value::Null,
            facts: Value::Null,
            files: names.iter().map(file).collect(),
            content: "0".to_owned(),
        };
        serde_json::from_value(serde_json::to_value(manifest).unwrap())
    }

    #[test]
    fn names_in_a_manifest_stay_inside_its_directory() {
        assert_eq!(manifest(&["main.tok", "datasets/test/main.tok", "..a"]).unwrap().files.len(), 3);
        for name in ["../x", "a/../../x", "/etc/x", "", "a//b", "./a", "a/", "..", "a\\..\\x", "a\0"] {
            let error = manifest(&["main.tok", name]).unwrap_err().to_string();
            assert!(error.contains("is no name of a file inside the directory"), "{name}: {error}");
        }
        let error = manifest(&["main.tok", "main.tok"]).unwrap_err().to_string();
        assert!(error.contains("`main.tok` is listed twice"), "{error}");
    }
}
