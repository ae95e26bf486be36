//! Models whose dropout stays on while they score strings, as where a program forgets to switch to evaluation.

use wug_dataset::Seed;

use super::{Failure, NextSymbol, Trained};
use crate::kernel::Real;
use crate::model::{LanguageModel, PrefixState};
use crate::tape::Mode;

/// A model that scores whole strings with dropout; every batch of strings is drawn anew. Asked symbol by symbol, it has none.
#[derive(Debug)]
pub struct Noisy<R> {
    model: Trained<LanguageModel, R>,
    seed: Seed,
    calls: usize,
}

impl<R: Real> Noisy<R> {
    /// Dropout is drawn from the seed.
    pub fn new(model: Trained<LanguageModel, R>, seed: Seed) -> Self {
        Self { model, seed, calls: 0 }
    }
}

impl<R: Real> NextSymbol for Noisy<R> {
    type State = PrefixState<R>;

    fn start(&mut self) -> PrefixState<R> {
        self.model.start()
    }

    fn push(&mut self, state: &mut PrefixState<R>, symbol: u32) {
        self.model.push(state, symbol);
    }

    fn next(&mut self, state: &PrefixState<R>) -> Result<Vec<f64>, Failure> {
        self.model.next(state)
    }

    fn log_probs_batch(&mut self, strings: &[&[u32]]) -> Result<Vec<Vec<f64>>, Failure> {
        let seed = self.seed.nth(self.calls);
        // Each call draws other masks, as forward passes in training mode do in PyTorch.
        self.calls += 1;
        Ok(self.model.log_probs_in(strings, |batch| Mode::Train { seed: seed.nth(batch).value() }))
    }

    fn advance_batch(
        &mut self,
        states: &mut [PrefixState<R>],
        pieces: &[&[u32]],
    ) -> Result<Vec<f64>, Failure> {
        self.model.advance_batch(states, pieces)
    }

    fn same(&self, a: &PrefixState<R>, b: &PrefixState<R>) -> bool {
        self.model.same(a, b)
    }

    fn max_len(&self) -> Option<usize> {
        self.model.max_len()
    }

    fn max_batch(&self, max_len: usize) -> usize {
        self.model.max_batch(max_len)
    }
}
