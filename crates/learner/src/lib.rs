//! Learners: kernels, models, optimisers, training, baselines, and the interfaces of trained learners.
//!
//! This crate reads no files and knows no metrics and no reports. A run is single-threaded; parallelism is across runs.

mod aligned;
pub mod baseline;
pub mod fit;
pub mod interface;
pub mod kernel;
pub mod model;
pub mod optim;
pub mod params;
pub mod registry;
pub mod reservoir;
pub mod tape;
pub mod train;

pub use aligned::Aligned;
pub use wug_mdl as mdl;
