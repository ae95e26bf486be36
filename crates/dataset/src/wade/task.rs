//! What a task is.

use std::fmt;

use rand_core::Rng;
use thiserror::Error;
use wug_language::{Alphabet, Reading, UnknownToken, Word, draw};
use wug_parameter::{Key, Parameter, ParameterError, Settings, Span};

use super::oracle::{self, Disagreement, Malformed};
use super::text::TaskText;
use super::{CITATION, TASKS};
use crate::MaskedSequence;

/// One of the ten tasks: a vocabulary and a generator of masked sequences.
///
/// ```
/// use wug_dataset::{Seed, wade};
/// let task = wade::task("qa").unwrap();
/// let sequence = task.generate(wade::Reading::Corrected, &mut Seed::new(1).rng());
/// assert_eq!(task.check(&sequence), Ok(vec![]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WadeTask {
    /// Its number in the paper, from 1.
    pub number: u8,
    /// Its name in the released code, as it is typed.
    pub name: &'static str,
    /// Its name in the paper.
    pub title: &'static str,
    /// What it asks, in one line.
    pub summary: &'static str,
    /// How a sequence is made.
    pub definition: &'static str,
    /// One short sequence, answers in brackets, as [`WadeTask::parse`] reads it.
    pub example: &'static str,
    /// What can be set: ranges from which the generator draws uniformly, so that a published constant, a published range and a
    /// user's variation are written alike.
    pub parameters: &'static [Parameter],
    pub(super) generator: &'static dyn Generate,
}

/// What a task's generator does. It trusts its settings, which were checked when they were made.
pub(super) trait Generate: fmt::Debug + Send + Sync {
    /// The tokens, in the published order.
    fn vocabulary(&self) -> Vec<&'static str>;

    fn draw(&self, settings: &TaskSettings, rng: &mut dyn Rng) -> TaskText;
}

/// No task has this name or number.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("unknown task `{given}`; there are: {allowed}")]
pub struct UnknownTask {
    /// The name as it was given.
    pub given: String,
    /// The tasks there are.
    pub allowed: String,
}

impl UnknownTask {
    pub(super) fn new(given: &str) -> Self {
        let all: Vec<String> = TASKS.iter().map(|task| format!("{} {}", task.number, task.name)).collect();
        Self { given: given.to_owned(), allowed: all.join(", ") }
    }
}

/// The settings of one task, complete and within limits, and the reading that its generator follows where they say nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSettings {
    pub reading: Reading,
    pub values: Settings,
}

impl TaskSettings {
    /// A uniform draw from the range of a setting.
    pub(super) fn draw(&self, key: &Key<Span>, rng: &mut dyn Rng) -> usize {
        let span = self.values.get(key);
        draw::between(rng, span.first, span.last)
    }
}

/// A setting that a task does not have or allow.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("task `{task}`: {problem}")]
pub struct BadSetting {
    task: &'static str,
    problem: ParameterError,
}

/// A text that is not over the task's vocabulary.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("not a text of task `{task}`: {source}")]
pub struct BadText {
    pub task: &'static str,
    /// The first token it does not have.
    pub source: UnknownToken,
}

impl WadeTask {
    pub fn citation(&self) -> &'static str {
        CITATION
    }

    /// The tokens, in the published order.
    pub fn vocabulary(&self) -> Alphabet {
        Alphabet::new(self.generator.vocabulary())
    }

    /// The settings of a reading.
    pub fn settings(&self, reading: Reading) -> TaskSettings {
        TaskSettings { reading, values: Settings::defaults(self.parameters, reading) }
    }

    /// The settings of a reading with what `key=value,key=value` says.
    ///
    /// ```
    /// use wug_dataset::wade::{PERIODIC, Reading};
    /// let settings = PERIODIC.settings_with(Reading::Published, "pattern=3..4").unwrap();
    /// assert_eq!(PERIODIC.spelled(&settings, " "), "pattern=3..4 length=100");
    /// let error = PERIODIC.settings_with(Reading::Published, "pattern=0..4").unwrap_err();
    /// let message = "task `periodic`: `pattern` cannot be 0..4; it must be a number or a range A..B within 1..25";
    /// assert_eq!(error.to_string(), message);
    /// ```
    pub fn settings_with(&self, reading: Reading, text: &str) -> Result<TaskSettings, BadSetting> {
        let refused = |problem| BadSetting { task: self.name, problem };
        let values = Settings::read(self.parameters, reading, text).map_err(refused)?;
        Ok(TaskSettings { reading, values })
    }

    /// All settings as they would be typed, such as `pattern=1..10 length=100`.
    pub fn spelled(&self, settings: &TaskSettings, separator: &str) -> String {
        let set = self.parameters.iter();
        let set = set.filter_map(|p| Some(format!("{}={}", p.name, settings.values.get_value(p.name)?)));
        set.collect::<Vec<_>>().join(separator)
    }

    /// Draws one sequence with the settings of a reading.
    pub fn generate(&self, reading: Reading, rng: &mut dyn Rng) -> MaskedSequence {
        self.generate_with(&self.settings(reading), rng)
    }

    pub fn generate_with(&self, settings: &TaskSettings, rng: &mut dyn Rng) -> MaskedSequence {
        self.generator.draw(settings, rng).encode(&self.generator.vocabulary())
    }

    /// Reads a text with answers in brackets, as [`MaskedSequence::show`] writes it. Where every token is one
    /// character, spaces may be left out except around brackets.
    ///
    /// ```
    /// let task = wug_dataset::wade::SYM_CT;
    /// let sequence = task.parse("A B x B [1] .").unwrap();
    /// assert_eq!(sequence.mask, [4]);
    /// assert_eq!(sequence.show(&task.vocabulary()), "A B x B [1] .");
    /// assert_eq!(task.parse("ABxB [1] .").unwrap(), sequence);
    /// ```
    pub fn parse(&self, text: &str) -> Result<MaskedSequence, BadText> {
        let vocabulary = self.vocabulary();
        let (mut word, mut mask) = (Word::new(), Vec::new());
        for piece in text.split_whitespace() {
            let start = word.len();
            let inner = piece.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let symbols = vocabulary.parse(inner.unwrap_or(piece)).map_err(|mut source| {
                // Counted in the whole text, of which this is a piece.
                source.position += start;
                BadText { task: self.name, source }
            })?;
            word.extend(symbols);
            if inner.is_some() {
                mask.extend(start..word.len());
            }
        }
        Ok(MaskedSequence { word, mask })
    }

    /// Where a sequence's answers differ from what the [`oracle`] reads in its text.
    pub fn check(&self, sequence: &MaskedSequence) -> Result<Vec<Disagreement>, Malformed> {
        let vocabulary = self.vocabulary();
        let tokens: Vec<&str> = sequence
            .word
            .iter()
            // A symbol outside the vocabulary becomes a token that no grammar has.
            .map(|symbol| vocabulary.tokens().get(symbol.index()).map_or("", String::as_str))
            .collect();
        oracle::check(self.number, &tokens, &sequence.mask)
    }
}
