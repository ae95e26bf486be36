//! What the plans of runs have in common and what differs, whatever fields they have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wug_score::RunResult;

use crate::table::distinct;

/// Where plans have the seed of what is drawn as data.
const DATA_SEEDS: [&str; 3] = ["/data/source/drawn/seed", "/data_seed", "/data/seed"];
/// The name of that seed.
pub(crate) const DATA_SEED: &str = "data seed";
/// The name of the seed of the run.
const SEED: &str = "seed";
/// From how many values on numbers are shown as a range.
const MANY: usize = 4;

/// The values of a plan by name: what it says of the settings of a learner has no prefix.
pub(crate) fn fields(result: &RunResult) -> BTreeMap<String, Value> {
    let mut fields = BTreeMap::from([(SEED.to_owned(), result.run.seed.into())]);
    collect(&result.plan, "", &mut fields);
    fields
}

fn collect(value: &Value, at: &str, fields: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(name, value)| collect(value, &format!("{at}/{name}"), fields));
        }
        Value::Null => {}
        value => {
            fields.insert(named(at), value.clone());
        }
    }
}

fn named(at: &str) -> String {
    if DATA_SEEDS.contains(&at) {
        return DATA_SEED.to_owned();
    }
    let at = at.strip_prefix("/settings").unwrap_or(at);
    at.trim_start_matches('/').replace(['/', '_'], " ")
}

/// What some runs have as a field: one value, a few, or a range of numbers; empty if none has it.
pub(crate) fn shown(values: &[&Value]) -> String {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| value.as_f64()).collect();
    let Some(mut numbers) = numbers else {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let values: BTreeSet<String> = values.iter().map(|value| text(value)).collect();
        return list(values.into_iter());
    };
    numbers.sort_by(f64::total_cmp);
    let numbers = distinct(numbers.into_iter());
    match &numbers[..] {
        [least, .., most] if numbers.len() >= MANY => format!("{} to {}", digits(*least), digits(*most)),
        _ => list(numbers.into_iter().map(digits)),
    }
}

fn list(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(", ")
}

/// Four digits of a number that was drawn; whole numbers in full.
fn digits(x: f64) -> String {
    let short = format!("{x:.3e}").parse().ok().filter(|_| x.fract().abs() > 0.0);
    short.unwrap_or(x).to_string()
}

/// The names of the fields in which some runs differ, seeds first.
fn differing(runs: &[&RunResult]) -> BTreeSet<(bool, String)> {
    let all: Vec<BTreeMap<String, Value>> = runs.iter().map(|run| fields(run)).collect();
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let differs = |name: &&&String| all.iter().any(|fields| fields.get(**name) != all[0].get(**name));
    names.iter().filter(differs).map(|name| (!name.ends_with(SEED), (**name).clone())).collect()
}

/// A note on what differs among the runs of a cell, of any of the cells: what a spread is over. `None` if no cell has two runs.
pub(crate) fn spread_note<'a>(cells: impl Iterator<Item = Vec<&'a RunResult>>) -> Option<String> {
    let several: Vec<Vec<&RunResult>> = cells.filter(|runs| runs.len() > 1).collect();
    let names: BTreeSet<(bool, String)> = several.iter().flat_map(|runs| differing(runs)).collect();
    let names: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
    match &names[..] {
        [] => None,
        [one] => Some(format!("Runs in a cell differ in their {one} alone.")),
        [more @ .., last] => Some(format!("Runs in a cell differ in their {} and {last}.", more.join(", "))),
    }
}

/// A note on the seeds of the data, where they were drawn.
pub(crate) fn data_note(runs: &[&RunResult]) -> Option<String> {
    let seeds: BTreeSet<u64> = runs.iter().filter_map(|run| data_seed(run)).collect();
    let shown = list(seeds.iter().map(ToString::to_string));
    match seeds.len() {
        0 => None,
        1 => Some(format!("Data drawn with seed {shown}.")),
        _ => Some(format!("Data drawn with the seeds {shown}.")),
    }
}

/// The seed of a run's data, where they were drawn.
pub(crate) fn data_seed(run: &RunResult) -> Option<u64> {
    DATA_SEEDS.iter().find_map(|at| run.plan.pointer(at)?.as_u64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_lists_and_ranges_of_numbers() {
        let of = |values: &[Value]| shown(&values.iter().collect::<Vec<_>>());
        assert_eq!(of(&[json!(3), json!(3)]), "3");
        assert_eq!(of(&[json!(50), json!(3), json!(50)]), "3, 50");
        assert_eq!(of(&[json!(0.000_200_809_7), json!(0.01), json!(0.5), json!(2)]), "0.0002008 to 2");
        assert_eq!(of(&[json!("l2"), json!("l1"), json!("l2")]), "l1, l2");
        assert_eq!(of(&[json!("all"), json!(1)]), "1, all");
        assert_eq!(of(&[]), "");
    }

    #[test]
    fn fields_have_plain_names() {
        for (at, name) in [
            ("/settings/learning_rate", "learning rate"),
            ("/learning_rate", "learning rate"),
            ("/weights/next_symbols", "weights next symbols"),
            ("/data/source/drawn/seed", "data seed"),
            ("/data_seed", "data seed"),
            ("/data/training", "data training"),
        ] {
            assert_eq!(named(at), name);
        }
    }
}
