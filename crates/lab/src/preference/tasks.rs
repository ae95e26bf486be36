//! The tasks of a section: names, tables of a name with parameters, and files.

use std::path::{Path, PathBuf};

use toml::Value;
use toml::de::DeTable;
use wug_dataset::transduction::{self, TaskFile};
use wug_dataset::{RuleTask, Seed};
use wug_language::Word;

use super::data::content_hash;
use super::plan::Source;
use crate::regular::read_present;
use crate::spec::grid::nonempty;
use crate::spec::{Problem, source_map};

/// The most bytes of a file with a task.
const MAX_BYTES: u64 = 64 << 20;

/// A task and where it is from.
pub(super) struct SourcedTask {
    pub(super) task: RuleTask,
    pub(super) source: Source,
    pub(super) longest: Longest,
}

/// The most symbols of an input and of an output of a task, whatever the rule.
#[derive(Clone, Copy)]
pub(super) struct Longest {
    pub(super) input: usize,
    pub(super) output: usize,
}

impl Longest {
    fn of(task: &RuleTask) -> Self {
        let inputs = task.train.iter().map(|pair| &pair.input).chain(&task.holdout);
        let answers = task.rules.iter().flat_map(|rule| &rule.outputs);
        let outputs = task.train.iter().map(|pair| &pair.output).chain(answers);
        let longest = |words: &mut dyn Iterator<Item = &Word>| words.map(Vec::len).max().unwrap_or(0);
        Self { input: longest(&mut { inputs }), output: longest(&mut { outputs }) }
    }

    /// Refuses strings that a learner has no positions for.
    pub(super) fn check(self, max: usize) -> Result<(), String> {
        for (side, length) in [("input", self.input + 1), ("output", self.output + 1)] {
            if length > max {
                return Err(format!(
                    "the longest {side} has {length} symbols with its end, but the learner has only {max} positions"
                ));
            }
        }
        Ok(())
    }
}

impl SourcedTask {
    fn new(task: RuleTask, source: Source) -> Self {
        Self { longest: Longest::of(&task), task, source }
    }

    /// The field of the section that it is from.
    pub(super) fn field(&self) -> &'static str {
        match self.source {
            Source::Named => "tasks",
            Source::File { .. } => "files",
        }
    }
}

/// How many tasks a section has, counted before any is built: a table of lists stands for every combination.
pub(super) fn count(tasks: &[Value], files: &[PathBuf]) -> usize {
    let values = |value: &Value| value.as_array().map_or(1, Vec::len);
    let combinations = |task: &Value| {
        task.as_table()
            .map_or(1, |table| table.iter().map(|(_, value)| values(value)).fold(1, usize::saturating_mul))
    };
    tasks.iter().map(combinations).fold(files.len(), usize::saturating_add)
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
            found.push(SourcedTask::new(task, Source::Named));
        }
    }
    for path in files {
        let given = path.display().to_string();
        let problem = |message: String| Problem::new("files", &given, message);
        let full = path.canonicalize().map_err(|error| problem(format!("{given}: {error}")))?;
        let task = read(&full).map_err(problem)?;
        // Results and tables know a task by its name.
        if let Some(other) = found.iter().find(|other| other.task.name == task.name) {
            let whose = match &other.source {
                Source::Named => "a task of ours".to_owned(),
                Source::File { path, .. } => path.display().to_string(),
            };
            return Err(problem(format!("{given}: the name `{}` is that of {whose} as well", task.name)));
        }
        let source = Source::File { hash: content_hash(&task), path: full };
        found.push(SourcedTask::new(task, source));
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
pub(super) fn shown(value: &Value) -> String {
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
        from_toml(&text).map_err(at)?
    };
    file.task().map_err(|error| at(error.to_string()))
}

/// A task written in TOML. Its parser sorts keys; their positions tell the order of the rules.
pub(super) fn from_toml(text: &str) -> Result<TaskFile, String> {
    let message = |error: toml::de::Error| {
        let line = error.span().map(|span| format!("line {}: ", source_map::line(text, span.start)));
        format!("{}{}", line.unwrap_or_default(), error.message().trim_end())
    };
    let file: TaskFile = toml::from_str(text).map_err(message)?;
    let root = DeTable::parse(text).map_err(message)?.into_inner();
    let first = root.get("holdout").and_then(|holdout| holdout.get_ref().as_array()?.first());
    let rules = first.and_then(|row| row.get_ref().as_table()?.get("rules")?.get_ref().as_table());
    let mut rules: Vec<(usize, String)> = rules
        .into_iter()
        .flat_map(|rules| rules.keys().map(|key| (key.span().start, key.get_ref().to_string())))
        .collect();
    rules.sort_unstable();
    Ok(file.with_rules_in_order(rules.into_iter().map(|(_, name)| name)))
}
