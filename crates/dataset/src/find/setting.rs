//! The settings of a task, and why a task cannot be built.

use thiserror::Error;
use wug_language::Reading;
use wug_parameter::{FromValue, Key, Parameter, ParameterError, Settings};

use super::RuleDisagrees;

/// A task that cannot be built.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TaskError {
    #[error("unknown task `{given}`; there are: {allowed}")]
    Unknown { given: String, allowed: String },
    #[error("task `{task}`: {problem}")]
    Setting { task: &'static str, problem: ParameterError },
    /// A candidate rule does not fit the training pairs.
    #[error(transparent)]
    RuleDisagrees(#[from] RuleDisagrees),
}

/// A value for each parameter of a task.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    task: &'static str,
    parameters: &'static [Parameter],
    values: Settings,
}

impl Setting {
    /// The defaults of a task, overridden by what `key=value,key=value` says.
    pub(super) fn read(
        task: &'static str,
        parameters: &'static [Parameter],
        text: &str,
    ) -> Result<Self, TaskError> {
        // Tasks are the same in both readings.
        let values = Settings::read(parameters, Reading::Corrected, text);
        let values = values.map_err(|problem| TaskError::Setting { task, problem })?;
        Ok(Self { task, parameters, values })
    }

    pub(super) fn get<T: FromValue>(&self, key: &Key<T>) -> T {
        self.values.get(key)
    }

    /// The error for a value that its own limits allow but the other values do not.
    pub(super) fn refused<T>(&self, key: &Key<T>, given: usize, allowed: String) -> TaskError {
        let problem =
            ParameterError::Value { name: key.name().to_owned(), given: given.to_string(), allowed };
        TaskError::Setting { task: self.task, problem }
    }

    /// Task and values in full, such as `count-or-memorization:length=40`.
    pub(super) fn full_name(&self) -> String {
        let values = self.parameters.iter();
        let values = values.filter_map(|p| Some(format!("{}={}", p.name, self.values.get_value(p.name)?)));
        format!("{}:{}", self.task, values.collect::<Vec<_>>().join(","))
    }
}
