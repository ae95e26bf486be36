//! What is checked of a next-symbol learner before it is fitted.

use wug_learner::registry::{Matching, NextSymbolRole, Settings};

use crate::spec::sizes::Sizes;
use crate::spec::{LearnerGrid, Problem};

/// The settings of a run with the dimensions of a size, and the number of parameters; none for baselines. Refuses a learner that
/// cannot be built for a language with so many symbols, the boundary included.
pub(crate) fn built(
    grid: &LearnerGrid,
    settings: Settings,
    (language, vocabulary): (&str, usize),
    how: (Option<usize>, Matching),
    sizes: &mut Sizes,
) -> Result<(Settings, Option<usize>), Problem> {
    let name = grid.learner.name;
    let role = grid.learner.next_symbol.as_ref();
    let related = role.and_then(NextSymbolRole::check).map_or(Ok(()), |check| check(&settings));
    related.map_err(Problem::from)?;
    let Some(network) = role.and_then(NextSymbolRole::network) else { return Ok((settings, None)) };
    let found = sizes.matched(network, (grid, settings), vocabulary, how);
    let found =
        found.map_err(|error| Problem::new("learners", name, format!("{name} on {language}: {error}")))?;
    Ok((found.settings, Some(found.parameters)))
}
