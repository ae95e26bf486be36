//! How much does a learner learn from how little? Train on 10ᴺ/b strings, evaluate on the 10ᴺ·b that come right after the longest of
//! them (Lan, Chemla and Katzir 2023).
//!
//! Works for any language with a distribution of its own, and for any next-symbol model. The index itself, the largest b
//! that is solved, is computed over results, by a report.

mod data;
mod distinct;
mod evaluate;
mod fit;
mod language;
mod measure;
mod memory;
mod plan;
mod spec;
mod trie;

pub use data::Data;
pub use evaluate::{Evaluation, StepScores, Until, evaluate_steps};
pub(crate) use language::fitting_measure;
pub use plan::{Measure, Plan, TestPlan, TestSlice, TestStart};
pub use spec::Grid;

#[derive(Debug)]
pub struct Generalization;

#[cfg(test)]
mod tests;
