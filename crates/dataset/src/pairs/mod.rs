//! Minimal pairs: a grammatical string and one that differs from it as little as can be.
//!
//! Four languages have near misses of their own kind; of any other, near misses are one substitution or one swap away, and the
//! language itself says that they are none of its strings.

mod generate;
mod near_miss;

use wug_language::{Language, Word};

pub use generate::{
    GREATER_LENGTHS, LENGTHS, MinimalPairData, OUT_OF_DISTRIBUTION, PairSizes, TEST, TRAINING, VALIDATION,
    generate,
};
pub use near_miss::{NearMissKind, NearMisses};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimalPair {
    /// The string that should be preferred.
    pub good: Word,
    /// The string that should not.
    pub bad: Word,
}

/// How well and how badly a model can do on a set of pairs, given that some "bad" strings may
/// be grammatical after all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// How many pairs there are.
    pub pairs: usize,
    /// How many bad strings are grammatical, or the good string itself (of damaged data neither need be grammatical): knowing the
    /// language does not tell them from the good ones.
    pub grammatical: usize,
    /// How many bad strings are the good string itself.
    pub identical: usize,
}

impl Bounds {
    /// Counts the pairs by what the language contains.
    pub fn of(pairs: &[MinimalPair], language: &dyn Language) -> Self {
        pairs.iter().map(|pair| Self::of_pair(pair, language)).sum()
    }

    /// The same of one pair.
    pub fn of_pair(pair: &MinimalPair, language: &dyn Language) -> Self {
        let identical = pair.good == pair.bad;
        let grammatical = identical || language.contains(&pair.bad);
        Self { pairs: 1, grammatical: usize::from(grammatical), identical: usize::from(identical) }
    }

    fn share(self, count: usize) -> f64 {
        count as f64 / self.pairs.max(1) as f64
    }

    /// The expected accuracy of a model that knows the language and has preferences of its own among its strings, if the good
    /// string must score strictly higher: half of the grammatical "bad" strings fall below by chance, and identical ones never do.
    ///
    /// ```
    /// use wug_dataset::Bounds;
    /// let bounds = Bounds { pairs: 30, grammatical: 10, identical: 2 };
    /// assert!((bounds.ceiling() - (20.0 + 4.0) / 30.0).abs() < 1e-12);
    /// assert!((bounds.ceiling_of_indifferent() - 20.0 / 30.0).abs() < 1e-12);
    /// assert!((bounds.ceiling_with_noise() - 25.0 / 30.0).abs() < 1e-12);
    /// assert!((bounds.chance() - 14.0 / 30.0).abs() < 1e-12);
    /// ```
    pub fn ceiling(self) -> f64 {
        1.0 - self.share(self.grammatical) + self.share(self.grammatical - self.identical) / 2.0
    }

    /// The accuracy of a model that knows the language and finds its strings equally likely: grammatical "bad" strings are ties.
    pub fn ceiling_of_indifferent(self) -> f64 {
        1.0 - self.share(self.grammatical)
    }

    /// The same if ties are broken by a coin, as dropout during scoring does.
    pub fn ceiling_with_noise(self) -> f64 {
        1.0 - self.share(self.grammatical) / 2.0
    }

    /// The accuracy of a model that knows nothing, if the good string must score strictly higher.
    pub fn chance(self) -> f64 {
        (1.0 - self.share(self.identical)) / 2.0
    }
}

impl std::iter::Sum for Bounds {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self { pairs: 0, grammatical: 0, identical: 0 }, |a, b| Self {
            pairs: a.pairs + b.pairs,
            grammatical: a.grammatical + b.grammatical,
            identical: a.identical + b.identical,
        })
    }
}
