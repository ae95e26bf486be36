//! Labelled strings: is this a member of the language or not?
//!
//! [`generate()`] draws the splits of any language that has a sampler by length; [`write()`] and [`read`] store them as a
//! directory of parallel files, [`write_rows`] and [`read_rows`] as one row per string.

mod files;
mod generate;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use wug_language::{NextSet, Symbol, Word};

pub use files::{TRAINING, read, read_rows, write, write_rows};
pub use generate::{Dataset, SplitKind, SplitSpec, default_splits, generate};
pub(crate) use generate::{SPLIT_PARAMETERS, check_sizes, splits};
pub use rows::{next_line, next_text, parse_next_line};

/// One string and what is known of it. Everything about a string is in one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    pub word: Word,
    /// Whether it is a member.
    pub label: bool,
    /// For a perturbed negative, how many edits were made to a member.
    pub edits: Option<usize>,
    /// For a positive, its log-probability under the sampler, where known.
    pub log_prob: Option<f64>,
    /// For a positive, what may follow at each of its prefixes, where known.
    pub next: Option<Vec<NextSet>>,
    /// For a negative, its edit distance from the language, where known.
    pub distance: Option<usize>,
}

impl Labelled {
    /// A string with its label and nothing else known.
    pub fn new(word: Word, label: bool) -> Self {
        Self { word, label, edits: None, log_prob: None, next: None, distance: None }
    }
}

/// A named part of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Its name, such as `training`.
    pub name: String,
    pub examples: Vec<Labelled>,
}

impl Split {
    pub fn distinct(&self) -> BTreeSet<&[Symbol]> {
        self.examples.iter().map(|e| e.word.as_slice()).collect()
    }

    /// How many strings carry the label `true`.
    pub fn positives(&self) -> usize {
        self.examples.iter().filter(|e| e.label).count()
    }
}
