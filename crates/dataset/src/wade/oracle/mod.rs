//! The answers, worked out again from the text alone.
//!
//! The oracle shares no code and no word list with the generators: it parses the text by its own grammar and
//! never looks at a masked token, so that it can neither repeat a generator's mistake nor be led by a wrong
//! label. What it says is what the text implies: a pattern that occurs is counted, whatever its label, and
//! somebody who was never mentioned is not seen ([`OracleAnswer::stated`] tells that case apart).
//!
//! No input makes it panic. A text that does not follow the task's grammar is [`Malformed`].

mod counts;
mod cursor;
mod periods;
mod sentences;

use thiserror::Error;

use cursor::Cursor;

/// What should stand at one masked position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleAnswer {
    pub position: usize,
    pub token: &'static str,
    /// Whether the text speaks of what is asked. If not, the answer is NO because nothing was said.
    pub stated: bool,
}

/// A masked position at which something else stands than the text implies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    pub position: usize,
    pub given: String,
    /// What should stand there.
    pub expected: &'static str,
}

/// Why a text has no answers.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Malformed {
    /// There is no such task.
    #[error("no task has number {0}; there are 1 to 10")]
    Task(u8),
    /// The mask is not a list of ascending positions in the text.
    #[error("masked position {position} does not ascend or lies outside the text of {length} tokens")]
    Mask {
        /// The first position that is wrong.
        position: usize,
        /// The number of tokens.
        length: usize,
    },
    /// Another token was due.
    #[error("expected {expected} at position {position}, found {found}")]
    Token {
        position: usize,
        expected: &'static str,
        /// The token there, or that it is masked or missing.
        found: String,
    },
    /// What is visible leaves the answer open.
    #[error("the answer at position {position} is not determined: {reason}")]
    Open {
        /// The first position in question.
        position: usize,
        /// What is missing or contradictory.
        reason: &'static str,
    },
    /// The count has another number of digits than there are masked positions for it.
    #[error("the count at position {position} is {count}, but {masked} positions are masked for it")]
    Digits {
        /// Where the digits begin.
        position: usize,
        count: usize,
        /// How many positions are masked.
        masked: usize,
    },
}

/// The answers at all masked positions, in order.
///
/// ```
/// use wug_dataset::wade::oracle;
/// // What stands at position 9 does not matter.
/// let text: Vec<&str> = "I SEE TOM . DO I SEE TOM ? ·".split(' ').collect();
/// assert_eq!(oracle::answers(5, &text, &[9]).unwrap()[0].token, "YES");
/// let error = oracle::answers(5, &text[1..], &[8]).unwrap_err();
/// assert_eq!(error.to_string(), "expected `I` at position 0, found `SEE`");
/// ```
pub fn answers<T: AsRef<str>>(
    task: u8,
    tokens: &[T],
    mask: &[usize],
) -> Result<Vec<OracleAnswer>, Malformed> {
    let mut text: Vec<Option<&str>> = tokens.iter().map(|token| Some(token.as_ref())).collect();
    let mut least = 0;
    for &position in mask {
        match text.get_mut(position) {
            Some(token) if position >= least => *token = None,
            _ => return Err(Malformed::Mask { position, length: tokens.len() }),
        }
        least = position + 1;
    }
    match task {
        1 => periods::periodic(&text),
        2 => periods::increasing(&text),
        3 => counts::symbols(Cursor::new(&text)),
        4 => counts::patterns(Cursor::new(&text)),
        5..=10 => sentences::answers(task, Cursor::new(&text)),
        _ => Err(Malformed::Task(task)),
    }
}

/// The masked positions at which something else stands than the text implies.
///
/// ```
/// use wug_dataset::wade::oracle;
/// let text: Vec<&str> = "A A x A 3 .".split(' ').collect();
/// let wrong = oracle::check(3, &text, &[4]).unwrap();
/// assert_eq!((wrong[0].given.as_str(), wrong[0].expected), ("3", "2"));
/// ```
pub fn check<T: AsRef<str>>(task: u8, tokens: &[T], mask: &[usize]) -> Result<Vec<Disagreement>, Malformed> {
    let answers = answers(task, tokens, mask)?;
    let disagreement = |answer: OracleAnswer| {
        let given = tokens.get(answer.position)?.as_ref();
        let (position, expected) = (answer.position, answer.token);
        (given != expected).then(|| Disagreement { position, given: given.to_owned(), expected })
    };
    Ok(answers.into_iter().filter_map(disagreement).collect())
}
