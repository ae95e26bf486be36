//! How many trainable parameters learners have: what was asked for, and what they came to.

use std::collections::BTreeMap;
use std::ops::Deref;

use wug_score::RunResult;

use crate::table::{grouped, whole_range};

/// How far a size may be from what was asked for before a note names it.
const TOLERANCE: f64 = 0.05;

/// The parameters of some runs, such as `8,205` or `8,105 to 8,233`; `None` if none has any.
pub(crate) fn range(runs: impl IntoIterator<Item = impl Deref<Target = RunResult>>) -> Option<String> {
    let counts: Vec<usize> = runs.into_iter().filter_map(|run| run.parameters).collect();
    whole_range(&counts)
}

/// A learner with the parameters of its runs, as a legend names it.
pub(crate) fn labelled(
    learner: &str,
    runs: impl IntoIterator<Item = impl Deref<Target = RunResult>>,
) -> String {
    label(learner, runs.into_iter().filter(|run| run.run.learner() == learner))
}

/// A name with the parameters of its runs.
pub(crate) fn label(name: &str, own: impl IntoIterator<Item = impl Deref<Target = RunResult>>) -> String {
    range(own).map_or_else(|| name.to_owned(), |range| format!("{name} ({range})"))
}

/// Notes on the parameters of each learner, and on those that miss the size asked for.
pub(crate) fn notes(runs: &[impl Deref<Target = RunResult>]) -> Vec<String> {
    let mut learners: BTreeMap<&str, Vec<&RunResult>> = BTreeMap::new();
    for run in runs.iter().map(|run| &**run) {
        // What a search found has weights, but they were not trained, and how many there are is part of what was found.
        if run.data.get("found").is_none() {
            learners.entry(run.run.learner()).or_default().push(run);
        }
    }
    let sizes = learners
        .iter()
        .filter_map(|(learner, runs)| Some(format!("{learner} {}", range(runs.iter().copied())?)));
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    let sizes = (!sizes.is_empty()).then(|| format!("Trainable parameters: {sizes}."));
    sizes.into_iter().chain(misses(runs)).collect()
}

/// A note on the runs whose size is not within the tolerance of what was asked for.
pub(crate) fn misses(runs: &[impl Deref<Target = RunResult>]) -> Option<String> {
    let mut missed: BTreeMap<(&str, u64), Vec<&RunResult>> = BTreeMap::new();
    for run in runs.iter().map(|run| &**run) {
        let Some(asked) = run.run.coordinates.integer("size") else { continue };
        let off = |n: usize| (n as f64 - asked as f64).abs() > TOLERANCE * asked as f64;
        if run.parameters.is_some_and(off) {
            missed.entry((run.run.learner(), asked)).or_default().push(run);
        }
    }
    let one = |((learner, asked), runs): ((&str, u64), Vec<&RunResult>)| {
        let asked = grouped(usize::try_from(asked).unwrap_or(usize::MAX));
        Some(format!("{learner} {} for {asked}", range(runs)?))
    };
    let missed = missed.into_iter().filter_map(one).collect::<Vec<_>>().join(", ");
    (!missed.is_empty()).then(|| format!("More than 5 % from the size asked for: {missed}."))
}
