//! Partial deterministic finite automata, and everything that a regular language gets from one.

mod distance;
mod regular;
mod sampler;

#[cfg(test)]
mod binning;
#[cfg(test)]
pub(crate) mod random;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use num_bigint::BigUint;
use num_traits::{One, Zero};

use crate::{Alphabet, Symbol};

pub use distance::Nearest;
pub use regular::Regular;
pub use sampler::LengthSampler;
pub(crate) use sampler::log_sum;

/// A state of a [`Dfa`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

impl StateId {
    /// The state's position among the states.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A partial DFA (Def. 1 of Butoi et al. 2025): a missing transition means that no member goes on that way.
///
/// It is always *trim*: every state can be reached and can reach acceptance. So the symbols that may
/// follow a prefix are simply those that leave its state. A language without members is the one
/// exception: it has one dead state.
///
/// ```
/// use wug_language::{Alphabet, Dfa, Symbol};
/// // (01)*
/// let dfa = Dfa::new(Alphabet::new(["0", "1"]), 2, 0, &[0], &[(0, "0", 1), (1, "1", 0)]);
/// assert!(dfa.accepts(&[Symbol(0), Symbol(1)]));
/// assert_eq!(dfa.count(6), 1u32.into());
/// let near = dfa.nearest(&[Symbol(0), Symbol(1), Symbol(1)]).unwrap(); // 011 → 01
/// assert_eq!(near.distance, 1);
/// assert!(dfa.accepts(&near.word));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dfa {
    alphabet: Alphabet,
    start: StateId,
    accepting: Vec<bool>,
    // Row per state, column per symbol.
    table: Vec<Option<StateId>>,
}

impl Dfa {
    /// Builds an automaton from named transitions and trims it.
    ///
    /// # Panics
    /// If a state or token does not exist, or if two transitions leave one state with one symbol: the arguments are a
    /// program's constants, not a user's input.
    pub fn new(
        alphabet: Alphabet,
        states: usize,
        start: usize,
        accepting: &[usize],
        transitions: &[(usize, &str, usize)],
    ) -> Self {
        let mut table = vec![None; states * alphabet.len()];
        for &(from, token, to) in transitions {
            let symbol = alphabet.symbol(token).expect("a token of the alphabet");
            let cell = &mut table[from * alphabet.len() + symbol.index()];
            assert!(cell.is_none(), "two transitions leave state {from} with {token}");
            assert!(to < states, "there is no state {to}");
            *cell = Some(StateId(to as u32));
        }
        let mut accepts = vec![false; states];
        accepting.iter().for_each(|&q| accepts[q] = true);
        Self { alphabet, start: StateId(start as u32), accepting: accepts, table }.trim()
    }

    /// Explores an automaton from a description of its states: `step(q, a)` gives the successor, if any.
    pub fn explore<Q: Clone + Ord>(
        alphabet: Alphabet,
        start: Q,
        accepts: impl Fn(&Q) -> bool,
        step: impl Fn(&Q, &str) -> Option<Q>,
    ) -> Self {
        let mut ids = BTreeMap::from([(start.clone(), StateId(0))]);
        let mut states = vec![start];
        let mut table = Vec::new();
        let mut next = 0;
        while next < states.len() {
            // Breadth first, by token: the numbers of states, and with them drawings, are the same in every
            // build.
            for token in alphabet.tokens() {
                let target = step(&states[next], token).map(|state| {
                    let fresh = StateId(states.len() as u32);
                    *ids.entry(state.clone()).or_insert_with(|| {
                        states.push(state);
                        fresh
                    })
                });
                table.push(target);
            }
            next += 1;
        }
        let accepting = states.iter().map(accepts).collect();
        Self { alphabet, start: StateId(0), accepting, table }.trim()
    }

    pub fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.accepting.len()
    }

    /// How many transitions there are (|δ|).
    pub fn size(&self) -> usize {
        self.table.iter().flatten().count()
    }

    /// Where every string starts.
    pub fn start(&self) -> StateId {
        self.start
    }

    /// Whether a string may end in this state.
    pub fn is_accepting(&self, state: StateId) -> bool {
        self.accepting[state.index()]
    }

    /// The state after a symbol.
    pub fn step(&self, state: StateId, symbol: Symbol) -> Option<StateId> {
        self.table[state.index() * self.alphabet.len() + symbol.index()]
    }

    /// The transitions that leave a state, by symbol.
    pub fn arcs(&self, state: StateId) -> impl Iterator<Item = (Symbol, StateId)> + '_ {
        let v = self.alphabet.len();
        let row = &self.table[state.index() * v..(state.index() + 1) * v];
        row.iter().enumerate().filter_map(|(a, r)| r.map(|r| (Symbol(a as u16), r)))
    }

    pub fn state_ids(&self) -> impl DoubleEndedIterator<Item = StateId> + use<> {
        (0..self.accepting.len()).map(|q| StateId(q as u32))
    }

    /// Runs the automaton over a string.
    pub fn accepts(&self, word: &[Symbol]) -> bool {
        let end = word.iter().try_fold(self.start, |q, &a| self.step(q, a));
        end.is_some_and(|q| self.is_accepting(q))
    }

    /// The states after one more symbol, from a set of states.
    fn after(&self, here: &[bool]) -> Vec<bool> {
        let mut after = vec![false; self.states()];
        for q in self.state_ids().filter(|q| here[q.index()]) {
            self.arcs(q).for_each(|(_, r)| after[r.index()] = true);
        }
        after
    }

    /// How many accepted strings have this length, exactly.
    pub fn count(&self, length: usize) -> BigUint {
        // ways[q]: the accepted strings from q of the length so far. Exact, as a double overflows at 1,024
        // binary symbols.
        let mut ways: Vec<BigUint> =
            self.accepting.iter().map(|&f| if f { BigUint::one() } else { BigUint::zero() }).collect();
        for _ in 0..length {
            ways = self.state_ids().map(|q| self.arcs(q).map(|(_, r)| &ways[r.index()]).sum()).collect();
        }
        ways.swap_remove(self.start.index())
    }

    /// The automaton as a Graphviz drawing.
    pub fn to_dot(&self) -> String {
        let mut dot = String::from("digraph {\n  rankdir=LR;\n  start [shape=point];\n");
        for q in self.state_ids() {
            let shape = if self.is_accepting(q) { "doublecircle" } else { "circle" };
            let _ = writeln!(dot, "  {} [shape={shape}];", q.0);
        }
        let _ = writeln!(dot, "  start -> {};", self.start.0);
        for q in self.state_ids() {
            let mut labels: BTreeMap<StateId, Vec<&str>> = BTreeMap::new();
            for (a, r) in self.arcs(q) {
                labels.entry(r).or_default().push(self.alphabet.token(a));
            }
            for (r, tokens) in labels {
                let label = tokens.join(", ").replace('\\', "\\\\").replace('"', "\\\"");
                let _ = writeln!(dot, "  {} -> {} [label=\"{label}\"];", q.0, r.0);
            }
        }
        dot.push_str("}\n");
        dot
    }

    /// Keeps the states that are reachable and can still accept, in their old order.
    fn trim(self) -> Self {
        let mut reached = vec![false; self.states()];
        let mut stack = vec![self.start];
        while let Some(q) = stack.pop() {
            if !std::mem::replace(&mut reached[q.index()], true) {
                stack.extend(self.arcs(q).map(|(_, r)| r));
            }
        }
        let mut useful = self.accepting.clone();
        loop {
            let more: Vec<StateId> = self
                .state_ids()
                .filter(|q| !useful[q.index()] && self.arcs(*q).any(|(_, r)| useful[r.index()]))
                .collect();
            if more.is_empty() {
                break;
            }
            more.iter().for_each(|q| useful[q.index()] = true);
        }
        let keep: Vec<StateId> = self
            .state_ids()
            // The start stays where nothing is accepted: an automaton has one.
            .filter(|&q| q == self.start || (reached[q.index()] && useful[q.index()]))
            .collect();
        let renamed: BTreeMap<StateId, StateId> =
            keep.iter().enumerate().map(|(i, &q)| (q, StateId(i as u32))).collect();
        let mut table = Vec::with_capacity(keep.len() * self.alphabet.len());
        for &q in &keep {
            for a in self.alphabet.symbols() {
                table.push(self.step(q, a).filter(|r| useful[r.index()]).map(|r| renamed[&r]));
            }
        }
        let accepting = keep.iter().map(|&q| self.is_accepting(q)).collect();
        Self { start: renamed[&self.start], accepting, table, alphabet: self.alphabet }
    }
}
