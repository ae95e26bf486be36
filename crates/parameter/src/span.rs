//! A range of whole numbers, both ends included, as it is typed: `3..40`, or `7` alone.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A range of whole numbers, both ends included.
///
/// ```
/// use wug_parameter::Span;
/// let span: Span = "3..40".parse().unwrap();
/// assert_eq!(span.range(), 3..=40);
/// assert_eq!("7".parse::<Span>().unwrap().to_string(), "7");
/// assert!("9..3".parse::<Span>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span {
    pub first: usize,
    pub last: usize,
}

impl Span {
    pub const fn new(first: usize, last: usize) -> Self {
        Self { first, last }
    }

    pub fn range(self) -> RangeInclusive<usize> {
        self.first..=self.last
    }
}

impl From<RangeInclusive<usize>> for Span {
    fn from(range: RangeInclusive<usize>) -> Self {
        Self { first: *range.start(), last: *range.end() }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { self.first.fmt(f) } else { write!(f, "{}..{}", self.first, self.last) }
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

/// A text that is no range `A..B`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a number or a range A..B")]
pub struct NotASpan(String);

impl FromStr for Span {
    type Err = NotASpan;

    fn from_str(text: &str) -> Result<Self, NotASpan> {
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        // Rust's own spelling of the same range, `A..=B`, is read too.
        let last = last.trim().trim_start_matches('=');
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(NotASpan(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Span {
    type Error = NotASpan;

    fn try_from(text: String) -> Result<Self, NotASpan> {
        text.parse()
    }
}
