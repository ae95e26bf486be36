//! `u # f(u)` with u any string of letters: the common frame of reversal, copy, odds-first and sorting.

use num_bigint::BigUint;
use num_traits::Zero;
use rand_core::Rng;

use super::answered::{AnsweredReader, HeadStep, QuestionHead, Tail};
use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

/// The language `{ u # f(u) }` over an alphabet whose first symbol is the marker.
#[derive(Clone, Debug)]
pub(super) struct Marked {
    alphabet: Alphabet,
    answer: fn(&[Symbol]) -> Word,
}

const MARKER: Symbol = Symbol(0);

impl Marked {
    /// The marker `#` and the given letters; `answer` computes f(u).
    pub(super) fn new(letters: &[&str], answer: fn(&[Symbol]) -> Word) -> Self {
        let alphabet = Alphabet::new(std::iter::once("#").chain(letters.iter().copied()));
        Self { alphabet, answer }
    }

    fn letters(&self) -> usize {
        self.alphabet.len() - 1
    }
}

impl Language for Marked {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        let mut parts = word.split(|&a| a == MARKER);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(head), Some(tail), None) => (self.answer)(head) == tail,
            _ => false,
        }
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(AnsweredReader::new(Before { language: self, head: Word::new() }))
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let possible = self.some_lengths(&lengths)?;
        Ok(Box::new(UniformHead { language: self, possible }))
    }

    fn count(&self, length: usize) -> BigUint {
        if length.is_multiple_of(2) {
            return BigUint::zero();
        }
        BigUint::from(self.letters()).pow(length as u32 / 2)
    }
}

#[derive(Clone)]
struct Before<'a> {
    language: &'a Marked,
    head: Word,
}

impl QuestionHead for Before<'_> {
    fn read(&mut self, symbol: Symbol) -> HeadStep {
        if symbol == MARKER {
            return HeadStep::Answer(Tail { word: (self.language.answer)(&self.head), padding: None });
        }
        self.head.push(symbol);
        HeadStep::More
    }

    fn next(&self) -> NextSet {
        NextSet::all(&self.language.alphabet)
    }

    fn completes(&self, rest: usize) -> bool {
        // The marker, the answer to what has been read, and two symbols for each further letter.
        let least = self.head.len() + 1;
        rest >= least && (rest - least).is_multiple_of(2)
    }
}

/// |u| uniform over the range, then u uniform.
struct UniformHead<'a> {
    language: &'a Marked,
    possible: Vec<usize>,
}

impl Distribution for UniformHead<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let half = *draw::choose(rng, &self.possible) / 2;
        let letters = self.language.letters();
        let mut word: Word = (0..half).map(|_| Symbol(1 + draw::below(rng, letters) as u16)).collect();
        let tail = (self.language.answer)(&word);
        word.push(MARKER);
        word.extend(tail);
        word
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if self.possible.binary_search(&word.len()).is_err() || !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        let half = (word.len() / 2) as f64;
        -half * libm::log(self.language.letters() as f64) - libm::log(self.possible.len() as f64)
    }
}
