//! Examples drawn, split, encoded, imported and exported: the data of the five suites.
//!
//! This crate knows no models, no metrics and no paths: data sets are written to any [`FileSink`] and read from
//! any [`FileSource`], and the lab decides what those are on disk.

pub mod bliss;
mod error;
mod files;
pub mod find;
pub mod flare;
pub mod manifest;
mod masked;
pub mod mt19937;
mod pairs;
pub mod recognition;
mod rows;
mod seed;
mod transduction;
pub mod tse;
pub mod validation;
pub mod wade;

pub use error::DataError;
pub use files::{FileSink, FileSource, Folder, Memory};
pub use masked::MaskedSequence;
pub use pairs::{Bounds, MinimalPair};
pub use recognition::{Labelled, Split};
pub use seed::Seed;
pub use transduction::{Pair, Rule, RuleTask};
pub use wug_language as language;
