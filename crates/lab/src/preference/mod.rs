//! Which rule does a learner follow when its training pairs leave it open? Train a transducer on ambiguous pairs, then see with which of
//! the named rules its outputs agree, and how many nats each rule's outputs take to send (Kharitonov and Chaabouni 2021).
//!
//! Works for any task of pairs, hold-out inputs and rules, and for any transducer.

mod checkpoint;
mod cost;
mod data;
mod describe;
mod grid;
mod keep;
mod measure;
mod run;
mod tasks;

pub use data::Data;
pub use wug_score::plan::{OptimizerState, Preference, RuleMeasure, RuleTaskSource};

/// A run of this protocol.
pub type PreferencePlan = wug_score::plan::Plan<Preference>;

#[cfg(test)]
mod tests;
