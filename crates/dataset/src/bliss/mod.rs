//! Corpora for learning a language from few strings: Lan, Chemla and Katzir (2023), *Benchmarking Neural
//! Network Generalization for Grammar Induction*.
//!
//! [`Published`] regenerates the six released languages byte for byte, quirks included: training corpora,
//! test sets, masks, previews. The rest works for every language: [`corpus`] draws, [`test_after`] enumerates
//! what comes right after the longest training string, [`deterministic_steps`] and [`valid_next`] say what a
//! perfect model knows at each step. Test sets are lazy: a gigabyte of text and two of masks are never
//! stored.
//!
//! A model sees a string between two `#`, which is both start and end and has index 0 in the [`vocabulary`].
//! Step `i` reads position `i` of `#string` and predicts position `i` of `string#`.

mod archive;
mod corrected;
mod error;
mod files;
mod grammar;
mod mask;
mod npz;
mod published;
mod statistics;
mod test_set;
#[cfg(test)]
mod tests;
mod text;
mod training;
mod validate;

use wug_language::{Alphabet, Symbol, Word};

pub use archive::{Archive, PASSWORD, write_zip};
pub use corrected::{NoDistribution, corpus, test_after, test_from_first};
pub use error::FormatError;
pub use files::{Layout, read_strings, test_count, write};
pub use mask::{deterministic_steps, valid_next};
pub use npz::{MaskReader, write_npz};
pub use published::{BadPrior, MaskKind, PRIOR, Published, SEED, SIZES, TEST_SIZE, UnknownLanguage};
pub use statistics::{Statistics, code_length_bits};
pub use test_set::Slice;
pub use text::{Lines, Text};
pub use training::training;
pub use validate::validate;

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
/// use wug_dataset::bliss::{encode, vocabulary};
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
