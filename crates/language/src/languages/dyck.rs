//! Balanced brackets of some kinds, nested to any depth: the common frame of Dyck-1 and Dyck-2.
//!
//! Left to itself the grammar is S → ( S ) S, with probability p/k for each kind, or the empty string; here
//! the prior p is the probability of going on.

use num_bigint::BigUint;
use num_traits::Zero;
use rand_core::Rng;

use crate::big::{central_binomial, ln};
use wug_parameter::{Key, Settings, ValueLimits};

use super::counting::LEAST_PRIOR;
use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

pub(super) const PRIOR: Key<f64> = Key::real(
    "prior",
    "probability p of a further pair of brackets, below 0.5 so that strings end",
    ValueLimits::Between(LEAST_PRIOR, MOST_PRIOR),
    0.3,
);

/// The mean length is 2p / (1 − 2p), and some strings are its square: nearer to 0.5 they do not fit into memory.
const MOST_PRIOR: f64 = 0.4999;

/// Symbol 2k opens and 2k + 1 closes a bracket of kind k.
#[derive(Debug)]
pub(super) struct Dyck {
    alphabet: Alphabet,
    prior: f64,
}

fn opens(symbol: Symbol) -> bool {
    symbol.0.is_multiple_of(2)
}

fn closing(open: Symbol) -> Symbol {
    Symbol(open.0 + 1)
}

impl Dyck {
    pub(super) fn boxed(brackets: &[&str], settings: &Settings) -> Box<dyn Language> {
        let prior = settings.get(&PRIOR);
        Box::new(Self { alphabet: Alphabet::new(brackets.iter().copied()), prior })
    }

    fn kinds(&self) -> usize {
        self.alphabet.len() / 2
    }

    fn open(&self, rng: &mut dyn Rng) -> Symbol {
        Symbol(2 * draw::below(rng, self.kinds()) as u16)
    }
}

impl Language for Dyck {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        let mut stack = Vec::new();
        for &symbol in word {
            if opens(symbol) {
                stack.push(closing(symbol));
            } else if stack.pop() != Some(symbol) {
                return false;
            }
        }
        stack.is_empty()
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(Open { language: self, expected: Word::new(), dead: false })
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let possible = self.some_lengths(&lengths)?;
        Ok(Box::new(UniformDyck { language: self, possible }))
    }

    fn natural(&self) -> Option<Box<dyn Distribution + '_>> {
        Some(Box::new(Branching { language: self }))
    }

    /// A Catalan number times the kinds of the pairs.
    fn count(&self, length: usize) -> BigUint {
        if length % 2 == 1 {
            return BigUint::zero();
        }
        let pairs = length / 2;
        let shapes = central_binomial(pairs) / (pairs + 1);
        shapes * BigUint::from(self.kinds()).pow(pairs as u32)
    }

    fn has_length(&self, length: usize) -> bool {
        length.is_multiple_of(2)
    }
}

#[derive(Clone)]
struct Open<'a> {
    language: &'a Dyck,
    expected: Word,
    dead: bool,
}

impl Scanner for Open<'_> {
    fn next(&self) -> NextSet {
        if self.dead {
            return NextSet::empty();
        }
        let opening = self.language.alphabet.symbols().filter(|&a| opens(a));
        NextSet::of(opening.chain(self.expected.last().copied())).with_end(self.expected.is_empty())
    }

    fn push(&mut self, symbol: Symbol) {
        if opens(symbol) {
            self.expected.push(closing(symbol));
        } else if self.expected.pop() != Some(symbol) {
            self.dead = true;
        }
    }

    fn completes(&self, rest: usize) -> bool {
        let open = self.expected.len();
        !self.dead && rest >= open && (rest - open).is_multiple_of(2)
    }

    fn fork<'a>(&self) -> Box<dyn Scanner + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }
}

/// All strings of one length are equally likely under the grammar: they take the same rules.
struct UniformDyck<'a> {
    language: &'a Dyck,
    possible: Vec<usize>,
}

impl Distribution for UniformDyck<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let length = *draw::choose(rng, &self.possible);
        let mut expected = Word::new();
        let mut word = Word::with_capacity(length);
        for left in (1..=length).rev() {
            // Among the paths from height h back to 0 in `left` steps, the share that first goes up (ballot
            // numbers).
            let h = expected.len();
            let up = draw::below(rng, 2 * left * (h + 1)) < (h + 2) * (left - h);
            let symbol = if up {
                let open = self.language.open(rng);
                expected.push(closing(open));
                open
            } else {
                expected.pop().expect("a path at height 0 goes up")
            };
            word.push(symbol);
        }
        word
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if self.possible.binary_search(&word.len()).is_err() || !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        -ln(&self.language.count(word.len())) - libm::log(self.possible.len() as f64)
    }
}

struct Branching<'a> {
    language: &'a Dyck,
}

impl Distribution for Branching<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let mut word = Word::new();
        let mut expected = Word::new();
        loop {
            // One S stands before each closing bracket that is still expected, and one at the end.
            if draw::chance(rng, self.language.prior) {
                let open = self.language.open(rng);
                word.push(open);
                expected.push(closing(open));
            } else if let Some(close) = expected.pop() {
                word.push(close);
            } else {
                return word;
            }
        }
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        let pairs = (word.len() / 2) as f64;
        let each = self.language.prior / self.language.kinds() as f64;
        // A string of n pairs expands S n times into brackets and n + 1 times into nothing.
        pairs * libm::log(each) + (pairs + 1.0) * libm::log1p(-self.language.prior)
    }
}
