//! Text from files and names that is printed to a terminal. Escape sequences in it would move the cursor, change the
//! title or hide lines.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};

pub(crate) use wug_report::visible;

/// Prints a JSON value and ends the line. Control characters of eight bits and marks of direction, which JSON allows in strings,
/// are written as escapes: the value is the same, and the terminal obeys none of them.
pub(crate) fn write_json(value: &dyn Display, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", wug_report::escaped_json(&value.to_string()))
}

/// A message of several lines, made visible line by line.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    match visible(text) {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        Cow::Owned(_) => Cow::Owned(text.split('\n').map(visible).collect::<Vec<_>>().join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_character_that_a_terminal_obeys() {
        let value = serde_json::json!({ "title": "a\u{9b}2Jb\u{202e}c\u{2028}\u{e0041}\n\"" });
        let mut line = Vec::new();
        write_json(&value, &mut line).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line, "{\"title\":\"a\\u009b2Jb\\u202ec\\u2028\\udb40\\udc41\\n\\\"\"}\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
    }

    #[test]
    fn lines_stay_lines_and_escapes_are_shown() {
        assert_eq!(visible_lines("a\n  b\u{1b}[2J\r"), "a\n  b\\u{1b}[2J\\r");
        assert_eq!(visible_lines("a\nb"), "a\nb");
    }
}
