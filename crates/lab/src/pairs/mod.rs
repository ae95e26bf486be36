//! Does a learner prefer the grammatical string? Train a next-symbol model on strings of a language, then ask which of the two strings
//! of a minimal pair is likelier, at the lengths of training and at greater ones.
//!
//! Works for any language: four have near misses of their own kind, of the others near misses are found by asking the language
//! ([`wug_dataset::pairs`]). Takes every next-symbol model.

mod data;
mod fit;
mod grid;
mod law;
mod measure;
mod memory;
#[cfg(test)]
mod tests;

pub use data::Data;
pub use wug_score::plan::{PairStrings, Pairs};

/// A run of this protocol.
pub type PairsPlan = wug_score::plan::Plan<Pairs>;

pub const VALIDATION: &str = "validation";
/// The pairs at the lengths of training.
pub const TEST: &str = "test";
/// The pairs at greater lengths.
pub const OUT_OF_DISTRIBUTION: &str = "out-of-distribution";
