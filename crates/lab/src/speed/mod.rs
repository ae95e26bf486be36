//! How fast does it learn? A learner sees sequences one after the other, and on the way it is asked for the answers in others.
//!
//! Works for every task of masked sequences and for any language, whose symbols are all to be predicted; and for any incremental
//! learner, whose training is its own affair; and for reviews that the user has, whose label is the answer. Scores are made of the
//! learning curve.

mod corpus;
mod data;
mod measure;
mod plan;
mod run;
mod spec;

pub use corpus::Corpus;
pub use data::Data;
pub use plan::{Evaluations, Plan, TrainingUnit};
pub use spec::Grid;

#[derive(Debug)]
pub struct Speed;

#[cfg(test)]
mod tests;
