//! The published text of SCAN: `IN: <command> OUT: <actions>`, one example per line.

use thiserror::Error;
use wug_language::UnknownToken;

use crate::TransductionPair;

/// A line that is no SCAN example.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("line {line}: {problem}")]
pub struct LineError {
    /// The line's number, counted from 1.
    pub line: usize,
    problem: LineProblem,
}

#[derive(Debug, Error, PartialEq, Eq)]
enum LineProblem {
    #[error("found `{0}`, expected `IN: <command> OUT: <actions>`")]
    Form(String),
    #[error("the command: {0}")]
    Command(UnknownToken),
    #[error("the actions: {0}")]
    Actions(UnknownToken),
}

/// Writes examples, one per line.
///
/// ```
/// use wug_dataset::find::scan;
/// let text = scan::write_lines(&scan::commands()[..1]);
/// assert_eq!(text, "IN: turn left OUT: I_TURN_LEFT\n");
/// assert_eq!(scan::read_lines(&text).unwrap(), scan::commands()[..1]);
/// ```
pub fn write_lines(pairs: &[TransductionPair]) -> String {
    let (source, target) = (super::source(), super::target());
    let line = |pair: &TransductionPair| {
        format!("IN: {} OUT: {}\n", source.format(&pair.input), target.format(&pair.output))
    };
    pairs.iter().map(line).collect()
}

/// Reads examples, one per line. Whether the actions are what the command means is not
/// asked here: [`interpret`](super::interpret()) knows.
pub fn read_lines(text: &str) -> Result<Vec<TransductionPair>, LineError> {
    each_line(text).collect()
}

/// Every line, whether it can be read or not.
pub(super) fn each_line(text: &str) -> impl Iterator<Item = Result<TransductionPair, LineError>> {
    let (source, target) = (super::source(), super::target());
    let read = move |line: &str| {
        let malformed = || LineProblem::Form(line.chars().take(80).collect());
        let (command, actions) =
            line.strip_prefix("IN:").and_then(|rest| rest.split_once("OUT:")).ok_or_else(malformed)?;
        let input = source.parse(command).map_err(LineProblem::Command)?;
        let output = target.parse(actions).map_err(LineProblem::Actions)?;
        if input.is_empty() || output.is_empty() {
            Err(malformed())
        } else {
            Ok(TransductionPair { input, output })
        }
    };
    text.lines().zip(1..).map(move |(text, line)| read(text).map_err(|problem| LineError { line, problem }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bad_line_is_named_with_its_number() {
        let error = |text: &str| read_lines(text).unwrap_err().to_string();
        let good = "IN: run OUT: I_RUN\n";
        let form = "line 2: found `jump`, expected `IN: <command> OUT: <actions>`";
        assert_eq!(error(&format!("{good}jump")), form);
        assert!(error(&format!("{good}\n{good}")).starts_with("line 2: found ``"));
        assert!(error("IN: OUT: I_RUN").starts_with("line 1: found"));
        assert!(
            error("IN: fly OUT: I_RUN").starts_with("line 1: the command: unknown token `fly` at position 0")
        );
        assert!(
            error("IN: run OUT: I_RUN x").starts_with("line 1: the actions: unknown token `x` at position 1")
        );
    }

    #[test]
    fn what_is_written_is_read_again() {
        let commands = crate::find::scan::commands();
        assert_eq!(read_lines(&write_lines(&commands)).unwrap(), commands);
        assert_eq!(read_lines(&write_lines(&commands).replace('\n', "\r\n")).unwrap(), commands);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "(IN:|OUT:|[ \\n]|jump|I_JUMP|\\PC){0,12}") {
            let _ = read_lines(&text);
        }
    }
}
