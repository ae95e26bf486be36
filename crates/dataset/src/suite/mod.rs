//! The suites: published benchmarks, each with its members, files and checks.
//!
//! A suite is a type that implements [`Suite`], in the module of its data, and a line in [`SUITES`].

mod format;
mod options;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use serde_json::Value;
use wug_language::Reading;
use wug_language::registry::{self, LANGUAGES, LanguageEntry, Named};
use wug_parameter::{Parameter, Settings};

use crate::corpus::ReleasedCorpus;
use crate::manifest::{DataManifest, Recorder};
use crate::tabular::ParquetRows;
use crate::validation::Validation;
use crate::{DataError, FileSource, bliss, find, flare, tse, wade};

pub use format::{DataFormat, JSONL, PARQUET};
pub use options::{LONGEST, options, parse_lengths};
pub(crate) use options::{lengths, range_text, size};

/// Every suite, in the order of the design.
pub const SUITES: &[&dyn Suite] = &[&bliss::Bliss, &wade::Wade, &flare::Flare, &tse::Tse, &find::Find];

/// What is fixed about a suite.
#[derive(Debug)]
pub struct Descriptor {
    pub name: &'static str,
    /// The question it puts to a model.
    pub question: &'static str,
    pub measure: &'static str,
    pub citation: &'static str,
    /// Every format that one of its members is written in; the first is the default.
    pub formats: &'static [DataFormat],
    /// The seed if none is given.
    pub seed: u64,
}

/// A published benchmark. Its members are languages or tasks.
pub trait Suite: Debug + Sync {
    /// What is fixed about it.
    fn about(&self) -> &'static Descriptor;

    fn name(&self) -> &'static str {
        self.about().name
    }

    /// The formats that a member, or the suite as a whole, can be written in; the first is the default.
    fn formats_of(&self, _member: Option<&str>) -> &'static [DataFormat] {
        self.about().formats
    }

    /// What can be set, in the order of messages.
    fn options(&self) -> &'static [Parameter] {
        &[]
    }

    /// Its tasks, in the paper's order; none if its members are languages.
    fn tasks(&self) -> Vec<TaskSummary> {
        Vec::new()
    }

    /// The languages or tasks of the paper.
    fn members(&self) -> Vec<&'static str> {
        let tasks = self.tasks();
        if tasks.is_empty() {
            return LANGUAGES.iter().filter(|e| e.suite == self.name()).map(|e| e.name).collect();
        }
        tasks.iter().map(|task| task.name).collect()
    }

    /// The members with the settings of the paper, as [`plan`](Self::plan) reads them.
    fn published_members(&self) -> Vec<String> {
        self.members().into_iter().map(str::to_owned).collect()
    }

    /// Whether a name, with or without settings, is one of its languages or tasks.
    fn contains(&self, name: &str) -> bool {
        registry::find(name).is_ok_and(|named| named.entry.suite == self.name())
    }

    /// Checks a member with its settings and the options that it reads.
    fn plan(
        &self,
        member: &str,
        reading: Reading,
        options: &Settings,
    ) -> Result<Box<dyn PlannedData>, DataError>;

    /// Checks the files of a member against the oracle.
    fn validate(
        &self,
        files: &dyn FileSource,
        subject: &ValidationSubject<'_>,
    ) -> Result<Validation, DataError>;

    /// The corpora that were released with the paper, by language.
    fn released(&self) -> &'static [&'static dyn ReleasedCorpus] {
        &[]
    }
}

/// A task, in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSummary {
    pub name: &'static str,
    pub summary: &'static str,
}

/// A data set that was checked and can be written.
pub trait PlannedData {
    /// Draws the data and writes them in one of the member's formats.
    fn write(&self, format: DataFormat, seed: u64, out: &mut Recorder<'_>) -> Result<Written, DataError>;
}

/// What the manifest says of a data set beside its files.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The language or task, in its canonical spelling.
    pub name: String,
    /// What it is, in Markdown.
    pub description: String,
    /// Where it comes from.
    pub cite: &'static str,
    /// The sizes, lengths and settings that determine the content.
    pub spec: Value,
    /// What was counted while the data were drawn.
    pub facts: Value,
}

impl Written {
    /// A data set of a language.
    pub(crate) fn of_language(named: &Named, spec: Value, facts: Value) -> Self {
        let LanguageEntry { summary, definition, citation, .. } = named.entry;
        let description = format!("{summary}: `{definition}`");
        Self { name: named.spelled(), description, cite: citation, spec, facts }
    }
}

/// What a data set is checked as.
#[derive(Clone, Copy, Debug)]
pub struct ValidationSubject<'a> {
    /// The layout of its files.
    pub format: DataFormat,
    /// The language or task, with its settings.
    pub name: &'a str,
    /// The reading to check against.
    pub reading: Reading,
    /// Its manifest, if it has one.
    pub manifest: Option<&'a DataManifest>,
}

impl<'a> ValidationSubject<'a> {
    /// The name without settings.
    pub fn base(&self) -> &'a str {
        self.name.split(':').next().unwrap_or(self.name)
    }

    /// Checks the data against the oracle.
    pub fn validate(&self, files: &dyn FileSource) -> Result<Validation, DataError> {
        let suite = self.suite()?;
        if self.format != PARQUET {
            return suite.validate(files, self);
        }
        // Checks read JSON lines. Parquet is shown to them as such, and in what they find the files get
        // their own names back.
        let rows = ParquetRows { files, manifest: self.manifest };
        let mut report = suite.validate(&rows, self).map_err(|error| error.renamed(ParquetRows::file))?;
        self.format.name().clone_into(&mut report.format);
        let splits = std::mem::take(&mut report.splits);
        report.splits = splits.into_iter().map(|(name, found)| (ParquetRows::file(&name), found)).collect();
        Ok(report)
    }

    /// The suite of the data: the only one with this format, that of the manifest, or the one with a member of this name.
    pub fn suite(&self) -> Result<&'static dyn Suite, DataError> {
        let owners: Vec<_> =
            SUITES.iter().filter(|suite| suite.about().formats.contains(&self.format)).collect();
        if let [owner] = owners[..] {
            return Ok(*owner);
        }
        let stated = self.manifest.and_then(|manifest| named(&manifest.suite));
        let found = stated.or_else(|| SUITES.iter().copied().find(|suite| suite.contains(self.name)));
        found.ok_or_else(|| match registry::find(self.name) {
            Err(error) => error.into(),
            Ok(_) => DataError::Request(format!("no suite has `{}`", self.name)),
        })
    }
}

/// The suite of a name.
pub fn named(name: &str) -> Option<&'static dyn Suite> {
    SUITES.iter().copied().find(|suite| suite.name() == name)
}
