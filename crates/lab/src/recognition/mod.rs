//! Recognition at unseen lengths: train on short strings with their labels, evaluate on long ones (Butoi et al. 2025).
//!
//! Works for any language with a sampler by length, and for any recognizer.

mod data;
mod fit;
mod measure;
mod memory;
mod plan;
mod source;
mod spec;

pub use data::Data;
pub use plan::{DataPlan, Loss, ModelError, Plan, Source, Validation};
pub use source::DataSpec;
pub use spec::Grid;

#[derive(Debug)]
pub struct Recognition;
