//! A sequence under construction: tokens by name, and the positions of the answers.

use wug_language::Symbol;

use crate::MaskedSequence;

/// The digits, as tokens.
pub(super) const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// The numbers in words. Task 8 knows the first thirteen, task 10 the first nine.
pub(super) const NUMBERS: [&str; 13] = [
    "ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "TEN", "ELEVEN", "TWELVE",
];

/// Tokens and the positions of the answers among them, which ascend because a text is
/// only ever written forwards.
#[derive(Debug, Default)]
pub(super) struct TaskText {
    tokens: Vec<&'static str>,
    mask: Vec<usize>,
}

impl TaskText {
    pub(super) fn say(&mut self, token: &'static str) {
        self.tokens.push(token);
    }

    pub(super) fn say_all(&mut self, tokens: &[&'static str]) {
        self.tokens.extend_from_slice(tokens);
    }

    /// Writes a token that has to be predicted.
    pub(super) fn answer(&mut self, token: &'static str) {
        self.mask.push(self.tokens.len());
        self.tokens.push(token);
    }

    /// Writes a count in decimal digits, each of which has to be predicted.
    pub(super) fn answer_count(&mut self, count: usize) {
        for digit in count.to_string().bytes() {
            self.answer(DIGITS[usize::from(digit - b'0')]);
        }
    }

    /// Writes another text behind this one.
    pub(super) fn append(&mut self, other: &Self) {
        self.mask.extend(other.mask.iter().map(|position| position + self.tokens.len()));
        self.tokens.extend_from_slice(&other.tokens);
    }

    pub(super) fn tokens(&self) -> &[&'static str] {
        &self.tokens
    }

    /// Replaces tokens by their indices in the vocabulary.
    pub(super) fn encode(self, vocabulary: &[&str]) -> MaskedSequence {
        let index = |token: &&str| vocabulary.iter().position(|known| known == token);
        let symbol = |token| index(token).expect("generators write only tokens of their vocabulary");
        MaskedSequence {
            word: self.tokens.iter().map(|token| Symbol(symbol(token) as u16)).collect(),
            mask: self.mask,
        }
    }
}
