//! Unmarked Reversal, `{ u uᴿ | u ∈ {0,1}* }`: even palindromes, the classic nondeterministic context-free
//! language.
//!
//! ```
//! let language = wug_language::registry::build("unmarked-reversal").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("001100")));
//! assert!(!language.contains(&parse("01110"))); // odd length
//! ```

use num_bigint::BigUint;
use num_traits::Zero;
use rand_core::Rng;

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "unmarked-reversal",
    aliases: &[],
    suite: "flare",
    class: Class::ContextFree,
    summary: "a binary string and the same string reversed",
    definition: "{ u reverse(u) | u in {0,1}* }",
    citation: FLARE,
    parameters: &[],
    members: &["", "0 0", "0 1 1 1 1 0"],
    nonmembers: &["1", "0 1 1 1 0", "0 1 1 1 0 0"],
    build: |_| Ok(Box::new(Palindromes { alphabet: Alphabet::new(["0", "1"]) })),
};

#[derive(Debug)]
struct Palindromes {
    alphabet: Alphabet,
}

impl Language for Palindromes {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        let half = word.len() / 2;
        word.len().is_multiple_of(2) && word[..half].iter().eq(word[half..].iter().rev())
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(Suffixes::new(&self.alphabet))
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let possible = self.some_lengths(&lengths)?;
        Ok(Box::new(Mirrored { language: self, possible }))
    }

    fn count(&self, length: usize) -> BigUint {
        if length % 2 == 1 { BigUint::zero() } else { BigUint::from(2u8).pow(length as u32 / 2) }
    }

    fn has_length(&self, length: usize) -> bool {
        length.is_multiple_of(2)
    }
}

/// Follows a string with a tree of its palindromes, so that "the whole prefix is a palindrome" is known after
/// every symbol at constant amortised cost: it is when its longest palindromic suffix is itself.
#[derive(Clone)]
struct Suffixes<'a> {
    alphabet: &'a Alphabet,
    word: Word,
    // Each node is a palindrome that occurs: its length, its longest proper palindromic suffix, and the nodes
    // a·p·a. Node 0 has length −1 (so that a single symbol is a·p·a) and node 1 is the empty string.
    nodes: Vec<Node>,
    longest: usize,
}

#[derive(Clone)]
struct Node {
    length: isize,
    suffix: usize,
    around: [Option<usize>; 2],
}

impl<'a> Suffixes<'a> {
    fn new(alphabet: &'a Alphabet) -> Self {
        let root = |length| Node { length, suffix: 0, around: [None; 2] };
        Self { alphabet, word: Word::new(), nodes: vec![root(-1), root(0)], longest: 1 }
    }

    /// The longest palindromic suffix of the word before its last symbol, from `node` on, that can be
    /// put around with it.
    fn extendable(&self, mut node: usize) -> usize {
        let last = self.word.len() - 1;
        loop {
            let before = last as isize - self.nodes[node].length - 1;
            if before >= 0 && self.word[before as usize] == self.word[last] {
                return node;
            }
            node = self.nodes[node].suffix;
        }
    }

    fn whole(&self) -> bool {
        self.nodes[self.longest].length == self.word.len() as isize
    }
}

impl Scanner for Suffixes<'_> {
    fn next(&self) -> NextSet {
        NextSet::all(self.alphabet).with_end(self.word.len().is_multiple_of(2) && self.whole())
    }

    fn push(&mut self, symbol: Symbol) {
        self.word.push(symbol);
        // An eertree (Rubinchik and Shur 2015): each symbol adds at most one palindrome, and suffix links
        // only ever shorten what was found.
        let inner = self.extendable(self.longest);
        if let Some(node) = self.nodes[inner].around[symbol.index()] {
            self.longest = node;
            return;
        }
        let length = self.nodes[inner].length + 2;
        let suffix = if length == 1 {
            1
        } else {
            let shorter = self.extendable(self.nodes[inner].suffix);
            self.nodes[shorter].around[symbol.index()].unwrap_or(1)
        };
        self.nodes.push(Node { length, suffix, around: [None; 2] });
        self.longest = self.nodes.len() - 1;
        self.nodes[inner].around[symbol.index()] = Some(self.longest);
    }

    fn completes(&self, rest: usize) -> bool {
        let total = self.word.len() + rest;
        if total % 2 == 1 {
            return false;
        }
        // What lies beyond the middle must mirror what lies before it; the rest can be chosen.
        (total / 2..self.word.len()).all(|i| self.word[i] == self.word[total - 1 - i])
    }

    fn fork<'b>(&self) -> Box<dyn Scanner + 'b>
    where
        Self: 'b,
    {
        Box::new(self.clone())
    }
}

struct Mirrored<'a> {
    language: &'a Palindromes,
    possible: Vec<usize>,
}

impl Distribution for Mirrored<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let half = *draw::choose(rng, &self.possible) / 2;
        let mut word: Word = (0..half).map(|_| Symbol(u16::from(draw::coin(rng)))).collect();
        word.extend_from_within(..);
        word[half..].reverse();
        word
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if self.possible.binary_search(&word.len()).is_err() || !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        -((word.len() / 2) as f64) * std::f64::consts::LN_2 - libm::log(self.possible.len() as f64)
    }
}
