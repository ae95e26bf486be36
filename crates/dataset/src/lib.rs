//! Examples drawn, split, encoded, imported and exported.
//!
//! Modules named after a kind of example ([`recognition`], [`corpus`]) work for any language. Each benchmark has a module of
//! its own ([`flare`], [`bliss`], [`tse`], [`wade`], [`find`]) and an entry in [`suite::SUITES`].
//!
//! This crate knows no models, no metrics and no paths: data sets are written to any [`FileSink`] and read from
//! any [`FileSource`], and the lab decides what those are on disk.
//!
//! A language is sampled by length, with exact probabilities, and checked by its definition:
//!
//! ```
//! use wug_dataset::{Seed, language::registry};
//! let dyck = registry::build("dyck-2-3").unwrap();
//! let sampler = dyck.by_length(2..=40).unwrap();
//! let word = sampler.sample(&mut Seed::new(1).derive("example").rng());
//! assert!(dyck.contains(&word) && sampler.log_prob(&word) < 0.0);
//! // What may come after every prefix, the empty one first.
//! assert_eq!(dyck.next_sets(&word).len(), word.len() + 1);
//! ```

pub mod bliss;
pub mod card;
pub mod corpus;
mod error;
mod files;
pub mod find;
pub mod flare;
pub mod ids;
pub mod manifest;
pub mod masked;
pub mod mt19937;
pub mod npy;
pub mod pairs;
pub mod recognition;
pub mod reviews;
mod rows;
mod seed;
#[cfg(test)]
#[path = "../tests/shared/mod.rs"]
mod shared;
pub mod suite;
pub mod tabular;
pub mod transduction;
pub mod tse;
pub mod validation;
pub mod wade;
pub mod wordpiece;

pub use error::DataError;
pub use files::{FileSink, FileSource, Folder, MemoryFiles};
pub use masked::MaskedSequence;
pub use pairs::{Bounds, MinimalPair};
pub use recognition::{Labelled, Split};
pub use seed::Seed;
pub use transduction::{CandidateRule, RuleTask, TransductionPair};
pub use wug_language as language;
pub use wug_table as table;
