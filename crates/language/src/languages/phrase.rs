//! Strings of word classes in which every class is spelled out by one of its T terminals: the common frame of
//! the four languages of targeted syntactic evaluation (Someya, Yoshida and Oseki 2024).
//!
//! The terminals are the numbers 0, 1, 2, …: class c has those from c·T to c·T + T − 1.

use std::collections::VecDeque;

use num_bigint::BigUint;
use num_traits::{One, Zero};
use rand_core::Rng;

use crate::automaton::log_sum;
use wug_parameter::{Key, Settings, choices};

use crate::registry::BuildError;
use crate::{
    Alphabet, Dfa, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

pub(super) const TERMINALS: Key<usize> = Key::count(
    "terminals",
    "terminals T of each class (the paper: 5, 10, 50, 100, 500)",
    1..=u16::MAX as u64,
    10,
);

pub const CLASSES: Key<usize> =
    Key::count("classes", "number K of agreeing noun and verb classes", 1..=1000, 3);

pub(super) const LAW: Key<Law> = Key::choice(
    "law",
    "how terminals are drawn inside a class: `uniform` (the released code), `zipf` (weight 1/rank) or `normal` (the paper's \
     word; weight of a normal density with mean (T-1)/2 and standard deviation T/4)",
    "uniform",
);

choices! {
    /// How terminals are drawn inside a class.
    pub enum Law {
        Uniform = "uniform",
        Zipf = "zipf",
        Normal = "normal",
    }
}

/// Which strings of classes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skeleton {
    /// One or more of class 0, then one of class 1.
    HeadFinal,
    /// Classes 0 to K − 1 each ask for a partner K higher, in the given order; the empty string
    /// may be left out.
    Agreement { classes: usize, order: AnswerOrder, empty: bool },
}

/// In which order the second half answers the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerOrder {
    /// The last asked is answered first.
    Nested,
    /// The first asked is answered first.
    Crossed,
}

impl Skeleton {
    fn width(self) -> usize {
        match self {
            Self::HeadFinal => 2,
            Self::Agreement { classes, .. } => 2 * classes,
        }
    }

    fn has_length(self, n: usize) -> bool {
        match self {
            Self::HeadFinal => n >= 2,
            Self::Agreement { empty, .. } => n.is_multiple_of(2) && (n > 0 || empty),
        }
    }

    /// How many strings of classes have this length.
    fn count(self, n: usize) -> BigUint {
        match self {
            _ if !self.has_length(n) => BigUint::zero(),
            Self::HeadFinal => BigUint::one(),
            Self::Agreement { classes, .. } => BigUint::from(classes).pow(n as u32 / 2),
        }
    }

    fn contains(self, classes: &[usize]) -> bool {
        match self {
            Self::HeadFinal => classes.split_last().is_some_and(|(last, adjectives)| {
                *last == 1 && !adjectives.is_empty() && adjectives.iter().all(|&c| c == 0)
            }),
            Self::Agreement { classes: k, order, .. } => {
                let (asked, answered) = classes.split_at(classes.len() / 2);
                let mut partners: Vec<usize> = asked.iter().map(|c| c + k).collect();
                if order == AnswerOrder::Nested {
                    partners.reverse();
                }
                self.has_length(classes.len()) && asked.iter().all(|&c| c < k) && partners == answered
            }
        }
    }

    /// The logarithm of the probability of the classes of a prefix of a string of n classes, if it is one.
    fn log_classes(self, read: usize, n: usize) -> f64 {
        match self {
            Self::HeadFinal => 0.0,
            Self::Agreement { classes, .. } => -(read.min(n / 2) as f64) * libm::log(classes as f64),
        }
    }

    fn sample(self, n: usize, rng: &mut dyn Rng) -> Vec<usize> {
        match self {
            Self::HeadFinal => (0..n).map(|i| usize::from(i + 1 == n)).collect(),
            Self::Agreement { classes: k, order, .. } => {
                let mut classes: Vec<usize> = (0..n / 2).map(|_| draw::below(rng, k)).collect();
                let mut partners: Vec<usize> = classes.iter().map(|c| c + k).collect();
                if order == AnswerOrder::Nested {
                    partners.reverse();
                }
                classes.extend(partners);
                classes
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Phrase {
    alphabet: Alphabet,
    skeleton: Skeleton,
    terminals: usize,
    // Running sums of the terminals' weights inside a class.
    cumulative: Vec<f64>,
    dfa: Option<Dfa>,
}

impl Phrase {
    pub(super) fn boxed(skeleton: Skeleton, settings: &Settings) -> Result<Box<dyn Language>, BuildError> {
        let most = usize::from(u16::MAX) / skeleton.width();
        let (terminals, law) = (settings.get(&TERMINALS), settings.get(&LAW));
        if terminals > most {
            // Symbols have 16 bits.
            let allowed = format!("a whole number from 1 to {most}");
            return Err(BuildError::value(TERMINALS.name(), &terminals.to_string(), &allowed));
        }
        let weight = |i: usize| {
            // The paper names a normal distribution without its parameters, and the released code has none:
            // mean (T − 1)/2 and standard deviation T/4 are our choice.
            let centred = (i as f64 - (terminals - 1) as f64 / 2.0) / (terminals as f64 / 4.0);
            match law {
                Law::Uniform => 1.0,
                Law::Zipf => 1.0 / (i + 1) as f64,
                Law::Normal => libm::exp(-centred * centred / 2.0),
            }
        };
        let cumulative = (0..terminals)
            .scan(0.0, |sum, i| {
                *sum += weight(i);
                Some(*sum)
            })
            .collect();
        let alphabet = Alphabet::new((0..skeleton.width() * terminals).map(|t| t.to_string()));
        let dfa = (skeleton == Skeleton::HeadFinal).then(|| head_final(&alphabet, terminals));
        Ok(Box::new(Self { alphabet, skeleton, terminals, cumulative, dfa }))
    }

    fn class(&self, symbol: Symbol) -> usize {
        symbol.index() / self.terminals
    }

    fn spell(&self, class: usize, rng: &mut dyn Rng) -> Symbol {
        Symbol((class * self.terminals + draw::weighted(rng, &self.cumulative)) as u16)
    }

    fn ln_terminal(&self, symbol: Symbol) -> f64 {
        let i = symbol.index() % self.terminals;
        let before = if i == 0 { 0.0 } else { self.cumulative[i - 1] };
        libm::log((self.cumulative[i] - before) / self.cumulative[self.terminals - 1])
    }
}

fn head_final(alphabet: &Alphabet, terminals: usize) -> Dfa {
    Dfa::explore(
        alphabet.clone(),
        0u8,
        |state| *state == 2,
        |state, token| {
            let adjective = token.parse::<usize>().ok()? < terminals;
            match (state, adjective) {
                (0 | 1, true) => Some(1),
                (1, false) => Some(2),
                _ => None,
            }
        },
    )
}

impl Language for Phrase {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        let classes: Vec<usize> = word.iter().map(|&a| self.class(a)).collect();
        self.skeleton.contains(&classes)
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(Parse { language: self, open: VecDeque::new(), read: 0, answering: false, dead: false })
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let possible = self.some_lengths(&lengths)?;
        Ok(Box::new(Spelled { language: self, possible }))
    }

    fn automaton(&self) -> Option<&Dfa> {
        self.dfa.as_ref()
    }

    fn count(&self, length: usize) -> BigUint {
        self.skeleton.count(length) * BigUint::from(self.terminals).pow(length as u32)
    }

    fn has_length(&self, length: usize) -> bool {
        self.skeleton.has_length(length)
    }
}

/// The classes that still wait for their partner (for head-final phrases: nothing
/// waits, `answering` means complete).
#[derive(Clone)]
struct Parse<'a> {
    language: &'a Phrase,
    open: VecDeque<usize>,
    read: usize,
    answering: bool,
    dead: bool,
}

impl Parse<'_> {
    fn partner(&self) -> Option<usize> {
        let Skeleton::Agreement { classes, order, .. } = self.language.skeleton else { return None };
        let asked = if order == AnswerOrder::Nested { self.open.back() } else { self.open.front() };
        asked.map(|c| c + classes)
    }

    fn may_end(&self) -> bool {
        match self.language.skeleton {
            Skeleton::HeadFinal => self.answering,
            Skeleton::Agreement { empty, .. } => self.open.is_empty() && (self.answering || empty),
        }
    }

    fn next_classes(&self) -> Vec<usize> {
        if self.dead {
            return Vec::new();
        }
        match self.language.skeleton {
            Skeleton::HeadFinal if self.answering => Vec::new(),
            Skeleton::HeadFinal if self.read == 0 => vec![0],
            Skeleton::HeadFinal => vec![0, 1],
            Skeleton::Agreement { classes, .. } => {
                // Before the middle another noun may come, or the first answer; after it answers alone.
                let asking = if self.answering { 0 } else { classes };
                (0..asking).chain(self.partner()).collect()
            }
        }
    }
}

impl Scanner for Parse<'_> {
    fn next(&self) -> NextSet {
        let t = self.language.terminals;
        let terminals = self.next_classes().into_iter().flat_map(|c| c * t..(c + 1) * t);
        NextSet::of(terminals.map(|i| Symbol(i as u16))).with_end(!self.dead && self.may_end())
    }

    fn push(&mut self, symbol: Symbol) {
        let class = self.language.class(symbol);
        if !self.next_classes().contains(&class) {
            self.dead = true;
            return;
        }
        self.read += 1;
        match self.language.skeleton {
            Skeleton::HeadFinal => self.answering = class == 1,
            Skeleton::Agreement { classes, .. } if class < classes => self.open.push_back(class),
            Skeleton::Agreement { order, .. } => {
                self.answering = true;
                match order {
                    AnswerOrder::Nested => self.open.pop_back(),
                    AnswerOrder::Crossed => self.open.pop_front(),
                };
            }
        }
    }

    fn completes(&self, rest: usize) -> bool {
        if self.dead {
            return false;
        }
        match self.language.skeleton {
            Skeleton::HeadFinal if self.answering => rest == 0,
            Skeleton::HeadFinal => self.read + rest >= 2 && rest >= 1,
            Skeleton::Agreement { .. } if self.answering => rest == self.open.len(),
            Skeleton::Agreement { .. } => {
                rest >= self.open.len() && self.language.skeleton.has_length(self.read + rest)
            }
        }
    }

    fn fork<'a>(&self) -> Box<dyn Scanner + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }
}

/// A length uniform over the possible ones, classes uniform, terminals by their law.
struct Spelled<'a> {
    language: &'a Phrase,
    possible: Vec<usize>,
}

impl Distribution for Spelled<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let length = *draw::choose(rng, &self.possible);
        let classes = self.language.skeleton.sample(length, rng);
        classes.into_iter().map(|class| self.language.spell(class, rng)).collect()
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if self.possible.binary_search(&word.len()).is_err() || !self.language.contains(word) {
            return f64::NEG_INFINITY;
        }
        let skeletons = crate::big::ln(&self.language.skeleton.count(word.len()));
        let terminals: f64 = word.iter().map(|&a| self.language.ln_terminal(a)).sum();
        terminals - skeletons - libm::log(self.possible.len() as f64)
    }

    /// Classes are drawn in the first half, and the second half answers them; a terminal is drawn for each.
    fn log_prefixes(&self, word: &[Symbol], share: &dyn Fn(usize) -> f64) -> Option<Vec<f64>> {
        let mut parse = self.language.scanner();
        let (mut terminals, mut prefixes) = (0.0, Vec::with_capacity(word.len() + 1));
        for read in 0..=word.len() {
            let free = |n: &&usize| n.checked_sub(read).is_some_and(|rest| parse.completes(rest));
            let classes = |n: &usize| share(*n) + self.language.skeleton.log_classes(read, *n);
            let possible: Vec<f64> = self.possible.iter().filter(free).map(classes).collect();
            prefixes.push(terminals + log_sum(possible.iter().copied()));
            if let Some(&symbol) = word.get(read) {
                terminals += self.language.ln_terminal(symbol);
                parse.push(symbol);
            }
        }
        Some(prefixes)
    }
}
