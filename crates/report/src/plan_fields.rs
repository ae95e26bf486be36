//! What the plans of runs have in common and what differs, whatever fields they have.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use serde_json::Value;
use wug_score::RunResult;

use crate::records::flatten;
use crate::table::distinct;

/// The name of the seed of the run.
const SEED: &str = "seed";
/// From how many values on numbers are shown as a range.
const MANY: usize = 4;
/// What follows from other fields, or is a coordinate of every run.
const IMPLIED: [&str; 3] = ["subject", "learner.found", "learner.external"];
/// The parts of plans whose fields go by their own names. The last of them gives way where two have the same.
const PLAIN: [&str; 3] = ["measure.", "learner.settings.", "learner."];

/// The values of a plan by name: fields of the learner and of the measure have no prefix, unless the plan has another of that name.
pub(crate) fn fields(result: &RunResult) -> BTreeMap<String, Value> {
    // Plans are written as JSON into every result.
    let mut fields = of_plan(&serde_json::to_value(&result.plan).unwrap_or_default());
    fields.insert(SEED.to_owned(), result.run.seed.into());
    fields
}

fn of_plan(plan: &Value) -> BTreeMap<String, Value> {
    let mut paths = Vec::new();
    flatten(plan, "", &mut paths);
    paths.retain(|(path, _)| !IMPLIED.iter().any(|own| path.starts_with(own)));
    let (settings, own): (Vec<_>, Vec<_>) =
        paths.into_iter().partition(|(path, _)| path.starts_with(PLAIN[1]));
    let mut fields: BTreeMap<String, Value> =
        own.into_iter().map(|(path, value)| (named(&path), value)).collect();
    for (path, value) in settings {
        let name = named(&path);
        // A learner's setting may have the name of a field of the plan, such as `batch`.
        let name = if fields.contains_key(&name) { format!("settings {name}") } else { name };
        fields.insert(name, value);
    }
    fields
}

fn named(path: &str) -> String {
    let plain = PLAIN.iter().find_map(|part| path.strip_prefix(part));
    match plain.unwrap_or(path) {
        "name" => "learner".to_owned(),
        name => name.replace(['.', '_'], " "),
    }
}

/// A coordinate under the name that its field has.
pub(crate) fn field_name(coordinate: &str) -> String {
    coordinate.replace('_', " ")
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
    // Through scientific notation, so that 0.00012345 keeps four digits too.
    let short = format!("{x:.3e}").parse().ok().filter(|_| x.fract().abs() > 0.0);
    short.unwrap_or(x).to_string()
}

/// The names of the fields in which some runs differ, seeds first.
fn differing(runs: &[impl Deref<Target = RunResult>]) -> BTreeSet<(bool, String)> {
    let all: Vec<BTreeMap<String, Value>> = runs.iter().map(|run| fields(run)).collect();
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let differs = |name: &&&String| all.iter().any(|fields| fields.get(**name) != all[0].get(**name));
    names.iter().filter(differs).map(|name| (!name.ends_with(SEED), (**name).clone())).collect()
}

/// A note on what differs among the runs of a cell, of any of the cells: what a spread is over. `None` if no cell has two runs.
pub(crate) fn spread_note<R: Deref<Target = RunResult>>(
    cells: impl Iterator<Item = Vec<R>>,
) -> Option<String> {
    let several: Vec<Vec<R>> = cells.filter(|runs| runs.len() > 1).collect();
    let names: BTreeSet<(bool, String)> = several.iter().flat_map(|runs| differing(runs)).collect();
    let names: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
    match &names[..] {
        [] => None,
        [one] => Some(format!("Runs in a cell differ in their {one} alone.")),
        [more @ .., last] => Some(format!("Runs in a cell differ in their {} and {last}.", more.join(", "))),
    }
}

/// A note on the seeds of the data, where they were drawn.
pub(crate) fn data_note(runs: &[impl Deref<Target = RunResult>]) -> Option<String> {
    let seeds: BTreeSet<u64> = runs.iter().filter_map(|run| run.plan.data_seed).collect();
    let shown = list(seeds.iter().map(ToString::to_string));
    match seeds.len() {
        0 => None,
        1 => Some(format!("Data drawn with seed {shown}.")),
        _ => Some(format!("Data drawn with the seeds {shown}.")),
    }
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
    fn a_setting_keeps_its_prefix_where_its_name_is_taken() {
        let plan = json!({
            "measure": {"output": [1, 9]},
            "learner": {"name": "lstm", "found": ["hidden"], "settings": {"output": "tied", "hidden": 8}},
        });
        let fields = of_plan(&plan);
        assert_eq!((&fields["output"], &fields["settings output"]), (&json!([1, 9]), &json!("tied")));
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["hidden", "learner", "output", "settings output"]);
    }

    #[test]
    fn fields_have_plain_names() {
        for (path, name) in [
            ("learner.settings.learning_rate", "learning rate"),
            ("learner.size", "size"),
            ("measure.weights.next_symbols", "weights next symbols"),
            ("data_seed", "data seed"),
            ("data.training", "data training"),
        ] {
            assert_eq!(named(path), name);
        }
    }
}
