//! Experiments, plans, runs and results; the protocols; and the disk. Only this crate touches files, threads and the clock. The
//! command line and Python use the other crates through it.

pub mod answers;
pub mod context;
pub mod data;
pub mod disk;
pub mod doctor;
mod error;
pub mod expand;
mod fit;
pub mod foreign;
pub mod generalization;
mod keep;
pub mod mdl;
#[cfg(test)]
mod optimizer_tests;
pub mod pairs;
pub mod plan;
pub mod play;
pub mod preference;
pub mod protocol;
pub mod recognition;
mod regular;
pub mod spec;
pub mod speed;
pub mod sweep;
pub mod validate;
pub mod work;

pub use error::LabError;
pub use keep::Keep;
pub use wug_dataset as dataset;
pub use wug_dataset::suite;
pub use wug_language as language;
pub use wug_learner::registry as learners;
pub use wug_parameter as parameter;
pub use wug_score as score;
pub use wug_table as table;
