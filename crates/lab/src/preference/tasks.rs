//! The tasks of a section: names, tables of a name with parameters, and files.

use std::path::Path;

use toml::de::DeTable;
use wug_dataset::transduction::{self, TaskFile};
use wug_dataset::{RuleTask, Seed};
use wug_language::Word;
use wug_score::plan::RuleTaskSource;

use super::data::content_hash;
use crate::regular::read_present;
use crate::spec::Problem;
use crate::spec::draft::LineIndex;

/// The most bytes of a file with a task.
const MAX_BYTES: u64 = 64 << 20;

/// The field of a section's tasks.
pub(super) const TASKS: &str = "tasks";

/// A task and where it is from.
pub(super) struct SourcedTask {
    pub(super) task: RuleTask,
    pub(super) source: RuleTaskSource,
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
    fn new(task: RuleTask, source: RuleTaskSource) -> Self {
        Self { longest: Longest::of(&task), task, source }
    }

    /// The field of the section that it is from.
    pub(super) fn field(&self) -> &'static str {
        match self.source {
            RuleTaskSource::Named => TASKS,
            RuleTaskSource::File { .. } => "files",
        }
    }
}

/// The tasks of a section, at least one.
pub(super) fn all(tasks: &[String], files: &[String], seed: u64) -> Result<Vec<SourcedTask>, Problem> {
    if tasks.is_empty() && files.is_empty() {
        let message = "at least one is needed: a name, or a table of a `name` with parameters; or `files` with tasks of your own";
        return Err(Problem::new(TASKS, "[]", message.to_owned()));
    }
    let mut found = Vec::new();
    for name in tasks {
        let task = transduction::build(name, Seed::new(seed))
            .map_err(|error| Problem::new(TASKS, name, error.to_string()))?;
        found.push(SourcedTask::new(task, RuleTaskSource::Named));
    }
    for given in files {
        let problem = |message: String| Problem::new("files", given, message);
        let full = Path::new(given).canonicalize().map_err(|error| problem(format!("{given}: {error}")))?;
        let task = read(&full).map_err(problem)?;
        // Results and tables know a task by its name.
        if let Some(other) = found.iter().find(|other| other.task.name == task.name) {
            let whose = match &other.source {
                RuleTaskSource::Named => "a task of ours".to_owned(),
                RuleTaskSource::File { path, .. } => path.display().to_string(),
            };
            return Err(problem(format!("{given}: the name `{}` is that of {whose} as well", task.name)));
        }
        let source = RuleTaskSource::File { hash: content_hash(&task), path: full };
        found.push(SourcedTask::new(task, source));
    }
    Ok(found)
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
        let line = error.span().map(|span| format!("line {}: ", LineIndex::of(text).line(span.start)));
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
