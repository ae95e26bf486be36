//! Ungrammatical neighbours of a string.

use rand_core::Rng;
use wug_language::registry::Named;
use wug_language::{Language, Reading, Symbol, Word, draw};

use crate::DataError;

/// How a language's strings are made ungrammatical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Some adjectives become nouns.
    HeadFinal {
        /// Terminals of each class.
        terminals: usize,
    },
    /// A word too many or too few in one half.
    Count {
        /// Terminals of each class.
        terminals: usize,
    },
    /// Two words of one half change places.
    Agreement {
        /// Terminals of each class.
        terminals: usize,
    },
}

impl Kind {
    /// The kind of one of the four languages.
    pub fn of(named: &Named, language: &dyn Language) -> Result<Self, DataError> {
        let classes = match named.entry.name {
            "nested" | "cross-serial" => {
                2 * named.settings.get("classes").and_then(|k| k.parse().ok()).unwrap_or(3)
            }
            _ => 2,
        };
        let terminals = language.alphabet().len() / classes;
        match named.entry.name {
            "adj-np" => Ok(Self::HeadFinal { terminals }),
            "np-vp" => Ok(Self::Count { terminals }),
            "nested" | "cross-serial" => Ok(Self::Agreement { terminals }),
            other => Err(DataError::Request(format!(
                "minimal pairs are made for adj-np, np-vp, nested and cross-serial, not for `{other}`"
            ))),
        }
    }

    /// A neighbour of a member; `None` if it has none of the kind asked for.
    pub fn near_miss(self, word: &[Symbol], reading: Reading, rng: &mut dyn Rng) -> Option<Word> {
        match self {
            Self::HeadFinal { terminals } => Some(nouns_inside(word, terminals, rng)),
            Self::Count { terminals } => Some(one_more_or_less(word, terminals, rng)),
            Self::Agreement { terminals } => swapped(word, terminals, reading, rng),
        }
    }
}

/// k uniform in 1..n adjectives become nouns.
fn nouns_inside(word: &[Symbol], terminals: usize, rng: &mut dyn Rng) -> Word {
    let adjectives = word.len() - 1;
    let places: Vec<usize> = (0..adjectives).collect();
    let count = draw::between(rng, 1, adjectives);
    let mut bad = word.to_vec();
    for place in draw::subset(rng, &places, count) {
        bad[place] = Symbol((terminals + draw::below(rng, terminals)) as u16);
    }
    bad
}

/// One word inserted into, or deleted from, the noun or the verb half.
fn one_more_or_less(word: &[Symbol], terminals: usize, rng: &mut dyn Rng) -> Word {
    let half = word.len() / 2;
    let verbs = draw::coin(rng);
    let place = usize::from(verbs) * half + draw::below(rng, half);
    let mut bad = word.to_vec();
    if draw::coin(rng) {
        let terminal = usize::from(verbs) * terminals + draw::below(rng, terminals);
        bad.insert(place, Symbol(terminal as u16));
    } else {
        bad.remove(place);
    }
    bad
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
