//! Corpora for predicting the next symbol: training strings, and test strings by length.
//!
//! [`training()`] gives the corpus of a language in either reading, [`test_after`] the strings that come right after the
//! longest training string, [`deterministic_steps`] and [`valid_next`] what a perfect model knows at each step. Test
//! strings are lazy: long sets are never stored. [`released()`] finds what came with a paper, by the name of the
//! language.
//!
//! A model sees a string between two `#`, which is both start and end and has index 0 in the [`vocabulary`].
//! Step `i` reads position `i` of `#string` and predicts position `i` of `string#`.

mod mask;
mod released;
mod statistics;
mod strings;
mod training;

use wug_language::{Alphabet, Symbol, Word};

pub use mask::{deterministic_steps, valid_next};
pub use released::{
    MaskKind, NotReleased, PRIOR, ReleasedCorpus, SEED, SIZES, Slice, TEST_SIZE, all_released, released,
};
pub use statistics::{Statistics, code_length_bits};
pub use strings::{NoDistribution, TestSize, draw, test_after, test_from_first, test_size};
pub(crate) use training::prior;
pub use training::training;

/// The start and the end of a string, in a model's vocabulary.
pub const BOUNDARY: Symbol = Symbol(0);

/// What a model reads and predicts: `#`, then the language's symbols in their order.
pub fn vocabulary(alphabet: &Alphabet) -> Alphabet {
    Alphabet::new(std::iter::once("#").chain(alphabet.tokens().iter().map(String::as_str)))
}

/// A word as a model sees it: between two `#`, over the [`vocabulary`]. All but the last symbol are inputs,
/// all but the first are targets.
///
/// ```
/// use wug_dataset::corpus::{encode, vocabulary};
/// use wug_dataset::language::Alphabet;
/// let alphabet = Alphabet::new(["a", "b"]);
/// let word = alphabet.parse("aabb").unwrap();
/// assert_eq!(vocabulary(&alphabet).format(&encode(&word)), "# a a b b #");
/// ```
pub fn encode(word: &[Symbol]) -> Word {
    let mut encoded = Word::with_capacity(word.len() + 2);
    encoded.push(BOUNDARY);
    encoded.extend(word.iter().map(|symbol| Symbol(symbol.0 + 1)));
    encoded.push(BOUNDARY);
    encoded
}
