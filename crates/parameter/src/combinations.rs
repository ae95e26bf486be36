//! How many combinations a grid of settings has, without making them: three lists of a thousand values are a thousand million.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Given, Parameter, ParameterError, Reading, SettingValue, Settings};

impl Settings {
    /// How many combinations [`grid`](Self::grid) makes of the given values; `usize::MAX` if there are more than that.
    pub fn combinations(
        all: &[Parameter],
        reading: Reading,
        given: &BTreeMap<String, Given>,
    ) -> Result<usize, ParameterError> {
        let deciding: BTreeSet<&str> = all.iter().filter_map(|setting| Some(setting.unless?.0)).collect();
        // Combinations that agree in the names that decide about other settings are counted together.
        let mut counts = vec![(Self::default(), 1_usize)];
        for setting in all {
            let values = setting.values_in(reading, given)?;
            if deciding.contains(setting.name) {
                counts = split(&counts, setting, &values);
                continue;
            }
            for (_, count) in counts.iter_mut().filter(|(settings, _)| settings.has_effect(setting)) {
                // Grids of more than usize combinations are refused by their number, so that it must not
                // wrap around.
                *count = count.saturating_mul(values.len().max(1));
            }
        }
        Ok(counts.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count)))
    }
}

/// The counts by one more setting. Values that are no names decide nothing, and count as one.
fn split(
    counts: &[(Settings, usize)],
    setting: &Parameter,
    values: &[SettingValue],
) -> Vec<(Settings, usize)> {
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
