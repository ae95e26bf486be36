//! A context-free language: its grammar, read as a [`Language`].

use num_bigint::BigUint;
use rand_core::Rng;

use super::earley::Earley;
use super::inside::{Inside, Weights};
use super::{Grammar, Item};
use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

/// A context-free language, given by its grammar.
#[derive(Clone, Debug)]
pub struct ContextFree {
    grammar: Grammar,
    nullable: Vec<bool>,
}

impl ContextFree {
    /// The language that a grammar derives.
    pub fn new(grammar: Grammar) -> Self {
        // Earley completes a nonterminal that spans nothing before it knows who waits for it. So nullable
        // ones are skipped where they are predicted (Aycock and Horspool 2002).
        let mut nullable = vec![false; grammar.nonterminals.len()];
        loop {
            let empty = |item: &Item| matches!(item, Item::Nonterminal(b) if nullable[*b]);
            let more: Vec<usize> = grammar
                .rules
                .iter()
                .filter(|r| !nullable[r.left] && r.right.iter().all(empty))
                .map(|r| r.left)
                .collect();
            if more.is_empty() {
                return Self { grammar, nullable };
            }
            more.into_iter().for_each(|a| nullable[a] = true);
        }
    }

    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }
}

impl Language for ContextFree {
    fn alphabet(&self) -> &Alphabet {
        &self.grammar.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        self.next(word).end()
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(Earley::new(&self.grammar, &self.nullable))
    }

    fn count_up_to(&self, length: usize, most: usize) -> BigUint {
        BigUint::from(self.members(length).take(most).count())
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let inside = Inside::new(&self.grammar);
        let table = inside.lengths(*lengths.end());
        let possible: Vec<usize> =
            lengths.clone().filter(|&n| table[n].nonterminal[0] > f64::NEG_INFINITY).collect();
        if possible.is_empty() {
            return Err(self.no_such_length(&lengths));
        }
        Ok(Box::new(ByLength { grammar: &self.grammar, inside, table, possible }))
    }

    /// Its own distribution, if rewriting ends with probability one.
    fn natural(&self) -> Option<Box<dyn Distribution + '_>> {
        let ends = Inside::termination(&self.grammar)[0];
        // Iteration comes to 1 from below and stops short of it. A grammar that goes on for ever is further
        // away.
        (ends > 1.0 - 1e-9).then(|| -> Box<dyn Distribution> {
            Box::new(Natural { grammar: &self.grammar, inside: Inside::new(&self.grammar) })
        })
    }

    fn next(&self, prefix: &[Symbol]) -> NextSet {
        let mut reader = Earley::new(&self.grammar, &self.nullable);
        prefix.iter().for_each(|&a| reader.push(a));
        Scanner::next(&reader)
    }
}

/// A length uniform over the possible ones, then a derivation in proportion to its probability among
/// those of that length.
struct ByLength<'a> {
    grammar: &'a Grammar,
    inside: Inside<'a>,
    table: Vec<Weights>,
    possible: Vec<usize>,
}

/// What is still to be written, left to right: the rest of a rule from a dot on, of a given length.
struct Pending {
    rule: usize,
    dot: usize,
    length: usize,
}

impl ByLength<'_> {
    fn choose_rule(&self, left: usize, length: usize, rng: &mut dyn Rng) -> usize {
        let rules: Vec<usize> = self.grammar.rules_of(left).map(|(r, _)| r).collect();
        let weight =
            |r: &usize| libm::log(self.grammar.rules[*r].probability) + self.table[length].suffix[*r][0];
        rules[choose(rng, rules.iter().map(weight))]
    }
}

impl Distribution for ByLength<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let length = *draw::choose(rng, &self.possible);
        let mut word = Word::with_capacity(length);
        let rule = self.choose_rule(0, length, rng);
        let mut stack = vec![Pending { rule, dot: 0, length }];
        while let Some(Pending { rule, dot, length }) = stack.pop() {
            let Some(item) = self.grammar.rules[rule].right.get(dot) else { continue };
            match *item {
                Item::Terminal(a) => {
                    word.push(a);
                    stack.push(Pending { rule, dot: dot + 1, length: length - 1 });
                }
                Item::Nonterminal(b) => {
                    // How much of the length this nonterminal takes, by inside weights: exact, and without
                    // rejection.
                    let part = choose(
                        rng,
                        (0..=length).map(|k| {
                            self.table[k].nonterminal[b] + self.table[length - k].suffix[rule][dot + 1]
                        }),
                    );
                    stack.push(Pending { rule, dot: dot + 1, length: length - part });
                    let inner = self.choose_rule(b, part, rng);
                    stack.push(Pending { rule: inner, dot: 0, length: part });
                }
            }
        }
        word
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if self.possible.binary_search(&word.len()).is_err() {
            return f64::NEG_INFINITY;
        }
        let given_length = self.inside.string(word) - self.table[word.len()].nonterminal[0];
        given_length - libm::log(self.possible.len() as f64)
    }
}

/// An index in proportion to the exponential of its log-weight.
fn choose(rng: &mut dyn Rng, log_weights: impl Iterator<Item = f64> + Clone) -> usize {
    let max = log_weights.clone().fold(f64::NEG_INFINITY, f64::max);
    let cumulative: Vec<f64> = log_weights
        .scan(0.0, |sum, w| {
            *sum += libm::exp(w - max);
            Some(*sum)
        })
        .collect();
    draw::weighted(rng, &cumulative)
}

struct Natural<'a> {
    grammar: &'a Grammar,
    inside: Inside<'a>,
}

impl Distribution for Natural<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let mut word = Word::new();
        let mut stack = vec![Item::Nonterminal(0)];
        while let Some(item) = stack.pop() {
            match item {
                Item::Terminal(a) => word.push(a),
                Item::Nonterminal(b) => {
                    let rules: Vec<_> = self.grammar.rules_of(b).map(|(_, rule)| rule).collect();
                    let rule = rules[choose(rng, rules.iter().map(|r| libm::log(r.probability)))];
                    stack.extend(rule.right.iter().rev());
                }
            }
        }
        word
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        self.inside.string(word)
    }
}
