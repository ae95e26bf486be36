//! Corpora that were released with a paper, by the name of their language.

use std::fmt::Debug;

use thiserror::Error;
use wug_language::{NextSet, Word};

use crate::DataError;
use crate::suite::SUITES;

/// The prior probability of the released training corpora.
pub const PRIOR: f64 = 0.3;
/// The seed of the released training corpora.
pub const SEED: u32 = 100;
/// The sizes of the released training corpora.
pub const SIZES: [usize; 4] = [100, 250, 500, 1000];
/// The size of every released test set.
pub const TEST_SIZE: usize = 15_000;

/// What the released mask of a language says about each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MaskKind {
    /// Whether the step is scored: one cell per step.
    Deterministic,
    /// Which symbols of the vocabulary may come: one cell per step and symbol.
    ValidNext,
}

/// Which released strings test a model of a training corpus. The paper says those "right after the longest string",
/// which can be read in three ways; where there is one string per length, all are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slice {
    /// Those that are longer than the longest training string.
    #[default]
    Longer,
    /// Those that stand after the last training string in the order of the test set.
    AfterLast,
    /// Of the two-count language, a square of pairs beyond both the largest n and the largest m, by their sum, which is
    /// what the paper's own figures fit; of all others, the same as [`Slice::Longer`].
    Square,
}

/// The released corpora of one language.
pub trait ReleasedCorpus: Debug + Sync {
    /// The language's name in the registry.
    fn name(&self) -> &'static str;

    /// The training strings of the released generator, sorted by length.
    fn training(&self, size: usize, prior: f64, seed: u64) -> Result<Vec<Word>, DataError>;

    /// The released test set, in its order.
    fn test(&self) -> Box<dyn Iterator<Item = Word>>;

    /// Up to `count` released strings right after a training corpus that is sorted by length.
    fn slice(&self, slice: Slice, train: &[Word], count: usize) -> Box<dyn Iterator<Item = Word>>;

    /// What the released mask says.
    fn mask_kind(&self) -> MaskKind;

    /// The probability of each symbol of the [`vocabulary`](super::vocabulary) in the released generator, where `next`
    /// is what can come.
    fn next_probabilities(&self, next: &NextSet, prior: f64) -> Vec<f64>;
}

/// A language without released corpora.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{given}` has no published corpus; there are: {}", names())]
pub struct NotReleased {
    /// The name as it was given.
    pub given: String,
}

/// Every language with released corpora.
pub fn all_released() -> impl Iterator<Item = &'static dyn ReleasedCorpus> {
    SUITES.iter().flat_map(|suite| suite.released()).copied()
}

/// The released corpora of a language.
///
/// ```
/// use wug_dataset::corpus::{PRIOR, released};
/// let corpus = released("an-bn").unwrap();
/// assert_eq!(corpus.training(100, PRIOR, 100).unwrap().last().map(Vec::len), Some(40));
/// assert_eq!(corpus.test().next().map(|word| word.len()), Some(2));
/// ```
pub fn released(name: &str) -> Result<&'static dyn ReleasedCorpus, NotReleased> {
    let found = all_released().find(|corpus| corpus.name() == name);
    found.ok_or_else(|| NotReleased { given: name.to_owned() })
}

fn names() -> String {
    all_released().map(ReleasedCorpus::name).collect::<Vec<_>>().join(", ")
}
