//! How many runs there are, counted before any is planned; and the things that a section is about.

use std::fmt::Display;

use wug_language::registry::{self, BuildError, LANGUAGES, Named};
use wug_parameter::Settings;

use super::Problem;
use super::draft::{DraftItem, DraftNode, Fields};
use super::shared;

/// The most runs of an experiment: twenty times the largest published grid, and planned in seconds.
pub(crate) const MAX_RUNS: usize = 100_000;

/// Refuses an empty list.
pub(crate) fn nonempty<T>(field: &str, given: &[T]) -> Result<(), Problem> {
    if given.is_empty() {
        return Err(Problem::new(field, "[]", "is empty; at least one is needed".to_owned()));
    }
    Ok(())
}

/// Refuses a value unless `ok`.
pub(crate) fn ensure(ok: bool, field: &str, given: &dyn Display, allowed: &str) -> Result<(), Problem> {
    if ok { Ok(()) } else { Err(Problem::value(field, &given.to_string(), allowed)) }
}

/// The things in a list, such as languages or tasks, each as it is spelled: `name:key=value,key=value`. A table has a `name` and
/// settings; one with lists stands for every combination.
pub(super) fn things(field: &str, nodes: &[DraftNode]) -> Result<Vec<String>, Problem> {
    let mut all = Vec::new();
    for node in nodes {
        all.extend(spelled(field, node).map_err(|problem| problem.written(node.origin))?);
    }
    Ok(all)
}

/// How many things a list stands for.
pub(super) fn count_things(nodes: &[DraftNode]) -> usize {
    let values = |node: &DraftNode| match &node.item {
        DraftItem::List(items) => items.len(),
        _ => 1,
    };
    // Products saturate: three long lists in one table would overflow before they are refused.
    let combinations = |node: &DraftNode| match &node.item {
        DraftItem::Table(table) => table.iter().map(|(_, node)| values(node)).fold(1, usize::saturating_mul),
        _ => 1,
    };
    nodes.iter().map(combinations).fold(0, usize::saturating_add)
}

fn spelled(field: &str, node: &DraftNode) -> Result<Vec<String>, Problem> {
    let table: &Fields = match &node.item {
        DraftItem::Value(value) if value.name().is_some() => return Ok(vec![value.to_string()]),
        DraftItem::Table(table) => table,
        _ => {
            let allowed = "a name, or a table with a `name` and settings";
            return Err(Problem::value(field, &node.shown(), allowed));
        }
    };
    let Some(name) = table.get("name").and_then(DraftNode::text) else {
        return Err(Problem::new(field, "", "a table in the list needs a `name`".to_owned()));
    };
    let mut names = vec![name.to_owned()];
    for (setting, node) in table.iter().filter(|(key, _)| *key != "name") {
        let items = node.clone().into_items();
        let path = format!("{field}.{setting}");
        nonempty(&path, &items)?;
        let mut longer = Vec::new();
        for name in &names {
            for item in &items {
                let DraftItem::Value(value) = &item.item else {
                    return Err(
                        Problem::value(&path, &item.shown(), "a number or a name").written(item.origin)
                    );
                };
                // As the registry spells it: a table and a name with settings are the same subject.
                let separator = if name.contains(':') { ',' } else { ':' };
                longer.push(format!("{name}{separator}{setting}={value}"));
            }
        }
        names = longer;
    }
    Ok(names)
}

/// The languages with some names; `SUITE/*` stands for all of a suite.
pub(crate) fn languages(names: &[String]) -> Result<Vec<Named>, Problem> {
    let field = shared::LANGUAGES;
    if names.is_empty() {
        let message = "at least one is needed: names of languages, or `SUITE/*` for all of a suite";
        return Err(Problem::new(field, "[]", message.to_owned()));
    }
    let mut found = Vec::new();
    for name in names {
        let problem = |message: String| Problem::new(field, name, message);
        let Some(suite) = name.strip_suffix("/*") else {
            found.push(registry::find(name).map_err(|error: BuildError| problem(error.to_string()))?);
            continue;
        };
        let all: Vec<_> = LANGUAGES.iter().filter(|entry| entry.suite == suite).collect();
        if all.is_empty() {
            return Err(problem(format!("there is no suite `{suite}` of languages")));
        }
        found.extend(all.into_iter().map(|entry| Named { entry, settings: Settings::default() }));
    }
    Ok(found)
}

/// The number of runs of a grid. Refuses one that is too large, before any plan is made.
pub(crate) fn runs(first: u64, seeds: u64, cells: impl IntoIterator<Item = usize>) -> Result<usize, Problem> {
    let given = seeds.to_string();
    let cells = cells.into_iter().fold(1, usize::saturating_mul);
    let runs = usize::try_from(seeds).unwrap_or(usize::MAX).saturating_mul(cells);
    if runs > MAX_RUNS {
        let message = format!(
            "{given} seeds of {} cells are {} runs; an experiment has at most {MAX_RUNS}. A cell is a combination of a language, a size, a learner, its settings and whatever else is a list",
            counted(cells),
            counted(runs)
        );
        return Err(Problem::new("seeds", &given, message));
    }
    // Seeds are a half-open range, whose end must fit too.
    if first.checked_add(seeds).is_none() {
        let allowed = format!("at most {}, for {given} seeds", u64::MAX - seeds);
        return Err(Problem::value("first_seed", &first.to_string(), &allowed));
    }
    Ok(runs)
}

/// A count that may have been too large to be counted.
fn counted(n: usize) -> String {
    if n == usize::MAX { format!("more than {}", n - 1) } else { n.to_string() }
}

/// The cells of a section so far, counted before the combinations of a learner's settings are made.
pub(super) struct Cells {
    pub(super) first_seed: u64,
    pub(super) seeds: u64,
    /// Those of each learner with each combination of its settings.
    pub(super) of_each: usize,
    pub(super) learners: usize,
}

impl Cells {
    /// Counts a learner with so many combinations of settings; refuses it if there are too many runs by now.
    pub(super) fn add(&mut self, combinations: usize) -> Result<(), Problem> {
        self.learners = self.learners.saturating_add(combinations);
        runs(self.first_seed, self.seeds, [self.of_each, self.learners]).map(drop)
    }
}
