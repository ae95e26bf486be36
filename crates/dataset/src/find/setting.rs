//! The parameters of a task: what may be set, and what was set.

use thiserror::Error;

use super::RuleDisagrees;

/// One thing about a task that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, as it is typed.
    pub name: &'static str,
    /// What it means, in one line.
    pub summary: &'static str,
    /// The values it can take.
    pub allowed: Allowed,
}

/// The values that a parameter can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// A whole number in `lo..=hi`.
    Count {
        /// The least.
        lo: usize,
        /// The greatest.
        hi: usize,
        /// The value if none is given.
        default: usize,
        /// The values with published results.
        published: &'static [usize],
    },
    /// One of a few names.
    Name {
        /// All of them.
        names: &'static [&'static str],
        /// The value if none is given.
        default: &'static str,
        /// The values with published results.
        published: &'static [&'static str],
    },
}

/// A task that cannot be built.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TaskError {
    /// No task has this name.
    #[error("unknown task `{given}`; there are: {allowed}")]
    UnknownTask {
        /// The name as given.
        given: String,
        /// The names that exist.
        allowed: String,
    },
    /// Not of the form `NAME:key=value,key=value`.
    #[error("cannot read the setting `{given}` of task `{task}`; write it as key=value")]
    Malformed {
        /// The task.
        task: String,
        /// The setting as given.
        given: String,
    },
    /// The task has no such parameter.
    #[error("task `{task}` has no parameter `{given}`; it has: {allowed}")]
    UnknownParameter {
        /// The task.
        task: String,
        /// The parameter as given.
        given: String,
        /// The parameters it has.
        allowed: String,
    },
    /// A parameter is set twice.
    #[error("parameter `{parameter}` of task `{task}` is given twice")]
    Repeated {
        /// The task.
        task: String,
        /// The parameter.
        parameter: String,
    },
    /// The parameter cannot take this value.
    #[error("`{parameter}` of task `{task}` is `{given}`; allowed: {allowed}")]
    BadValue {
        /// The task.
        task: String,
        /// The parameter.
        parameter: String,
        /// The value as given.
        given: String,
        /// The values it can take.
        allowed: String,
    },
    /// A candidate rule does not fit the training pairs.
    #[error(transparent)]
    RuleDisagrees(#[from] RuleDisagrees),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Count(usize),
    Name(&'static str),
}

/// A value for each parameter of a task, each within its own bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    task: &'static str,
    values: Vec<(&'static str, Value)>,
}

impl Allowed {
    fn default(&self) -> Value {
        match *self {
            Self::Count { default, .. } => Value::Count(default),
            Self::Name { default, .. } => Value::Name(default),
        }
    }

    fn parse(&self, text: &str) -> Option<Value> {
        match *self {
            Self::Count { lo, hi, .. } => {
                text.parse().ok().filter(|n| (lo..=hi).contains(n)).map(Value::Count)
            }
            Self::Name { names, .. } => {
                names.iter().find(|&&name| name == text).map(|name| Value::Name(name))
            }
        }
    }

    /// The allowed values in words.
    pub fn describe(&self) -> String {
        match *self {
            Self::Count { lo, hi, .. } => format!("{lo}..{hi}"),
            Self::Name { names, .. } => names.join(", "),
        }
    }

    /// The values with published results, as they are typed.
    pub fn published(&self) -> Vec<String> {
        match *self {
            Self::Count { published, .. } => published.iter().map(ToString::to_string).collect(),
            Self::Name { published, .. } => published.iter().map(ToString::to_string).collect(),
        }
    }
}

impl Setting {
    /// The defaults of a task, overridden by what is given.
    pub(super) fn check(
        task: &'static str,
        parameters: &'static [Parameter],
        given: &[(&str, &str)],
    ) -> Result<Self, TaskError> {
        for (i, &(name, _)) in given.iter().enumerate() {
            if !parameters.iter().any(|p| p.name == name) {
                let allowed = parameters.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
                return Err(TaskError::UnknownParameter {
                    task: task.to_owned(),
                    given: name.to_owned(),
                    allowed,
                });
            }
            if given[..i].iter().any(|&(other, _)| other == name) {
                return Err(TaskError::Repeated { task: task.to_owned(), parameter: name.to_owned() });
            }
        }
        let mut setting = Self { task, values: Vec::new() };
        for parameter in parameters {
            let typed = given.iter().find(|&&(name, _)| name == parameter.name);
            let value = match typed {
                None => parameter.allowed.default(),
                Some(&(name, text)) => parameter
                    .allowed
                    .parse(text)
                    .ok_or_else(|| setting.bad_value(name, text, parameter.allowed.describe()))?,
            };
            setting.values.push((parameter.name, value));
        }
        Ok(setting)
    }

    /// A number that was set.
    ///
    /// # Panics
    /// If the task declares no such number.
    pub(super) fn count(&self, name: &str) -> usize {
        match self.value(name) {
            Value::Count(n) => n,
            Value::Name(_) => panic!("`{name}` of {} is no number", self.task),
        }
    }

    /// A name that was set.
    ///
    /// # Panics
    /// If the task declares no such name.
    pub(super) fn name(&self, name: &str) -> &'static str {
        match self.value(name) {
            Value::Name(value) => value,
            Value::Count(_) => panic!("`{name}` of {} is a number", self.task),
        }
    }

    /// The error for a value that its own bounds admit but the other values do not.
    pub(super) fn bad_value(&self, parameter: &str, given: &str, allowed: String) -> TaskError {
        let (task, parameter) = (self.task.to_owned(), parameter.to_owned());
        TaskError::BadValue { task, parameter, given: given.to_owned(), allowed }
    }

    /// Task and values in full, such as `count-or-memorization:length=40`.
    pub(super) fn full_name(&self) -> String {
        let settings: Vec<String> = self
            .values
            .iter()
            .map(|(name, value)| match value {
                Value::Count(n) => format!("{name}={n}"),
                Value::Name(n) => format!("{name}={n}"),
            })
            .collect();
        format!("{}:{}", self.task, settings.join(","))
    }

    fn value(&self, name: &str) -> Value {
        let found = self.values.iter().find(|&&(n, _)| n == name);
        found.map_or_else(|| panic!("{} declares no parameter `{name}`", self.task), |&(_, value)| value)
    }
}
