//! How fast does it learn? A learner sees sequences one after the other, and on the way it is asked for the answers in others.
//!
//! Works for every task of masked sequences and for any language, whose symbols are all to be predicted; and for any incremental
//! learner, whose training is its own affair; and for reviews that the user has, whose label is the answer. Scores are made of the
//! learning curve.

mod corpus;
mod data;
mod grid;
mod measure;
mod run;
mod scoring;

pub use data::Data;
pub use wug_score::plan::{CorpusFile, Evaluations, Speed, TrainingUnit};

/// A run of this protocol.
pub type SpeedPlan = wug_score::plan::Plan<Speed>;

#[cfg(test)]
mod tests;
