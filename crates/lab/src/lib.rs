//! Where the rooms meet: the suites by name, and the disk. The lab alone touches files; the doors (command
//! line, Python) use the rooms through it.

pub mod data;
pub mod disk;
mod error;
pub mod suite;
pub mod validate;

pub use error::LabError;
pub use wug_dataset as dataset;
pub use wug_language as language;
