//! Every learner: kernels, models, optimisers and training. Batch in, prediction out.
//!
//! This crate knows no files, no metrics and no reports. A run is single-threaded; parallelism is across runs.

pub mod baseline;
pub mod interface;
pub mod kernel;
pub mod model;
pub mod optim;
pub mod params;
pub mod registry;
pub mod tape;
pub mod train;
