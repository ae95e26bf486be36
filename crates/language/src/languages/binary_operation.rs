//! `x ∘ y = z` in binary, for an operation ∘: the common frame of Binary Addition and Binary Multiplication.

use num_bigint::BigUint;
use num_traits::Zero;
use rand_core::Rng;

use super::answered::{AnsweredReader, HeadStep, QuestionHead, Tail};
use super::number::{Digits, Rounding, cut, greatest, ln_choices, uniform, width};
use crate::automaton::log_sum;
use wug_parameter::Settings;

use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Plus,
    Times,
}

#[derive(Debug)]
pub(super) struct BinaryOperation {
    alphabet: Alphabet,
    operator: BinaryOperator,
    sign: Symbol,
    equals: Symbol,
    digits: Digits,
    rounding: Rounding,
}

impl BinaryOperation {
    pub(super) fn boxed(operator: BinaryOperator, settings: &Settings) -> Box<dyn Language> {
        let rounding = Rounding::new(settings);
        let tokens = match operator {
            BinaryOperator::Plus => ["+", "0", "1", "="],
            BinaryOperator::Times => ["0", "1", "=", "×"],
        };
        let alphabet = Alphabet::new(tokens);
        let symbol = |token| alphabet.symbol(token).expect("a token of the alphabet");
        let sign = symbol(if operator == BinaryOperator::Plus { "+" } else { "×" });
        let digits = Digits { zero: symbol("0"), one: symbol("1") };
        Box::new(Self { operator, sign, equals: symbol("="), digits, rounding, alphabet })
    }

    fn apply(&self, x: &BigUint, y: &BigUint) -> BigUint {
        match self.operator {
            BinaryOperator::Plus => x + y,
            BinaryOperator::Times => x * y,
        }
    }

    /// The three numbers as written, if the string has the form `x ∘ y = z`.
    fn split<'a>(&self, word: &'a [Symbol]) -> Option<[&'a [Symbol]; 3]> {
        let sign = word.iter().position(|&a| a == self.sign)?;
        let equals = word.iter().position(|&a| a == self.equals).filter(|&e| e > sign)?;
        Some([&word[..sign], &word[sign + 1..equals], &word[equals + 1..]])
    }

    /// The greatest x and, given x, the greatest y whose result fits (App. E).
    fn most_x(&self, x_width: usize, z_width: usize) -> BigUint {
        match self.operator {
            BinaryOperator::Plus => greatest(x_width.min(z_width)),
            BinaryOperator::Times => greatest(x_width),
        }
    }

    fn most_y(&self, x: &BigUint, y_width: usize, z_width: usize) -> BigUint {
        let fits = greatest(y_width);
        match self.operator {
            BinaryOperator::Plus => fits.min(greatest(z_width) - x),
            BinaryOperator::Times if x.is_zero() => fits,
            BinaryOperator::Times => fits.min(greatest(z_width) / x),
        }
    }
}

impl Language for BinaryOperation {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        let Some(numbers) = self.split(word) else { return false };
        let [Some(x), Some(y), Some(z)] = numbers.map(|n| self.digits.value(n)) else { return false };
        self.apply(&x, &y) == z
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(AnsweredReader::new(Operands { language: self, x: Word::new(), y: None }))
    }

    fn count_up_to(&self, length: usize, most: usize) -> BigUint {
        BigUint::from(self.members(length).take(most).count())
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        // The shortest member is `0+0=0`.
        let lo = (*lengths.start()).max(5);
        if lo > *lengths.end() {
            return Err(self.no_such_length(&lengths));
        }
        Ok(Box::new(OperationDraws { language: self, lo, hi: *lengths.end() }))
    }

    fn has_length(&self, length: usize) -> bool {
        length >= 5
    }
}

#[derive(Clone)]
struct Operands<'a> {
    language: &'a BinaryOperation,
    x: Word,
    y: Option<Word>,
}

impl Operands<'_> {
    fn result(&self) -> Option<BigUint> {
        let digits = self.language.digits;
        Some(self.language.apply(&digits.value(&self.x)?, &digits.value(self.y.as_ref()?)?))
    }
}

impl QuestionHead for Operands<'_> {
    fn read(&mut self, symbol: Symbol) -> HeadStep {
        let digits = self.language.digits;
        if digits.is_digit(symbol) {
            self.y.as_mut().unwrap_or(&mut self.x).push(symbol);
            return HeadStep::More;
        }
        if symbol == self.language.sign && self.y.is_none() && !self.x.is_empty() {
            self.y = Some(Word::new());
            return HeadStep::More;
        }
        match self.result().filter(|_| symbol == self.language.equals) {
            Some(z) => HeadStep::Answer(Tail { word: digits.shortest(&z), padding: Some(digits.zero) }),
            None => HeadStep::Dead,
        }
    }

    fn next(&self) -> NextSet {
        let mut set = NextSet::of([self.language.digits.zero, self.language.digits.one]);
        match &self.y {
            None if !self.x.is_empty() => set.insert(self.language.sign),
            Some(y) if !y.is_empty() => set.insert(self.language.equals),
            _ => {}
        }
        set
    }

    /// The shortest completion takes zeros for what is missing; zeros at an end make any longer one.
    fn completes(&self, rest: usize) -> bool {
        let digits = self.language.digits;
        let zero = BigUint::ZERO;
        let x = digits.value(&self.x).unwrap_or_default();
        let y = self.y.as_ref().and_then(|y| digits.value(y));
        let z = self.language.apply(&x, y.as_ref().unwrap_or(&zero));
        let missing_x = usize::from(self.x.is_empty());
        let missing_y = usize::from(y.is_none());
        let signs = if self.y.is_none() { 2 } else { 1 };
        rest >= missing_x + missing_y + signs + width(&z)
    }
}

/// A length uniform over the range, its digits shared out at random, then numbers uniform
/// among those that fit.
struct OperationDraws<'a> {
    language: &'a BinaryOperation,
    lo: usize,
    hi: usize,
}

impl OperationDraws<'_> {
    /// The order statistics at which the digits are cut: Dirichlet (1,1,1) for sums, (1,1,2) for products.
    fn points(&self) -> usize {
        if self.language.operator == BinaryOperator::Plus { 2 } else { 3 }
    }

    /// The probability that `n` digits (beyond one each) are cut into (x, y, n − x − y), as [`cut`] does it.
    fn cut_prob(&self, n: usize, x: usize, y: usize) -> f64 {
        let cells = self.language.rounding.cells(n);
        if cells == 0 {
            return 1.0;
        }
        let size = cells as f64;
        let (a, b) = ((x + y) as f64 / size, (x + y + 1) as f64 / size);
        // Integrals of the joint density of the first two of two or three sorted uniform points over a cell.
        match (self.language.operator, y == 0) {
            _ if x + y >= cells => 0.0,
            (BinaryOperator::Plus, false) => 2.0 / (size * size),
            (BinaryOperator::Plus, true) => 1.0 / (size * size),
            (BinaryOperator::Times, false) => 6.0 / size * ((b - a) - (b * b - a * a) / 2.0),
            (BinaryOperator::Times, true) => {
                let side = b - a;
                6.0 * ((1.0 - a) * side * side / 2.0 - side * side * side / 3.0)
            }
        }
    }

    /// The probability of two operands in the order drawn: the shorter first.
    fn ln_operands(&self, x: &[Symbol], y: &[Symbol], z_width: usize) -> f64 {
        let language = self.language;
        let Some(value) = language.digits.value(x) else { return f64::NEG_INFINITY };
        let most_x = language.most_x(x.len(), z_width);
        if value > most_x {
            return f64::NEG_INFINITY;
        }
        let most_y = language.most_y(&value, y.len(), z_width);
        if language.digits.value(y).is_none_or(|y| y > most_y) {
            return f64::NEG_INFINITY;
        }
        -ln_choices(&most_x) - ln_choices(&most_y)
    }
}

impl Distribution for OperationDraws<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let language = self.language;
        let length = draw::between(rng, self.lo, self.hi);
        let parts = cut(rng, length - 5, language.rounding.cells(length - 5), self.points(), &[0, 1]);
        let (mut x_width, mut y_width, z_width) = (parts[0] + 1, parts[1] + 1, parts[2] + 1);
        if x_width > y_width {
            std::mem::swap(&mut x_width, &mut y_width);
        }
        let x = uniform(rng, &language.most_x(x_width, z_width));
        let y = uniform(rng, &language.most_y(&x, y_width, z_width));
        let z = language.digits.padded(&language.apply(&x, &y), z_width);
        let mut operands = [language.digits.padded(&x, x_width), language.digits.padded(&y, y_width)];
        if draw::coin(rng) {
            operands.swap(0, 1);
        }
        let [mut word, second] = operands;
        word.push(language.sign);
        word.extend(second);
        word.push(language.equals);
        word.extend(z);
        word
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if !(self.lo..=self.hi).contains(&word.len()) || !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        let Some([first, second, z]) = self.language.split(word) else { return f64::NEG_INFINITY };
        let n = word.len() - 5;
        let (short, long) = if first.len() <= second.len() { (first, second) } else { (second, first) };
        let mut cuts = self.cut_prob(n, short.len() - 1, long.len() - 1);
        if short.len() != long.len() {
            cuts += self.cut_prob(n, long.len() - 1, short.len() - 1);
        }
        // Operands of one length may have been drawn in either order and then swapped, each with probability
        // one half.
        let drawn = self.ln_operands(short, long, z.len());
        let orders = if first.len() == second.len() {
            log_sum([drawn, self.ln_operands(second, first, z.len())].into_iter())
        } else {
            drawn
        };
        let orders = orders - std::f64::consts::LN_2;
        libm::log(cuts) + orders - libm::log((self.hi - self.lo + 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use crate::registry;

    /// Each operand's probability alone is below the least f64; their logarithms are not.
    #[test]
    fn long_operands_of_one_length_keep_their_probability() {
        let language = registry::build("binary-addition").unwrap();
        let ones = "1".repeat(560);
        let word = language.alphabet().parse(&format!("{ones}+{ones}=0{ones}")).unwrap();
        let log_prob = language.by_length(word.len()..=word.len()).unwrap().log_prob(&word);
        assert!((-800.0..-700.0).contains(&log_prob), "{log_prob}");
    }
}
