//! Where the rooms meet: the suites by name, and the disk. The lab alone touches files; the doors (command
//! line, Python) use the rooms through it.

pub mod context;
pub mod data;
pub mod disk;
mod error;
pub mod generalization;
pub mod names;
pub mod plan;
pub mod recognition;
pub mod spec;
pub mod sweep;
mod training;
pub mod validate;
pub mod work;

pub use error::LabError;
pub use wug_dataset as dataset;
pub use wug_dataset::suite;
pub use wug_language as language;
pub use wug_score as score;
