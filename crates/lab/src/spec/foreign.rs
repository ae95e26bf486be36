//! A learner from elsewhere in a section: `{ name = "mine", command = ["python", "mine.py"] }`, with limits and settings of its
//! own. The program that runs a sweep has learners too: `{ name = "mine", host = "python", version = "1", roles = ["recognizer"] }`.

use std::collections::BTreeMap;
use std::time::Duration;

use toml::{Table, Value};
use wug_learner::registry::{Given, LEARNERS, Role, SettingValue, Settings};

use super::Problem;
use super::grid::Cells;
use super::learners::{GivenSettings, LearnerGrid, values, varied};
use crate::foreign::{self, ForeignPlan, Hello, Limits, Where, hello_of, interned};

const FIELD: &str = "learners";
const COMMAND: &str = "command";
const HOST: &str = "host";

/// Whether a table is that of a learner from elsewhere.
pub(super) fn is_foreign(table: &Table) -> bool {
    table.contains_key(COMMAND) || table.contains_key(HOST)
}

/// Greets all commands in some tables, at any depth, at the same time. What is wrong with a table is said when it is read.
pub(super) fn greet<'t>(values: impl IntoIterator<Item = &'t Value>) {
    let (mut found, mut open) = (BTreeMap::new(), values.into_iter().collect::<Vec<_>>());
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Table(table) => match table.get(COMMAND).cloned().and_then(words) {
                Some(command) => {
                    if let Ok(limits) = limits(&mut table.clone(), "") {
                        found.insert(command, limits);
                    }
                }
                None => open.extend(table.values()),
            },
            _ => {}
        }
    }
    foreign::greet(&found);
}

/// The learner of a table.
pub(super) fn learner(mut table: Table, role: Role, cells: &mut Cells) -> Result<LearnerGrid, Problem> {
    let Some(Value::String(name)) = table.remove("name") else {
        return Err(Problem::new(FIELD, "", "a learner that is a table needs a `name`".to_owned()));
    };
    let problem = |message: String| Problem::new(FIELD, &name, message);
    check_name(&name)?;
    let limits = limits(&mut table, &name)?;
    let (place, hello) = match (table.remove(COMMAND), table.remove(HOST)) {
        (Some(command), None) => {
            let command = words(command)
                .ok_or_else(|| problem(format!("`{name}`: `command` must be a list of words")))?;
            let hello =
                hello_of(&command, limits).map_err(|message| problem(format!("`{name}`: {message}")))?;
            (Where::Command(command), hello.unwrap_or_else(|| Hello::unheard(role)))
        }
        (None, Some(Value::String(host))) => {
            let hello = hosted(&mut table).map_err(|message| problem(format!("`{name}`: {message}")))?;
            (Where::Host(host), hello)
        }
        _ => return Err(problem(format!("`{name}` has either a `command` or a `host`"))),
    };
    if !hello.roles.contains(&role) {
        return Err(problem(format!("`{name}` is no {}; {}", role.name(), hello.can_be())));
    }
    let plan = ForeignPlan { place, version: hello.version, limits };
    let mut given = GivenSettings::new();
    for (key, value) in table {
        if key.is_empty() || key.contains('.') {
            return Err(problem(format!("`{name}`: `{key}` is no name of a setting")));
        }
        match values(&key, value)? {
            list @ Given::Values(_) => given.insert(key, list),
            Given::Range(_) => {
                let message = format!("`{name}`: `{key}` is a range, which only our learners draw from");
                return Err(problem(message));
            }
        };
    }
    let lengths = given.values().map(|values| match values {
        Given::Values(values) => values.len(),
        Given::Range(_) => 1,
    });
    cells.add(lengths.fold(1, usize::saturating_mul))?;
    Ok(LearnerGrid {
        learner: interned(&name),
        settings: grid(&plan, &given),
        varied: varied(&given),
        given: given.into_keys().collect(),
        ranges: Vec::new(),
    })
}

/// A name must be its own: tables show learners by name.
fn check_name(name: &str) -> Result<(), Problem> {
    let problem = |message: String| Err(Problem::new(FIELD, name, message));
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    if name.is_empty() || name.len() > 64 || !name.chars().all(allowed) {
        return problem(format!("`{name}` is no name of a learner: letters, digits and -_.+, up to 64"));
    }
    if LEARNERS.iter().any(|learner| learner.name == name) {
        return problem(format!("`{name}` is the name of one of our learners; choose another"));
    }
    Ok(())
}

fn limits(table: &mut Table, name: &str) -> Result<Limits, Problem> {
    const LONGEST: u64 = Limits::LONGEST;
    let default = Limits::default();
    let mut take = |key: &str, default: Duration| match table.remove(key) {
        None => Ok(default),
        Some(Value::Integer(n)) if (1..=LONGEST).contains(&n.cast_unsigned()) => {
            Ok(Duration::from_secs(n.cast_unsigned()))
        }
        Some(other) => {
            let other = serde_json::to_string(&other).unwrap_or_default();
            let message =
                format!("`{name}`: `{key}` cannot be {other}; it must be from 1 to {LONGEST} seconds");
            Err(Problem::new(FIELD, name, message))
        }
    };
    Ok(Limits { fit: take("fit_seconds", default.fit)?, answer: take("answer_seconds", default.answer)? })
}

fn words(value: Value) -> Option<Vec<String>> {
    let Value::Array(items) = value else { return None };
    let word = |item| match item {
        Value::String(word) => Some(word),
        _ => None,
    };
    items.into_iter().map(word).collect::<Option<Vec<_>>>().filter(|words| !words.is_empty())
}

/// What the program says of its learner.
fn hosted(table: &mut Table) -> Result<Hello, String> {
    let Some(Value::String(version)) = table.remove("version") else {
        return Err("a learner of a `host` needs a `version`".to_owned());
    };
    let names = table.remove("roles").and_then(words).ok_or("a learner of a `host` needs `roles`")?;
    let role = |name: &String| {
        Role::ALL.into_iter().find(|role| role.name() == name).ok_or_else(|| {
            format!("there is no role `{name}`; there are: {}", Role::ALL.map(Role::name).join(", "))
        })
    };
    let roles = names.iter().map(role).collect::<Result<_, _>>()?;
    Ok(Hello { roles, version, saves: false })
}

/// Every combination of the given values.
fn grid(plan: &ForeignPlan, given: &GivenSettings) -> Vec<Settings> {
    let mut grid = vec![plan.settings()];
    for (name, values) in given {
        let values: &[SettingValue] = match values {
            Given::Values(values) => values,
            Given::Range(_) => &[],
        };
        let with = |settings: Settings| {
            values.iter().map(|value| settings.clone().with(name, value.clone())).collect::<Vec<_>>()
        };
        grid = grid.into_iter().flat_map(with).collect();
    }
    grid
}
