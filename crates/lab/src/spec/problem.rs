//! What is wrong with a spec, said so that it can be mended: the field, the line, and the nearest thing that is right.

use wug_language::nearest_names;

/// Something in a spec that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    field: String,
    /// What to look for in the file to find the line.
    given: String,
    line: Option<usize>,
    message: String,
}

impl Problem {
    /// A field whose value (as it is written in the file) has something wrong with it.
    pub fn new(field: &str, given: &str, message: String) -> Self {
        Self { field: field.to_owned(), given: given.to_owned(), line: None, message }
    }

    /// A value that is not allowed.
    pub fn value(field: &str, given: &str, allowed: &str) -> Self {
        Self::new(field, given, format!("cannot be {given}; it must be {allowed}"))
    }

    /// A name that is not known.
    pub fn unknown<'a>(
        field: &str,
        given: &str,
        nearest: &[&str],
        allowed: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let allowed: Vec<&str> = allowed.into_iter().collect();
        Self::new(
            field,
            given,
            format!("unknown name `{given}`{} There are: {}", did_you_mean(nearest), allowed.join(", ")),
        )
    }

    /// What the parser complains of.
    pub(super) fn parse(error: &toml::de::Error, text: &str) -> Self {
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let message = error.message();
        // "unknown field `x`, expected one of `a`, `b`": the names are between backticks.
        let mut ticked = message.split('`').skip(1).step_by(2);
        if message.starts_with("unknown field") {
            let field = ticked.next().unwrap_or_default();
            let known: Vec<&str> = ticked.collect();
            let nearest = nearest_names(field, known.iter().copied());
            let message = format!("unknown field{} There are: {}", did_you_mean(&nearest), known.join(", "));
            return Self { field: field.to_owned(), given: field.to_owned(), line, message };
        }
        // Values that were put together from several places have no span, but name their field at the end.
        let field = error.to_string();
        let field = field.rsplit_once("in `").map_or("", |(_, rest)| rest.trim_end().trim_end_matches('`'));
        Self {
            field: field.to_owned(),
            given: field.to_owned(),
            line,
            message: message.trim_end().to_owned(),
        }
    }

    /// The whole message, for a file of this name and text.
    pub(crate) fn describe(&self, source: &str, text: &str) -> String {
        let line = self.line.or_else(|| self.find(text));
        let place = line.map_or(source.to_owned(), |line| format!("{source}, line {line}"));
        if self.field.is_empty() {
            return format!("{place}: {}", self.message);
        }
        format!("{place}: `{}`: {}", self.field, self.message)
    }

    /// The line where the field is given that value; failing that, where the field is given.
    fn find(&self, text: &str) -> Option<usize> {
        let last = self.field.rsplit('.').next().unwrap_or(&self.field);
        let code = |line: &str| line.split('#').next().unwrap_or_default().trim_start().to_owned();
        let lines: Vec<String> = text.lines().map(code).collect();
        let names =
            |line: &String| line.strip_prefix(last).is_some_and(|rest| rest.trim_start().starts_with('='));
        let holds = |line: &String| !self.given.is_empty() && line.contains(&self.given);
        let both = lines.iter().position(|line| names(line) && holds(line));
        // A list may go over several lines.
        let quoted = format!("\"{}\"", self.given);
        let listed = || lines.iter().position(|line| line.contains(&quoted));
        let either = || lines.iter().position(names);
        both.or_else(listed).or_else(either).map(|line| line + 1)
    }
}

/// The end of a sentence that names something unknown.
fn did_you_mean(nearest: &[&str]) -> String {
    if nearest.is_empty() {
        return ".".to_owned();
    }
    format!("; did you mean {}?", nearest.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" or "))
}
