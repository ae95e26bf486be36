//! aⁿbᵐcⁿ⁺ᵐ: addition in unary.
//!
//! ```
//! let language = wug_language::registry::build("an-bm-cn-plus-m").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("aabccc"))); // 2 + 1 = 3
//! assert!(!language.contains(&parse("aabcc")));
//! ```

use num_bigint::BigUint;
use rand_core::Rng;

use super::counting::PRIOR;
use crate::registry::{BLISS, Class, LanguageEntry};
use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "an-bm-cn-plus-m",
    aliases: &["an-bm-c-n-plus-m"],
    suite: "bliss",
    class: Class::DeterministicContextFree,
    summary: "n times a, m times b, n+m times c",
    definition: "{ a^n b^m c^(n+m) | n, m >= 1 }, n and m geometric with parameter p",
    citation: BLISS,
    parameters: &[PRIOR.parameter()],
    members: &["a b c c", "a a b c c c", "a b b c c c"],
    nonmembers: &["", "a b c", "a c", "b c", "a a b c c"],
    build: |settings| {
        let prior = settings.get(&PRIOR);
        Ok(Box::new(Addition { alphabet: Alphabet::new(["a", "b", "c"]), prior }))
    },
};

#[derive(Debug)]
struct Addition {
    alphabet: Alphabet,
    prior: f64,
}

fn word(n: usize, m: usize) -> Word {
    let block = |letter, times| std::iter::repeat_n(Symbol(letter), times);
    block(0, n).chain(block(1, m)).chain(block(2, n + m)).collect()
}

/// n and m of a member.
fn parts(w: &[Symbol]) -> Option<(usize, usize)> {
    let n = w.iter().take_while(|a| a.index() == 0).count();
    let m = w[n..].iter().take_while(|a| a.index() == 1).count();
    (n > 0 && m > 0 && w == word(n, m)).then_some((n, m))
}

impl Language for Addition {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        parts(word).is_some()
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(CountScanner { counts: [0; 3], dead: false })
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let possible = self.some_lengths(&lengths)?;
        Ok(Box::new(UniformSplit { possible }))
    }

    fn natural(&self) -> Option<Box<dyn Distribution + '_>> {
        Some(Box::new(GeometricCounts { prior: self.prior }))
    }

    fn count(&self, length: usize) -> BigUint {
        let splits = if length.is_multiple_of(2) { (length / 2).saturating_sub(1) } else { 0 };
        BigUint::from(splits)
    }

    fn has_length(&self, length: usize) -> bool {
        length >= 4 && length.is_multiple_of(2)
    }
}

#[derive(Clone)]
struct CountScanner {
    counts: [usize; 3],
    dead: bool,
}

impl Scanner for CountScanner {
    fn next(&self) -> NextSet {
        let [a, b, c] = self.counts;
        let letters: &[u16] = match (self.dead, a, b, c) {
            (true, ..) => &[],
            (_, 0, ..) => &[0],
            (_, _, 0, _) => &[0, 1],
            (_, _, _, 0) => &[1, 2],
            _ if c < a + b => &[2],
            _ => return NextSet::only_end(),
        };
        NextSet::of(letters.iter().map(|&letter| Symbol(letter)))
    }

    fn push(&mut self, symbol: Symbol) {
        self.dead |= !self.next().contains(symbol);
        self.counts[symbol.index()] += 1;
    }

    fn repeat(&mut self, symbol: Symbol, most: usize) -> usize {
        let [a, b, c] = self.counts;
        let times = match (self.dead, symbol.index()) {
            (true, _) => most,
            (_, 0) if a > 0 && b == 0 => most,
            (_, 1) if b > 0 && c == 0 => most,
            // The last one changes what may come.
            (_, 2) if c > 0 => most.min((a + b - c).saturating_sub(1)),
            _ => 0,
        };
        self.counts[symbol.index()] += times;
        times
    }

    fn completes(&self, rest: usize) -> bool {
        let [a, b, c] = self.counts;
        // The least number of a and b still to come, and the c that then follow.
        let missing = usize::from(a == 0) + usize::from(b == 0);
        let least = missing + (a + b + missing - c.min(a + b));
        !self.dead
            && if c > 0 { rest == a + b - c } else { rest >= least && (rest - least).is_multiple_of(2) }
    }

    fn fork<'a>(&self) -> Box<dyn Scanner + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }
}

/// Given n + m, every split is equally likely under the geometric priors.
struct UniformSplit {
    possible: Vec<usize>,
}

impl Distribution for UniformSplit {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let sum = *draw::choose(rng, &self.possible) / 2;
        let n = draw::between(rng, 1, sum - 1);
        word(n, sum - n)
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        match parts(word) {
            Some((n, m)) if self.possible.binary_search(&word.len()).is_ok() => {
                // n + m is a sum of two positive numbers in n + m − 1 ways.
                -libm::log(((n + m - 1) * self.possible.len()) as f64)
            }
            _ => f64::NEG_INFINITY,
        }
    }
}

struct GeometricCounts {
    prior: f64,
}

impl Distribution for GeometricCounts {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let n = draw::geometric(rng, self.prior);
        word(n, draw::geometric(rng, self.prior))
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        parts(word).map_or(f64::NEG_INFINITY, |(n, m)| {
            2.0 * libm::log(self.prior) + (n + m - 2) as f64 * libm::log1p(-self.prior)
        })
    }
}
