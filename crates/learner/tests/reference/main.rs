//! The learner against references: PyTorch, the papers' released models, and itself read in other ways. One program, because
//! each would compile the kernels again for itself.

mod advance_batch;
mod find;
mod golden;
mod marnn;
mod torch;
