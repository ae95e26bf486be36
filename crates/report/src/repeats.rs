//! Runs that were made more than once, or under settings that made no difference: each counts once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wug_score::{Coordinates, RunResult};

use crate::cells::PaperCells;
use crate::plan_fields::fields;
use crate::run::AnyRun;

/// Each run once: of those that are the same, the one with the lowest settings, in the place of the first.
pub(crate) fn distinct<'r>(runs: &[AnyRun<'r>], cells: &PaperCells<'_>) -> Vec<AnyRun<'r>> {
    let mut kept: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    let mut distinct: Vec<AnyRun<'r>> = Vec::new();
    for &run in runs {
        let of = &run.result().run;
        let alike = kept.entry((&of.protocol, cell(run, cells), of.reading, of.seed)).or_default();
        match alike.iter().find(|i| is_same(&distinct[**i], &run)) {
            // The choice must not depend on the order of files; only the place in the list does.
            Some(&i) if settings(&run) < settings(&distinct[i]) => distinct[i] = run,
            Some(_) => {}
            None => {
                alike.push(distinct.len());
                distinct.push(run);
            }
        }
    }
    distinct
}

/// The coordinates of a run without those in which the cells of its table differ: one that made no difference leaves one run.
fn cell(run: AnyRun<'_>, cells: &PaperCells<'_>) -> Coordinates {
    let mut cell = run.run.coordinates.clone();
    // Runs that depart from the paper are told apart by all that their experiment lists.
    let varied = if run.is_as_in_paper() { cells.varied(run) } else { BTreeSet::new() };
    let pooled = run
        .run
        .coordinates
        .iter()
        .map(|(name, _)| name)
        .filter(|name| varied.contains(&name.replace('_', " ")));
    pooled.for_each(|name| cell.remove(name));
    cell
}

/// The settings of a run, in an order in which 50 comes before 100.
fn settings(result: &RunResult) -> Vec<(String, Option<f64>, String)> {
    let ordered = |(name, value): (String, Value)| (name, value.as_f64(), value.to_string());
    fields(result).into_iter().map(ordered).collect()
}

/// Whether two runs with the same coordinates and seed are one: all that was measured is the same, and they have the same
/// plan, or trained alike to the last bit. A memory of 50 rows and one of 100 are the same where no string needs more than 50.
fn is_same(a: &RunResult, b: &RunResult) -> bool {
    let trained_alike = !a.curve.is_empty() && a.curve == b.curve && a.parameters == b.parameters;
    (a.run.plan == b.run.plan || trained_alike)
        && a.run.data_hash == b.run.data_hash
        && a.ending == b.ending
        && a.scores == b.scores
}

/// A caution about runs that are not counted; `None` if all are.
pub(crate) fn caution(all: usize, distinct: usize) -> Option<String> {
    let repeats = all - distinct;
    (repeats > 0).then(|| {
        format!("{repeats} of {all} runs are the same as another (same seed, same training, same scores); each counts once")
    })
}
