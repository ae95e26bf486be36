//! Sizes in a section: `sizes` are numbers of parameters that every learner is to have, `matching` says how its dimensions
//! are found.

use std::collections::BTreeMap;

use serde_json::Value;
use wug_learner::model::{Counted, SpecError};
use wug_learner::registry::{Matched, Matching, Network, Settings, is_met};

use super::LearnerGrid;
use crate::plan::RunPlan;

/// The dimensions that were found, so that each is searched once for all seeds.
#[derive(Debug, Default)]
pub(crate) struct Sizes(BTreeMap<String, Matched>);

impl Sizes {
    /// The settings of a learner with the dimensions of a size and with the true number of parameters. Without a size, the
    /// settings as they are.
    pub(crate) fn matched<T: Copy + std::fmt::Debug, S: Counted>(
        &mut self,
        network: &Network<T, S>,
        (grid, settings): (&LearnerGrid, Settings),
        task: T,
        (size, matching): (Option<usize>, Matching),
    ) -> Result<Matched, SpecError> {
        let Some(size) = size else {
            let parameters = network.parameters(&settings, task)?;
            return Ok(Matched { settings, parameters });
        };
        let key = format!("{} {task:?} {size} {matching:?} {:?} {settings:?}", grid.learner.name, grid.given);
        if let Some(found) = self.0.get(&key) {
            return Ok(found.clone());
        }
        let found = network.matched(&settings, &grid.given, size, task, matching)?;
        self.0.insert(key, found.clone());
        Ok(found)
    }
}

/// The sizes that some runs miss by more than the tolerance, in words: a line per learner and size.
pub(super) fn missed(runs: &[RunPlan]) -> Vec<String> {
    let mut missed: BTreeMap<(String, usize, bool), (usize, usize)> = BTreeMap::new();
    for plan in runs.iter().map(RunPlan::value) {
        let count = |name: &str| usize::try_from(plan.get(name)?.as_u64()?).ok();
        let text = |name: &str| plan.get(name).and_then(Value::as_str).unwrap_or_default();
        let (Some(size), Some(parameters)) = (count("size"), count("parameters")) else { continue };
        if !is_met(size, parameters) {
            let by_formula = text("matching") == Matching::Published.name();
            let counts = missed.entry((text("learner").to_owned(), size, by_formula));
            let (least, most) = counts.or_insert((parameters, parameters));
            (*least, *most) = (parameters.min(*least), parameters.max(*most));
        }
    }
    let line = |((learner, size, by_formula), (least, most)): (_, (usize, usize))| {
        let range = if least < most { format!("{} to ", grouped(least)) } else { String::new() };
        let why = if by_formula {
            "so `matching = \"published\"` has it; `\"nearest\"` may come nearer"
        } else {
            "the settings that are given allow nothing nearer"
        };
        format!("{learner} has {range}{} parameters, not {}: {why}", grouped(most), grouped(size))
    };
    missed.into_iter().map(line).collect()
}

/// A number with commas.
pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What a label says of the number of parameters, with the size that was asked for if it was missed.
pub(crate) fn count(size: Option<usize>, parameters: usize) -> String {
    match size {
        // Learners from elsewhere say how many they have once they run, if at all.
        _ if parameters == 0 => "(parameters unknown)".to_owned(),
        Some(size) if !is_met(size, parameters) => {
            format!("({} parameters for {})", grouped(parameters), grouped(size))
        }
        _ => format!("({} parameters)", grouped(parameters)),
    }
}
