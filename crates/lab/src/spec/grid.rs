//! Parsing and checks that all grids share: names, languages, seeds, ranges of numbers.

use std::fmt::Display;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Value;
use wug_language::registry::{self, BuildError, LANGUAGES, Named};
use wug_parameter::Settings;

use super::Problem;

/// The most runs of an experiment: twenty times the largest published grid, and planned in seconds.
pub(crate) const MAX_RUNS: usize = 100_000;

/// A list, or a single item, which stands for a list of one.
pub(crate) fn one_or_more<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    match Value::deserialize(from)? {
        Value::Array(items) => items.into_iter().map(item).collect(),
        one => Ok(vec![item(one)?]),
    }
}

fn item<'de, T: Deserialize<'de>, E: Error>(value: Value) -> Result<T, E> {
    value.try_into().map_err(|error: toml::de::Error| E::custom(error.message()))
}

/// Names as owned strings.
pub(crate) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The value with a name.
pub(crate) fn named<T: Copy>(
    field: &str,
    given: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, Problem> {
    all.iter().copied().find(|&x| name(x) == given).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|&x| name(x)).collect();
        Problem::unknown(field, given, &names)
    })
}

/// The values with some names, at least one.
pub(crate) fn each<T: Copy>(
    field: &str,
    given: &[String],
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Vec<T>, Problem> {
    nonempty(field, given)?;
    given.iter().map(|text| named(field, text, all, name)).collect()
}

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

/// The languages with some names; `SUITE/*` stands for all of a suite.
pub(crate) fn languages(names: &[String]) -> Result<Vec<Named>, Problem> {
    if names.is_empty() {
        let message = "at least one is needed: names of languages, or `SUITE/*` for all of a suite";
        return Err(Problem::new("languages", "[]", message.to_owned()));
    }
    let mut found = Vec::new();
    for name in names {
        let problem = |message: String| Problem::new("languages", name, message);
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
    ensure(seeds > 0, "seeds", &given, "at least 1")?;
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
