//! Targeted syntactic evaluation: a training corpus and minimal pairs to test on, at seen and at
//! greater lengths (Someya, Yoshida and Oseki 2024).
//!
//! The released negatives of the dependency languages swap any two words of one half, so that a third of them
//! stay grammatical; the corrected reading swaps words of different classes.

mod files;
mod lm_eval;
mod suite;
#[cfg(test)]
mod tests;
mod validate;

pub use files::{read_corpus, read_pairs, write, write_rows};
pub use lm_eval::LM_EVAL;
pub use suite::{FORMAT, Tse};
pub use validate::validate;
