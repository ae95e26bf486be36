//! Strings of any language: drawn from its own distribution, or enumerated by length.

use num_bigint::BigUint;
use thiserror::Error;
use wug_language::{Language, Members, Word};

use crate::Seed;

/// The language has no distribution of its own over strings of all lengths.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the language has no distribution over strings of any length to draw a corpus from")]
pub struct NoDistribution;

/// A training corpus: `size` draws from the language's own distribution, sorted by length (draws of one
/// length in the order they were drawn). With the same seed, the draws of a smaller corpus are the first
/// of a larger one.
pub fn draw(language: &dyn Language, size: usize, seed: Seed) -> Result<Vec<Word>, NoDistribution> {
    let distribution = language.natural().ok_or(NoDistribution)?;
    let mut rng = seed.derive("bliss/train").rng();
    let mut words: Vec<Word> = (0..size).map(|_| distribution.sample(&mut rng)).collect();
    words.sort_by_key(Vec::len);
    Ok(words)
}

/// The `count` strings that come right after the length `longest`, in order of length and then of their
/// symbols; fewer if the language has no more. Nothing is stored but the current string.
///
/// ```
/// use wug_dataset::corpus::test_after;
/// use wug_dataset::language::registry;
/// let language = registry::build("an-bn").unwrap();
/// let lengths: Vec<usize> = test_after(&*language, 34, 2000).map(|word| word.len()).collect();
/// assert_eq!((lengths[0], lengths[1999]), (36, 4034)); // n = 18 to 2017, the example of section 3.4
/// ```
pub fn test_after(language: &dyn Language, longest: usize, count: usize) -> impl Iterator<Item = Word> + '_ {
    After { language, length: longest, last: longest, members: None }.take(count)
}

/// How many strings there are, and how many symbols they have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestSize {
    pub strings: usize,
    pub symbols: usize,
}

/// The size of what [`test_after`] gives, from the number of strings of each length.
///
/// ```
/// use wug_dataset::corpus::{TestSize, test_size};
/// use wug_dataset::language::registry;
/// let size = test_size(&*registry::build("an-bn").unwrap(), 34, 2000);
/// assert_eq!(size, TestSize { strings: 2000, symbols: 4_070_000 }); // twice the sum of n = 18 to 2017
/// ```
pub fn test_size(language: &dyn Language, longest: usize, count: usize) -> TestSize {
    let (mut size, mut length, mut last) = (TestSize::default(), longest, longest);
    while size.strings < count && length < horizon(last) {
        length += 1;
        if !language.has_length(length) {
            continue;
        }
        last = length;
        // Counted, not enumerated: the next million strings of aⁿbⁿ have 10¹² symbols.
        let here = language.count(length).min(BigUint::from(count - size.strings));
        let here = usize::try_from(here).unwrap_or(0);
        size = TestSize { strings: size.strings + here, symbols: size.symbols + here * length };
    }
    size
}

/// The first `count` strings of a language, in the same order.
///
/// ```
/// use wug_dataset::corpus::test_from_first;
/// use wug_dataset::language::registry;
/// let lengths = |name| -> Vec<usize> {
///     test_from_first(&*registry::build(name).unwrap(), 4).map(|word| word.len()).collect()
/// };
/// assert_eq!(lengths("an-bn"), [2, 4, 6, 8]);
/// assert_eq!(lengths("dyck-1"), [0, 2, 4, 4]);
/// ```
pub fn test_from_first(language: &dyn Language, count: usize) -> impl Iterator<Item = Word> + '_ {
    After { language, length: 0, last: 0, members: Some(language.members(0)) }.take(count)
}

struct After<'a> {
    language: &'a dyn Language,
    length: usize,
    // The last length that had members.
    last: usize,
    members: Option<Members<'a>>,
}

/// How far to look for the next possible length: far enough for lengths that grow by a factor, and not for
/// ever in a finite language.
fn horizon(last: usize) -> usize {
    last.saturating_mul(4).saturating_add(1024)
}

impl Iterator for After<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        loop {
            if let Some(word) = self.members.as_mut().and_then(Iterator::next) {
                self.last = self.length;
                return Some(word);
            }
            if self.length >= horizon(self.last) {
                return None;
            }
            self.length += 1;
            self.members = Some(self.language.members(self.length));
        }
    }
}
