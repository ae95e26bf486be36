//! Errors in a spec: the field, the value, what is allowed, and the nearest name.

use std::fmt::Display;

use toml::de::DeValue;
use wug_language::nearest_names;
use wug_language::registry::Named;
use wug_parameter::ParameterError;

/// How messages about unknown fields begin, the parser's and ours.
const UNKNOWN_FIELD: &str = "unknown field";

/// An error in a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path in the section, with dots.
    field: String,
    /// The value as written in the file.
    given: String,
    message: String,
}

impl Problem {
    /// An error about a field with a value, which is `given` as in the file.
    pub fn new(field: &str, given: &str, message: String) -> Self {
        Self { field: field.to_owned(), given: given.to_owned(), message }
    }

    /// An error about one of the languages.
    pub fn of_language(named: &Named, message: &dyn Display) -> Self {
        let spelled = named.spelled();
        Self::new("languages", &spelled, format!("{spelled}: {message}"))
    }

    /// A value that is not allowed.
    pub fn value(field: &str, given: &str, allowed: &str) -> Self {
        Self::new(field, given, format!("cannot be {given}; it must be {allowed}"))
    }

    /// A name that is not known.
    pub fn unknown(field: &str, given: &str, known: &[&str]) -> Self {
        Self::new(field, given, format!("unknown name `{given}`{}", alternatives(given, known)))
    }

    /// A learner has no such setting.
    pub(super) fn unknown_setting(field: &str, learner: &str, setting: &str, known: &[&str]) -> Self {
        Self::new(
            field,
            learner,
            format!("`{learner}` has no setting `{setting}`{}", alternatives(setting, known)),
        )
    }

    /// An error of the parser. `tables` are names that are known beside the fields of the section.
    pub(super) fn parse(error: &toml::de::Error, tables: &[&str]) -> Self {
        let message = error.message().trim_end();
        let text = error.to_string();
        // Merged values have no span, but the last line of the message has the field.
        let last = text.lines().last().filter(|_| error.span().is_none());
        let inside = last.and_then(|l| l.strip_prefix("in `")?.strip_suffix('`')).unwrap_or_default();
        if !message.starts_with(UNKNOWN_FIELD) {
            return Self::new(inside, "", message.to_owned());
        }
        // "unknown field `x`, expected one of `a`, `b`": the names are between backticks.
        let mut ticked = message.split('`').skip(1).step_by(2);
        let field = ticked.next().unwrap_or_default();
        let mut known: Vec<&str> = ticked.collect();
        let path = if inside.is_empty() { field.to_owned() } else { format!("{inside}.{field}") };
        if inside.is_empty() {
            known.extend(tables);
        }
        Self::new(&path, field, format!("{UNKNOWN_FIELD}{}", alternatives(field, &known)))
    }

    /// Whether the error is that there is no such field.
    pub(super) fn is_of_unknown_field(&self) -> bool {
        self.message.starts_with(UNKNOWN_FIELD)
    }

    pub(super) fn field(&self) -> &str {
        &self.field
    }

    /// Whether an item of a list is what the problem is about.
    pub(super) fn is_of(&self, item: &DeValue<'_>) -> bool {
        let number = || item.as_integer().map(toml::de::DeInteger::as_str);
        item.as_str().or_else(number) == Some(&self.given)
    }

    /// The whole message. `location` is the file and line, or the `--set`.
    pub(super) fn describe(&self, location: &str) -> String {
        if self.field.is_empty() {
            return format!("{location}: {}", self.message);
        }
        format!("{location}: `{}`: {}", self.field, self.message)
    }
}

impl From<ParameterError> for Problem {
    fn from(error: ParameterError) -> Self {
        match &error {
            ParameterError::Value { name, given, allowed } => Self::value(name, given, allowed),
            ParameterError::Unknown { given, .. } | ParameterError::Form { given } => {
                Self::new(given, given, error.to_string())
            }
            ParameterError::Repeated { name } => Self::new(name, "", error.to_string()),
        }
    }
}

/// The end of a message about an unknown name: what it may have been, and all names.
pub(super) fn alternatives(given: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    let near: Vec<String> =
        nearest_names(given, known.iter().copied()).iter().map(|n| format!("`{n}`")).collect();
    if near.is_empty() {
        return format!("; there are: {all}");
    }
    format!("; did you mean {}? There are: {all}", near.join(" or "))
}
