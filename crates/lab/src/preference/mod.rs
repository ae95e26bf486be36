//! Which rule does a learner follow when its training pairs leave it open? Train a transducer on ambiguous pairs, then see with which of
//! the named rules its outputs agree, and how many nats each rule's outputs take to send (Kharitonov and Chaabouni 2021).
//!
//! Works for any task of pairs, hold-out inputs and rules, and for any transducer.

mod checkpoint;
mod cost;
mod data;
mod describe;
mod keep;
mod measure;
mod plan;
mod run;
mod spec;
mod tasks;

pub use data::Data;
pub use plan::{Measure, OptimizerState, Plan, Source};
pub use spec::Grid;

#[derive(Debug)]
pub struct Preference;

#[cfg(test)]
mod tests;
