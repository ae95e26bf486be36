//! Recognition at unseen lengths: train on short strings with their labels, evaluate on long ones (Butoi et al. 2025).
//!
//! Works for any language with a sampler by length, and for any recognizer.

mod data;
mod fit;
mod grid;
mod measure;
mod memory;
mod source;
mod training;

pub use data::Data;
pub use training::{ModelError, model};
pub use wug_score::plan::{Loss, Recognition, RecognitionData, StringSource, Validation};

/// A run of this protocol.
pub type RecognitionPlan = wug_score::plan::Plan<Recognition>;
