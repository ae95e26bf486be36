//! How much is learned from how little? Train on 10ᴺ/b strings, mark on the 10ᴺ·b that come right after the longest of them
//! (Lan, Chemla and Katzir 2023).
//!
//! Works for any language with a distribution of its own, and for anything that says what comes next. A [`Spec`] is a grid as
//! somebody wrote it; each of its cells is a [`Plan`] in which nothing is left open; a plan makes a result. The index itself,
//! the largest b that is solved, is over results and so somebody else's.

mod data;
mod evaluate;
mod fit;
mod learner;
mod measure;
mod plan;
mod settings;
mod spec;
mod subject;
mod trie;

pub use data::Data;
pub use evaluate::{Evaluation, StepScores, TooLong, Until, evaluate_steps};
pub(crate) use fit::fit;
pub use learner::{Learner, Loss, Regularization, Settings};
pub use plan::{Measure, Place, Plan, TestPlan, TestStart};
pub use spec::Spec;

#[cfg(test)]
mod tests;
