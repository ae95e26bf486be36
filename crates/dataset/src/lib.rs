//! Examples drawn, split, encoded, imported and exported: the data of the five suites.
//!
//! This crate knows no models, no metrics and no paths.

pub mod bliss;
pub mod find;
mod masked;
pub mod mt19937;
mod seed;
mod transduction;
pub mod wade;

pub use masked::MaskedSequence;
pub use seed::Seed;
pub use transduction::{Pair, Rule, RuleTask};
pub use wug_language as language;
