//! Ungrammatical neighbours of a string.

use rand_core::Rng;
use wug_language::registry::{Named, keys};
use wug_language::{Distribution, Language, LengthRange, Reading, Symbol, Word, draw};

use crate::DataError;

/// How a language's strings are made ungrammatical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearMissKind {
    /// Some adjectives become nouns.
    HeadFinal,
    /// A word too many or too few in one half.
    Count,
    /// Two words of one half are swapped.
    Agreement {
        classes: usize,
        /// Terminals of each class.
        terminals: usize,
        /// Whether the last noun agrees with the first verb, or the first does.
        nested: bool,
    },
    /// One symbol is replaced, or two are swapped, such that the string is not in the language.
    Oracle,
}

impl NearMissKind {
    /// The kind of a language.
    pub fn of(named: &Named, language: &dyn Language) -> Self {
        Self::special(named, language).unwrap_or(Self::Oracle)
    }

    /// The kind of one of the four languages that have one of their own.
    pub fn special(named: &Named, language: &dyn Language) -> Option<Self> {
        match named.entry.name {
            "adj-np" => Some(Self::HeadFinal),
            "np-vp" => Some(Self::Count),
            name @ ("nested" | "cross-serial") => {
                let classes = named.get(&keys::CLASSES);
                let terminals = language.alphabet().len() / (2 * classes);
                Some(Self::Agreement { classes, terminals, nested: name == "nested" })
            }
            _ => None,
        }
    }

    /// How far apart the two ends of a dependency are that a near miss breaks: of its broken dependencies, that which shows first.
    /// `None` if none is broken, and in languages without dependencies between two words.
    ///
    /// ```
    /// use wug_dataset::pairs::NearMissKind;
    /// use wug_dataset::language::Symbol;
    /// let word = |symbols: [u16; 6]| symbols.map(Symbol);
    /// // NP0 NP1 NP2 VP2 VP1 VP0, one terminal each; the last two verbs are swapped, and VP0 comes where VP1 belongs.
    /// let (good, bad) = (word([0, 1, 2, 5, 4, 3]), word([0, 1, 2, 5, 3, 4]));
    /// let nested = NearMissKind::Agreement { classes: 3, terminals: 1, nested: true };
    /// assert_eq!(nested.dependency(&good, &bad), Some(4 - 1));
    /// assert_eq!(nested.dependency(&good, &good), None);
    /// ```
    pub fn dependency(self, good: &[Symbol], bad: &[Symbol]) -> Option<usize> {
        let Self::Agreement { classes, terminals, nested } = self else { return None };
        let half = good.len() / 2;
        let noun = |verb: usize| if nested { good.len() - 1 - verb } else { verb - half };
        let class = |i: usize| bad[i].index() / terminals % classes;
        let broken = |verb: &usize| class(*verb) != class(noun(*verb));
        let first = (half..good.len()).find(broken)?;
        Some(first - noun(first))
    }
}

/// Makes near misses of one language's strings.
pub struct NearMisses<'a> {
    kind: NearMissKind,
    reading: Reading,
    language: &'a dyn Language,
    /// The shortest strings: one word of each class, drawn by the language's own law. Not with an oracle.
    words: Option<Box<dyn Distribution + 'a>>,
}

impl<'a> NearMisses<'a> {
    /// Near misses of strings in a range of lengths; an error if none of them has any.
    pub fn new(
        kind: NearMissKind,
        language: &'a dyn Language,
        lengths: &LengthRange,
        reading: Reading,
    ) -> Result<Self, DataError> {
        if let NearMissKind::Agreement { classes, .. } = kind {
            // Four words: two in each half.
            let swappable = language.lengths(lengths.clone()).into_iter().any(|n| n >= 4);
            if !swappable || (classes < 2 && reading == Reading::Corrected) {
                let (lo, hi) = (lengths.start(), lengths.end());
                return Err(DataError::Request(format!(
                    "no string of length {lo}..{hi} with {classes} classes has two words of different classes to swap"
                )));
            }
        }
        let special = kind != NearMissKind::Oracle;
        let words = special.then(|| language.by_length(2..=2)).transpose()?;
        Ok(Self { kind, reading, language, words })
    }

    /// A neighbour of a member; `None` if it has none of the kind asked for.
    pub fn of(&self, word: &[Symbol], rng: &mut dyn Rng) -> Option<Word> {
        match self.kind {
            NearMissKind::HeadFinal => self.nouns_inside(word, rng),
            NearMissKind::Count => self.one_more_or_less(word, rng),
            NearMissKind::Agreement { terminals, .. } => swapped(word, terminals, self.reading, rng),
            NearMissKind::Oracle => one_off(word, self.language, rng),
        }
    }

    /// A word of the first or of the second class, by the language's own law.
    fn drawn(&self, class: usize, rng: &mut dyn Rng) -> Option<Symbol> {
        // A string of two words has one of each class. Drawing both and taking one keeps the law of
        // terminals in one place.
        self.words.as_ref().map(|words| words.sample(rng)[class])
    }

    /// k uniform in 1..n adjectives become nouns.
    fn nouns_inside(&self, word: &[Symbol], rng: &mut dyn Rng) -> Option<Word> {
        let adjectives = word.len() - 1;
        let positions: Vec<usize> = (0..adjectives).collect();
        let count = draw::between(rng, 1, adjectives);
        let mut bad = word.to_vec();
        for position in draw::subset(rng, &positions, count) {
            bad[position] = self.drawn(1, rng)?;
        }
        Some(bad)
    }

    /// One word inserted into, or deleted from, the noun or the verb half.
    fn one_more_or_less(&self, word: &[Symbol], rng: &mut dyn Rng) -> Option<Word> {
        let half = word.len() / 2;
        let verbs = usize::from(draw::coin(rng));
        let position = verbs * half + draw::below(rng, half);
        let mut bad = word.to_vec();
        if draw::coin(rng) {
            bad.insert(position, self.drawn(verbs, rng)?);
        } else {
            bad.remove(position);
        }
        Some(bad)
    }
}

/// Two words of one half exchanged: any two as released, or two of different classes.
fn swapped(word: &[Symbol], terminals: usize, reading: Reading, rng: &mut dyn Rng) -> Option<Word> {
    let half = word.len() / 2;
    if half < 2 {
        return None;
    }
    let class = |i: usize| word[i].index() / terminals;
    // The halves agree, so either both hold two classes or neither does.
    if reading == Reading::Corrected && (1..half).all(|i| class(i) == class(0)) {
        return None;
    }
    let start = usize::from(draw::coin(rng)) * half;
    loop {
        let i = draw::below(rng, half);
        let j = (i + 1 + draw::below(rng, half - 1)) % half;
        if reading == Reading::Published || class(start + i) != class(start + j) {
            let mut bad = word.to_vec();
            bad.swap(start + i, start + j);
            return Some(bad);
        }
    }
}

/// Draws after which a string counts as one without near misses.
const TRIES: usize = 1000;

/// One symbol replaced by another, or two different ones swapped: as long as the member, and no member. `None` if none is found.
fn one_off(word: &[Symbol], language: &dyn Language, rng: &mut dyn Rng) -> Option<Word> {
    let (n, symbols) = (word.len(), language.alphabet().len());
    if n == 0 {
        return None;
    }
    let mut bad = word.to_vec();
    for _ in 0..TRIES {
        let (swap, i) = (draw::coin(rng), draw::below(rng, n));
        let other = if swap { draw::below(rng, n) } else { i };
        if swap {
            bad.swap(i, other);
        } else {
            bad[i] = Symbol(draw::below(rng, symbols) as u16);
        }
        if (bad[i] != word[i] || bad[other] != word[other]) && !language.contains(&bad) {
            return Some(bad);
        }
        // Undone in place, as most tries fail in languages where nearly every string is a member.
        (bad[i], bad[other]) = (word[i], word[other]);
    }
    None
}
