//! Models trained on sets of next symbols.

use super::{Failure, NextSymbol, Trained, advance_each};
use crate::kernel::{Activation, Real, activate};
use crate::model::{LanguageModel, PrefixState};

/// A model trained on [sets](crate::train::NextSets). Its output for a symbol is the probability that the symbol *may* come
/// next. These need not add up to one, and give no probability of a string.
#[derive(Debug)]
pub struct Sets<R>(pub Trained<LanguageModel, R>);

fn sigmoids<R: Real>(rows: &mut [R], _: usize) {
    activate(rows, &[], Activation::Sigmoid);
}

impl<R: Real> NextSymbol for Sets<R> {
    type State = PrefixState<R>;

    fn start(&mut self) -> PrefixState<R> {
        self.0.start()
    }

    fn push(&mut self, state: &mut PrefixState<R>, symbol: u32) {
        self.0.push(state, symbol);
    }

    fn next(&mut self, state: &PrefixState<R>) -> Result<Vec<f64>, Failure> {
        Ok(self.0.outputs(state, sigmoids))
    }

    fn advance_batch(
        &mut self,
        states: &mut [PrefixState<R>],
        pieces: &[&[u32]],
    ) -> Result<Vec<f64>, Failure> {
        match self.0.advance_lockstep(states, pieces, sigmoids) {
            // Not normalised: the threshold of 0.5 of Suzgun et al. applies to each symbol alone.
            Some(rows) => Ok(rows),
            None => advance_each(self, states, pieces),
        }
    }

    fn same(&self, a: &PrefixState<R>, b: &PrefixState<R>) -> bool {
        self.0.same(a, b)
    }

    fn max_len(&self) -> Option<usize> {
        self.0.max_len()
    }

    fn max_batch(&self, max_len: usize) -> usize {
        self.0.max_batch(max_len)
    }
}
