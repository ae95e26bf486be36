//! Probabilistic context-free grammars, and everything that a context-free language gets from one: membership
//! and next-symbol sets by Earley's algorithm, sampling by length, exact string probabilities, enumeration.

mod context_free;
mod earley;
mod inside;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::{Alphabet, Symbol};

pub use context_free::ContextFree;

/// A symbol on the right-hand side of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// A letter of the alphabet.
    Terminal(Symbol),
    /// Something that rules rewrite, by its number.
    Nonterminal(usize),
}

/// A rule and its probability among the rules of its left-hand side.
#[derive(Clone, Debug, PartialEq)]
pub struct GrammarRule {
    pub left: usize,
    /// What it becomes; empty for the empty string.
    pub right: Vec<Item>,
    /// How likely, given the left-hand side.
    pub probability: f64,
}

/// A probabilistic context-free grammar without useless rules: every nonterminal is reached from the start
/// and derives a string.
///
/// ```
/// use wug_language::grammar::{ContextFree, Grammar};
/// use wug_language::Language;
/// // aⁿbⁿ with n ≥ 0
/// let grammar = Grammar::new("S", &[("S", 0.7, &["a", "S", "b"]), ("S", 0.3, &[])]).unwrap();
/// let language = ContextFree::new(grammar);
/// let word = language.alphabet().parse("aabb").unwrap();
/// assert!(language.contains(&word));
/// let natural = language.natural().unwrap();
/// assert!((natural.log_prob(&word) - (0.7f64 * 0.7 * 0.3).ln()).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grammar {
    alphabet: Alphabet,
    nonterminals: Vec<String>,
    rules: Vec<GrammarRule>,
}

/// Why a list of rules is no grammar.
#[derive(Debug, Error, PartialEq)]
pub enum GrammarError {
    /// The start symbol has no rule.
    #[error("the start symbol `{0}` has no rule")]
    NoStart(String),
    /// A weight that is not a positive number.
    #[error("a rule of `{left}` has weight {weight}; weights must be positive and finite")]
    Weight {
        /// The rule's left-hand side.
        left: String,
        weight: f64,
    },
    /// Nothing can be derived.
    #[error("the start symbol `{0}` derives no string: every way of rewriting it goes on for ever")]
    Empty(String),
}

impl Grammar {
    /// A grammar from weighted rules. What stands on some left-hand side is a nonterminal, everything else a
    /// letter; letters are ordered by code point. Weights are divided by their sum for each left-hand side.
    pub fn new(start: &str, rules: &[(&str, f64, &[&str])]) -> Result<Self, GrammarError> {
        if rules.iter().all(|(left, ..)| *left != start) {
            return Err(GrammarError::NoStart(start.to_owned()));
        }
        if let Some((left, weight, _)) = rules.iter().find(|(_, w, _)| !(w.is_finite() && *w > 0.0)) {
            return Err(GrammarError::Weight { left: (*left).to_owned(), weight: *weight });
        }
        let lefts: BTreeSet<&str> = rules.iter().map(|(left, ..)| *left).collect();
        let productive = productive(&lefts, rules);
        if !productive.contains(start) {
            return Err(GrammarError::Empty(start.to_owned()));
        }
        let useful = |right: &[&str]| right.iter().all(|x| !lefts.contains(x) || productive.contains(x));
        let rules: Vec<_> =
            rules.iter().filter(|(left, _, right)| productive.contains(left) && useful(right)).collect();
        // The start symbol is number 0; others are numbered as they are reached.
        let mut ids = BTreeMap::from([(start, 0)]);
        let mut names = vec![start.to_owned()];
        let mut next = 0;
        while next < names.len() {
            let current = names[next].clone();
            for (_, _, right) in rules.iter().filter(|(left, ..)| *left == current) {
                for name in right.iter().filter(|x| lefts.contains(*x)) {
                    ids.entry(name).or_insert_with(|| {
                        names.push((*name).to_owned());
                        names.len() - 1
                    });
                }
            }
            next += 1;
        }
        let reached: Vec<_> = rules.iter().filter(|(left, ..)| ids.contains_key(left)).collect();
        let letters: BTreeSet<&str> = reached
            .iter()
            .flat_map(|(_, _, right)| right.iter())
            .filter(|x| !lefts.contains(*x))
            .copied()
            .collect();
        let alphabet = Alphabet::new(letters);
        let mut totals = vec![0.0; names.len()];
        reached.iter().for_each(|(left, weight, _)| totals[ids[left]] += weight);
        let rules = reached
            .iter()
            .map(|(left, weight, right)| GrammarRule {
                left: ids[left],
                right: right
                    .iter()
                    .map(|x| match ids.get(x) {
                        Some(&id) => Item::Nonterminal(id),
                        None => Item::Terminal(alphabet.symbol(x).expect("collected above")),
                    })
                    .collect(),
                probability: weight / totals[ids[left]],
            })
            .collect();
        Ok(Self { alphabet, nonterminals: names, rules })
    }

    pub fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// The names of what is rewritten; the first is the start symbol.
    pub fn nonterminals(&self) -> &[String] {
        &self.nonterminals
    }

    pub fn rules(&self) -> &[GrammarRule] {
        &self.rules
    }

    /// The rules of one nonterminal.
    fn rules_of(&self, left: usize) -> impl Iterator<Item = (usize, &GrammarRule)> + '_ {
        self.rules.iter().enumerate().filter(move |(_, rule)| rule.left == left)
    }
}

/// The nonterminals that derive some string.
fn productive<'a>(lefts: &BTreeSet<&'a str>, rules: &[(&'a str, f64, &[&'a str])]) -> BTreeSet<&'a str> {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    loop {
        let derives = |right: &[&str]| right.iter().all(|x| !lefts.contains(x) || known.contains(x));
        let more: BTreeSet<&str> =
            rules.iter().filter(|(_, _, right)| derives(right)).map(|(left, ..)| *left).collect();
        if more.len() == known.len() {
            return known;
        }
        known = more;
    }
}
