//! Models that learned which symbols may follow, not which does.

use super::{NextSymbol, Prefix, Trained, one_by_one};
use crate::kernel::{Activation, Real, activate};
use crate::model::LanguageModel;

/// A model that learned [sets](crate::train::NextSets). What it says of each symbol is the probability that it *may* come next:
/// these need not add up to one, and say nothing of how likely a string is.
#[derive(Debug)]
pub struct Sets<R>(pub Trained<LanguageModel, R>);

fn sigmoids<R: Real>(rows: &mut [R], _: usize) {
    activate(rows, &[], Activation::Sigmoid);
}

impl<R: Real> NextSymbol for Sets<R> {
    type State = Prefix<R>;

    fn start(&mut self) -> Prefix<R> {
        self.0.start()
    }

    fn push(&mut self, state: &mut Prefix<R>, symbol: u32) {
        self.0.push(state, symbol);
    }

    fn next(&mut self, state: &Prefix<R>) -> Vec<f64> {
        self.0.answers(state, sigmoids)
    }

    fn advance_batch(&mut self, states: &mut [Prefix<R>], pieces: &[&[u32]]) -> Vec<f64> {
        self.0.read_in_step(states, pieces, sigmoids).unwrap_or_else(|| one_by_one(self, states, pieces))
    }

    fn same(&self, a: &Prefix<R>, b: &Prefix<R>) -> bool {
        self.0.same(a, b)
    }

    fn max_len(&self) -> Option<usize> {
        self.0.max_len()
    }

    fn max_batch(&self, longest: usize) -> usize {
        self.0.max_batch(longest)
    }
}
