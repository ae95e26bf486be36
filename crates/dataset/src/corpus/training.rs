//! The training corpus of a language, in either reading.

use wug_language::registry::{Named, keys};
use wug_language::{Reading, Word};

use super::{draw, released};
use crate::{DataError, Seed};

/// The training corpus of a language, with the prior that its name says: of the released generator, or of
/// the language's own distribution.
///
/// ```
/// use wug_dataset::corpus::training;
/// use wug_dataset::language::{Reading, registry};
/// let named = registry::find("an-bn").unwrap();
/// let longest = |reading| training(&named, 100, reading, 100).unwrap().last().map(Vec::len);
/// assert_eq!(longest(Reading::Published), Some(40));
/// let parity = registry::find("parity").unwrap();
/// let error = training(&parity, 100, Reading::Published, 100).unwrap_err().to_string();
/// assert!(error.starts_with("`parity` has no published corpus; there are: an-bn"));
/// ```
pub fn training(named: &Named, size: usize, reading: Reading, seed: u64) -> Result<Vec<Word>, DataError> {
    match reading {
        Reading::Published => {
            let corpus = released(named.entry.name).map_err(DataError::request)?;
            corpus.training(size, prior(named), seed)
        }
        Reading::Corrected => {
            let language = named.build(reading)?;
            // The name of the stream is part of every corpus that was drawn: it stays, although other
            // suites draw here as well.
            let seed = Seed::new(seed).derive("bliss").derive(&named.spelled());
            draw(language.as_ref(), size, seed).map_err(DataError::request)
        }
    }
}

/// The prior that a name says.
pub(crate) fn prior(named: &Named) -> f64 {
    named.get(&keys::PRIOR)
}
