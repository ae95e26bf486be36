//! Plans that would be one run twice: they differ only in a capacity that no training string exhausts.

use std::collections::{BTreeMap, BTreeSet};

use wug_dataset::corpus;
use wug_language::registry::find;
use wug_learner::registry::{self, Parameter, Role, Settings};

use super::grid::with_prior;
use super::{Generalization, GeneralizationPlan};
use crate::expand::PlannedCell;
use crate::protocol::Protocol as _;
use crate::spec::Problem;

/// The plans without those that repeat an earlier one. A stack of 50 rows and one of 100 are the same run where strings have at
/// most 49 symbols, and would be counted as two configurations.
pub(super) fn distinct(
    planned: Vec<PlannedCell<Generalization>>,
) -> Result<Vec<PlannedCell<Generalization>>, Problem> {
    let mut kinds: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for PlannedCell { plan, .. } in &planned {
        *kinds.entry(without_capacity(plan)).or_default() += 1;
    }
    let (mut seen, mut longest) = (BTreeSet::new(), BTreeMap::new());
    let mut kept = Vec::new();
    for cell in planned {
        let plan = &cell.plan;
        let kind = without_capacity(plan);
        // Only where capacities differ: to know the longest string, the corpus must be drawn.
        if kinds[&kind] > 1 {
            let key = Generalization::data_key(plan);
            let steps = match longest.get(&key) {
                Some(steps) => *steps,
                None => *longest.entry(key).or_insert(most_steps(plan)?),
            };
            if !seen.insert((kind, capacity(plan, steps))) {
                continue;
            }
        }
        kept.push(cell);
    }
    Ok(kept)
}

/// The settings that are capacities.
fn capacities(plan: &GeneralizationPlan) -> impl Iterator<Item = &'static Parameter> {
    let learner = registry::find(&plan.learner.name, Role::NextSymbol).ok();
    let settings = learner.and_then(|learner| learner.settings(Role::NextSymbol)).unwrap_or_default();
    settings.iter().filter(|setting| setting.capacity)
}

/// The plan without those settings.
fn without_capacity(plan: &GeneralizationPlan) -> Vec<u8> {
    let mut plan = plan.clone();
    capacities(&plan.clone()).for_each(|setting| drop(plan.learner.settings.take(setting.name)));
    plan.identity()
}

/// Those settings as far as they make a difference.
fn capacity(plan: &GeneralizationPlan, steps: usize) -> Vec<usize> {
    let of = |settings: &Settings, name: &str| settings.count(name).map(|rows| rows.min(steps));
    capacities(plan).filter_map(|setting| of(&plan.learner.settings, setting.name)).collect()
}

/// How many symbols a learner reads of the longest training string: one more for the boundary before it.
fn most_steps(plan: &GeneralizationPlan) -> Result<usize, Problem> {
    let problem = |message: String| Problem::new("languages", &plan.subject, message);
    let named =
        find(&with_prior(&plan.subject, plan.data.prior)).map_err(|error| problem(error.to_string()))?;
    let seed = plan.data_seed.unwrap_or_default();
    let strings = corpus::training(&named, plan.data.training, plan.reading, seed)
        .map_err(|error| problem(error.to_string()))?;
    Ok(strings.iter().map(Vec::len).max().unwrap_or(0) + 1)
}
