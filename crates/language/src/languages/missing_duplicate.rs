//! Missing Duplicate: a binary string twice in a row, with one of its 1s blanked out as `_`.
//!
//! ```
//! let language = wug_language::registry::build("missing-duplicate").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("1_011101"))); // 1101 1101
//! assert!(!language.contains(&parse("0010_10"))); // odd length
//! ```

use num_bigint::BigUint;
use num_traits::Zero;
use rand_core::Rng;

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "missing-duplicate",
    aliases: &["missing-duplicate-string"],
    suite: "flare",
    class: Class::ContextSensitive,
    summary: "a binary string twice, with one 1 replaced by _",
    definition: "{ (uu) with its i-th symbol replaced by _ | u in {0,1}*, the i-th symbol of uu is 1 }",
    citation: FLARE,
    parameters: &[],
    members: &["_ 1", "0 0 1 0 0 0 _ 0", "1 1 _ 0 1 0 0 1 1 1 0 1 0 0"],
    nonmembers: &["", "0 0 1 0 0 _ 1 0", "_ 0 1 _ 1 _ 0 0", "1 1"],
    build: |_| Ok(Box::new(MissingDuplicate { alphabet: Alphabet::new(["0", "1", "_"]) })),
};

const ONE: Symbol = Symbol(1);
const BLANK: Symbol = Symbol(2);

#[derive(Debug)]
struct MissingDuplicate {
    alphabet: Alphabet,
}

impl Language for MissingDuplicate {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        let filled: Word = word.iter().map(|&a| if a == BLANK { ONE } else { a }).collect();
        let half = word.len() / 2;
        word.len().is_multiple_of(2)
            && word.iter().filter(|&&a| a == BLANK).count() == 1
            && filled[..half] == filled[half..]
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(Borders { alphabet: &self.alphabet, filled: Word::new(), border: vec![0], blanks: 0 })
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let possible = self.some_lengths(&lengths)?;
        Ok(Box::new(Blanked { language: self, possible }))
    }

    /// Each of the m positions of u is a 1 in half of the strings u, and each such 1 occurs twice in uu.
    fn count(&self, length: usize) -> BigUint {
        if length % 2 == 1 || length == 0 {
            return BigUint::zero();
        }
        BigUint::from(length / 2) << (length / 2)
    }
}

/// Follows a string (blanks read as 1) with the lengths of its borders (Knuth–Morris–Pratt), so that "the
/// prefix is a square" is known after every symbol at constant amortised cost: it is when its shortest
/// period divides its half.
#[derive(Clone)]
struct Borders<'a> {
    alphabet: &'a Alphabet,
    filled: Word,
    border: Vec<usize>,
    blanks: usize,
}

impl Borders<'_> {
    fn square(&self) -> bool {
        let n = self.filled.len();
        let period = n - self.border[n];
        n > 0 && n.is_multiple_of(2) && (n / 2).is_multiple_of(period)
    }
}

impl Scanner for Borders<'_> {
    fn next(&self) -> NextSet {
        match self.blanks {
            0 => NextSet::all(self.alphabet),
            1 => NextSet::of([Symbol(0), ONE]).with_end(self.square()),
            _ => NextSet::empty(),
        }
    }

    fn push(&mut self, symbol: Symbol) {
        self.blanks += usize::from(symbol == BLANK);
        let symbol = if symbol == BLANK { ONE } else { symbol };
        let n = self.filled.len();
        let mut border = self.border[n];
        if n > 0 {
            while border > 0 && self.filled[border] != symbol {
                border = self.border[border];
            }
            border += usize::from(self.filled[border] == symbol);
        }
        self.filled.push(symbol);
        self.border.push(border);
    }

    fn completes(&self, rest: usize) -> bool {
        let read = self.filled.len();
        let total = read + rest;
        if total % 2 == 1 || total == 0 || self.blanks > 1 || (self.blanks == 0 && rest == 0) {
            return false;
        }
        let half = total / 2;
        // What lies beyond the middle must repeat the first half, which the rest may still complete.
        if (half..read).any(|i| self.filled[i] != self.filled[i - half]) {
            return false;
        }
        // A blank that is still to come stands for a 1: either a free symbol of the first half, or a copied
        // 1.
        self.blanks == 1 || read < half || (read - half..half).any(|i| self.filled[i] == ONE)
    }

    fn fork<'a>(&self) -> Box<dyn Scanner + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }
}

struct Blanked<'a> {
    language: &'a MissingDuplicate,
    possible: Vec<usize>,
}

impl Distribution for Blanked<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let half = *draw::choose(rng, &self.possible) / 2;
        let mut word: Word = (0..half).map(|_| Symbol(u16::from(draw::coin(rng)))).collect();
        word[draw::below(rng, half)] = ONE;
        word.extend_from_within(..);
        let ones: Vec<usize> = (0..word.len()).filter(|&i| word[i] == ONE).collect();
        word[*draw::choose(rng, &ones)] = BLANK;
        word
    }

    /// With c ones in u of length m: u arises with 2c/(m·2ᵐ), one of the 2c ones is blanked, so
    /// 1/(m·2ᵐ) whatever c is.
    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if self.possible.binary_search(&word.len()).is_err() || !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        let half = (word.len() / 2) as f64;
        -half * std::f64::consts::LN_2 - libm::log(half * self.possible.len() as f64)
    }
}
