//! What can be counted in a corpus.

use std::collections::BTreeSet;

use wug_language::{Distribution, Word};

/// The size of a corpus, in the ways in which the benchmark's tables count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// How many strings there are.
    pub strings: usize,
    /// How many different ones.
    pub unique: usize,
    /// The length of the longest, without `#`.
    pub longest: usize,
    /// How many predictions a pass makes: all symbols, and the end of each string.
    pub targets: usize,
    /// How many strings are empty.
    pub empty: usize,
}

impl Statistics {
    pub fn of(words: &[Word]) -> Self {
        Self {
            strings: words.len(),
            unique: words.iter().collect::<BTreeSet<_>>().len(),
            longest: words.iter().map(Vec::len).max().unwrap_or(0),
            targets: words.iter().map(|word| word.len() + 1).sum(),
            empty: words.iter().filter(|word| word.is_empty()).count(),
        }
    }
}

/// The bits that the best code needs for a corpus whose strings are drawn from the distribution: what a
/// perfect model's cross-entropy, summed over all steps, cannot beat on average.
///
/// Infinite if some string cannot be drawn.
pub fn code_length_bits(distribution: &dyn Distribution, words: &[Word]) -> f64 {
    let nats: f64 = words.iter().map(|word| distribution.log_prob(word)).sum();
    -nats / std::f64::consts::LN_2
}
