//! The released test sets, as they are: only those of aⁿbⁿ, aⁿbⁿcⁿ and aⁿbⁿcⁿdⁿ hold the language's first
//! strings.

use std::collections::BTreeSet;

use wug_language::{Symbol, Word};

use super::Published;
use crate::corpus::{Slice, TEST_SIZE};

impl Published {
    /// Up to `count` released strings right after a training corpus that is sorted by length.
    pub fn slice(self, slice: Slice, train: &[Word], count: usize) -> Box<dyn Iterator<Item = Word>> {
        let last = train.last().cloned().unwrap_or_default();
        match slice {
            Slice::AfterLast => {
                Box::new(self.test().skip_while(move |word| *word != last).skip(1).take(count))
            }
            Slice::Square if self == Self::AnBmCnPlusM => {
                let largest = train.iter().flat_map(|word| [0, 1].map(|letter| power_of(word, letter))).max();
                let (first, side) = (largest.unwrap_or(0) + 1, ceil_root(count));
                Box::new(square(first, side).map(|(n, m)| two_counts(n, m)).take(count))
            }
            Slice::Longer | Slice::Square => {
                Box::new(self.test().skip_while(move |word| word.len() <= last.len()).take(count))
            }
        }
    }

    /// The 15,000 strings of the released test set, in its order.
    ///
    /// Powers are n = 1, 2, …. The two-count language takes a grid of 123 by 123 sorted by n + m, which cuts
    /// the corner off: it misses strings from n + m = 125 on. The Dyck languages take derivations of limited
    /// depth, so that strings are missing from length 10 (Dyck-1) and 8 (Dyck-2) on.
    pub fn test(self) -> Box<dyn Iterator<Item = Word>> {
        match self {
            Self::AnBn | Self::AnBnCn | Self::AnBnCnDn => {
                let letters = self.alphabet().len();
                Box::new((1..=TEST_SIZE).map(move |n| power(letters, n)))
            }
            Self::AnBmCnPlusM => Box::new(grid().map(|(n, m)| two_counts(n, m)).take(TEST_SIZE)),
            Self::Dyck1 => Box::new(shallow_brackets(1).into_iter()),
            Self::Dyck2 => Box::new(shallow_brackets(2).into_iter()),
        }
    }

    /// The length of the longest string of the released test set.
    pub fn longest_test(self) -> usize {
        match self {
            Self::AnBn | Self::AnBnCn | Self::AnBnCnDn => self.alphabet().len() * TEST_SIZE,
            Self::AnBmCnPlusM => grid().take(TEST_SIZE).map(|(n, m)| 2 * (n + m)).max().unwrap_or(0),
            Self::Dyck1 => 62,
            Self::Dyck2 => 30,
        }
    }
}

/// The first `letters` symbols, each `n` times.
pub(super) fn power(letters: usize, n: usize) -> Word {
    (0..letters as u16).flat_map(|letter| std::iter::repeat_n(Symbol(letter), n)).collect()
}

fn two_counts(n: usize, m: usize) -> Word {
    let runs = [n, m, n + m].into_iter().zip(0..);
    runs.flat_map(|(length, letter)| std::iter::repeat_n(Symbol(letter), length)).collect()
}

fn power_of(word: &[Symbol], letter: u16) -> usize {
    word.iter().filter(|symbol| symbol.0 == letter).count()
}

/// The pairs 1..=123 × 1..=123; 123² is the first square of at least 15,000.
fn grid() -> impl Iterator<Item = (usize, usize)> {
    square(1, ceil_root(TEST_SIZE))
}

/// The smallest number whose square is at least `n`.
fn ceil_root(n: usize) -> usize {
    let root = n.isqrt();
    root + usize::from(root * root < n)
}

/// A square of `side` × `side` pairs from (`first`, `first`) on, by their sum, then by n.
fn square(first: usize, side: usize) -> impl Iterator<Item = (usize, usize)> {
    let last = (first + side).saturating_sub(1);
    (2 * first..=2 * last).flat_map(move |sum| {
        let least = sum.saturating_sub(last).max(first);
        (least..=last.min(sum - first)).map(move |n| (n, sum - n))
    })
}

/// Strings of derivations S → open S close S | ε up to depth 1, 2, 3, … until there
/// are enough, shortest first.
fn shallow_brackets(pairs: u16) -> Vec<Word> {
    let mut found = BTreeSet::new();
    let mut shallower: Vec<Word> = Vec::new();
    while found.len() < TEST_SIZE {
        let deeper = one_level_deeper(pairs, &shallower);
        let mut level = Vec::new();
        for word in deeper {
            found.insert((word.len(), word.clone()));
            // The released enumeration stops inside a level, too: which of its strings are missing depends
            // on its order.
            if found.len() == TEST_SIZE {
                break;
            }
            level.push(word);
        }
        shallower = level;
    }
    found.into_iter().map(|(_, word)| word).collect()
}

/// Every `open x close y` with x and y of one level less, in the order of the released enumeration, then ε.
fn one_level_deeper(pairs: u16, shallower: &[Word]) -> impl Iterator<Item = Word> + '_ {
    let nested = (0..pairs).flat_map(move |pair| {
        shallower.iter().flat_map(move |x| shallower.iter().map(move |y| enclose(pair, x, y)))
    });
    nested.chain(std::iter::once(Word::new()))
}

fn enclose(pair: u16, inner: &[Symbol], after: &[Symbol]) -> Word {
    let (open, close) = (Symbol(2 * pair), Symbol(2 * pair + 1));
    [&[open], inner, &[close], after].concat()
}
