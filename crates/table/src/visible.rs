//! Text from results, as it may be shown: without characters that a terminal obeys or that hide others.

use std::borrow::Cow;

/// Text in which control characters, and those that reverse or hide what is around them, are written as escapes.
///
/// ```
/// use wug_table::visible;
/// assert_eq!(visible("an-bn"), "an-bn");
/// assert_eq!(visible("\u{1b}[2J\n"), r"\u{1b}[2J\n");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Visible text in one line: white space becomes single spaces.
pub fn one_line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// Control characters, separators of lines, marks of direction, characters without width, and those that XML forbids.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}
