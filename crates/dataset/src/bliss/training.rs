//! The corpus that a language is learned from, in either reading.

use wug_language::registry::Named;
use wug_language::{Reading, Word};

use super::{PRIOR, Published, corpus};
use crate::{DataError, Seed};

/// The training corpus of a language, with the prior that its name says: of the released generator, or of the language's own
/// distribution.
///
/// ```
/// use wug_dataset::bliss::training;
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
            let published: Published = named.entry.name.parse().map_err(request)?;
            published.corpus(size, prior(named), short_seed(seed)?).map_err(request)
        }
        Reading::Corrected => {
            let language = named.build(reading)?;
            let seed = Seed::new(seed).derive("bliss").derive(&named.spelled());
            corpus(language.as_ref(), size, seed).map_err(request)
        }
    }
}

/// The prior that a name says.
pub(super) fn prior(named: &Named) -> f64 {
    named.settings.get("prior").and_then(|p| p.parse().ok()).unwrap_or(PRIOR)
}

/// A seed of the published generator.
pub(super) fn short_seed(seed: u64) -> Result<u32, DataError> {
    u32::try_from(seed)
        .map_err(|_| request(format!("the published generator's seed has 32 bits, not {seed}")))
}

pub(super) fn request(error: impl std::fmt::Display) -> DataError {
    DataError::Request(error.to_string())
}
