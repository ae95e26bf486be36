//! Text from files and names that is printed to a terminal. Escape sequences in it would move the cursor, change the
//! title or hide lines.

use std::borrow::Cow;

pub(crate) use wug_report::visible;

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
    fn lines_stay_lines_and_escapes_are_shown() {
        assert_eq!(visible_lines("a\n  b\u{1b}[2J\r"), "a\n  b\\u{1b}[2J\\r");
        assert_eq!(visible_lines("a\nb"), "a\nb");
    }
}
