//! Plans that would be one run twice: they differ only in a capacity that no training string exhausts.

use std::collections::{BTreeMap, BTreeSet};

use wug_dataset::corpus;
use wug_learner::registry::{self, Parameter, Role, Settings};

use super::plan::Plan;
use crate::protocol::Planned;
use crate::spec::Problem;

/// The plans without those that repeat an earlier one. A stack of 50 rows and one of 100 are the same run where strings have at
/// most 49 symbols, and would be counted as two configurations.
pub(super) fn distinct(plans: Vec<Plan>) -> Result<Vec<Plan>, Problem> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for plan in &plans {
        *kinds.entry(without_capacity(plan)).or_default() += 1;
    }
    let (mut seen, mut longest) = (BTreeSet::new(), BTreeMap::new());
    let mut kept = Vec::new();
    for plan in plans {
        let kind = without_capacity(&plan);
        if kinds[&kind] > 1 {
            let steps = match longest.get(&plan.data_key()) {
                Some(steps) => *steps,
                None => *longest.entry(plan.data_key()).or_insert(most_steps(&plan)?),
            };
            if !seen.insert((kind, capacity(&plan, steps))) {
                continue;
            }
        }
        kept.push(plan);
    }
    Ok(kept)
}

/// The settings that are capacities.
fn capacities(plan: &Plan) -> impl Iterator<Item = &'static Parameter> {
    let learner = registry::find(&plan.learner, Role::NextSymbol).ok();
    let settings = learner.and_then(|learner| learner.settings(Role::NextSymbol)).unwrap_or_default();
    settings.iter().filter(|setting| setting.capacity)
}

/// The plan without those settings.
fn without_capacity(plan: &Plan) -> String {
    let mut settings = plan.settings.clone();
    capacities(plan).for_each(|setting| drop(settings.take(setting.name)));
    serde_json::to_string(&Plan { settings, ..plan.clone() }).unwrap_or_default()
}

/// Those settings as far as they make a difference.
fn capacity(plan: &Plan, steps: usize) -> Vec<usize> {
    let of = |settings: &Settings, name: &str| settings.count(name).map(|rows| rows.min(steps));
    capacities(plan).filter_map(|setting| of(&plan.settings, setting.name)).collect()
}

/// How many symbols a learner reads of the longest training string: one more for the boundary before it.
fn most_steps(plan: &Plan) -> Result<usize, Problem> {
    let problem = |message: String| Problem::new("languages", &plan.language, message);
    let named = plan.named().map_err(|error| problem(error.to_string()))?;
    let strings = corpus::training(&named, plan.training, plan.reading, plan.data_seed)
        .map_err(|error| problem(error.to_string()))?;
    Ok(strings.iter().map(Vec::len).max().unwrap_or(0) + 1)
}
