//! Binary numbers as the arithmetic languages write them: least significant bit first, at least one digit,
//! any number of zeros at the end.

use num_bigint::BigUint;
use num_traits::One;
use rand_core::Rng;

use crate::{Symbol, Word, draw};
use wug_parameter::{Constant, Key, Settings, choices};

/// The digits of an alphabet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digits {
    pub(super) zero: Symbol,
    pub(super) one: Symbol,
}

impl Digits {
    pub(super) fn is_digit(self, symbol: Symbol) -> bool {
        symbol == self.zero || symbol == self.one
    }

    /// The value of a digit string; `None` if it is empty or holds something else.
    pub(super) fn value(self, word: &[Symbol]) -> Option<BigUint> {
        if word.is_empty() || !word.iter().all(|&a| self.is_digit(a)) {
            return None;
        }
        let mut bytes = vec![0u8; word.len().div_ceil(8)];
        for (i, _) in word.iter().enumerate().filter(|(_, a)| **a == self.one) {
            bytes[i / 8] |= 1 << (i % 8);
        }
        Some(BigUint::from_bytes_le(&bytes))
    }

    /// The shortest digit string of a value: one digit for zero, no final zeros otherwise.
    pub(super) fn shortest(self, value: &BigUint) -> Word {
        self.padded(value, width(value))
    }

    /// The digits of a value, filled with zeros up to a width.
    pub(super) fn padded(self, value: &BigUint, width: usize) -> Word {
        (0..width).map(|i| if value.bit(i as u64) { self.one } else { self.zero }).collect()
    }
}

/// How many digits a value needs.
pub(super) fn width(value: &BigUint) -> usize {
    (value.bits() as usize).max(1)
}

/// The greatest value of so many digits.
pub(super) fn greatest(width: usize) -> BigUint {
    (BigUint::one() << width) - 1u8
}

/// A uniform value in `0..=most`.
pub(super) fn uniform(rng: &mut dyn Rng, most: &BigUint) -> BigUint {
    draw::big_below(rng, &(most + 1u8))
}

/// How the digits of a string are shared out between its numbers.
pub(super) const CUT: Key<Cut> = Key::choice(
    "cut",
    "how the sampler shares out digits: `whole` (every member can be drawn) or `released` (the last number of a string longer \
     than the shortest gets at least two digits)",
    "whole",
)
.published(Constant::Name("released"));

choices! {
    /// How the digits of a string are shared out between its numbers.
    pub enum Cut {
        Whole = "whole",
        Released = "released",
    }
}

/// How cuts are rounded. The released code takes floor(n · point), so that the last of n digits is never
/// cut off and a longer string's last number never stays at one digit, though such members exist; n + 1
/// cells reach them all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounding {
    released: bool,
}

impl Rounding {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { released: settings.get(&CUT) == Cut::Released }
    }

    /// The number of equally wide cells into which a cut of `n` digits may fall.
    pub(super) fn cells(self, n: usize) -> usize {
        if self.released { n } else { n + 1 }
    }
}

/// `n` digits shared out at the positions of `cuts` sorted uniform points, as floor(cells ·
/// point): what rounding a Dirichlet vector with integer parameters comes to, since it is the
/// gaps between uniform order statistics.
pub(super) fn cut(rng: &mut dyn Rng, n: usize, cells: usize, points: usize, cuts: &[usize]) -> Vec<usize> {
    let mut uniform: Vec<f64> = (0..points).map(|_| draw::unit(rng)).collect();
    uniform.sort_unstable_by(f64::total_cmp);
    let mut parts = Vec::with_capacity(cuts.len() + 1);
    let mut last = 0;
    for &cut in cuts {
        let position = (uniform[cut] * cells as f64) as usize;
        parts.push(position - last);
        last = position;
    }
    parts.push(n - last);
    parts
}

/// The logarithm of a value's number of alternatives `0..=most`.
pub(super) fn ln_choices(most: &BigUint) -> f64 {
    crate::big::ln(&(most + 1u8))
}
