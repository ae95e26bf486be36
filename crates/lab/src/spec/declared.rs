//! Declared fields: what is given of them is checked against their declarations, and the rest has their defaults.

use wug_parameter::{Parameter, Settings};

use super::draft::{DraftItem, DraftNode, Fields};
use super::{Problem, Reading};

/// Takes the declared fields out of what is given. What is not given has the default of a reading.
pub(super) fn take(fields: &mut Fields, all: &[Parameter], reading: Reading) -> Result<Settings, Problem> {
    let mut settings = Settings::default();
    for parameter in all {
        if let Some(node) = given_name(fields, parameter).and_then(|name| fields.take(name)) {
            settings = settings.with(parameter.name, checked(parameter, &node)?);
        }
    }
    Ok(settings.completed(all, reading))
}

/// The name under which a field is given: its own, or one that it had. A table is that of fields with longer names.
fn given_name(fields: &Fields, parameter: &Parameter) -> Option<&'static str> {
    let mut names = std::iter::once(&parameter.name).chain(parameter.former).copied();
    names.find(|name| fields.get(name).is_some_and(|node| !matches!(node.item, DraftItem::Table(_))))
}

/// A value that a declaration allows.
fn checked(parameter: &Parameter, node: &DraftNode) -> Result<wug_parameter::SettingValue, Problem> {
    let refused = || Problem::value(parameter.name, &node.shown(), &parameter.limits.to_string());
    let value = node.value().ok_or_else(refused).map_err(|problem| problem.written(node.origin))?;
    parameter.check(value).map_err(|error| match &node.item {
        // The item is what is wrong, and not the list.
        DraftItem::List(items) => {
            let wrong =
                items.iter().find(|item| item.value().is_none_or(|value| parameter.check(value).is_err()));
            Problem::from(error).written(wrong.unwrap_or(node).origin)
        }
        _ => Problem::from(error).written(node.origin),
    })
}

/// Checks what is given of declared fields, without taking it: of tables that are not read, such as those of other scales.
pub(super) fn check(fields: &Fields, all: &[Parameter]) -> Result<(), Problem> {
    for parameter in all {
        if let Some(node) = given_name(fields, parameter).and_then(|name| fields.get(name)) {
            checked(parameter, node)?;
        }
    }
    Ok(())
}

/// Refuses what is left: fields that nobody knows. `known` are all names, those inside tables with dots.
pub(super) fn nothing_else(fields: &Fields, known: &[&str]) -> Result<(), Problem> {
    let Some(path) = fields.paths().into_iter().next() else { return Ok(()) };
    Err(unknown(&path, known))
}

/// The message about a field that nobody knows, with the names that stand where it does.
pub(super) fn unknown(path: &str, known: &[&str]) -> Problem {
    // The first part that is wrong: nothing known begins with it.
    let parts: Vec<&str> = path.split('.').collect();
    let begins =
        |whole: &str, table: &str| whole.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'));
    let depth = (1..parts.len()).find(|depth| {
        let table = parts[..*depth].join(".");
        !known.iter().any(|name| begins(name, &table))
    });
    let depth = depth.unwrap_or(parts.len());
    let (wrong, table) = (parts[..depth].join("."), parts[..depth - 1].join("."));
    let inside = |name: &&str| match table.as_str() {
        "" => true,
        table => begins(name, table),
    };
    let head = |name: &'_ &str| {
        let rest = if table.is_empty() { name } else { &name[table.len() + 1..] };
        rest.split('.').next().unwrap_or_default().to_owned()
    };
    let mut names: Vec<String> = known.iter().filter(|name| inside(name)).map(head).collect();
    let mut seen = std::collections::BTreeSet::new();
    // Several fields share a table, which is suggested once. They stay in the order of their declarations.
    names.retain(|name| seen.insert(name.clone()));
    Problem::unknown_field(&wrong, &names.iter().map(String::as_str).collect::<Vec<_>>())
}
