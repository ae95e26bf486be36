//! Recognition at unseen lengths: train on short strings with their labels, ask about long ones (Butoi et al. 2025).
//!
//! Works for any language with a sampler by length, and for any recognizer. A [`Spec`] is a grid as somebody wrote it;
//! each of its cells is a [`Plan`] in which nothing is left open; a plan makes a result.

mod choice;
mod data;
mod fit;
mod measure;
mod plan;
mod source;
mod spec;

pub use choice::Choice;
pub use data::Data;
pub(crate) use fit::fit;
pub use plan::{DataPlan, Learner, Loss, Plan, Source, Validation};
pub use source::DataSpec;
pub use spec::Spec;
