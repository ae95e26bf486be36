//! Baselines: learners without training, and the language itself.
//!
//! [`Uniform`], [`RepeatLast`] and [`NGram`] are lower bounds: a score that one of them reaches is no evidence of having
//! acquired a language. [`Grammar`] is the upper bound: it knows the language. All read strings that begin with the boundary,
//! symbol 0, which is also the end to be predicted.

mod grammar;
mod ngram;

pub use grammar::{Grammar, GrammarState};
pub use ngram::NGram;

use crate::interface::{Failure, NextSymbol};

/// Gives every symbol the same probability.
///
/// ```
/// use wug_learner::baseline::Uniform;
/// use wug_learner::interface::NextSymbol;
/// let mut uniform = Uniform::new(4);
/// let state = uniform.start();
/// assert_eq!(uniform.next(&state)?, [0.25; 4]);
/// # Ok::<(), wug_learner::interface::Failure>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    vocabulary: usize,
}

impl Uniform {
    /// `vocabulary` symbols, including the boundary.
    pub fn new(vocabulary: usize) -> Self {
        Self { vocabulary }
    }
}

impl NextSymbol for Uniform {
    type State = ();

    fn start(&mut self) {}

    fn push(&mut self, (): &mut (), _: u32) {}

    fn next(&mut self, (): &()) -> Result<Vec<f64>, Failure> {
        Ok(uniform(self.vocabulary))
    }

    fn same(&self, (): &(), (): &()) -> bool {
        true
    }
}

/// Predicts the last symbol again: correct at nearly every step of aⁿbⁿ, and never at the end.
///
/// ```
/// use wug_learner::baseline::RepeatLast;
/// use wug_learner::interface::NextSymbol;
/// let mut repeat = RepeatLast::new(3);
/// let mut state = repeat.start();
/// repeat.push(&mut state, 2);
/// assert_eq!(repeat.next(&state)?, [0.0, 0.0, 1.0]);
/// # Ok::<(), wug_learner::interface::Failure>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RepeatLast {
    vocabulary: usize,
}

impl RepeatLast {
    /// `vocabulary` symbols, including the boundary.
    pub fn new(vocabulary: usize) -> Self {
        Self { vocabulary }
    }
}

impl NextSymbol for RepeatLast {
    type State = Option<u32>;

    fn start(&mut self) -> Option<u32> {
        None
    }

    fn push(&mut self, state: &mut Option<u32>, symbol: u32) {
        *state = Some(symbol);
    }

    fn next(&mut self, state: &Option<u32>) -> Result<Vec<f64>, Failure> {
        let Some(last) = *state else { return Ok(uniform(self.vocabulary)) };
        let mut probabilities = vec![0.0; self.vocabulary];
        // BLISS's accuracy asks for the likeliest symbol only: this is wrong once per string of aⁿbⁿ.
        probabilities[last as usize] = 1.0;
        Ok(probabilities)
    }

    fn same(&self, a: &Option<u32>, b: &Option<u32>) -> bool {
        a == b
    }
}

fn uniform(vocabulary: usize) -> Vec<f64> {
    vec![1.0 / vocabulary as f64; vocabulary]
}
