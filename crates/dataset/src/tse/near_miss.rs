//! Ungrammatical neighbours of a string.

use rand_core::Rng;
use wug_language::registry::Named;
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
        /// Noun classes.
        classes: usize,
        /// Terminals of each class.
        terminals: usize,
    },
}

impl NearMissKind {
    /// The kind of one of the four languages.
    pub fn of(named: &Named, language: &dyn Language) -> Result<Self, DataError> {
        match named.entry.name {
            "adj-np" => Ok(Self::HeadFinal),
            "np-vp" => Ok(Self::Count),
            "nested" | "cross-serial" => {
                let classes: usize = named.settings.get("classes").and_then(|k| k.parse().ok()).unwrap_or(3);
                Ok(Self::Agreement { classes, terminals: language.alphabet().len() / (2 * classes) })
            }
            other => Err(DataError::Request(format!(
                "minimal pairs are made for adj-np, np-vp, nested and cross-serial, not for `{other}`"
            ))),
        }
    }
}

/// Makes near misses of one language's strings.
pub struct NearMisses<'a> {
    kind: NearMissKind,
    reading: Reading,
    // The shortest strings: one word of each class, drawn by the language's own law.
    words: Box<dyn Distribution + 'a>,
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
            let swappable = language.lengths(lengths.clone()).into_iter().any(|n| n >= 4);
            if !swappable || (classes < 2 && reading == Reading::Corrected) {
                let (lo, hi) = (lengths.start(), lengths.end());
                return Err(DataError::Request(format!(
                    "no string of length {lo}..{hi} with {classes} classes has two words of different classes to swap"
                )));
            }
        }
        Ok(Self { kind, reading, words: language.by_length(2..=2)? })
    }

    /// A neighbour of a member; `None` if it has none of the kind asked for.
    pub fn of(&self, word: &[Symbol], rng: &mut dyn Rng) -> Option<Word> {
        match self.kind {
            NearMissKind::HeadFinal => Some(self.nouns_inside(word, rng)),
            NearMissKind::Count => Some(self.one_more_or_less(word, rng)),
            NearMissKind::Agreement { terminals, .. } => swapped(word, terminals, self.reading, rng),
        }
    }

    /// k uniform in 1..n adjectives become nouns.
    fn nouns_inside(&self, word: &[Symbol], rng: &mut dyn Rng) -> Word {
        let adjectives = word.len() - 1;
        let positions: Vec<usize> = (0..adjectives).collect();
        let count = draw::between(rng, 1, adjectives);
        let mut bad = word.to_vec();
        for position in draw::subset(rng, &positions, count) {
            bad[position] = self.words.sample(rng)[1];
        }
        bad
    }

    /// One word inserted into, or deleted from, the noun or the verb half.
    fn one_more_or_less(&self, word: &[Symbol], rng: &mut dyn Rng) -> Word {
        let half = word.len() / 2;
        let verbs = usize::from(draw::coin(rng));
        let position = verbs * half + draw::below(rng, half);
        let mut bad = word.to_vec();
        if draw::coin(rng) {
            bad.insert(position, self.words.sample(rng)[verbs]);
        } else {
            bad.remove(position);
        }
        bad
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
