//! Earley's algorithm as a reader: after every symbol it holds all ways in which the prefix can go on.

use std::collections::BTreeSet;
use std::rc::Rc;

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::{Grammar, Item};
use crate::{NextSet, Scanner, Symbol};

/// A rule read up to a dot, begun at some position. Rule `None` is the start: `• S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EarleyState {
    rule: Option<usize>,
    dot: usize,
    origin: usize,
}

type StateSet = BTreeSet<EarleyState>;

/// A position inside a string, as the sets of states after each symbol so far.
#[derive(Clone)]
pub(super) struct Earley<'a> {
    grammar: &'a Grammar,
    nullable: &'a [bool],
    sets: Vec<Rc<StateSet>>,
}

impl<'a> Earley<'a> {
    pub(super) fn new(grammar: &'a Grammar, nullable: &'a [bool]) -> Self {
        let mut reader = Self { grammar, nullable, sets: Vec::new() };
        let set = reader.close(vec![EarleyState { rule: None, dot: 0, origin: 0 }]);
        reader.sets.push(Rc::new(set));
        reader
    }

    fn expected(&self, state: EarleyState) -> Option<Item> {
        match state.rule {
            None => (state.dot == 0).then_some(Item::Nonterminal(0)),
            Some(rule) => self.grammar.rules[rule].right.get(state.dot).copied(),
        }
    }

    /// Predicts and completes until nothing is added; the set's position is the number of sets before it.
    fn close(&self, seeds: Vec<EarleyState>) -> StateSet {
        let here = self.sets.len();
        let mut set = StateSet::new();
        let mut work = seeds;
        while let Some(state) = work.pop() {
            if !set.insert(state) {
                continue;
            }
            match self.expected(state) {
                Some(Item::Nonterminal(b)) => {
                    work.extend(self.grammar.rules_of(b).map(|(r, _)| EarleyState {
                        rule: Some(r),
                        dot: 0,
                        origin: here,
                    }));
                    if self.nullable[b] {
                        work.push(EarleyState { dot: state.dot + 1, ..state });
                    }
                }
                Some(Item::Terminal(_)) => {}
                None => {
                    // A nonterminal that spans nothing was skipped when it was predicted.
                    let Some(rule) = state.rule.filter(|_| state.origin < here) else { continue };
                    let left = Item::Nonterminal(self.grammar.rules[rule].left);
                    let waiting = self.sets[state.origin].iter().filter(|s| self.expected(**s) == Some(left));
                    work.extend(waiting.map(|s| EarleyState { dot: s.dot + 1, ..*s }));
                }
            }
        }
        set
    }

    fn last(&self) -> &StateSet {
        &self.sets[self.sets.len() - 1]
    }

    /// The lengths that each nonterminal can have.
    fn all_lengths(&self, mask: &BigUint) -> Vec<BigUint> {
        let mut lengths = vec![BigUint::zero(); self.grammar.nonterminals.len()];
        loop {
            let mut next = lengths.clone();
            for rule in &self.grammar.rules {
                next[rule.left] |= sequence_lengths(&rule.right, &lengths, mask);
            }
            if next == lengths {
                return lengths;
            }
            lengths = next;
        }
    }
}

/// The lengths that a sequence of items can have, as bits up to the mask.
fn sequence_lengths(items: &[Item], lengths: &[BigUint], mask: &BigUint) -> BigUint {
    items.iter().fold(BigUint::one(), |sum, item| match item {
        Item::Terminal(_) => (sum << 1) & mask,
        Item::Nonterminal(b) => add(&sum, &lengths[*b], mask),
    })
}

/// The sums of two sets of lengths, up to the mask.
fn add(a: &BigUint, b: &BigUint, mask: &BigUint) -> BigUint {
    // Sets of lengths are bits of an integer, so that a sum of lengths is a shift.
    let bits = (0..b.bits()).filter(|&i| b.bit(i));
    bits.fold(BigUint::zero(), |sum, i| sum | (a << i)) & mask
}

impl Scanner for Earley<'_> {
    fn next(&self) -> NextSet {
        let mut set = NextSet::empty();
        for state in self.last() {
            if let Some(Item::Terminal(a)) = self.expected(*state) {
                set.insert(a);
            }
        }
        set.with_end(self.last().contains(&EarleyState { rule: None, dot: 1, origin: 0 }))
    }

    fn push(&mut self, symbol: Symbol) {
        let read = self.last().iter().filter(|s| self.expected(**s) == Some(Item::Terminal(symbol)));
        let seeds = read.map(|s| EarleyState { dot: s.dot + 1, ..*s }).collect();
        let set = self.close(seeds);
        self.sets.push(Rc::new(set));
    }

    /// What can still follow a state is what its rule has left, and then what can follow its left-hand side
    /// where it was begun.
    fn completes(&self, rest: usize) -> bool {
        let mask = (BigUint::one() << (rest + 1)) - 1u8;
        let lengths = self.all_lengths(&mask);
        let after = |state: &EarleyState, follow: &[Vec<BigUint>], skip: usize| -> BigUint {
            let Some(rule) = state.rule else {
                return if state.dot + skip == 1 { BigUint::one() } else { lengths[0].clone() };
            };
            let rule = &self.grammar.rules[rule];
            let own = sequence_lengths(&rule.right[state.dot + skip..], &lengths, &mask);
            add(&own, &follow[state.origin][rule.left], &mask)
        };
        let mut follow: Vec<Vec<BigUint>> = Vec::new();
        for set in &self.sets {
            follow.push(vec![BigUint::zero(); self.grammar.nonterminals.len()]);
            let here = follow.len() - 1;
            loop {
                // A nonterminal may wait for itself (left recursion), so that what can follow is a least
                // fixed point.
                let mut changed = false;
                for state in set.iter() {
                    let Some(Item::Nonterminal(b)) = self.expected(*state) else { continue };
                    let more = after(state, &follow, 1) | &follow[here][b];
                    changed |= more != follow[here][b];
                    follow[here][b] = more;
                }
                if !changed {
                    break;
                }
            }
        }
        self.last().iter().any(|state| after(state, &follow, 0).bit(rest as u64))
    }

    fn fork<'b>(&self) -> Box<dyn Scanner + 'b>
    where
        Self: 'b,
    {
        Box::new(self.clone())
    }
}
