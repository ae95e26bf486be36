//! Masked sequences: a whole text of which some positions must be predicted from everything before them.

mod source;

use wug_language::{Alphabet, Symbol, Word};

pub use source::{MaskedData, MaskedExample, MaskedSource, find};

/// One sequence and the positions to predict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaskedSequence {
    /// The whole text, answers included.
    pub word: Word,
    /// 0-based positions to predict, in ascending order; position `i` is predicted from `word[..i]`.
    pub mask: Vec<usize>,
}

impl MaskedSequence {
    /// The symbols to predict, in order.
    pub fn answers(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.mask.iter().map(|&i| self.word[i])
    }

    /// The text with answers in brackets, for people to read.
    pub fn show(&self, vocabulary: &Alphabet) -> String {
        let mut text = String::new();
        for (i, &symbol) in self.word.iter().enumerate() {
            if i > 0 {
                text.push(' ');
            }
            let token = vocabulary.token(symbol);
            if self.mask.contains(&i) {
                text.push('[');
                text.push_str(token);
                text.push(']');
            } else {
                text.push_str(token);
            }
        }
        text
    }
}
