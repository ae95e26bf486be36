//! The options of a suite: sizes and lengths by name.

use std::collections::BTreeMap;

use wug_language::LengthRange;

use super::Suite;
use crate::DataError;

/// The greatest length that can be asked for: far beyond any experiment, and within any machine's memory.
pub const LONGEST: usize = 1_000_000;

/// One option of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataOption {
    /// Its name, as it is typed.
    pub name: String,
    /// Its default and the values it can take.
    pub values: OptionValues,
}

/// What an option can be set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValues {
    /// A count.
    Count {
        /// The value if none is given.
        default: usize,
    },
    /// Counts above zero.
    Counts {
        /// The value if none is given.
        default: &'static [usize],
        /// The least and the greatest count.
        limits: (usize, usize),
    },
    /// Lengths from 0 to [`LONGEST`].
    Lengths {
        /// The value if none is given.
        default: LengthRange,
    },
    /// One of some names, of which the first is the default.
    Choice {
        /// The names.
        names: &'static [&'static str],
    },
}

impl DataOption {
    /// A count.
    pub fn count(name: impl Into<String>, default: usize) -> Self {
        Self { name: name.into(), values: OptionValues::Count { default } }
    }

    /// A range of lengths.
    pub fn lengths(name: impl Into<String>, default: LengthRange) -> Self {
        Self { name: name.into(), values: OptionValues::Lengths { default } }
    }

    fn error(&self, given: &str, allowed: &str) -> DataError {
        DataError::Request(format!("`{}` cannot be `{given}`; it must be {allowed}", self.name))
    }
}

/// The options of a suite and the values given for some of them.
#[derive(Debug)]
pub struct Options<'a> {
    suite: &'static str,
    declared: Vec<DataOption>,
    given: &'a BTreeMap<String, String>,
}

impl<'a> Options<'a> {
    /// The options of a suite with the values that were typed.
    pub fn new(suite: &dyn Suite, given: &'a BTreeMap<String, String>) -> Self {
        Self { suite: suite.name(), declared: suite.options(), given }
    }

    /// An error if a value is given for an option that the suite does not have.
    pub fn check_names(&self) -> Result<(), DataError> {
        let names: Vec<&str> = self.declared.iter().map(|option| option.name.as_str()).collect();
        match self.given.keys().find(|key| !names.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let suite = self.suite;
                Err(DataError::Request(format!("`{suite}` has no option `{key}`; it has: {known}")))
            }
        }
    }

    /// The value of a count.
    ///
    /// # Panics
    /// If the suite declares no such count.
    pub fn count(&self, name: &str) -> Result<usize, DataError> {
        let (option, given) = self.find(name);
        let OptionValues::Count { default } = option.values else { wrong_type(option) };
        let Some(text) = given else { return Ok(default) };
        text.parse().map_err(|_| option.error(text, "a count such as 1000"))
    }

    /// The value of a list of counts, without repetitions of neighbours.
    ///
    /// # Panics
    /// If the suite declares no such list.
    pub fn counts(&self, name: &str) -> Result<Vec<usize>, DataError> {
        let (option, given) = self.find(name);
        let OptionValues::Counts { default, limits: (least, greatest) } = option.values else {
            wrong_type(option)
        };
        let Some(text) = given else { return Ok(default.to_vec()) };
        let counts: Option<Vec<usize>> =
            text.split(',').map(|n| n.trim().parse().ok().filter(|n| *n > 0)).collect();
        let mut counts = counts.ok_or_else(|| option.error(text, "counts such as 100,250"))?;
        counts.dedup();
        match counts.iter().find(|count| !(least..=greatest).contains(*count)) {
            None => Ok(counts),
            Some(count) => {
                let example = default.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
                let allowed = format!("counts from {least} to {greatest}, as {example}");
                Err(option.error(&count.to_string(), &allowed))
            }
        }
    }

    /// The value of a range of lengths.
    ///
    /// # Panics
    /// If the suite declares no such range.
    pub fn lengths(&self, name: &str) -> Result<LengthRange, DataError> {
        let (option, given) = self.find(name);
        let OptionValues::Lengths { default } = &option.values else { wrong_type(option) };
        let Some(text) = given else { return Ok(default.clone()) };
        parse_lengths(text).ok_or_else(|| {
            let allowed = format!("a range such as 0..40, the first not above the second, up to {LONGEST}");
            option.error(text, &allowed)
        })
    }

    /// The value of a choice.
    ///
    /// # Panics
    /// If the suite declares no such choice.
    pub fn choice(&self, name: &str) -> Result<&'static str, DataError> {
        let (option, given) = self.find(name);
        let OptionValues::Choice { names } = option.values else { wrong_type(option) };
        let Some(text) = given else { return Ok(names[0]) };
        names.iter().copied().find(|name| *name == text).ok_or_else(|| {
            let allowed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            option.error(text, &allowed.join(" or "))
        })
    }

    fn find(&self, name: &str) -> (&DataOption, Option<&'a str>) {
        let option = self.declared.iter().find(|option| option.name == name);
        let option = option.expect("a suite reads only the options that it declares");
        (option, self.given.get(name).map(String::as_str))
    }
}

fn wrong_type(option: &DataOption) -> ! {
    panic!("option `{}` is read as something else than it is declared", option.name)
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
    let (lo, hi) = text.split_once("..").unwrap_or((text, text));
    let (lo, hi) = (lo.trim().parse().ok()?, hi.trim().trim_start_matches('=').parse().ok()?);
    (lo <= hi && hi <= LONGEST).then_some(lo..=hi)
}
