//! `learners` in a section: names, or tables of a name with settings; and settings of the section, which apply to each learner
//! that has them.

use std::collections::BTreeMap;

use toml::{Table, Value};
use wug_learner::registry::{self, Learner, Role, SettingValue, Settings};

use super::Problem;
use super::grid::nonempty;

/// A learner with every combination of its settings that a section asks for.
#[derive(Clone, Debug)]
pub struct LearnerGrid {
    /// The learner.
    pub learner: &'static Learner,
    /// Every combination, at least one.
    pub settings: Vec<Settings>,
}

/// Values of settings, by name.
type Given = BTreeMap<String, Vec<SettingValue>>;

/// Names that settings had in earlier versions.
const FORMER_NAMES: [(&str, &str); 2] = [("losses", "loss"), ("gates", "gate")];

/// Takes learners and their settings out of a section. Also returns the names of all settings that the section may have.
pub(super) fn take_learners(
    table: &mut Table,
    role: Role,
    default: &[&str],
) -> Result<(Vec<LearnerGrid>, Vec<&'static str>), Problem> {
    let known = setting_names(role);
    let common = take_settings(table, &known)?;
    let given = table.remove("learners").unwrap_or_else(|| {
        Value::Array(default.iter().map(|&name| Value::String(name.to_owned())).collect())
    });
    let items = match given {
        Value::Array(items) => items,
        one => vec![one],
    };
    nonempty("learners", &items)?;
    let learners = items.into_iter().map(|item| learner(item, role, &common, &known));
    Ok((learners.collect::<Result<_, _>>()?, top_level(&known)))
}

/// The names of all settings of all learners in a role; those with dots are in tables.
fn setting_names(role: Role) -> Vec<&'static str> {
    let mut names = Vec::new();
    for setting in registry::with_role(role).filter_map(|learner| learner.settings(role)).flatten() {
        if !names.contains(&setting.name) {
            names.push(setting.name);
        }
    }
    names
}

fn top_level(names: &[&'static str]) -> Vec<&'static str> {
    let mut top: Vec<&str> = names.iter().map(|name| name.split('.').next().unwrap_or(name)).collect();
    top.dedup();
    top
}

fn take_settings(table: &mut Table, known: &[&'static str]) -> Result<Given, Problem> {
    for (old, new) in FORMER_NAMES {
        if known.contains(&new)
            && let Some(value) = table.remove(old)
        {
            table.insert(new.to_owned(), value);
        }
    }
    let mut given = Given::new();
    for name in known {
        let value = match name.split_once('.') {
            None => table.remove(*name),
            Some((outer, inner)) => match table.get_mut(outer) {
                Some(Value::Table(inside)) => inside.remove(inner),
                _ => None,
            },
        };
        if let Some(value) = value {
            given.insert((*name).to_owned(), values(name, value)?);
        }
    }
    // Empty tables are removed; what is left in a table is unknown, and the section reports it.
    for outer in known.iter().filter_map(|name| name.split_once('.')).map(|(outer, _)| outer) {
        if table.get(outer).and_then(Value::as_table).is_some_and(Table::is_empty) {
            table.remove(outer);
        }
    }
    Ok(given)
}

fn values(name: &str, value: Value) -> Result<Vec<SettingValue>, Problem> {
    let items = match value {
        Value::Array(items) => items,
        one => vec![one],
    };
    nonempty(name, &items)?;
    let one = |item: Value| {
        let given = serde_json::to_string(&item).unwrap_or_default();
        let invalid = || Problem::value(name, &given, "a number, a name, true or false");
        match item {
            Value::Integer(n) => u64::try_from(n).map(SettingValue::Count).map_err(|_| invalid()),
            Value::Float(x) => Ok(SettingValue::Real(x)),
            Value::String(name) => Ok(SettingValue::Name(name)),
            Value::Boolean(on) => Ok(SettingValue::Switch(on)),
            _ => Err(invalid()),
        }
    };
    items.into_iter().map(one).collect()
}

fn learner(item: Value, role: Role, common: &Given, known: &[&'static str]) -> Result<LearnerGrid, Problem> {
    let field = "learners";
    let (name, own) = match item {
        Value::String(name) => (name, Given::new()),
        Value::Table(mut table) => {
            let Some(Value::String(name)) = table.remove("name") else {
                return Err(Problem::new(field, "", "a learner that is a table needs a `name`".to_owned()));
            };
            let own = take_settings(&mut table, known)?;
            if let Some(key) = table.keys().next() {
                return Err(Problem::unknown_setting(field, &name, key, known));
            }
            (name, own)
        }
        other => {
            let given = serde_json::to_string(&other).unwrap_or_default();
            return Err(Problem::value(field, &given, "a name, or a table with a `name` and settings"));
        }
    };
    let learner =
        registry::find(&name, role).map_err(|error| Problem::new(field, &name, error.to_string()))?;
    let all = learner.settings(role).unwrap_or_default();
    if let Some(key) = own.keys().find(|key| !all.iter().any(|setting| setting.name == **key)) {
        let has: Vec<&str> = all.iter().map(|setting| setting.name).collect();
        return Err(Problem::unknown_setting(field, &name, key, &has));
    }
    let mut given = common.clone();
    given.extend(own);
    let settings = Settings::grid(all, &given)
        .map_err(|error| Problem::value(error.name, &error.given, &error.allowed))?;
    Ok(LearnerGrid { learner, settings })
}
