//! What can be set on a task. Every knob is a range from which the generator draws uniformly, so that a
//! published constant, a published range and a user's variation are written alike: `100`, `1..10`, `6..20`.

use std::fmt;
use std::ops::RangeInclusive;

use rand_core::Rng;
use thiserror::Error;
use wug_language::{Reading, draw};

use super::Task;

/// One thing that can be set. Ranges are inclusive at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Its key, as it is typed.
    pub name: &'static str,
    /// What it says.
    pub what: &'static str,
    /// The default of the published reading.
    pub published: (usize, usize),
    /// The default of the corrected reading.
    pub corrected: (usize, usize),
    /// The smallest and largest values allowed, chosen so that every combination of a task's knobs makes
    /// sense.
    pub limits: (usize, usize),
}

impl Knob {
    /// The default of a reading.
    pub fn default_range(&self, reading: Reading) -> RangeInclusive<usize> {
        let (lo, hi) = match reading {
            Reading::Published => self.published,
            Reading::Corrected => self.corrected,
        };
        lo..=hi
    }
}

/// The settings of one task: always complete and within limits.
///
/// ```
/// use wug_dataset::wade::{PERIODIC, Reading};
/// let settings = PERIODIC.settings(Reading::Published);
/// assert_eq!(settings.get("pattern"), Some(1..=5));
/// let settings = settings.with("pattern=3..4").unwrap();
/// assert_eq!(settings.get("pattern"), Some(3..=4));
/// assert_eq!(settings.to_string(), "pattern=3..4 length=100");
/// let error = settings.with("pattern=0..4").unwrap_err();
/// assert_eq!(error.to_string(), "bad value `0..4` for `pattern`; use a number or A..B within 1..25");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    task: &'static str,
    reading: Reading,
    values: Vec<(Knob, RangeInclusive<usize>)>,
}

/// A setting that a task does not have or allow.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SettingError {
    /// The text has no `=`.
    #[error("`{given}` is no setting; write key=value")]
    Form {
        /// What was given.
        given: String,
    },
    /// The task has no such key.
    #[error("task `{task}` has no setting `{given}`; it has: {allowed}")]
    Key {
        /// The task's name.
        task: &'static str,
        /// The key as it was given.
        given: String,
        /// The task's keys.
        allowed: String,
    },
    /// The value is no range, or out of bounds.
    #[error("bad value `{given}` for `{key}`; use a number or A..B within {}..{}", limits.0, limits.1)]
    Value {
        /// The key.
        key: &'static str,
        /// The value as it was given.
        given: String,
        /// The smallest and largest values allowed.
        limits: (usize, usize),
    },
}

impl Settings {
    pub(super) fn new(task: &Task, reading: Reading) -> Self {
        let values = task.knobs.iter().map(|&knob| (knob, knob.default_range(reading))).collect();
        Self { task: task.name, reading, values }
    }

    /// The task's name.
    pub fn task(&self) -> &'static str {
        self.task
    }

    /// The reading these settings belong to.
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// The value of a knob, if the task has it.
    pub fn get(&self, name: &str) -> Option<RangeInclusive<usize>> {
        self.values.iter().find(|(knob, _)| knob.name == name).map(|(_, range)| range.clone())
    }

    /// Sets one knob from `key=value`, where the value is a number or `A..B`, inclusive at both ends.
    pub fn with(mut self, assignment: &str) -> Result<Self, SettingError> {
        let Some((key, value)) = assignment.split_once('=') else {
            return Err(SettingError::Form { given: assignment.to_owned() });
        };
        let Some((knob, range)) = self.values.iter_mut().find(|(knob, _)| knob.name == key.trim()) else {
            let names: Vec<&str> = self.values.iter().map(|(knob, _)| knob.name).collect();
            return Err(SettingError::Key {
                task: self.task,
                given: key.trim().to_owned(),
                allowed: names.join(", "),
            });
        };
        let bad =
            || SettingError::Value { key: knob.name, given: value.trim().to_owned(), limits: knob.limits };
        *range = parse_range(value)
            .filter(|range| knob.limits.0 <= *range.start() && *range.end() <= knob.limits.1)
            .ok_or_else(bad)?;
        Ok(self)
    }

    /// A uniform draw from a knob's range.
    pub(super) fn draw(&self, name: &str, rng: &mut dyn Rng) -> usize {
        let range = self.get(name).expect("generators ask only for knobs their task declares");
        draw::between(rng, *range.start(), *range.end())
    }
}

/// All settings as they would be typed: `pattern=1..10 length=100`.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (knob, range)) in self.values.iter().enumerate() {
            let (gap, lo, hi) = (if i > 0 { " " } else { "" }, range.start(), range.end());
            if lo == hi {
                write!(f, "{gap}{}={lo}", knob.name)?;
            } else {
                write!(f, "{gap}{}={lo}..{hi}", knob.name)?;
            }
        }
        Ok(())
    }
}

fn parse_range(text: &str) -> Option<RangeInclusive<usize>> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let (lo, hi) = match text.split_once("..") {
        Some((lo, hi)) => (number(lo)?, number(hi)?),
        None => (number(text)?, number(text)?),
    };
    (lo <= hi).then_some(lo..=hi)
}

#[cfg(test)]
mod tests {
    use super::super::{ADJ_QA, TASKS};
    use super::*;

    #[test]
    fn defaults_are_within_limits() {
        for knob in TASKS.iter().flat_map(|task| task.knobs) {
            for reading in Reading::ALL {
                let range = knob.default_range(reading);
                assert!(knob.limits.0 <= *range.start() && range.start() <= range.end(), "{knob:?}");
                assert!(*range.end() <= knob.limits.1, "{knob:?}");
            }
        }
    }

    #[test]
    fn errors_name_what_was_given_and_what_is_allowed() {
        let settings = || ADJ_QA.settings(Reading::Corrected);
        let message = |assignment: &str| settings().with(assignment).unwrap_err().to_string();
        assert_eq!(message("objects"), "`objects` is no setting; write key=value");
        assert_eq!(message("names=1"), "task `adj-qa` has no setting `names`; it has: objects");
        for bad in ["", "x", "0", "9", "3..2", "1..", "..3", "-1..2", "1...2"] {
            assert!(message(&format!("objects={bad}")).contains("within 1..8"), "{bad}");
        }
        assert_eq!(settings().with("objects = 2 .. 3").unwrap().get("objects"), Some(2..=3));
    }
}
