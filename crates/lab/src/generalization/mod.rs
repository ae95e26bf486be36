//! How much does a learner learn from how little? Train on 10ᴺ/b strings, evaluate on the 10ᴺ·b that come right after the longest of
//! them (Lan, Chemla and Katzir 2023).
//!
//! Works for any language with a distribution of its own, and for any next-symbol model. The index itself, the largest b
//! that is solved, is computed over results, by a report.

mod data;
mod distinct;
mod evaluate;
mod fit;
mod grid;
mod language;
mod measure;
mod memory;
mod trie;

pub use data::Data;
pub use evaluate::{Evaluation, StepScores, Until, evaluate_steps};
pub(crate) use language::fitting_measure;
pub use wug_score::plan::{Criterion, Generalization, TestPlan, TestSlice, TestStart};

/// A run of this protocol.
pub type GeneralizationPlan = wug_score::plan::Plan<Generalization>;

#[cfg(test)]
mod tests;
