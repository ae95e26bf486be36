//! An external learner in a section: `{ name = "mine", command = ["python", "mine.py"] }`, with limits and settings of its own. The
//! program that runs a sweep has learners too: `{ name = "mine", host = "python", version = "1", roles = ["recognizer"] }`.

use std::collections::BTreeMap;
use std::time::Duration;

use wug_learner::registry::{Given, LEARNERS, Role, SettingValue, Settings};
use wug_score::plan::LearnerPlace;

use super::draft::{DraftItem, DraftNode, Fields};
use super::grid::Cells;
use super::learners::{GivenSettings, LearnerGrid, LearnerSource, given, varied};
use super::shared::LEARNERS as FIELD;
use super::{Planning, Problem};
use crate::foreign::{Hello, Limits, UNHEARD};

const COMMAND: &str = "command";
const HOST: &str = "host";

/// Whether a table is that of an external learner.
pub(super) fn is_external(table: &Fields) -> bool {
    table.has(COMMAND) || table.has(HOST)
}

/// The commands in some values, at any depth. What is wrong with a table is said when it is read.
pub(super) fn commands<'f>(fields: impl IntoIterator<Item = &'f Fields>) -> BTreeMap<Vec<String>, Limits> {
    let (mut found, mut open) = (BTreeMap::new(), fields.into_iter().collect::<Vec<_>>());
    while let Some(table) = open.pop() {
        // `limits` takes its fields out, so it gets a copy: the table is read again with its section.
        let command = table.get(COMMAND).and_then(words);
        if let (Some(command), Ok(limits)) = (command, limits(&mut table.clone(), "")) {
            found.insert(command, limits);
        }
        for (_, node) in table.iter() {
            match &node.item {
                DraftItem::Table(inner) => open.push(inner),
                DraftItem::List(items) => open.extend(items.iter().filter_map(|item| match &item.item {
                    DraftItem::Table(inner) => Some(inner),
                    _ => None,
                })),
                _ => {}
            }
        }
    }
    found
}

/// The learner of a table.
pub(super) fn learner(
    mut table: Fields,
    role: Role,
    cells: &mut Cells,
    planning: &Planning,
) -> Result<LearnerGrid, Problem> {
    let Some(name) = table.take("name").and_then(|node| node.text().map(str::to_owned)) else {
        return Err(Problem::new(FIELD, "", "a learner that is a table needs a `name`".to_owned()));
    };
    let problem = |message: String| Problem::new(FIELD, &name, message);
    check_name(&name)?;
    let limits = limits(&mut table, &name)?;
    let (place, hello) = match (table.take(COMMAND), table.take(HOST)) {
        (Some(command), None) => {
            let command = words(&command)
                .ok_or_else(|| problem(format!("`{name}`: `command` must be a list of words")))?;
            let hello = planning.hello(&command, limits);
            let hello = hello.map_err(|message| problem(format!("`{name}`: {message}")))?;
            (LearnerPlace::Command(command), hello.unwrap_or_else(|| Hello::unheard(role)))
        }
        (None, Some(DraftNode { item: DraftItem::Value(SettingValue::Name(host)), .. })) => {
            let hello = hosted(&mut table).map_err(|message| problem(format!("`{name}`: {message}")))?;
            (LearnerPlace::Host(host), hello)
        }
        _ => return Err(problem(format!("`{name}` has either a `command` or a `host`"))),
    };
    // Found now, with the line in the file, and not in the first run.
    if !hello.roles.contains(&role) {
        return Err(problem(format!("`{name}` is no {}; {}", role.name(), hello.can_be())));
    }
    let settings = own_settings(&table, &name)?;
    let lengths = settings.values().map(|given| match given {
        Given::Values(values) => values.len(),
        Given::Range(_) => 1,
    });
    // Before `combinations` makes them: a few long lists are enough to fill the memory.
    cells.add(lengths.fold(1, usize::saturating_mul))?;
    Ok(LearnerGrid {
        name,
        source: LearnerSource::External(limits.external(place, hello.version)),
        settings: combinations(&settings),
        varied: varied(&settings),
        given: settings.into_keys().collect(),
        ranges: Vec::new(),
        by_subject: BTreeMap::new(),
    })
}

fn own_settings(table: &Fields, name: &str) -> Result<GivenSettings, Problem> {
    let problem = |message: String| Problem::new(FIELD, name, message);
    let mut settings = GivenSettings::new();
    for (key, node) in table.iter() {
        if key.is_empty() || key.contains('.') {
            return Err(problem(format!("`{name}`: `{key}` is no name of a setting")));
        }
        match given(key, node)? {
            list @ Given::Values(_) => settings.insert(key.to_owned(), list),
            // Our settings declare how they are drawn, as counts or on a log scale. Nothing is declared of these.
            Given::Range(_) => {
                let message = format!("`{name}`: `{key}` is a range, which only our learners draw from");
                return Err(problem(message));
            }
        };
    }
    Ok(settings)
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

fn limits(table: &mut Fields, name: &str) -> Result<Limits, Problem> {
    const LONGEST: u64 = Limits::LONGEST;
    let default = Limits::default();
    let mut take = |key: &str, default: Duration| match table.take(key) {
        None => Ok(default),
        Some(DraftNode { item: DraftItem::Value(SettingValue::Count(n)), .. })
            if (1..=LONGEST).contains(&n) =>
        {
            Ok(Duration::from_secs(n))
        }
        Some(other) => {
            let given = other.shown();
            let message =
                format!("`{name}`: `{key}` cannot be {given}; it must be from 1 to {LONGEST} seconds");
            Err(Problem::new(FIELD, name, message))
        }
    };
    Ok(Limits { fit: take("fit_seconds", default.fit)?, answer: take("answer_seconds", default.answer)? })
}

fn words(node: &DraftNode) -> Option<Vec<String>> {
    let DraftItem::List(items) = &node.item else { return None };
    let words = items.iter().map(|item| item.text().map(str::to_owned));
    words.collect::<Option<Vec<_>>>().filter(|words| !words.is_empty())
}

/// What the program says of its learner.
fn hosted(table: &mut Fields) -> Result<Hello, String> {
    // A host has no handshake: what a hello would say is in the table.
    let Some(version) = table.take("version").and_then(|node| node.text().map(str::to_owned)) else {
        return Err("a learner of a `host` needs a `version`".to_owned());
    };
    let roles = table.take("roles");
    let names = roles.as_ref().and_then(words).ok_or("a learner of a `host` needs `roles`")?;
    let role = |name: &String| {
        Role::ALL.into_iter().find(|role| role.name() == name).ok_or_else(|| {
            format!("there is no role `{name}`; there are: {}", Role::ALL.map(Role::name).join(", "))
        })
    };
    let roles = names.iter().map(role).collect::<Result<_, _>>()?;
    Ok(Hello { roles, version, saves: false })
}

/// Every combination of the given values.
fn combinations(given: &GivenSettings) -> Vec<Settings> {
    // One empty combination to begin with: a learner without settings has one run and not none.
    let mut grid = vec![Settings::default()];
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

impl Hello {
    /// What is taken for the hello of a learner that gave none.
    fn unheard(role: Role) -> Self {
        Self { roles: vec![role], version: UNHEARD.to_owned(), saves: false }
    }
}
