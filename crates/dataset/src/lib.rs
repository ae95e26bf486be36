//! Examples drawn, split, encoded, imported and exported: the data of the five suites.
//!
//! This crate knows no models, no metrics and no paths: data sets are written to any [`Shelf`] and read from
//! any [`Library`], and the lab decides what those are on disk.

pub mod bliss;
mod error;
pub mod find;
pub mod flare;
pub mod manifest;
mod masked;
pub mod mt19937;
mod pairs;
pub mod recognition;
mod rows;
mod seed;
mod shelf;
mod transduction;
pub mod tse;
pub mod validation;
pub mod wade;

pub use error::DataError;
pub use masked::MaskedSequence;
pub use pairs::{Bounds, MinimalPair};
pub use recognition::{Labelled, Split};
pub use seed::Seed;
pub use shelf::{Folder, Library, Memory, Shelf};
pub use transduction::{Pair, Rule, RuleTask};
pub use wug_language as language;
