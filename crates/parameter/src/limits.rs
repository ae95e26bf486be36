//! What values a setting may have.

use std::fmt;

use crate::{SettingValue, Span};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueLimits {
    Switch,
    /// Whole numbers, both ends included.
    Count(u64, u64),
    /// Finite numbers above zero.
    Positive,
    /// Finite numbers from zero on.
    NotNegative,
    /// From zero to below one.
    Probability,
    /// Above zero, up to one.
    Factor,
    /// From the first on, below the second.
    Below(f64, f64),
    Between(f64, f64),
    /// One of these names.
    Names(&'static [&'static str]),
    /// One of these names, or a whole number from this one on.
    NamesOrCount(&'static [&'static str], u64),
    /// A range `A..B` of whole numbers from the first to the second.
    Span(usize, usize),
    Text,
    /// A file or directory; in an experiment's file, relative to its directory.
    Path,
}

impl ValueLimits {
    pub fn allow(self, value: &SettingValue) -> bool {
        let number = value.real().filter(|x| x.is_finite());
        let is = |test: fn(f64) -> bool| number.is_some_and(test);
        match (self, value) {
            (Self::Switch, SettingValue::Switch(_)) | (Self::Text | Self::Path, SettingValue::Name(_)) => {
                true
            }
            (Self::Count(low, high), SettingValue::Count(n)) => (low..=high).contains(n),
            (Self::Positive, _) => is(|x| x > 0.0),
            (Self::NotNegative, _) => is(|x| x >= 0.0),
            (Self::Probability, _) => is(|x| (0.0..1.0).contains(&x)),
            (Self::Factor, _) => is(|x| x > 0.0 && x <= 1.0),
            (Self::Below(low, high), _) => number.is_some_and(|x| (low..high).contains(&x)),
            (Self::Between(low, high), _) => number.is_some_and(|x| (low..=high).contains(&x)),
            (Self::Names(names) | Self::NamesOrCount(names, _), SettingValue::Name(name)) => {
                names.contains(&name.as_str())
            }
            (Self::NamesOrCount(_, least), SettingValue::Count(n)) => *n >= least,
            (Self::Span(low, high), SettingValue::Name(text)) => {
                text.parse().is_ok_and(|span: Span| low <= span.first && span.last <= high)
            }
            (Self::Span(low, high), SettingValue::Count(n)) => (low as u64..=high as u64).contains(n),
            _ => false,
        }
    }

    /// Whether numbers need not be whole.
    pub fn is_real(self) -> bool {
        matches!(
            self,
            Self::Positive
                | Self::NotNegative
                | Self::Probability
                | Self::Factor
                | Self::Below(..)
                | Self::Between(..)
        )
    }

    /// Whether numbers are whole.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Count(..) | Self::NamesOrCount(..))
    }

    /// A value as it is typed; whether it is allowed is another question.
    pub(crate) fn parse(self, text: &str) -> SettingValue {
        let text = text.trim();
        let name = || SettingValue::Name(text.to_owned());
        match self {
            Self::Switch => text.parse().map_or_else(|_| name(), SettingValue::Switch),
            Self::Names(_) | Self::Span(..) | Self::Text | Self::Path => name(),
            _ => {
                // Whole numbers first: a number with a point must not pass for a count.
                let whole = text.parse().map(SettingValue::Count).ok();
                whole.or_else(|| text.parse().map(SettingValue::Real).ok()).unwrap_or_else(name)
            }
        }
    }

    /// The value in its one spelling: whole numbers become numbers where these are meant, and ranges lose their blanks.
    pub(crate) fn canonical(self, value: SettingValue) -> SettingValue {
        match (self, value) {
            (limits, SettingValue::Count(n)) if limits.is_real() => SettingValue::Real(n as f64),
            // `1e4` is a float in TOML; every whole number below 2⁵³ has an exact one.
            (limits, SettingValue::Real(x))
                if limits.is_whole() && x.fract() == 0.0 && (0.0..9e15).contains(&x) =>
            {
                SettingValue::Count(x as u64)
            }
            (Self::Span(..), SettingValue::Count(n)) => SettingValue::Name(n.to_string()),
            (Self::Span(..), SettingValue::Name(text)) => {
                SettingValue::Name(text.parse().map_or(text, |span: Span| span.to_string()))
            }
            (_, value) => value,
        }
    }
}

impl fmt::Display for ValueLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch => f.write_str("true or false"),
            Self::Count(low, u64::MAX) => write!(f, "a whole number from {low} on"),
            Self::Count(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::Positive => f.write_str("a number above 0"),
            Self::NotNegative => f.write_str("a number from 0 on"),
            Self::Probability => f.write_str("from 0 to below 1"),
            Self::Factor => f.write_str("above 0, up to 1"),
            Self::Below(low, high) => write!(f, "a number from {low} to below {high}"),
            Self::Between(low, high) => write!(f, "a number from {low} to {high}"),
            Self::Names(names) => write!(f, "one of {}", names.join(", ")),
            Self::NamesOrCount(names, least) => {
                write!(f, "{} or a whole number from {least} on", names.join(", "))
            }
            Self::Span(low, high) => write!(f, "a number or a range A..B within {low}..{high}"),
            Self::Text => f.write_str("a text"),
            Self::Path => f.write_str("a path"),
        }
    }
}
