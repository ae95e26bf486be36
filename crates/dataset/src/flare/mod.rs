//! FLaRe (Butoi et al. 2025): labelled strings at growing lengths, in the files of [`recognition`](crate::recognition).

mod suite;
mod validate;

pub use suite::{FORMAT, Flare};
pub use validate::{Ranges, split_names, validate, validate_rows};
