//! Every task, by name.

use wug_parameter::Parameter;

use super::setting::{Setting, TaskError};
use super::{composition, nesting, scan, unary};
use crate::{RuleTask, Seed};

/// One task of the registry.
#[derive(Clone, Copy, Debug)]
pub struct TaskEntry {
    pub name: &'static str,
    /// Other names under which it was published.
    pub aliases: &'static [&'static str],
    /// The question it asks, in one line.
    pub summary: &'static str,
    /// Training pairs, hold-out and rules, exactly.
    pub definition: &'static str,
    /// Where it comes from.
    pub cite: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
    /// The settings with published results.
    pub published: &'static [&'static str],
    pub(super) make: fn(&Setting, Seed) -> Result<RuleTask, TaskError>,
}

/// Every task, in the order reports list them.
pub const TASKS: &[TaskEntry] = &[
    unary::COUNT_OR_MEMORIZATION,
    unary::ADD_OR_MULTIPLY,
    unary::MULTIPLY_BY_3,
    nesting::HIERARCHICAL_OR_LINEAR,
    composition::COMPOSITION_OR_MEMORIZATION,
    composition::DAX_COMPO,
    scan::SCAN,
];

impl TaskEntry {
    /// The task with what `key=value,key=value` says, and defaults for the rest. The seed matters to SCAN only.
    pub fn build(&self, settings: &str, seed: Seed) -> Result<RuleTask, TaskError> {
        (self.make)(&Setting::read(self.name, self.parameters, settings)?, seed)
    }

    /// The task with each of the published settings, as [`build`] reads it.
    ///
    /// ```
    /// let entry = wug_dataset::find::entry("comp-or-mem").unwrap();
    /// assert_eq!(entry.published()[0], "composition-or-memorization:primitives=40,shown=6");
    /// ```
    pub fn published(&self) -> Vec<String> {
        self.published.iter().map(|settings| format!("{}:{settings}", self.name)).collect()
    }
}

/// The task of a name or alias.
pub fn entry(name: &str) -> Result<&'static TaskEntry, TaskError> {
    TASKS.iter().find(|entry| entry.name == name || entry.aliases.contains(&name)).ok_or_else(|| {
        let allowed = TASKS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
        TaskError::Unknown { given: name.to_owned(), allowed }
    })
}

/// Builds a task from `NAME` or `NAME:key=value,key=value`.
///
/// ```
/// use wug_dataset::{Seed, find};
/// let error = find::build("count-or-mem:length=0", Seed::new(1)).unwrap_err();
/// let text = "task `count-or-memorization`: `length` cannot be 0; it must be a whole number from 1 to 10000";
/// assert_eq!(error.to_string(), text);
/// ```
pub fn build(task: &str, seed: Seed) -> Result<RuleTask, TaskError> {
    let (name, settings) = task.split_once(':').unwrap_or((task, ""));
    entry(name)?.build(settings, seed)
}
