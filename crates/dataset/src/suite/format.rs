//! Layouts of files.

use std::fmt;

use wug_table::TableFormat;

use crate::card::split_name;
use crate::tabular::DatasetConfig;
use crate::{bliss, find, flare, tse};

/// A layout of the files of a data set.
#[derive(Clone, Copy)]
pub struct DataFormat {
    /// The name as it is typed.
    pub(crate) name: &'static str,
    /// The folders inside one data set, each ending in `/`.
    pub(crate) folders: &'static [&'static str],
    /// Whether a file of this name shows the format.
    pub(crate) has: fn(&str) -> bool,
    /// Which files there are, and which of their lines belong together, in Markdown.
    pub(crate) about: &'static str,
    /// Python that reads the files where `datasets` cannot; may be empty.
    pub(crate) load: &'static str,
}

/// A JSON object per line, which every suite has.
pub const JSONL: DataFormat = DataFormat {
    name: "jsonl",
    folders: &[],
    has: |file| file.ends_with(".jsonl"),
    about: "One JSON object per line, a file per split.",
    load: "",
};

/// Parquet, which every suite has.
pub const PARQUET: DataFormat = DataFormat {
    name: "parquet",
    folders: &[],
    has: |file| file.ends_with(".parquet"),
    about: "A Parquet file per split, compressed with Snappy.",
    load: "",
};

impl DataFormat {
    /// Every format, in the order in which they are detected.
    // Our own tables come last: the released files of TSE end in `.jsonl` as well.
    pub const ALL: [Self; 9] = [
        flare::FORMAT,
        bliss::ARCHIVES,
        bliss::TEXT,
        tse::FORMAT,
        tse::LM_EVAL,
        find::FORMAT,
        find::SCAN_FORMAT,
        PARQUET,
        JSONL,
    ];

    /// The name as it is typed.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The format of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name == name)
    }

    /// The format of a directory, from a file that only this format has.
    pub fn detect(files: &[String]) -> Option<Self> {
        Self::ALL.into_iter().find(|format| files.iter().any(|file| (format.has)(file)))
    }

    /// The folders inside one data set, each ending in `/`.
    pub fn folders(self) -> &'static [&'static str] {
        self.folders
    }

    /// The kind of table that its splits are, if they are tables.
    pub fn table(self) -> Option<TableFormat> {
        [JSONL, PARQUET].contains(&self).then(|| TableFormat::named(self.name)).flatten()
    }

    /// Which files there are, in Markdown.
    pub(crate) fn about(self) -> &'static str {
        self.about
    }

    /// Python that loads the data from the current folder.
    pub(crate) fn load(self, configs: &[DatasetConfig]) -> String {
        let Some(split) = configs.first().and_then(|config| config.splits.first()) else {
            return self.load.to_owned();
        };
        let mut lines = vec![
            "from pathlib import Path".to_owned(),
            "from datasets import load_dataset".to_owned(),
            String::new(),
            "folder = str(Path(\".\").resolve())".to_owned(),
            "data = load_dataset(folder)".to_owned(),
        ];
        for config in configs.iter().skip(1) {
            let variable = config.name.replace('-', "_");
            lines.push(format!("{variable} = load_dataset(folder, {:?})", config.name));
        }
        lines.push(format!("print(data, data[{:?}][:1])", split_name(&split.name)));
        lines.join("\n")
    }
}

impl fmt::Debug for DataFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for DataFormat {
    fn eq(&self, other: &Self) -> bool {
        // Names are unique, and pointers to functions do not compare.
        self.name == other.name
    }
}

impl Eq for DataFormat {}
