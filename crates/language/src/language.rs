//! The traits that every language fulfils.

use std::fmt;
use std::ops::RangeInclusive;

use num_bigint::BigUint;
use rand_core::Rng;
use thiserror::Error;

use crate::limit::TooLarge;
use crate::{Alphabet, Dfa, Members, NextSet, Symbol, Word};

/// A range of string lengths, inclusive at both ends.
pub type LengthRange = RangeInclusive<usize>;

/// Why there is no sampler over a range of lengths.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LengthError {
    /// No member has a length in the range.
    #[error("no string of the language has a length in {lo}..{hi}{}", hint(*.nearest))]
    NoSuchLength {
        /// The shortest length asked for.
        lo: usize,
        /// The longest length asked for.
        hi: usize,
        /// The nearest length at which there are members, if one is known.
        nearest: Option<usize>,
    },
    /// The sampler would take too much memory.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

fn hint(nearest: Option<usize>) -> String {
    nearest.map_or(String::new(), |n| format!("; the nearest possible length is {n}"))
}

/// A formal language: membership, exact next-symbol sets, samplers and enumeration.
///
/// ```
/// use wug_language::registry;
/// let parity = registry::build("parity").unwrap();
/// let word = parity.alphabet().parse("0 1 1").unwrap();
/// assert!(!parity.contains(&word)); // an even number of 1s
/// assert!(!parity.next(&word).end());
/// assert_eq!(parity.members(2).count(), 2); // 01 and 10
/// ```
pub trait Language: fmt::Debug + Send + Sync {
    /// The symbols, in order.
    fn alphabet(&self) -> &Alphabet;

    /// Whether a string belongs to the language, decided from the definition.
    fn contains(&self, word: &[Symbol]) -> bool;

    /// A reader that follows a string symbol by symbol and knows at every prefix what may come next.
    fn scanner(&self) -> Box<dyn Scanner + '_>;

    /// The language's sampler over a range of lengths: a length first (as its paper says; uniform
    /// over the possible ones unless stated otherwise), then a string of that length. `n..=n`
    /// conditions on one length.
    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError>;

    /// An error if [`by_length`](Self::by_length) or [`members`](Self::members) would take too much memory for strings of
    /// this length. The default is for languages without a table over lengths.
    fn check_length(&self, _longest: usize) -> Result<(), TooLarge> {
        Ok(())
    }

    /// The language's own distribution over strings of any length, where it has one
    /// (a grammar with probabilities).
    fn natural(&self) -> Option<Box<dyn Distribution + '_>> {
        None
    }

    /// The automaton, if the language is regular.
    fn automaton(&self) -> Option<&Dfa> {
        None
    }

    /// How many members have this length. The default counts them one by one.
    fn count(&self, length: usize) -> BigUint {
        BigUint::from(self.members(length).count())
    }

    /// How many members have this length, or `most` if there are more: where members are counted one by one, no more of them are.
    fn count_up_to(&self, length: usize, most: usize) -> BigUint {
        self.count(length).min(BigUint::from(most))
    }

    /// Whether some member has this length.
    fn has_length(&self, length: usize) -> bool {
        self.scanner().completes(length)
    }

    /// The lengths in a range at which there are members.
    fn lengths(&self, range: LengthRange) -> Vec<usize> {
        range.filter(|&n| self.has_length(n)).collect()
    }

    /// The lengths in a range at which there are members, or the error that there are none.
    fn some_lengths(&self, range: &LengthRange) -> Result<Vec<usize>, LengthError> {
        let lengths = self.lengths(range.clone());
        if lengths.is_empty() { Err(self.no_such_length(range)) } else { Ok(lengths) }
    }

    /// The members of one length, in lexicographic order of their symbols.
    fn members(&self, length: usize) -> Members<'_> {
        Members::new(self.scanner(), length)
    }

    /// What may follow a prefix; the empty set if it is no prefix of any member.
    fn next(&self, prefix: &[Symbol]) -> NextSet {
        let mut scanner = self.scanner();
        prefix.iter().for_each(|&symbol| scanner.push(symbol));
        scanner.next()
    }

    /// What may follow at each of the `word.len() + 1` prefixes of a word, in time linear in its length.
    fn next_sets(&self, word: &[Symbol]) -> Vec<NextSet> {
        let mut scanner = self.scanner();
        let mut sets = Vec::with_capacity(word.len() + 1);
        sets.push(scanner.next());
        for &symbol in word {
            scanner.push(symbol);
            sets.push(scanner.next());
        }
        sets
    }

    /// The error for a range without members, naming the nearest length that has some.
    fn no_such_length(&self, range: &LengthRange) -> LengthError {
        let (lo, hi) = (*range.start(), *range.end());
        let scanner = self.scanner();
        // Down to the empty string, and as far up; at least 64, for ranges that begin at 0.
        let nearest = (1..=lo.max(64))
            .flat_map(|d| [hi.checked_add(d), lo.checked_sub(d)])
            .flatten()
            .find(|&n| scanner.completes(n));
        LengthError::NoSuchLength { lo, hi, nearest }
    }
}

/// Reads a string from left to right.
pub trait Scanner {
    /// What may come next.
    fn next(&self) -> NextSet;

    /// Reads one symbol. A symbol that may not come here leads to a dead state, in which nothing may follow.
    fn push(&mut self, symbol: Symbol);

    /// Reads a symbol up to `most` times, as long as what may come next does not change; returns how often. A scanner that
    /// counts need not take every step, so that long repetitions are cheap; others read nothing.
    fn repeat(&mut self, _symbol: Symbol, _most: usize) -> usize {
        0
    }

    /// Whether exactly `rest` more symbols can complete the prefix to a member.
    fn completes(&self, rest: usize) -> bool;

    /// A copy of this scanner, so that strings that share a prefix are read once.
    fn fork<'a>(&self) -> Box<dyn Scanner + 'a>
    where
        Self: 'a;
}

/// A probability distribution over the strings of a language.
pub trait Distribution {
    fn sample(&self, rng: &mut dyn Rng) -> Word;

    /// The natural logarithm of the exact probability that [`sample`](Self::sample) returns this string;
    /// minus infinity if it never does.
    fn log_prob(&self, word: &[Symbol]) -> f64;

    /// The natural logarithm of the exact probability that a string begins with each of the `word.len() + 1` prefixes of a word, the
    /// empty one first, if a length is drawn with the probability whose logarithm `share` is, and a string of that length by this
    /// distribution. `None` if the distribution does not know.
    fn log_prefixes(&self, _word: &[Symbol], _share: &dyn Fn(usize) -> f64) -> Option<Vec<f64>> {
        None
    }
}
