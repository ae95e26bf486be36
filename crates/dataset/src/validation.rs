//! What a check of a data set against the oracle found.

use serde::Serialize;
use serde_json::{Map, Value};
use wug_language::Reading;

/// The findings of one data set.
#[derive(Clone, Debug, Serialize)]
pub struct Validation {
    /// The format that was read.
    pub format: String,
    /// The language or task it was checked against.
    pub language: String,
    /// The reading it was checked in.
    pub reading: String,
    /// How many errors there are in all.
    pub errors: usize,
    /// By split, in order.
    pub splits: Map<String, Value>,
    /// What its manifest says of the files, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Value>,
    /// How much could not be checked; the notes and the `not_checked` of a split say what, and why.
    pub not_checked: usize,
    /// What could not be checked, and why; and other remarks.
    pub notes: Vec<String>,
}

/// The findings of one split: numbers by name, of which some are errors.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    values: Map<String, Value>,
    errors: usize,
    samples: Vec<String>,
    unchecked: Vec<String>,
}

/// How many errors are shown in full.
const SHOWN: usize = 5;

impl Findings {
    /// A number that says how something is.
    pub fn fact(&mut self, name: &str, value: impl Into<Value>) {
        self.values.insert(name.to_owned(), value.into());
    }

    /// A number that must be zero.
    pub fn error(&mut self, name: &str, count: usize) {
        // Added up without overflow, because counts come from files of others.
        self.values.insert(name.to_owned(), count.into());
        self.errors = self.errors.saturating_add(count);
    }

    /// Something that could not be checked, and why.
    pub fn unchecked(&mut self, message: impl Into<String>) {
        self.unchecked.push(message.into());
    }

    /// An error in words; the first few are reported.
    pub fn sample(&mut self, message: impl FnOnce() -> String) {
        if self.samples.len() < SHOWN {
            self.samples.push(message());
        }
    }
}

impl Validation {
    pub fn new(format: &str, language: &str, reading: Reading) -> Self {
        let (format, language, reading) = (format.to_owned(), language.to_owned(), reading.to_string());
        let (splits, notes) = (Map::new(), Vec::new());
        Self { format, language, reading, errors: 0, splits, manifest: None, not_checked: 0, notes }
    }

    /// A note on something that could not be checked, and why.
    pub fn unchecked(&mut self, message: impl Into<String>) {
        self.not_checked += 1;
        self.notes.push(message.into());
    }

    /// Adds a split's findings.
    pub fn add(&mut self, split: &str, findings: Findings) {
        let value = self.count(findings);
        self.splits.insert(split.to_owned(), value);
    }

    /// Adds what the manifest says.
    pub fn add_manifest(&mut self, findings: Findings) {
        self.manifest = Some(self.count(findings));
    }

    fn count(&mut self, findings: Findings) -> Value {
        let Findings { mut values, errors, samples, unchecked } = findings;
        self.errors = self.errors.saturating_add(errors);
        self.not_checked += unchecked.len();
        if !unchecked.is_empty() {
            values.insert("not_checked".to_owned(), unchecked.into());
        }
        if !samples.is_empty() {
            values.insert("first_errors".to_owned(), samples.into());
        }
        Value::Object(values)
    }
}
