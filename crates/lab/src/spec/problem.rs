//! Errors in an experiment: the field, the value, what is allowed, the nearest name, and where it was written.

use std::fmt::Display;

use wug_language::registry::Named;
use wug_parameter::{ParameterError, alternatives};

use super::draft::{DraftItem, Fields, Origin};

/// An error in an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path in the section, with dots.
    field: String,
    /// The value as written, which tells an item of a list.
    given: String,
    message: String,
    /// Another field that it has to do with.
    because: Option<&'static str>,
    /// Where it was written, where that is known already.
    origin: Option<Origin>,
    /// Where what it is part of was written, if nothing says it better.
    near: Option<Origin>,
}

impl Problem {
    /// An error about a field with a value, which is `given` as in the file.
    pub fn new(field: &str, given: &str, message: String) -> Self {
        Self {
            field: field.to_owned(),
            given: given.to_owned(),
            message,
            because: None,
            origin: None,
            near: None,
        }
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

    /// A field that is not known.
    pub(super) fn unknown_field(path: &str, known: &[&str]) -> Self {
        let name = path.rsplit('.').next().unwrap_or_default();
        Self::new(path, name, format!("unknown field{}", alternatives(name, known)))
    }

    /// A learner has no such setting.
    pub(super) fn unknown_setting(field: &str, learner: &str, setting: &str, known: &[&str]) -> Self {
        let alternatives = alternatives(setting, known);
        Self::new(field, learner, format!("`{learner}` has no setting `{setting}`{alternatives}"))
    }

    /// The same, which has to do with another field: where this one was not written, it is said of that one.
    #[must_use]
    pub(crate) fn because(self, field: &'static str) -> Self {
        Self { because: Some(field), ..self }
    }

    /// The same, written there.
    #[must_use]
    pub(crate) fn written(self, origin: Origin) -> Self {
        // The first place wins: the innermost code knows it best.
        Self { origin: self.origin.or(Some(origin)), ..self }
    }

    /// The same, in something that was written there.
    #[must_use]
    pub(crate) fn near(self, origin: Origin) -> Self {
        Self { near: self.near.or(Some(origin)), ..self }
    }

    /// Where it was written: at the item if the field is a list with it, at the field otherwise.
    pub(super) fn origin(&self, section: &Fields) -> Option<Origin> {
        if self.origin.is_some() {
            return self.origin;
        }
        let of = |path: &str| {
            let node = section.get(path)?;
            let item = match &node.item {
                DraftItem::List(items) => items.iter().find(|item| self.is_of(&item.item)),
                _ => None,
            };
            Some(item.unwrap_or(node).origin)
        };
        // A default is written nowhere. Then the field that it contradicts is shown.
        of(&self.field).or_else(|| of(self.because?)).or(self.near)
    }

    /// Whether an item of a list is what the problem is about.
    fn is_of(&self, item: &DraftItem) -> bool {
        match item {
            DraftItem::Value(value) => value.to_string() == self.given,
            DraftItem::Table(fields) => fields.get("name").and_then(|node| node.text()) == Some(&self.given),
            DraftItem::List(_) | DraftItem::Other(_) => false,
        }
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
