//! The options of a suite as they are typed.

use std::collections::BTreeMap;

use wug_language::{LengthRange, Reading};
use wug_parameter::{Key, Settings, Span};

use super::Suite;
use crate::DataError;

/// The greatest length that can be asked for: far beyond any experiment, and within any machine's memory.
pub const LONGEST: usize = 1_000_000;

/// More strings than any machine holds; how many fit is a question of their lengths.
const MOST_STRINGS: u64 = 1_000_000_000_000;

/// How many strings, sequences or pairs there are.
pub(crate) const fn size(name: &'static str, meaning: &'static str, default: u64) -> Key<usize> {
    Key::count(name, meaning, 0..=MOST_STRINGS, default)
}

/// How long strings are.
pub(crate) const fn lengths(
    name: &'static str,
    meaning: &'static str,
    default: std::ops::RangeInclusive<usize>,
) -> Key<Span> {
    Key::span(name, meaning, 0..=LONGEST, default)
}

/// The options of a suite: what was typed, and defaults for the rest.
pub fn options(
    suite: &dyn Suite,
    reading: Reading,
    given: &BTreeMap<String, String>,
) -> Result<Settings, DataError> {
    let read = given.iter().map(|(name, text)| Settings::parse(suite.options(), name, text));
    let read: Result<Settings, _> = read.collect();
    let refused = |error| DataError::Request(format!("`{}`: {error}", suite.name()));
    Ok(read.map_err(refused)?.completed(suite.options(), reading))
}

/// Lengths as [`parse_lengths`] reads them.
pub(crate) fn range_text(lengths: &LengthRange) -> String {
    format!("{}..{}", lengths.start(), lengths.end())
}

/// Reads `A..B`, inclusive at both ends, or a single length.
///
/// ```
/// use wug_dataset::suite::parse_lengths;
/// assert_eq!(parse_lengths("0..40"), Some(0..=40));
/// assert_eq!(parse_lengths("7"), Some(7..=7));
/// assert_eq!(parse_lengths("9..3"), None);
/// ```
pub fn parse_lengths(text: &str) -> Option<LengthRange> {
    text.parse().ok().map(Span::range).filter(|lengths| *lengths.end() <= LONGEST)
}
