//! Equal blocks, `a₁ⁿ a₂ⁿ … aₖⁿ` with n ≥ 1: the common frame of aⁿbⁿ, aⁿbⁿcⁿ and aⁿbⁿcⁿdⁿ.
//!
//! Left to itself the language draws n from a geometric distribution whose parameter, the prior p, is the
//! probability of stopping.

use num_bigint::BigUint;
use rand_core::Rng;

use wug_parameter::{Key, Settings, ValueLimits};

use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, Members, NextSet, Scanner, Symbol, Word, draw,
};

/// The prior of the geometric samplers.
pub const PRIOR: Key<f64> = Key::real(
    "prior",
    "probability p of stopping after each repetition",
    ValueLimits::Below(LEAST_PRIOR, 1.0),
    0.3,
);

/// Smaller ones would only make strings that nobody can store.
pub(super) const LEAST_PRIOR: f64 = 1e-4;

#[derive(Debug)]
pub(super) struct Counting {
    alphabet: Alphabet,
    prior: f64,
}

impl Counting {
    pub(super) fn boxed(letters: &[&str], settings: &Settings) -> Box<dyn Language> {
        let prior = settings.get(&PRIOR);
        Box::new(Self { alphabet: Alphabet::new(letters.iter().copied()), prior })
    }

    fn blocks(&self) -> usize {
        self.alphabet.len()
    }

    fn word(&self, n: usize) -> Word {
        let mut word = Word::with_capacity(n * self.blocks());
        self.alphabet.symbols().for_each(|a| word.extend(std::iter::repeat_n(a, n)));
        word
    }
}

impl Language for Counting {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        !word.is_empty()
            && word.len().is_multiple_of(self.blocks())
            && word == self.word(word.len() / self.blocks())
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(Count { blocks: self.blocks(), n: 0, block: 0, read: 0, dead: false })
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let possible = self.some_lengths(&lengths)?;
        Ok(Box::new(OnePerLength { language: self, possible }))
    }

    fn natural(&self) -> Option<Box<dyn Distribution + '_>> {
        Some(Box::new(GeometricBlocks { language: self }))
    }

    fn count(&self, length: usize) -> BigUint {
        BigUint::from(u8::from(self.has_length(length)))
    }

    fn members(&self, length: usize) -> Members<'_> {
        Members::only(self.has_length(length).then(|| self.word(length / self.blocks())))
    }

    fn has_length(&self, length: usize) -> bool {
        length > 0 && length.is_multiple_of(self.blocks())
    }
}

/// How far a string has come: `n` first letters, then the `read`-th letter of the current block.
#[derive(Clone)]
struct Count {
    blocks: usize,
    n: usize,
    block: usize,
    read: usize,
    dead: bool,
}

impl Count {
    fn left(&self) -> usize {
        self.n - self.read + (self.blocks - 1 - self.block) * self.n
    }
}

impl Scanner for Count {
    fn next(&self) -> NextSet {
        let letter = |block: usize| Symbol(block as u16);
        if self.dead {
            NextSet::empty()
        } else if self.block == 0 && self.n == 0 {
            NextSet::of([letter(0)])
        } else if self.block == 0 {
            NextSet::of([letter(0), letter(1)])
        } else if self.read < self.n {
            NextSet::of([letter(self.block)])
        } else if self.block + 1 < self.blocks {
            NextSet::of([letter(self.block + 1)])
        } else {
            NextSet::only_end()
        }
    }

    fn push(&mut self, symbol: Symbol) {
        if self.dead {
            return;
        }
        let (letter, full) = (symbol.index(), self.read == self.n);
        if self.block == 0 && letter == 0 {
            self.n += 1;
            self.read += 1;
        } else if self.block > 0 && letter == self.block && !full {
            self.read += 1;
        } else if letter == self.block + 1 && letter < self.blocks && full && self.n > 0 {
            self.block += 1;
            self.read = 1;
        } else {
            self.dead = true;
        }
    }

    fn repeat(&mut self, symbol: Symbol, most: usize) -> usize {
        let times = match (self.dead, self.block, symbol.index()) {
            (true, ..) => most,
            (_, 0, 0) if self.n > 0 => most,
            // The last one of a block changes what may come.
            (_, block @ 1.., letter) if letter == block => most.min((self.n - self.read).saturating_sub(1)),
            _ => 0,
        };
        if !self.dead {
            self.read += times;
            self.n += if self.block == 0 { times } else { 0 };
        }
        times
    }

    fn completes(&self, rest: usize) -> bool {
        if self.dead {
            return false;
        }
        let left = self.left();
        if self.block > 0 {
            return rest == left;
        }
        // In the first block n can still grow: any length that all blocks can share will do.
        let total = self.n + rest;
        rest >= left && total > 0 && total.is_multiple_of(self.blocks)
    }

    fn fork<'a>(&self) -> Box<dyn Scanner + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }
}

struct OnePerLength<'a> {
    language: &'a Counting,
    possible: Vec<usize>,
}

impl Distribution for OnePerLength<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        self.language.word(*draw::choose(rng, &self.possible) / self.language.blocks())
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if self.possible.binary_search(&word.len()).is_err() || !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        -libm::log(self.possible.len() as f64)
    }
}

struct GeometricBlocks<'a> {
    language: &'a Counting,
}

impl Distribution for GeometricBlocks<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        self.language.word(draw::geometric(rng, self.language.prior))
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        let n = word.len() / self.language.blocks();
        let p = self.language.prior;
        // n ≥ 1, as in the released code; the grammars in print would derive n = 0 too.
        libm::log(p) + (n - 1) as f64 * libm::log1p(-p)
    }
}
