//! Majority: binary strings with more 1s than 0s.
//!
//! The sampler draws the number of 1s uniformly among those that win, then shuffles (App. E).
//!
//! ```
//! let language = wug_language::registry::build("majority").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("101101")));
//! assert!(!language.contains(&parse("1100"))); // a tie
//! ```

use num_bigint::BigUint;
use num_integer::binomial;
use rand_core::Rng;

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "majority",
    aliases: &[],
    suite: "flare",
    class: Class::DeterministicContextFree,
    summary: "more 1s than 0s",
    definition: "{ w in {0,1}* | w has more 1s than 0s }",
    citation: FLARE,
    parameters: &[],
    members: &["1", "1 1 0", "0 1 1 0 1 1 0 1 0"],
    nonmembers: &["", "0 0 1", "1 1 0 0"],
    build: |_| Ok(Box::new(Majority { alphabet: Alphabet::new(["0", "1"]) })),
};

const ONE: Symbol = Symbol(1);

#[derive(Debug)]
struct Majority {
    alphabet: Alphabet,
}

/// The least number of 1s that wins at this length.
fn winning(length: usize) -> usize {
    length / 2 + 1
}

impl Language for Majority {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        word.iter().filter(|&&a| a == ONE).count() >= winning(word.len())
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(Lead { alphabet: &self.alphabet, lead: 0 })
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let possible = self.some_lengths(&lengths)?;
        Ok(Box::new(Shuffled { language: self, possible }))
    }

    fn count(&self, length: usize) -> BigUint {
        let n = BigUint::from(length);
        (winning(length)..=length).map(|ones| binomial(n.clone(), BigUint::from(ones))).sum()
    }
}

#[derive(Clone)]
struct Lead<'a> {
    alphabet: &'a Alphabet,
    lead: isize,
}

impl Scanner for Lead<'_> {
    fn next(&self) -> NextSet {
        NextSet::all(self.alphabet).with_end(self.lead > 0)
    }

    fn push(&mut self, symbol: Symbol) {
        self.lead += if symbol == ONE { 1 } else { -1 };
    }

    fn completes(&self, rest: usize) -> bool {
        self.lead + rest as isize > 0
    }

    fn fork<'a>(&self) -> Box<dyn Scanner + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }
}

struct Shuffled<'a> {
    language: &'a Majority,
    possible: Vec<usize>,
}

impl Distribution for Shuffled<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let length = *draw::choose(rng, &self.possible);
        let ones = draw::between(rng, winning(length), length);
        let mut word: Word = (0..length).map(|i| Symbol(u16::from(i < ones))).collect();
        draw::shuffle(rng, &mut word);
        word
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        let length = word.len();
        if self.possible.binary_search(&length).is_err() || !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        let ones = word.iter().filter(|&&a| a == ONE).count();
        // By lgamma: 171! is beyond a double, and test strings have 500 symbols.
        let ln_factorial = |n: usize| libm::lgamma(n as f64 + 1.0);
        let ln_orders = ln_factorial(length) - ln_factorial(ones) - ln_factorial(length - ones);
        let choices = self.possible.len() * (length - winning(length) + 1);
        -libm::log(choices as f64) - ln_orders
    }
}
