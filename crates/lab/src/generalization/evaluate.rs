//! Evaluates a learner at every step of the test strings of a language, for the index of Lan, Chemla and Katzir (2023).
//!
//! Ten thousand strings of up to twenty thousand symbols are 100 million steps. Four things save most of them, and none
//! changes a score, because a learner in the same state that reads the same symbols gives the same probabilities:
//!
//! - a common prefix of strings is read once; after it, the strings are read as a batch;
//! - strings that are in the very same state and have the same next symbols are read as one;
//! - if a block of equal symbols leaves the state of a learner unchanged, the next such block gives the same
//!   probabilities and is skipped. Trained networks often reach such a fixed point: their counters saturate;
//! - the scanner of a counting language gives the next-symbol set once for a run of equal symbols.
//!
//! Evaluation can also end as soon as it is known that the learner does not pass ([`Until`]).
//! The precision is the learner's: in `f32` and `f64` the first error may be at different strings.

use wug_language::{Language, Word};
use wug_learner::interface::NextSymbol;
use wug_score::{StepRule, StringSteps};

use super::trie::{Trie, evaluate_whole};
use crate::LabError;

#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The language, which gives the next-symbol sets.
    pub language: &'a dyn Language,
    /// What a correct step is.
    pub rule: StepRule,
    /// Whether the step before the first symbol counts.
    pub first_step: bool,
    pub until: Until,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    End,
    /// As soon as the first string with an error is known.
    FirstError,
    /// Soon after there are more incorrect steps than this.
    MoreErrorsThan(usize),
}

impl<'a> Evaluation<'a> {
    /// All steps that the rule scores.
    pub fn exact(language: &'a dyn Language, rule: StepRule) -> Self {
        Self { language, rule, first_step: true, until: Until::End }
    }

    /// The steps that the released masks score: where only deterministic steps count, the first never does.
    pub fn published(language: &'a dyn Language, rule: StepRule) -> Self {
        let first_step = !matches!(rule, StepRule::Deterministic { .. });
        Self { first_step, ..Self::exact(language, rule) }
    }
}

/// The scores of test strings, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepScores {
    /// The steps of each.
    pub strings: Vec<StringSteps>,
    /// The length of each.
    pub lengths: Vec<usize>,
    /// Whether evaluation stopped before the last string. With [`Until::FirstError`], the last string here is the first with an
    /// error, and is scored up to there; otherwise all strings here are scored to their ends.
    pub stopped: bool,
    /// How many steps the learner took.
    pub taken: usize,
}

/// The most symbols of strings in memory.
const MAX_SYMBOLS: usize = 1 << 24;

/// Evaluates a learner on strings of the language, best sorted by length. Only a few are in memory at a time. An error if the
/// learner fails, or cannot read strings of that length.
///
/// ```
/// use wug_lab::dataset::corpus::test_after;
/// use wug_lab::language::registry;
/// use wug_lab::generalization::{Evaluation, evaluate_steps};
/// use wug_learner::baseline::RepeatLast;
/// use wug_score::{StepRule, correct_steps};
/// let language = registry::build("an-bn").unwrap();
/// let evaluation = Evaluation::published(&*language, StepRule::Deterministic { margin: 0.0 });
/// let strings = test_after(&*language, 40, 10_000); // n = 21 to 10,020
/// let scores = evaluate_steps(&mut RepeatLast::new(3), strings, &evaluation).unwrap();
/// // Only the end of each string is missed.
/// let steps = (21..=10_020).sum::<usize>();
/// assert_eq!(correct_steps(&scores.strings).value(), Some((steps - 10_000) as f64 / steps as f64));
/// ```
pub fn evaluate_steps<L: NextSymbol>(
    learner: &mut L,
    strings: impl IntoIterator<Item = Word>,
    evaluation: &Evaluation<'_>,
) -> Result<StepScores, LabError> {
    evaluate_steps_watched(learner, strings, evaluation, |_| Ok(()))
}

/// The same, with a callback that now and then gets the number of evaluated strings, and may end the evaluation.
pub(super) fn evaluate_steps_watched<L: NextSymbol>(
    learner: &mut L,
    strings: impl IntoIterator<Item = Word>,
    evaluation: &Evaluation<'_>,
    mut watch: impl FnMut(usize) -> Result<(), LabError>,
) -> Result<StepScores, LabError> {
    let mut strings = strings.into_iter().peekable();
    let mut scores = StepScores::default();
    // Few at first, so that an early error is found early.
    let mut batch = 64;
    let mut incorrect = 0;
    while let Some(next) = strings.peek() {
        // States and probabilities of a batch grow with the length of its strings: the learner bounds the memory.
        batch = learner.max_batch(next.len() + 1).min(batch);
        let mut words = Vec::new();
        let mut symbols = 0;
        while words.len() < batch && symbols < MAX_SYMBOLS {
            let Some(word) = strings.next() else { break };
            readable(learner, word.len() + 1)?;
            symbols += word.len();
            words.push(word);
        }
        batch *= 4;
        scores.lengths.extend(words.iter().map(Vec::len));
        let scored = match evaluate_whole(learner, evaluation, &words)? {
            Some(scored) => scored,
            None => Trie::new(learner, evaluation, &words).evaluate()?,
        };
        incorrect += scored.strings.iter().map(|steps| steps.scored - steps.correct).sum::<usize>();
        scores.strings.extend(scored.strings);
        scores.taken += scored.taken;
        watch(scores.strings.len())?;
        if matches!(evaluation.until, Until::MoreErrorsThan(errors) if incorrect > errors) {
            scores.stopped = strings.peek().is_some();
            break;
        }
        if let Some(index) = scored.first_error {
            // Strings after the first error are unread, or read in part.
            let known = scores.strings.len() - words.len() + index + 1;
            scores.strings.truncate(known);
            scores.lengths.truncate(known);
            scores.stopped = true;
            break;
        }
    }
    Ok(scores)
}

fn readable<L: NextSymbol>(learner: &L, given: usize) -> Result<(), LabError> {
    match learner.max_len() {
        Some(allowed) if given > allowed => Err(LabError::Usage(format!(
            "a test string has {given} symbols, its start included, but the learner reads no more than {allowed}"
        ))),
        _ => Ok(()),
    }
}
