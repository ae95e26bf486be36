//! Grids of every learner are counted as they are made.

use std::collections::BTreeMap;

use wug_language::Reading;
use wug_parameter::{Given, Parameter, SettingValue as Value, Settings};

use super::{LEARNERS, Role};

#[test]
fn combinations_are_as_many_as_the_grid_makes() {
    for learner in LEARNERS {
        for all in Role::ALL.into_iter().filter_map(|role| learner.settings(role)) {
            // Every setting twice, and those that are names with all of their values: grids of a few thousand.
            let mut given = BTreeMap::new();
            for setting in all.iter().take(10) {
                let default = setting.default.value().unwrap();
                given.insert(setting.name.to_owned(), Given::Values(vec![default.clone(), default]));
            }
            for setting in all {
                let Some((other, name)) = setting.unless else { continue };
                let values = ["none", "l1", "gumbel", "published", "evolution", name].map(String::from);
                let values = values.into_iter().map(Value::Name);
                let decider = all.iter().find(|decider| decider.name == other).unwrap();
                let allowed = values.filter(|value| decider.check(value.clone()).is_ok()).collect();
                given.insert(other.to_owned(), Given::Values(allowed));
            }
            let counted = Settings::combinations(all, Reading::Corrected, &given).unwrap();
            assert_eq!(
                counted,
                Settings::grid(all, Reading::Corrected, &given).unwrap().len(),
                "{}",
                learner.name
            );
        }
    }
}

#[test]
fn a_count_that_is_too_large_for_any_number_is_the_largest() {
    let all = LEARNERS[0].settings(LEARNERS[0].roles().next().unwrap()).unwrap();
    let many = |setting: &Parameter| {
        (setting.name.to_owned(), Given::Values(vec![setting.default.value().unwrap(); 10_000]))
    };
    let given: BTreeMap<String, Given> = all.iter().map(many).collect();
    assert!(all.len() > 5);
    assert_eq!(Settings::combinations(all, Reading::Corrected, &given).unwrap(), usize::MAX);
}
