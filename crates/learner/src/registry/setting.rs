//! Settings of learners: what may be set, within which limits, and what holds if nothing is said.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::range::Given;

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SettingValue {
    /// On or off.
    Switch(bool),
    /// A whole number.
    Count(u64),
    /// Any number.
    Real(f64),
    /// One of a few names.
    Name(String),
}

impl SettingValue {
    /// A whole number.
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::Count(n) => usize::try_from(*n).ok(),
            _ => None,
        }
    }

    /// Any number.
    pub fn real(&self) -> Option<f64> {
        match self {
            Self::Count(n) => Some(*n as f64),
            Self::Real(x) => Some(*x),
            Self::Name(_) | Self::Switch(_) => None,
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => on.fmt(f),
            Self::Count(n) => n.fmt(f),
            Self::Real(x) => x.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// What values a setting may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limits {
    /// On or off.
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
    /// One of these names.
    Names(&'static [&'static str]),
    /// One of these names, or a whole number from one on.
    NamesOrCount(&'static [&'static str]),
}

impl Limits {
    fn allow(self, value: &SettingValue) -> bool {
        let number = value.real();
        match (self, value) {
            (Self::Switch, SettingValue::Switch(_)) => true,
            (Self::Count(low, high), SettingValue::Count(n)) => (low..=high).contains(n),
            (Self::Positive, _) => number.is_some_and(|x| x > 0.0 && x.is_finite()),
            (Self::NotNegative, _) => number.is_some_and(|x| x >= 0.0 && x.is_finite()),
            (Self::Probability, _) => number.is_some_and(|x| (0.0..1.0).contains(&x)),
            (Self::Factor, _) => number.is_some_and(|x| x > 0.0 && x <= 1.0),
            (Self::Names(names) | Self::NamesOrCount(names), SettingValue::Name(name)) => {
                names.contains(&name.as_str())
            }
            (Self::NamesOrCount(_), SettingValue::Count(n)) => *n > 0,
            _ => false,
        }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch => f.write_str("true or false"),
            Self::Count(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::Positive => f.write_str("a number above 0"),
            Self::NotNegative => f.write_str("a number from 0 on"),
            Self::Probability => f.write_str("from 0 to below 1"),
            Self::Factor => f.write_str("above 0, up to 1"),
            Self::Names(names) => write!(f, "one of {}", names.join(", ")),
            Self::NamesOrCount(names) => write!(f, "{} or a whole number from 1 on", names.join(", ")),
        }
    }
}

/// A default that can stand in a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// On or off.
    Switch(bool),
    /// A whole number.
    Count(u64),
    /// Any number.
    Real(f64),
    /// A name.
    Name(&'static str),
}

impl From<Default> for SettingValue {
    fn from(default: Default) -> Self {
        match default {
            Default::Switch(on) => Self::Switch(on),
            Default::Count(n) => Self::Count(n),
            Default::Real(x) => Self::Real(x),
            Default::Name(name) => Self::Name(name.to_owned()),
        }
    }
}

/// One thing that can be set of a learner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Its name in experiments and plans.
    pub name: &'static str,
    /// What it sets, in one line.
    pub meaning: &'static str,
    /// The values it may have.
    pub limits: Limits,
    /// Its value if nothing is said.
    pub default: Default,
    /// Its value in the corrected reading if nothing is said, where that differs.
    pub corrected: Option<Default>,
    /// Another setting and the value with which this one has no effect; it is left out of plans then.
    pub unless: Option<(&'static str, &'static str)>,
    /// Whether it is a capacity for so many symbols: more than the longest string has changes nothing.
    pub capacity: bool,
    /// Whether plans leave it out at its default: those of earlier versions, which did not have it, keep their ids.
    pub implied: bool,
}

impl Setting {
    /// A setting that always has an effect.
    pub const fn new(name: &'static str, meaning: &'static str, limits: Limits, default: Default) -> Self {
        Self {
            name,
            meaning,
            limits,
            default,
            corrected: None,
            unless: None,
            capacity: false,
            implied: false,
        }
    }

    /// The same with another default.
    #[must_use]
    pub const fn or(self, default: Default) -> Self {
        Self { default, ..self }
    }

    /// The same with another default in the corrected reading.
    #[must_use]
    pub const fn corrected(self, default: Default) -> Self {
        Self { corrected: Some(default), ..self }
    }

    /// The same, as a capacity for so many symbols.
    #[must_use]
    pub const fn as_capacity(self) -> Self {
        Self { capacity: true, ..self }
    }

    /// The same, left out of plans at its default.
    #[must_use]
    pub const fn implied(self) -> Self {
        Self { implied: true, ..self }
    }

    /// The same, without effect if another setting has a value.
    #[must_use]
    pub const fn unless(self, other: &'static str, value: &'static str) -> Self {
        Self { unless: Some((other, value)), ..self }
    }

    /// A given value, if it is allowed. Whole numbers stand for any numbers where these are wanted.
    pub fn check(&self, value: SettingValue) -> Result<SettingValue, SettingError> {
        let value = match (self.limits, value) {
            (
                Limits::Positive | Limits::NotNegative | Limits::Probability | Limits::Factor,
                SettingValue::Count(n),
            ) => SettingValue::Real(n as f64),
            (_, value) => value,
        };
        if self.limits.allow(&value) {
            return Ok(value);
        }
        Err(SettingError { name: self.name, given: value.to_string(), allowed: self.limits.to_string() })
    }
}

/// A value that a setting cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` cannot be {given}; it must be {allowed}")]
pub struct SettingError {
    /// The setting.
    pub name: &'static str,
    /// What was given.
    pub given: String,
    /// What is allowed.
    pub allowed: String,
}

/// The settings of one learner in one role, all of them with a value.
#[derive(Clone, Debug, std::default::Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, SettingValue>);

impl Settings {
    /// Every setting at its default.
    pub fn defaults(all: &[Setting]) -> Self {
        Self::complete(all, |setting| setting.default.into())
    }

    /// Every combination of the given values, each setting in the order of `all`, the last one varying fastest. What is not
    /// given has its default; what has no effect is left out, and then does not multiply combinations.
    pub fn grid(all: &[Setting], given: &BTreeMap<String, Given>) -> Result<Vec<Self>, SettingError> {
        let mut grid = vec![Self::default()];
        for setting in all {
            let values = match given.get(setting.name) {
                Some(given) => setting.values(given)?,
                None => vec![setting.default.into()],
            };
            let with = |settings: Self| -> Vec<Self> {
                if !settings.has_effect(setting) {
                    return vec![settings];
                }
                values.iter().map(|value| settings.clone().with_setting(setting, value.clone())).collect()
            };
            grid = grid.into_iter().flat_map(with).collect();
        }
        Ok(grid)
    }

    fn complete(all: &[Setting], value: impl Fn(&Setting) -> SettingValue) -> Self {
        let mut settings = Self::default();
        for setting in all {
            if settings.has_effect(setting) {
                settings = settings.with_setting(setting, value(setting));
            }
        }
        settings
    }

    /// The same with the value of a setting, unless it goes without saying.
    fn with_setting(self, setting: &Setting, value: SettingValue) -> Self {
        if setting.implied && value == setting.default.into() {
            return self;
        }
        self.with(setting.name, value)
    }

    pub(super) fn has_effect(&self, setting: &Setting) -> bool {
        setting.unless.is_none_or(|(other, value)| self.name(other) != Some(value))
    }

    /// The same with the defaults of the corrected reading, but for settings that are given.
    #[must_use]
    pub fn corrected(self, all: &[Setting], given: &BTreeSet<String>) -> Self {
        let open = |setting: &&Setting| self.get(setting.name).is_some() && !given.contains(setting.name);
        let values: Vec<_> = all.iter().filter(open).filter_map(|s| Some((s.name, s.corrected?))).collect();
        values.into_iter().fold(self, |settings, (name, value)| settings.with(name, value.into()))
    }

    /// The same with another value.
    #[must_use]
    pub fn with(mut self, name: &str, value: SettingValue) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Takes out the value of a setting.
    pub fn take(&mut self, name: &str) -> Option<SettingValue> {
        self.0.remove(name)
    }

    /// Leaves a setting out.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// The same with a count.
    #[must_use]
    pub fn with_count(self, name: &str, count: usize) -> Self {
        self.with(name, SettingValue::Count(count as u64))
    }

    /// Their values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &SettingValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of a setting.
    pub fn get(&self, name: &str) -> Option<&SettingValue> {
        self.0.get(name)
    }

    /// A setting that is a whole number.
    pub fn count(&self, name: &str) -> Option<usize> {
        self.0.get(name)?.count()
    }

    /// A setting that is a number.
    pub fn real(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.real()
    }

    /// Whether a switch is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.0.get(name) == Some(&SettingValue::Switch(true))
    }

    /// A setting that is a name.
    pub fn name(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            SettingValue::Name(name) => Some(name),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Setting; 3] = [
        Setting::new("hidden", "units", Limits::Count(1, 100), Default::Count(8)),
        Setting::new("regularization", "", Limits::Names(&["none", "l1"]), Default::Name("none")),
        Setting::new("lambda", "", Limits::Positive, Default::Real(0.1)).unless("regularization", "none"),
    ];

    fn given(name: &str, values: &[SettingValue]) -> BTreeMap<String, Given> {
        BTreeMap::from([(name.to_owned(), Given::Values(values.to_vec()))])
    }

    #[test]
    fn a_grid_has_every_combination_but_none_twice_for_a_setting_without_effect() {
        let name = |name: &str| SettingValue::Name(name.to_owned());
        let mut values = given("regularization", &[name("none"), name("l1")]);
        values.extend(given("lambda", &[SettingValue::Real(1.0), SettingValue::Count(2)]));
        let grid = Settings::grid(&ALL, &values).unwrap();
        let lambdas: Vec<Option<f64>> = grid.iter().map(|settings| settings.real("lambda")).collect();
        assert_eq!(lambdas, [None, Some(1.0), Some(2.0)]);
        assert!(grid.iter().all(|settings| settings.count("hidden") == Some(8)));
    }

    #[test]
    fn implied_settings_are_left_out_at_their_default() {
        let all = [ALL[0], ALL[1].implied()];
        assert_eq!(Settings::defaults(&all), Settings::defaults(&ALL[..1]));
        let values = ["none", "l1"].map(|name| SettingValue::Name(name.to_owned()));
        let grid = Settings::grid(&all, &given("regularization", &values)).unwrap();
        let names: Vec<Option<&str>> = grid.iter().map(|settings| settings.name("regularization")).collect();
        assert_eq!(names, [None, Some("l1")]);
    }

    #[test]
    fn values_outside_the_limits_are_refused_with_the_limits() {
        let error = Settings::grid(&ALL, &given("hidden", &[SettingValue::Count(0)])).unwrap_err();
        assert_eq!(error.to_string(), "`hidden` cannot be 0; it must be a whole number from 1 to 100");
        let error = Settings::grid(&ALL, &given("hidden", &[SettingValue::Real(1.5)])).unwrap_err();
        assert_eq!(error.given, "1.5");
    }

    #[test]
    fn settings_are_read_as_they_were_written() {
        let settings = Settings::defaults(&ALL).with("x", SettingValue::Real(2.0)).with_count("n", 2);
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(text, r#"{"hidden":8,"n":2,"regularization":"none","x":2.0}"#);
        assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings);
    }
}
