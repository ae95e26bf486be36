//! Every task, by name.

use super::setting::{Parameter, Setting, TaskError};
use super::{composition, nesting, scan, unary};
use crate::{RuleTask, Seed};

/// One task of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
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
    pub(super) make: fn(&Setting, Seed) -> Result<RuleTask, TaskError>,
}

/// Every task, in the order reports list them.
pub const TASKS: &[Entry] = &[
    unary::COUNT_OR_MEMORIZATION,
    unary::ADD_OR_MULTIPLY,
    unary::MULTIPLY_BY_3,
    nesting::HIERARCHICAL_OR_LINEAR,
    composition::COMPOSITION_OR_MEMORIZATION,
    composition::DAX_COMPO,
    scan::SCAN,
];

impl Entry {
    /// The task with the given values and defaults for the rest. The seed matters to SCAN only.
    pub fn build(&self, given: &[(&str, &str)], seed: Seed) -> Result<RuleTask, TaskError> {
        (self.make)(&Setting::check(self.name, self.parameters, given)?, seed)
    }

    /// Every setting with published results, as [`build`] reads it.
    ///
    /// ```
    /// let entry = wug_dataset::find::entry("comp-or-mem").unwrap();
    /// assert_eq!(entry.published()[0], "composition-or-memorization:primitives=40,shown=6");
    /// ```
    pub fn published(&self) -> Vec<String> {
        let mut settings = vec![String::new()];
        for parameter in self.parameters {
            let mut longer = Vec::new();
            for setting in &settings {
                let separator = if setting.is_empty() { ":" } else { "," };
                let values = parameter.allowed.published();
                longer.extend(values.iter().map(|v| format!("{setting}{separator}{}={v}", parameter.name)));
            }
            settings = longer;
        }
        settings.iter().map(|setting| format!("{}{setting}", self.name)).collect()
    }
}

/// The task of a name or alias.
pub fn entry(name: &str) -> Result<&'static Entry, TaskError> {
    TASKS.iter().find(|entry| entry.name == name || entry.aliases.contains(&name)).ok_or_else(|| {
        let allowed = TASKS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
        TaskError::UnknownTask { given: name.to_owned(), allowed }
    })
}

/// Builds a task from `NAME` or `NAME:key=value,key=value`.
///
/// ```
/// use wug_dataset::{Seed, find};
/// let error = find::build("count-or-mem:length=0", Seed::new(1)).unwrap_err();
/// let text = "`length` of task `count-or-memorization` is `0`; allowed: 1..10000";
/// assert_eq!(error.to_string(), text);
/// ```
pub fn build(task: &str, seed: Seed) -> Result<RuleTask, TaskError> {
    let (name, settings) = task.split_once(':').unwrap_or((task, ""));
    let entry = entry(name)?;
    let mut given = Vec::new();
    for setting in settings.split(',').filter(|s| !s.is_empty()) {
        let malformed = || TaskError::Malformed { task: name.to_owned(), given: setting.to_owned() };
        given.push(setting.split_once('=').ok_or_else(malformed)?);
    }
    entry.build(&given, seed)
}
