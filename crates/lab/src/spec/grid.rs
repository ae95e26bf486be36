//! Parsing and checks that all grids share: names, languages, seeds, ranges of numbers.

use std::fmt::Display;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Value;
use wug_language::registry::{self, BuildError, LANGUAGES, Named};
use wug_parameter::Settings;

use super::Problem;

/// The most runs of a section: twenty times the largest published grid, and planned in seconds.
const MAX_RUNS: u64 = 100_000;

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

/// Refuses grids that are too large, before any plan is made.
pub(crate) fn seeds(first: u64, count: u64, cells: impl IntoIterator<Item = usize>) -> Result<(), Problem> {
    let given = count.to_string();
    ensure(count > 0, "seeds", &given, "at least 1")?;
    let cells = cells.into_iter().fold(1, |n: u64, m| n.saturating_mul(m as u64));
    if count.saturating_mul(cells) > MAX_RUNS {
        let message = format!("{given} seeds of {cells} cells are more than {MAX_RUNS} runs");
        return Err(Problem::new("seeds", &given, message));
    }
    if first.checked_add(count).is_none() {
        let allowed = format!("at most {}, for {given} seeds", u64::MAX - count);
        return Err(Problem::value("first_seed", &first.to_string(), &allowed));
    }
    Ok(())
}
