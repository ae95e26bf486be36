//! N-grams: relative frequencies of the next symbol after the last few.

use std::collections::BTreeMap;

use super::uniform;
use crate::interface::{Failure, NextSymbol};

/// The relative frequency of each symbol after the last `order − 1` symbols, counted in training strings: a unigram for order
/// 1, a bigram for order 2. After an unseen context, all symbols are equally likely.
///
/// ```
/// use wug_learner::baseline::NGram;
/// use wug_learner::interface::NextSymbol;
/// // #ab# and #aab#: after `a` came `a` once and `b` twice.
/// let mut bigram = NGram::fit(2, 3, [[0, 1, 2, 0].as_slice(), &[0, 1, 1, 2, 0]]);
/// let mut state = bigram.start();
/// bigram.push(&mut state, 1);
/// assert_eq!(bigram.next(&state)?, [0.0, 1.0 / 3.0, 2.0 / 3.0]);
/// // Two of seven predicted symbols are ends.
/// let mut unigram = NGram::fit(1, 3, [[0, 1, 2, 0].as_slice(), &[0, 1, 1, 2, 0]]);
/// let state = unigram.start();
/// assert_eq!(unigram.next(&state)?, [2.0 / 7.0, 3.0 / 7.0, 2.0 / 7.0]);
/// # Ok::<(), wug_learner::interface::Failure>(())
/// ```
#[derive(Clone, Debug)]
pub struct NGram {
    context_len: usize,
    vocabulary: usize,
    frequencies: BTreeMap<Vec<u32>, Vec<f64>>,
}

impl NGram {
    /// Counts in strings whose first symbol is not predicted.
    ///
    /// # Panics
    /// If a symbol is not in the vocabulary.
    pub fn fit<'a>(order: usize, vocabulary: usize, strings: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let context_len = order.saturating_sub(1);
        let mut frequencies: BTreeMap<Vec<u32>, Vec<f64>> = BTreeMap::new();
        for string in strings {
            for (i, &symbol) in string.iter().enumerate().skip(1) {
                // Near the start contexts are shorter, so they differ from all others and need no padding.
                let context = string[i.saturating_sub(context_len)..i].to_vec();
                frequencies.entry(context).or_insert_with(|| vec![0.0; vocabulary])[symbol as usize] += 1.0;
            }
        }
        for counts in frequencies.values_mut() {
            let total: f64 = counts.iter().sum();
            counts.iter_mut().for_each(|count| *count /= total);
        }
        Self { context_len, vocabulary, frequencies }
    }
}

impl NextSymbol for NGram {
    type State = Vec<u32>;

    fn start(&mut self) -> Vec<u32> {
        Vec::new()
    }

    fn push(&mut self, state: &mut Vec<u32>, symbol: u32) {
        state.push(symbol);
        state.drain(..state.len().saturating_sub(self.context_len));
    }

    fn next(&mut self, state: &Vec<u32>) -> Result<Vec<f64>, Failure> {
        // No smoothing: the baseline has no constant that would need a choice.
        Ok(self.frequencies.get(state).cloned().unwrap_or_else(|| uniform(self.vocabulary)))
    }

    fn same(&self, a: &Vec<u32>, b: &Vec<u32>) -> bool {
        a == b
    }
}
