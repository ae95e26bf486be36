//! Compute Sqrt: `x=z` in binary, least significant bit first, where z is the integer part of the square root
//! of x.
//!
//! The released data took the root in double precision, which goes wrong from about 88 bits on; `root=float`
//! does the same.
//!
//! ```
//! let language = wug_language::registry::build("compute-sqrt").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("01010=1100"))); // ⌊√10⌋ = 3
//! assert!(!language.contains(&parse("011=11"))); // ⌊√6⌋ is 2, not 3
//! ```

use num_bigint::BigUint;
use num_traits::{FromPrimitive, ToPrimitive};
use rand_core::Rng;

use super::answered::{AnsweredReader, HeadStep, QuestionHead, Tail};
use super::number::{CUT, Digits, Rounding, cut, greatest, ln_choices, uniform, width};
use wug_parameter::{Constant, Key, choices};

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

const ROOT: Key<Root> = Key::choice(
    "root",
    "how the root is taken: `exact` or `float` (double precision, as in the released data)",
    "exact",
)
.published(Constant::Name("float"));

choices! {
    /// How the root is taken.
    pub enum Root {
        Exact = "exact",
        Float = "float",
    }
}

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "compute-sqrt",
    aliases: &[],
    suite: "flare",
    class: Class::ContextSensitive,
    summary: "x=z in binary, least significant bit first, with z = ⌊√x⌋",
    definition: "{ <x>0^i = <⌊√x⌋>0^j | x, i, j >= 0 }, <n> the binary digits of n, lowest first",
    citation: FLARE,
    parameters: &[ROOT.parameter(), CUT.parameter()],
    members: &["0 = 0", "0 0 1 0 1 = 0 0 1", "0 0 1 0 1 0 0 0 = 0 0 1 0 0"],
    nonmembers: &["", "=", "0 1 1 = 1 1", "0 = 1 1 = 1"],
    build: |settings| {
        let float = settings.get(&ROOT) == Root::Float;
        let rounding = Rounding::new(settings);
        Ok(Box::new(ComputeSqrt { alphabet: Alphabet::new(["0", "1", "="]), float, rounding }))
    },
};

const DIGITS: Digits = Digits { zero: Symbol(0), one: Symbol(1) };
const EQUALS: Symbol = Symbol(2);

#[derive(Debug)]
struct ComputeSqrt {
    alphabet: Alphabet,
    float: bool,
    rounding: Rounding,
}

impl ComputeSqrt {
    fn root(&self, x: &BigUint) -> BigUint {
        // Rounded to 53 bits before the root and after it, as in the released data. Beyond the range of a
        // double there is no such root, and the exact one stands in.
        let float = || BigUint::from_f64(x.to_f64()?.sqrt().floor());
        self.float.then(float).flatten().unwrap_or_else(|| x.sqrt())
    }
}

impl Language for ComputeSqrt {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        let Some(equals) = word.iter().position(|&a| a == EQUALS) else { return false };
        let numbers = (DIGITS.value(&word[..equals]), DIGITS.value(&word[equals + 1..]));
        matches!(numbers, (Some(x), Some(z)) if self.root(&x) == z)
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(AnsweredReader::new(Radicand { language: self, x: Word::new() }))
    }

    fn count_up_to(&self, length: usize, most: usize) -> BigUint {
        BigUint::from(self.members(length).take(most).count())
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let lo = (*lengths.start()).max(3);
        if lo > *lengths.end() {
            return Err(self.no_such_length(&lengths));
        }
        Ok(Box::new(Roots { language: self, lo, hi: *lengths.end() }))
    }

    fn has_length(&self, length: usize) -> bool {
        length >= 3
    }
}

#[derive(Clone)]
struct Radicand<'a> {
    language: &'a ComputeSqrt,
    x: Word,
}

impl QuestionHead for Radicand<'_> {
    fn read(&mut self, symbol: Symbol) -> HeadStep {
        if symbol != EQUALS {
            self.x.push(symbol);
            return HeadStep::More;
        }
        match DIGITS.value(&self.x) {
            Some(x) => {
                let word = DIGITS.shortest(&self.language.root(&x));
                HeadStep::Answer(Tail { word, padding: Some(DIGITS.zero) })
            }
            None => HeadStep::Dead,
        }
    }

    fn next(&self) -> NextSet {
        let digits = NextSet::of([DIGITS.zero, DIGITS.one]);
        if self.x.is_empty() { digits } else { NextSet::all(&self.language.alphabet) }
    }

    fn completes(&self, rest: usize) -> bool {
        let x = DIGITS.value(&self.x).unwrap_or_default();
        rest >= usize::from(self.x.is_empty()) + 1 + width(&self.language.root(&x))
    }
}

/// A length uniform over the range, two thirds of the digits for x on average, then x uniform among
/// those whose root fits.
struct Roots<'a> {
    language: &'a ComputeSqrt,
    lo: usize,
    hi: usize,
}

fn most_x(x_width: usize, z_width: usize) -> BigUint {
    greatest(x_width.min(2 * z_width))
}

impl Distribution for Roots<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let length = draw::between(rng, self.lo, self.hi);
        // Dirichlet (2,1): the greater of two uniform points.
        let parts = cut(rng, length - 3, self.language.rounding.cells(length - 3), 2, &[1]);
        let (x_width, z_width) = (parts[0] + 1, parts[1] + 1);
        loop {
            let x = uniform(rng, &most_x(x_width, z_width));
            let z = self.language.root(&x);
            // A root in double precision can round up to one digit too many.
            if width(&z) <= z_width {
                let mut word = DIGITS.padded(&x, x_width);
                word.push(EQUALS);
                word.extend(DIGITS.padded(&z, z_width));
                return word;
            }
        }
    }

    /// Exact for exact roots; with `root=float` the few radicands that are drawn again are neglected.
    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if !(self.lo..=self.hi).contains(&word.len()) || !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        let x_width = word.iter().take_while(|&&a| a != EQUALS).count();
        let z_width = word.len() - 1 - x_width;
        let cells = self.language.rounding.cells(word.len() - 3);
        let cell = x_width - 1;
        // P(cells · max ∈ [cell, cell + 1)) = (2·cell + 1) / cells².
        let cut = match cells {
            0 => 1.0,
            _ if cell >= cells => return f64::NEG_INFINITY,
            _ => (2 * cell + 1) as f64 / (cells * cells) as f64,
        };
        libm::log(cut) - ln_choices(&most_x(x_width, z_width)) - libm::log((self.hi - self.lo + 1) as f64)
    }
}
