//! Marking a learner step by step on the test strings of a language, for the index of Lan, Chemla and Katzir (2023).
//!
//! Ten thousand strings of up to twenty thousand symbols are 100 million steps. Four things save most of them, and none
//! changes a mark, because a learner in the same state that reads the same symbols says the same:
//!
//! - strings that begin alike are read once, up to where they part, and from there in step;
//! - strings that have come to the very same state, and go on alike, are read as one;
//! - a learner whose state after a block of equal symbols is what it was before will say the same at the next such
//!   block, and is not asked again. Trained networks often come to rest in this way: their counters are full;
//! - a language that counts is asked once what may come along a row of equal symbols.
//!
//! Marking can also end when it is known that the learner does not pass ([`Until`]).
//! Numbers are as precise as the learner's: in `f32` and `f64` the first error may be at different strings.

use thiserror::Error;
use wug_language::{Language, Word};
use wug_learner::interface::NextSymbol;
use wug_score::{StepRule, StringSteps};

use super::trie::Trie;

/// What is asked of a learner.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// Which says what can come.
    pub language: &'a dyn Language,
    /// What a right step is.
    pub rule: StepRule,
    /// Whether the step before the first symbol counts.
    pub first_step: bool,
    /// When to stop.
    pub until: Until,
}

/// When to stop marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When all is marked.
    End,
    /// As soon as it is known which is the first string with an error.
    FirstError,
    /// Soon after there are more wrong steps than so many.
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

/// The marks of test strings, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepScores {
    /// The steps of each.
    pub strings: Vec<StringSteps>,
    /// The length of each.
    pub lengths: Vec<usize>,
    /// Whether nothing is known of any others. If marking was to end at the first error, the last string is the first with
    /// one and is marked up to there; otherwise all that are here are marked to their ends.
    pub stopped: bool,
    /// How many steps the learner took for it.
    pub taken: usize,
}

/// A string that the learner cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a test string has {given} symbols, its start included, but the learner reads no more than {allowed}"
)]
pub struct TooLong {
    /// Symbols to read.
    pub given: usize,
    /// Symbols it can read.
    pub allowed: usize,
}

/// Symbols of strings kept at once.
const SYMBOLS: usize = 1 << 24;

/// Evaluates a learner on strings of the language. They are best sorted by length; a few are kept at a time.
///
/// ```
/// use wug_lab::dataset::corpus::test_after;
/// use wug_lab::language::registry;
/// use wug_lab::generalization::{Evaluation, evaluate_steps};
/// use wug_learner::baseline::RepeatLast;
/// use wug_score::{StepRule, correct_steps};
/// let language = registry::build("an-bn").unwrap();
/// let exam = Evaluation::published(&*language, StepRule::Deterministic { margin: 0.0 });
/// let strings = test_after(&*language, 40, 10_000); // n = 21 to 10,020
/// let marks = evaluate_steps(&mut RepeatLast::new(3), strings, &exam).unwrap();
/// // Only the end of each string is missed.
/// let steps = (21..=10_020).sum::<usize>();
/// assert_eq!(correct_steps(&marks.strings).value(), Some((steps - 10_000) as f64 / steps as f64));
/// ```
pub fn evaluate_steps<L: NextSymbol>(
    learner: &mut L,
    strings: impl IntoIterator<Item = Word>,
    exam: &Evaluation<'_>,
) -> Result<StepScores, TooLong> {
    evaluate_steps_watched(learner, strings, exam, |_| ())
}

/// The same, telling somebody now and then how many strings are marked.
pub(super) fn evaluate_steps_watched<L: NextSymbol>(
    learner: &mut L,
    strings: impl IntoIterator<Item = Word>,
    exam: &Evaluation<'_>,
    mut watch: impl FnMut(usize),
) -> Result<StepScores, TooLong> {
    let mut strings = strings.into_iter().peekable();
    let mut marks = StepScores::default();
    // Few at first, so that an early error is found early.
    let mut many = 64;
    let mut wrong = 0;
    while let Some(next) = strings.peek() {
        many = learner.max_batch(next.len() + 1).min(many);
        let mut words = Vec::new();
        let mut symbols = 0;
        while words.len() < many && symbols < SYMBOLS {
            let Some(word) = strings.next() else { break };
            readable(learner, word.len() + 1)?;
            symbols += word.len();
            words.push(word);
        }
        many *= 4;
        marks.lengths.extend(words.iter().map(Vec::len));
        let (marked, first_error, taken) = Trie::new(learner, exam, &words).mark();
        wrong += marked.iter().map(|steps| steps.scored - steps.correct).sum::<usize>();
        marks.strings.extend(marked);
        marks.taken += taken;
        watch(marks.strings.len());
        if matches!(exam.until, Until::MoreErrorsThan(errors) if wrong > errors) {
            marks.stopped = strings.peek().is_some();
            break;
        }
        if let Some(place) = first_error {
            let known = marks.strings.len() - words.len() + place + 1;
            marks.strings.truncate(known);
            marks.lengths.truncate(known);
            marks.stopped = true;
            break;
        }
    }
    Ok(marks)
}

fn readable<L: NextSymbol>(learner: &L, given: usize) -> Result<(), TooLong> {
    match learner.max_len() {
        Some(allowed) if given > allowed => Err(TooLong { given, allowed }),
        _ => Ok(()),
    }
}
