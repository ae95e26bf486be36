//! The tasks of a section: names, tables of a name with parameters, and files.

use std::path::{Path, PathBuf};

use toml::Value;
use wug_dataset::transduction::{self, TaskFile};
use wug_dataset::{RuleTask, Seed};

use super::data::content_hash;
use super::plan::Source;
use crate::regular::read_present;
use crate::spec::Problem;
use crate::spec::grid::nonempty;

/// The most bytes of a file with a task.
const MAX_BYTES: u64 = 64 << 20;

/// A task and where it is from.
pub(super) struct SourcedTask {
    pub(super) task: RuleTask,
    pub(super) source: Source,
}

/// The tasks of a section, at least one.
pub(super) fn all(tasks: &[Value], files: &[PathBuf], seed: u64) -> Result<Vec<SourcedTask>, Problem> {
    if tasks.is_empty() && files.is_empty() {
        let message = "at least one is needed: a name, or a table of a `name` with parameters; or `files` with tasks of your own";
        return Err(Problem::new("tasks", "[]", message.to_owned()));
    }
    let mut found = Vec::new();
    for item in tasks {
        for name in names(item)? {
            let task = transduction::build(&name, Seed::new(seed))
                .map_err(|error| Problem::new("tasks", &name, error.to_string()))?;
            found.push(SourcedTask { task, source: Source::Named });
        }
    }
    for path in files {
        let given = path.display().to_string();
        let problem = |message: String| Problem::new("files", &given, message);
        let full = path.canonicalize().map_err(|error| problem(format!("{given}: {error}")))?;
        let task = read(&full).map_err(problem)?;
        let source = Source::File { hash: content_hash(&task), path: full };
        found.push(SourcedTask { task, source });
    }
    Ok(found)
}

/// The spellings of a task: one of a name, and of a table one for every combination of its parameters.
fn names(item: &Value) -> Result<Vec<String>, Problem> {
    let table = match item {
        Value::String(name) => return Ok(vec![name.clone()]),
        Value::Table(table) => table,
        other => {
            let allowed = "a name, or a table with a `name` and parameters";
            return Err(Problem::value("tasks", &shown(other), allowed));
        }
    };
    let Some(Value::String(name)) = table.get("name") else {
        return Err(Problem::new("tasks", "", "a task that is a table needs a `name`".to_owned()));
    };
    let mut names = vec![name.clone()];
    for (parameter, value) in table.iter().filter(|(key, _)| *key != "name") {
        let values = match value {
            Value::Array(items) => items.clone(),
            one => vec![one.clone()],
        };
        nonempty(&format!("tasks.{parameter}"), &values)?;
        let mut longer = Vec::new();
        for name in &names {
            for value in &values {
                let text = match value {
                    Value::Integer(n) => n.to_string(),
                    Value::String(text) => text.clone(),
                    other => {
                        let field = format!("tasks.{parameter}");
                        return Err(Problem::value(&field, &shown(other), "a whole number or a name"));
                    }
                };
                let separator = if name.contains(':') { ',' } else { ':' };
                longer.push(format!("{name}{separator}{parameter}={text}"));
            }
        }
        names = longer;
    }
    Ok(names)
}

/// A value as a message shows it.
fn shown(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Reads a task of one's own from a file, as JSON if its name ends so, else as TOML.
pub(super) fn read(path: &Path) -> Result<RuleTask, String> {
    let at = |message: String| format!("{}: {message}", path.display());
    let text = read_present(path, MAX_BYTES).map_err(|error| at(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|error| at(error.to_string()))?;
    let json = path.extension().is_some_and(|extension| extension == "json");
    let file: TaskFile = if json {
        serde_json::from_str(&text).map_err(|error| at(error.to_string()))?
    } else {
        toml::from_str(&text).map_err(|error| at(error.message().trim_end().to_owned()))?
    };
    file.task().map_err(|error| at(error.to_string()))
}
