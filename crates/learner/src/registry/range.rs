//! What an experiment says of a setting: a value, several, or a range from which each run draws one.

use std::fmt;

use wug_dataset::Seed;
use wug_language::draw;

use super::setting::{Limits, Setting, SettingError, SettingValue};

/// What is given for a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// One value or several; every value has runs of its own.
    Values(Vec<SettingValue>),
    /// Every run draws a value.
    Range(Range),
}

/// A range of numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least number.
    pub from: f64,
    /// The greatest number.
    pub to: f64,
    /// Whether the logarithm is uniform, and not the number itself.
    pub log: bool,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = if self.log { ", scale = \"log\"" } else { "" };
        write!(f, "{{ from = {}, to = {}{scale} }}", self.from, self.to)
    }
}

impl Given {
    /// Whether runs of one section have different values.
    pub fn varies(&self) -> bool {
        match self {
            Self::Values(values) => values.len() > 1,
            Self::Range(_) => true,
        }
    }
}

impl Setting {
    /// The values of a grid: those that are given, or the least of a range, in place of which runs draw another.
    pub(super) fn values(&self, given: &Given) -> Result<Vec<SettingValue>, SettingError> {
        match given {
            Given::Values(values) => values.iter().cloned().map(|value| self.check(value)).collect(),
            Given::Range(range) => Ok(vec![self.check_range(*range)?]),
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self.limits, Limits::Count(..) | Limits::NamesOrCount(_))
    }

    /// The least value of a range all of whose values are allowed.
    fn check_range(&self, range: Range) -> Result<SettingValue, SettingError> {
        let Range { from, to, log } = range;
        let fraction = self.is_whole() && (from.fract() != 0.0 || to.fract() != 0.0);
        let finite = from.is_finite() && to.is_finite();
        if !finite || from > to || fraction || (log && from <= 0.0) {
            let allowed = if log { "above 0 in a range with a logarithmic scale" } else { "in a range" };
            let allowed = format!("`from` at most `to`, each {} and {allowed}", self.limits);
            return Err(SettingError { name: self.name, given: range.to_string(), allowed });
        }
        self.check(self.number(to))?;
        self.check(self.number(from))
    }

    fn number(&self, x: f64) -> SettingValue {
        #[expect(
            clippy::cast_sign_loss,
            reason = "a negative number becomes 0, which a count's limits refuse or allow"
        )]
        if self.is_whole() { SettingValue::Count(x as u64) } else { SettingValue::Real(x) }
    }

    /// Draws a value from a range that was checked.
    ///
    /// ```
    /// use wug_dataset::Seed;
    /// use wug_learner::registry::{Range, Role, SettingValue, find};
    /// let settings = find("lstm", Role::Recognizer).unwrap().settings(Role::Recognizer).unwrap();
    /// let batch = settings.iter().find(|setting| setting.name == "batch_symbols").unwrap();
    /// let range = Range { from: 128.0, to: 4096.0, log: false };
    /// assert!(matches!(batch.draw(range, Seed::new(1)), SettingValue::Count(128..=4096)));
    /// ```
    pub fn draw(&self, range: Range, seed: Seed) -> SettingValue {
        let Range { from, to, log } = range;
        if self.is_whole() && !log {
            let steps = (to - from) as usize;
            return self.number(from + draw::below(&mut seed.rng(), steps + 1) as f64);
        }
        let share = draw::unit(&mut seed.rng());
        let x = if log {
            libm::exp(libm::log(from) + share * (libm::log(to) - libm::log(from)))
        } else {
            from + share * (to - from)
        };
        let x = x.clamp(from, to);
        self.number(if self.is_whole() { libm::rint(x) } else { x })
    }
}
