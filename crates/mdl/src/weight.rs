//! Rational weights, and the code for integers that prices them.

use serde::{Deserialize, Serialize};

/// A weight or bias: a signed fraction that is never reduced, because 2/2 costs more bits than 1/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RationalWeight {
    /// Whether the sign is minus.
    pub negative: bool,
    pub numerator: u32,
    /// The denominator, which is not zero.
    pub denominator: u32,
}

impl RationalWeight {
    pub const ONE: Self = Self { negative: false, numerator: 1, denominator: 1 };

    /// The fraction as a number, rounded once.
    pub fn value(self) -> f64 {
        let value = f64::from(self.numerator) / f64::from(self.denominator);
        if self.negative { -value } else { value }
    }

    /// The length of its code: a sign and two integers.
    ///
    /// ```
    /// use wug_mdl::RationalWeight;
    /// assert_eq!(RationalWeight::ONE.bits(), 7);
    /// ```
    pub fn bits(self) -> u32 {
        1 + integer_bits(self.numerator) + integer_bits(self.denominator)
    }
}

impl std::fmt::Display for RationalWeight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        match self.denominator {
            1 => write!(f, "{sign}{}", self.numerator),
            _ => write!(f, "{sign}{}/{}", self.numerator, self.denominator),
        }
    }
}

/// The length of the self-delimiting code of an integer: its binary digits, as many ones, and a zero between them.
///
/// ```
/// use wug_mdl::integer_bits;
/// assert_eq!([0, 1, 2, 7, 8, 1024].map(integer_bits), [1, 3, 5, 7, 9, 23]);
/// ```
pub fn integer_bits(n: u32) -> u32 {
    2 * (u32::BITS - n.leading_zeros()) + 1
}
