//! Layouts of files.

use std::fmt;

use crate::{bliss, find, flare, tse};

/// A layout of the files of a data set.
#[derive(Clone, Copy)]
pub struct Format {
    name: &'static str,
    folders: &'static [&'static str],
    has: fn(&str) -> bool,
}

/// Our own rows, which every suite has.
pub const JSONL: Format = Format::new("jsonl", &[], |file| file.ends_with(".jsonl"));

impl Format {
    /// Every format, in the order in which they are detected.
    pub const ALL: [Self; 7] =
        [flare::FORMAT, bliss::ARCHIVES, bliss::TEXT, tse::FORMAT, find::FORMAT, find::SCAN_FORMAT, JSONL];

    /// A format with the folders inside one data set (each ending in `/`), and whether a file of this name shows it.
    pub(crate) const fn new(
        name: &'static str,
        folders: &'static [&'static str],
        has: fn(&str) -> bool,
    ) -> Self {
        Self { name, folders, has }
    }

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
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}
