//! How learners are asked: protocols that need both a learner and a score, and no disk.

pub mod index;
