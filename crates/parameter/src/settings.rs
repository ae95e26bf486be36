//! Values of settings, by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{FromValue, Given, Key, Parameter, ParameterError, Reading, SettingValue, assignments};

/// The settings of one thing. Those made from declarations are complete: every setting that has an effect has a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, SettingValue>);

impl Settings {
    /// Every setting at the default of a reading.
    pub fn defaults(all: &[Parameter], reading: Reading) -> Self {
        Self::default().completed(all, reading)
    }

    /// What `key=value,key=value` says, and defaults for the rest.
    pub fn read(all: &[Parameter], reading: Reading, text: &str) -> Result<Self, ParameterError> {
        Ok(Self::given(all, text)?.completed(all, reading))
    }

    pub fn given(all: &[Parameter], text: &str) -> Result<Self, ParameterError> {
        assignments(text)?.into_iter().map(|(name, value)| Self::parse(all, name, value)).collect()
    }

    /// One value as it is typed.
    pub fn parse(
        all: &[Parameter],
        name: &str,
        text: &str,
    ) -> Result<(String, SettingValue), ParameterError> {
        let unknown = || {
            let known = all.iter().map(|parameter| parameter.name).collect();
            ParameterError::Unknown { given: name.to_owned(), known }
        };
        let parameter = all.iter().find(|parameter| parameter.is_called(name)).ok_or_else(unknown)?;
        Ok((parameter.name.to_owned(), parameter.parse(text)?))
    }

    /// The same with defaults for what has no value.
    #[must_use]
    pub fn completed(mut self, all: &[Parameter], reading: Reading) -> Self {
        for parameter in all {
            if self.get_value(parameter.name).is_none()
                && self.has_effect(parameter)
                && let Some(value) = parameter.default_in(reading).value()
            {
                self.0.insert(parameter.name.to_owned(), value);
            }
        }
        self
    }

    /// Every combination of the given values, each setting in the order of `all`, the last one varying fastest. What is not
    /// given has its default; what has no effect is left out, and then does not multiply combinations.
    pub fn grid(
        all: &[Parameter],
        reading: Reading,
        given: &BTreeMap<String, Given>,
    ) -> Result<Vec<Self>, ParameterError> {
        let mut grid = vec![Self::default()];
        for parameter in all {
            let values = parameter.values_in(reading, given)?;
            if values.is_empty() {
                continue;
            }
            let with = |settings: Self| -> Vec<Self> {
                // What decides about another setting is declared before it, so that its value is known
                // here.
                if !settings.has_effect(parameter) {
                    return vec![settings];
                }
                values.iter().map(|value| settings.clone().with(parameter.name, value.clone())).collect()
            };
            grid = grid.into_iter().flat_map(with).collect();
        }
        Ok(grid)
    }

    pub(crate) fn has_effect(&self, parameter: &Parameter) -> bool {
        parameter
            .unless
            .is_none_or(|(other, value)| self.get_value(other).and_then(SettingValue::name) != Some(value))
    }

    /// The value of a setting; its default if it has none.
    pub fn get<T: FromValue>(&self, key: &Key<T>) -> T {
        key.read(self.0.get(key.name()))
    }

    /// The value of a setting that not all have; `None` if this one has none.
    pub fn find<T: FromValue>(&self, key: &Key<T>) -> Option<T> {
        T::from_value(self.0.get(key.name())?)
    }

    pub fn get_value(&self, name: &str) -> Option<&SettingValue> {
        self.0.get(name)
    }

    /// A text whose name is known only at run time.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.name()
    }

    /// A count whose name is known only at run time, such as that of a dimension.
    pub fn count(&self, name: &str) -> Option<usize> {
        self.0.get(name)?.count()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The same with another value.
    #[must_use]
    pub fn with(mut self, name: &str, value: SettingValue) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    #[must_use]
    pub fn with_count(self, name: &str, count: usize) -> Self {
        self.with(name, SettingValue::Count(count as u64))
    }

    pub fn take(&mut self, name: &str) -> Option<SettingValue> {
        self.0.remove(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &SettingValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The settings that are not at the default of a reading, in the order of their names.
    #[must_use]
    pub fn unusual(&self, all: &[Parameter], reading: Reading) -> Self {
        let usual = Self::defaults(all, reading);
        let other = self.0.iter().filter(|(name, value)| usual.get_value(name) != Some(value));
        Self(other.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

impl FromIterator<(String, SettingValue)> for Settings {
    fn from_iter<I: IntoIterator<Item = (String, SettingValue)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Constant, ValueLimits};

    crate::choices! {
        pub enum Regularization {
            None = "none",
            L1 = "l1",
        }
    }

    const HIDDEN: Key<usize> = Key::count("hidden", "units", 1..=100, 8);
    const REGULARIZATION: Key<Regularization> = Key::choice("regularization", "", "none");
    const LAMBDA: Key<f64> =
        Key::real("lambda", "", ValueLimits::Positive, 0.1).unless("regularization", "none");
    const ALL: [Parameter; 3] = [HIDDEN.parameter(), REGULARIZATION.parameter(), LAMBDA.parameter()];

    fn given(name: &str, values: &[SettingValue]) -> BTreeMap<String, Given> {
        BTreeMap::from([(name.to_owned(), Given::Values(values.to_vec()))])
    }

    #[test]
    fn a_grid_has_every_combination_but_none_twice_for_a_setting_without_effect() {
        let name = |name: &str| SettingValue::Name(name.to_owned());
        let mut values = given("regularization", &[name("none"), name("l1")]);
        values.extend(given("lambda", &[SettingValue::Real(1.0), SettingValue::Count(2)]));
        let grid = Settings::grid(&ALL, Reading::Corrected, &values).unwrap();
        let lambdas: Vec<Option<f64>> = grid.iter().map(|settings| settings.find(&LAMBDA)).collect();
        assert_eq!(lambdas, [None, Some(1.0), Some(2.0)]);
        assert!(grid.iter().all(|settings| settings.get(&HIDDEN) == 8));
        assert_eq!(grid[1].get(&REGULARIZATION), Regularization::L1);
    }

    #[test]
    fn values_outside_the_limits_are_refused_with_the_limits() {
        let refused = |value| {
            Settings::grid(&ALL, Reading::Corrected, &given("hidden", &[value])).unwrap_err().to_string()
        };
        assert_eq!(
            refused(SettingValue::Count(0)),
            "`hidden` cannot be 0; it must be a whole number from 1 to 100"
        );
        assert!(refused(SettingValue::Real(1.5)).contains("cannot be 1.5"));
        assert!(refused(SettingValue::List(vec![SettingValue::Count(1)])).contains("cannot be [1]"));
    }

    #[test]
    fn settings_are_read_as_they_were_written() {
        let settings = Settings::defaults(&ALL, Reading::Corrected)
            .with("x", SettingValue::Real(2.0))
            .with_count("n", 2);
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(text, r#"{"hidden":8,"n":2,"regularization":"none","x":2.0}"#);
        assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings);
    }

    #[test]
    fn typed_text_is_checked_key_by_key() {
        let read = |text: &str| Settings::read(&ALL, Reading::Corrected, text).map_err(|e| e.to_string());
        assert_eq!(read(" hidden = 9 ,").unwrap().get(&HIDDEN), 9);
        assert_eq!(read("hidden").unwrap_err(), "`hidden` is not a setting; write key=value");
        assert_eq!(read("hidden=1,hidden=2").unwrap_err(), "`hidden` is set twice");
        assert!(read("hiden=1").unwrap_err().contains("did you mean `hidden`?"));
        assert!(read("hidden=").unwrap_err().contains("cannot be empty"));
    }

    #[test]
    fn a_reading_has_defaults_of_its_own() {
        const DAMPED: Key<bool> = Key::switch("damped", "", false).published(Constant::Switch(true));
        let of = |reading| Settings::defaults(&[DAMPED.parameter()], reading).get(&DAMPED);
        assert_eq!((of(Reading::Published), of(Reading::Corrected)), (true, false));
    }
}
