//! The kinds of section in an experiment: one per protocol. All are read, scaled, set by hand and checked in the same way.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{Problem, Scale};
use crate::plan::RunPlan;

/// A grid of one protocol as somebody wrote it.
pub(crate) trait Section: DeserializeOwned {
    /// Every cell of the grid.
    fn plans(&self) -> Result<Vec<RunPlan>, Problem>;

    /// Whether names and numbers are what they may be: all of [`plans`](Self::plans) that needs no data.
    fn check(&self) -> Result<(), Problem>;
}

/// A kind of section.
#[derive(Debug)]
pub(super) struct Kind {
    /// What stands between the brackets.
    pub(super) name: &'static str,
    read: fn(Table) -> Result<(), Problem>,
    plans: fn(Table) -> Result<Vec<RunPlan>, Problem>,
}

/// A value set by hand: a key and what it is set to.
pub(super) type Set = (String, String);

impl Kind {
    pub(super) const fn of<S: Section>(name: &'static str) -> Self {
        Self {
            name,
            read: |table| parse::<S>(table)?.check(),
            plans: |table| {
                let spec = parse::<S>(table)?;
                spec.check()?;
                spec.plans()
            },
        }
    }

    /// Whether the section as it is at a scale is sound.
    pub(super) fn check(&self, section: &Table, scale: Scale, sets: &[&Set]) -> Result<(), Problem> {
        (self.read)(self.resolved(section, scale, sets)?)
    }

    /// The runs of the section as it is at a scale.
    pub(super) fn plans(
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

    /// The path of a key from the section on: it may begin with the section's name.
    pub(super) fn inside<'k>(&self, key: &'k str) -> &'k str {
        self.named_in(key).unwrap_or(key)
    }

    /// The same, of a key that does begin with it.
    pub(super) fn named_in<'k>(&self, key: &'k str) -> Option<&'k str> {
        key.strip_prefix(self.name)?.strip_prefix('.')
    }

    /// Whether sections of this kind have such a field.
    pub(super) fn knows(&self, (key, value): &Set) -> bool {
        let mut alone = Table::new();
        let outcome = set(&mut alone, self.inside(key), value).and_then(|()| (self.read)(alone));
        !outcome.is_err_and(|problem| problem.is_of_unknown_field())
    }
}

fn parse<S: Section>(table: Table) -> Result<S, Problem> {
    let tables = [Scale::Smoke.name(), Scale::Quick.name()];
    Value::Table(table).try_into().map_err(|error| Problem::parse(&error, &tables))
}

/// The section as it is at a scale.
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

/// Puts a value where it belongs; keys may be nested with dots.
fn set(table: &mut Table, path: &str, text: &str) -> Result<(), Problem> {
    if path.split('.').any(str::is_empty) {
        return Err(Problem::new(path, text, "a part of the key is empty".to_owned()));
    }
    let mut place = table;
    let (folders, last) = path.rsplit_once('.').map_or((None, path), |(f, l)| (Some(f), l));
    for folder in folders.into_iter().flat_map(|f| f.split('.')) {
        let inner = place.entry(folder).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(inner) = inner else {
            return Err(Problem::new(path, text, format!("`{folder}` has no parts")));
        };
        place = inner;
    }
    place.insert(last.to_owned(), parse_value(text));
    Ok(())
}

/// A value as TOML has it; bare words are strings, and words with commas are lists.
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
