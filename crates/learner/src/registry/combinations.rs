//! How many combinations a grid of settings has, without making them: three lists of a thousand values are a thousand million.

use std::collections::{BTreeMap, BTreeSet};

use super::range::Given;
use super::setting::{Setting, SettingError, SettingValue, Settings};

impl Settings {
    /// How many combinations [`grid`](Self::grid) makes of the given values; `usize::MAX` if there are more than that.
    pub fn combinations(all: &[Setting], given: &BTreeMap<String, Given>) -> Result<usize, SettingError> {
        let deciding: BTreeSet<&str> = all.iter().filter_map(|setting| Some(setting.unless?.0)).collect();
        // Combinations that agree in the names that decide about other settings are counted together.
        let mut counts = vec![(Self::default(), 1_usize)];
        for setting in all {
            let values = match given.get(setting.name) {
                Some(given) => setting.values(given)?,
                None => vec![setting.default.into()],
            };
            if deciding.contains(setting.name) {
                counts = split(&counts, setting, &values);
                continue;
            }
            for (_, count) in counts.iter_mut().filter(|(settings, _)| settings.has_effect(setting)) {
                *count = count.saturating_mul(values.len());
            }
        }
        Ok(counts.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count)))
    }
}

/// The counts by one more setting. Values that are no names decide nothing, and count as one.
fn split(counts: &[(Settings, usize)], setting: &Setting, values: &[SettingValue]) -> Vec<(Settings, usize)> {
    let mut kinds: Vec<(Option<&SettingValue>, usize)> = Vec::new();
    for value in values {
        let kind = Some(value).filter(|value| matches!(value, SettingValue::Name(_)));
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, times)) => *times += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let mut longer = Vec::new();
    for (settings, count) in counts {
        if !settings.has_effect(setting) {
            longer.push((settings.clone(), *count));
            continue;
        }
        for (kind, times) in &kinds {
            let with = |value: &SettingValue| settings.clone().with(setting.name, value.clone());
            longer.push((kind.map_or_else(|| settings.clone(), with), count.saturating_mul(*times)));
        }
    }
    longer
}

#[cfg(test)]
mod tests {
    use super::super::{LEARNERS, Role};
    use super::*;

    #[test]
    fn combinations_are_as_many_as_the_grid_makes() {
        for learner in LEARNERS {
            for all in Role::ALL.into_iter().filter_map(|role| learner.settings(role)) {
                // Every setting twice, and those that are names with all of their values: grids of a few thousand.
                let mut given = BTreeMap::new();
                for setting in all.iter().take(10) {
                    let default = SettingValue::from(setting.default);
                    given.insert(setting.name.to_owned(), Given::Values(vec![default.clone(), default]));
                }
                for setting in all {
                    let Some((other, name)) = setting.unless else { continue };
                    let values = ["none", "l1", "gumbel", "published", "evolution", name].map(String::from);
                    let values = values.into_iter().map(SettingValue::Name);
                    let decider = all.iter().find(|decider| decider.name == other).unwrap();
                    let allowed = values.filter(|value| decider.check(value.clone()).is_ok()).collect();
                    given.insert(other.to_owned(), Given::Values(allowed));
                }
                let counted = Settings::combinations(all, &given).unwrap();
                assert_eq!(counted, Settings::grid(all, &given).unwrap().len(), "{}", learner.name);
            }
        }
    }

    #[test]
    fn a_count_that_is_too_large_for_any_number_is_the_largest() {
        let all = LEARNERS[0].settings(LEARNERS[0].roles().next().unwrap()).unwrap();
        let many = |setting: &Setting| {
            (setting.name.to_owned(), Given::Values(vec![SettingValue::from(setting.default); 10_000]))
        };
        let given: BTreeMap<String, Given> = all.iter().map(many).collect();
        assert!(all.len() > 5);
        assert_eq!(Settings::combinations(all, &given).unwrap(), usize::MAX);
    }
}
