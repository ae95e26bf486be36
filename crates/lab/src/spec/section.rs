//! A section of an experiment: a grid of one protocol. All sections are parsed, scaled, changed by `--set` and checked in the same
//! way, and share reading, languages, learners with their settings, seeds and precision.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};
use wug_language::Reading;
use wug_language::registry::Named;
use wug_learner::registry::{Matching, Settings};

use super::grid::{self, Cells, ensure, named, one_or_more};
use super::learners::{LearnerGrid, TakenLearners, take_learners};
use super::{Problem, Scale};
use crate::names::Precision;
use crate::plan::RunPlan;
use crate::protocol::{Entry, Protocol};

/// A section: the shared fields, resolved, and the protocol's own fields as written.
#[derive(Debug)]
pub struct Section<G> {
    /// As published, or corrected.
    pub reading: Reading,
    /// The languages; none if the protocol finds its [subjects](Self::subjects) itself.
    pub languages: Vec<Named>,
    /// The names in `languages`, as written.
    pub subjects: Vec<String>,
    /// The learners, each with every combination of its settings.
    pub learners: Vec<LearnerGrid>,
    /// The settings of the section that none of its learners has.
    pub(crate) unused: Vec<String>,
    /// The numbers of parameters that learners are to have; none if their settings decide.
    pub sizes: Vec<usize>,
    /// How dimensions are found from a size.
    pub matching: Matching,
    /// Floating-point precision of training and evaluation.
    pub precision: Precision,
    pub seeds: std::ops::Range<u64>,
    /// The protocol's own fields.
    pub own: G,
}

/// The shared fields as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Shared {
    reading: String,
    #[serde(deserialize_with = "one_or_more")]
    languages: Vec<String>,
    #[serde(deserialize_with = "one_or_more")]
    sizes: Vec<usize>,
    matching: String,
    seeds: Option<u64>,
    first_seed: Option<u64>,
    precision: String,
}

const LANGUAGES: &str = "languages";
const SHARED: [&str; 7] = ["reading", LANGUAGES, "sizes", "matching", "seeds", "first_seed", "precision"];

impl Default for Shared {
    fn default() -> Self {
        let (reading, precision) = (Reading::default().name().to_owned(), "f32".to_owned());
        let matching = Matching::Nearest.name().to_owned();
        Self { reading, languages: vec![], sizes: vec![], matching, seeds: None, first_seed: None, precision }
    }
}

impl<G: serde::de::DeserializeOwned> Section<G> {
    /// Reads a section of a protocol.
    pub(crate) fn read<P: Protocol<Grid = G>>(mut table: Table) -> Result<Self, Problem> {
        let sized = table.contains_key("sizes");
        let shared_names: Vec<&str> =
            SHARED.into_iter().filter(|name| P::LANGUAGES || *name != LANGUAGES).collect();
        let shared: Shared = parse(take(&mut table, &shared_names), &[])?;
        ensure(!sized || !shared.sizes.is_empty(), "sizes", &"[]", "at least one number of parameters")?;
        for size in &shared.sizes {
            let allowed = "from 1000 to 100000000 parameters";
            ensure((1_000..=100_000_000).contains(size), "sizes", size, allowed)?;
        }
        let reading = named("reading", &shared.reading, &Reading::ALL, Reading::name)?;
        let (first, count) =
            (shared.first_seed.unwrap_or(P::DEFAULTS.first_seed), shared.seeds.unwrap_or(P::DEFAULTS.seeds));
        // A name may stand for several languages: they are counted in full once they are known.
        let of_each = shared.languages.len().max(1).saturating_mul(shared.sizes.len().max(1));
        let cells = Cells { first_seed: first, seeds: count, of_each, learners: 0 };
        let TakenLearners { learners, known, unused } = take_learners::<P>(&mut table, reading, cells)?;
        let known: Vec<&str> = shared_names.into_iter().chain(["learners"]).chain(known).collect();
        let own: G = parse(table, &known)?;
        let of_registry = P::LANGUAGES && !P::OWN_SUBJECTS;
        let languages = if of_registry { grid::languages(&shared.languages)? } else { Vec::new() };
        let ways: usize = learners.iter().map(|learner| learner.settings.len()).sum();
        grid::runs(first, count, [languages.len().max(1), ways])?;
        Ok(Self {
            reading,
            languages,
            subjects: shared.languages,
            learners,
            unused,
            sizes: shared.sizes,
            matching: named("matching", &shared.matching, &Matching::ALL, Matching::name)?,
            precision: named("precision", &shared.precision, Precision::ALL, Precision::name)?,
            seeds: first..first + count,
            own,
        })
    }

    /// The sizes that are asked for; no size once, if none is.
    pub(crate) fn asked_sizes(&self) -> Vec<Option<usize>> {
        if self.sizes.is_empty() { vec![None] } else { self.sizes.iter().copied().map(Some).collect() }
    }

    /// The names of settings that differ between runs of the section.
    pub(crate) fn varied(&self) -> BTreeSet<String> {
        self.learners.iter().flat_map(|grid| &grid.varied).cloned().collect()
    }

    /// The names of settings of which some learner has several values that the section lists, in one table or in several. Runs with
    /// different values are compared with each other. What each run draws from a range varies too, but is not compared.
    pub(crate) fn compared(&self) -> BTreeSet<String> {
        let mut values: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
        for grid in &self.learners {
            for (name, value) in grid.settings.iter().flat_map(Settings::iter) {
                values.entry((grid.learner.name, name)).or_default().insert(format!("{value:?}"));
            }
        }
        let drawn = |name: &str| self.learners.iter().any(|grid| grid.draws(name));
        let several = values.into_iter().filter(|(_, values)| values.len() > 1);
        let names = several.map(|((_, name), _)| name);
        // What a learner from elsewhere is, such as its command, is no setting.
        names.filter(|name| !drawn(name) && !name.starts_with("foreign.")).map(str::to_owned).collect()
    }

    /// The most runs that the grid can have, with these dimensions beside languages, learners, sizes and seeds. Refuses one that
    /// is too large.
    pub(crate) fn check_size(&self, cells: impl IntoIterator<Item = usize>) -> Result<usize, Problem> {
        let ways = self.learners.iter().map(|learner| learner.settings.len()).sum();
        let cells = [self.languages.len().max(1), ways, self.sizes.len().max(1)].into_iter().chain(cells);
        grid::runs(self.seeds.start, self.seeds.end - self.seeds.start, cells)
    }
}

/// Moves some keys to a table of their own.
fn take(table: &mut Table, keys: &[&str]) -> Table {
    keys.iter().filter_map(|key| table.remove_entry(*key)).collect()
}

/// Parses a table. `known` are keys that were parsed before: messages list them too.
fn parse<T: serde::de::DeserializeOwned>(table: Table, known: &[&str]) -> Result<T, Problem> {
    let scales = [Scale::Smoke.name(), Scale::Quick.name()];
    let known: Vec<&str> = known.iter().copied().chain(scales).collect();
    Value::Table(table).try_into().map_err(|error| Problem::parse(&error, &known))
}

/// A `--set`: key and value.
pub(super) type Set = (String, String);

impl Entry {
    /// Checks the section at a scale; the most runs that it can have.
    pub(super) fn check_section(
        &self,
        section: &Table,
        scale: Scale,
        sets: &[&Set],
    ) -> Result<usize, Problem> {
        (self.check)(self.resolved(section, scale, sets)?)
    }

    /// What is wrong with the settings that none of the section's learners has, by name.
    pub(super) fn unused_settings(
        &self,
        section: &Table,
        scale: Scale,
        sets: &[&Set],
    ) -> Result<BTreeMap<String, Problem>, Problem> {
        let unused = (self.unused)(self.resolved(section, scale, sets)?)?;
        let problem = |name: String| {
            let problem = Problem::new(&name, "", "none of the learners has this setting".to_owned());
            (name, problem)
        };
        Ok(unused.into_iter().map(problem).collect())
    }

    /// Puts a directory before relative paths.
    pub(super) fn resolve_paths(&self, section: &mut Table, directory: &Path) {
        for scale in [Scale::Smoke, Scale::Quick] {
            if let Some(Value::Table(smaller)) = section.get_mut(scale.name()) {
                self.paths.iter().for_each(|path| resolve_path(smaller, path, directory));
            }
        }
        self.paths.iter().for_each(|path| resolve_path(section, path, directory));
    }

    /// The runs of the section at a scale.
    pub(super) fn plans_of(
        &self,
        section: &Table,
        scale: Scale,
        sets: &[&Set],
    ) -> Result<Vec<RunPlan>, Problem> {
        (self.plans)(self.resolved(section, scale, sets)?)
    }

    fn resolved(&self, section: &Table, scale: Scale, sets: &[&Set]) -> Result<Table, Problem> {
        let mut table = scaled(section.clone(), scale)?;
        sets.iter().try_for_each(|(key, value)| set(&mut table, self.inside(key), value))?;
        Ok(table)
    }

    /// The key without the section's name, with which it may begin.
    pub(super) fn inside<'k>(&self, key: &'k str) -> &'k str {
        self.named_in(key).unwrap_or(key)
    }

    /// The same, or nothing if the key does not begin with it.
    pub(super) fn named_in<'k>(&self, key: &'k str) -> Option<&'k str> {
        let names = std::iter::once(&self.name).chain(self.former_names);
        names.into_iter().find_map(|name| key.strip_prefix(name)?.strip_prefix('.'))
    }

    /// Whether sections of this protocol have such a field.
    pub(super) fn has_field(&self, (key, value): &Set) -> bool {
        let mut alone = Table::new();
        let outcome = set(&mut alone, self.inside(key), value).and_then(|()| (self.check)(alone).map(drop));
        !outcome.is_err_and(|problem| problem.is_of_unknown_field())
    }
}

/// Puts a directory before the relative paths in a field, or in a list of them.
fn resolve_path(table: &mut Table, field: &str, directory: &Path) {
    let (first, rest) = field.split_once('.').map_or((field, None), |(first, rest)| (first, Some(rest)));
    let join = |value: &mut Value| {
        if let Value::String(path) = value {
            *path = directory.join(&*path).display().to_string();
        }
    };
    match (table.get_mut(first), rest) {
        (Some(Value::Table(inner)), Some(rest)) => resolve_path(inner, rest, directory),
        (Some(Value::Array(items)), None) => items.iter_mut().for_each(join),
        (Some(value), None) => join(value),
        _ => {}
    }
}

/// The section at a scale.
fn scaled(mut section: Table, scale: Scale) -> Result<Table, Problem> {
    for at in [Scale::Smoke, Scale::Quick] {
        match section.remove(at.name()) {
            Some(Value::Table(overrides)) if at == scale => merge(&mut section, overrides),
            None | Some(Value::Table(_)) => {}
            Some(other) => {
                let given = format!("of type {}", other.type_str());
                return Err(Problem::value(at.name(), &given, "a table of what is smaller"));
            }
        }
    }
    Ok(section)
}

fn merge(table: &mut Table, overrides: Table) {
    for (key, value) in overrides {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => merge(inner, value),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// Sets a value; keys may be nested with dots.
fn set(table: &mut Table, path: &str, text: &str) -> Result<(), Problem> {
    if path.split('.').any(str::is_empty) {
        return Err(Problem::new(path, text, "a part of the key is empty".to_owned()));
    }
    let mut inner = table;
    let (folders, last) = path.rsplit_once('.').map_or((None, path), |(f, l)| (Some(f), l));
    for folder in folders.into_iter().flat_map(|f| f.split('.')) {
        let next = inner.entry(folder).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(next) = next else {
            return Err(Problem::new(path, text, format!("`{folder}` has no parts")));
        };
        inner = next;
    }
    inner.insert(last.to_owned(), parse_value(text));
    Ok(())
}

/// Parses a value as TOML; bare words are strings, and words with commas are lists.
fn parse_value(text: &str) -> Value {
    let parsed = |text: &str| toml::from_str::<Table>(&format!("x = {text}")).ok()?.remove("x");
    parsed(text).unwrap_or_else(|| {
        if text.contains(',') {
            let item = |item: &str| parsed(item).unwrap_or_else(|| Value::String(item.to_owned()));
            return Value::Array(text.split(',').map(|x| item(x.trim())).collect());
        }
        Value::String(text.to_owned())
    })
}
