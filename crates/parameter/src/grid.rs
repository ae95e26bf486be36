//! What an experiment says of a setting: a value, several, or a range from which each run draws one.

use std::collections::BTreeMap;
use std::fmt;

use crate::{Parameter, ParameterError, Reading, SettingValue};

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
    pub from: f64,
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

impl Parameter {
    /// The values of a grid: those that are given, or the least of a range, in place of which runs draw another.
    pub fn values(&self, given: &Given) -> Result<Vec<SettingValue>, ParameterError> {
        match given {
            Given::Values(values) => values.iter().cloned().map(|value| self.check(value)).collect(),
            Given::Range(range) => Ok(vec![self.check_range(*range)?]),
        }
    }

    /// The same of all that is given; the default of a reading if nothing is.
    pub(crate) fn values_in(
        &self,
        reading: Reading,
        given: &BTreeMap<String, Given>,
    ) -> Result<Vec<SettingValue>, ParameterError> {
        match given.get(self.name) {
            Some(given) => self.values(given),
            None => Ok(self.default_in(reading).value().into_iter().collect()),
        }
    }

    /// The least value of a range all of whose values are allowed.
    fn check_range(&self, range: Range) -> Result<SettingValue, ParameterError> {
        let Range { from, to, log } = range;
        let fraction = self.limits.is_whole() && (from.fract() != 0.0 || to.fract() != 0.0);
        let finite = from.is_finite() && to.is_finite();
        if !finite || from > to || fraction || (log && from <= 0.0) {
            let allowed = if log { "above 0 in a range with a logarithmic scale" } else { "in a range" };
            let allowed = format!("`from` at most `to`, each {} and {allowed}", self.limits);
            return Err(ParameterError::Value {
                name: self.name.to_owned(),
                given: range.to_string(),
                allowed,
            });
        }
        // Limits are intervals: what lies between two allowed ends is allowed.
        self.check(self.number(to))?;
        self.check(self.number(from))
    }

    /// A number as a value of this setting.
    pub fn number(&self, x: f64) -> SettingValue {
        #[expect(
            clippy::cast_sign_loss,
            clippy::cast_possible_truncation,
            reason = "a negative number becomes 0, which a count's limits refuse or allow"
        )]
        if self.limits.is_whole() { SettingValue::Count(x as u64) } else { SettingValue::Real(x) }
    }
}
