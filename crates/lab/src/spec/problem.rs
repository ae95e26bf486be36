//! What is wrong with a spec, said so that it can be mended: the field, and the nearest thing that is right.

use toml::de::DeValue;
use wug_language::nearest_names;

/// How the parser begins to say that there is no such field, and we too.
const UNKNOWN_FIELD: &str = "unknown field";

/// Something in a spec that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// With dots, from the section on.
    field: String,
    /// The value, as it is written in the file.
    given: String,
    message: String,
}

impl Problem {
    /// A field whose value (as it is written in the file) has something wrong with it.
    pub fn new(field: &str, given: &str, message: String) -> Self {
        Self { field: field.to_owned(), given: given.to_owned(), message }
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

    /// What the parser complains of. `tables` are known beside the fields of the section.
    pub(super) fn parse(error: &toml::de::Error, tables: &[&str]) -> Self {
        let message = error.message().trim_end();
        let text = error.to_string();
        // Values that were put together from several places have no span, but name the field at the end.
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

    /// Whether it is that there is no such field.
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

    /// The whole message, about something in this place.
    pub(super) fn describe(&self, place: &str) -> String {
        if self.field.is_empty() {
            return format!("{place}: {}", self.message);
        }
        format!("{place}: `{}`: {}", self.field, self.message)
    }
}

/// The end of a sentence that names something unknown.
pub(super) fn alternatives(given: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    let near: Vec<String> =
        nearest_names(given, known.iter().copied()).iter().map(|n| format!("`{n}`")).collect();
    if near.is_empty() {
        return format!("; there are: {all}");
    }
    format!("; did you mean {}? There are: {all}", near.join(" or "))
}
