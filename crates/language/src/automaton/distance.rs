//! The edit distance between a string and a regular language (App. J of Butoi et al. 2025), with a closest
//! member.
//!
//! The paper intersects two weighted automata and runs Floyd–Warshall over (n + 1)·|Q| states. The product is
//! a chain of n + 1 layers, so a shortest path needs one pass: inside a layer only insertions move, each at
//! cost 1, and between layers a symbol is copied, replaced or deleted. Costs are small integers, so a layer is
//! settled in O(|Q| + |δ|) with buckets.

use std::collections::BTreeMap;

use super::{Dfa, StateId};
use crate::limit::{TooLarge, check_memory};
use crate::{Symbol, Word};

/// How far a string is from a language, and a member at that distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The least number of insertions, replacements and deletions.
    pub distance: usize,
    /// One member that many edits away.
    pub word: Word,
}

/// How a state of a layer was reached at least cost.
#[derive(Clone, Copy)]
enum EditStep {
    Start,
    /// From the same state of the layer before: the symbol of the string was deleted.
    Delete,
    /// From a state of the layer before, writing this symbol.
    Write(StateId, Symbol),
    /// From a state of the same layer, writing this symbol.
    Insert(StateId, Symbol),
}

const FAR: usize = usize::MAX;

impl Dfa {
    /// An error if [`nearest`](Self::nearest) would take too much memory for a string of this length.
    pub fn check_nearest(&self, length: usize) -> Result<(), TooLarge> {
        let states = self.states();
        let bytes = (length as f64 + 1.0) * states as f64 * size_of::<EditStep>() as f64;
        check_memory(bytes, || {
            format!("the edit distance of {length} symbols from an automaton with {states} states")
        })
    }

    /// The closest member to a string; `None` only if the language is empty.
    pub fn nearest(&self, word: &[Symbol]) -> Option<Nearest> {
        let mut steps: Vec<Vec<EditStep>> = Vec::with_capacity(word.len() + 1);
        let mut cost = vec![FAR; self.states()];
        cost[self.start().index()] = 0;
        let mut first = vec![EditStep::Start; self.states()];
        self.settle(&mut cost, &mut first);
        steps.push(first);
        for &symbol in word {
            let mut after = vec![FAR; self.states()];
            let mut step = vec![EditStep::Start; self.states()];
            for q in self.state_ids() {
                let here = cost[q.index()];
                if here == FAR {
                    continue;
                }
                if here + 1 < after[q.index()] {
                    (after[q.index()], step[q.index()]) = (here + 1, EditStep::Delete);
                }
                for (a, r) in self.arcs(q) {
                    let there = here + usize::from(a != symbol);
                    if there < after[r.index()] {
                        (after[r.index()], step[r.index()]) = (there, EditStep::Write(q, a));
                    }
                }
            }
            self.settle(&mut after, &mut step);
            cost = after;
            steps.push(step);
        }
        let end = self
            .state_ids()
            .filter(|&q| self.is_accepting(q) && cost[q.index()] < FAR)
            .min_by_key(|q| cost[q.index()])?;
        Some(Nearest { distance: cost[end.index()], word: Self::read_back(&steps, end) })
    }

    /// Lets insertions spread inside a layer, cheapest states first.
    fn settle(&self, cost: &mut [usize], step: &mut [EditStep]) {
        // Costs may lie as far apart as the string is long, so that only those that occur have a bucket.
        let mut buckets: BTreeMap<usize, Vec<StateId>> = BTreeMap::new();
        for q in self.state_ids().filter(|q| cost[q.index()] < FAR) {
            buckets.entry(cost[q.index()]).or_default().push(q);
        }
        while let Some((level, mut states)) = buckets.pop_first() {
            while let Some(q) = states.pop() {
                if cost[q.index()] != level {
                    continue; // reached more cheaply since
                }
                for (a, r) in self.arcs(q) {
                    if level + 1 < cost[r.index()] {
                        cost[r.index()] = level + 1;
                        step[r.index()] = EditStep::Insert(q, a);
                        buckets.entry(level + 1).or_default().push(r);
                    }
                }
            }
        }
    }

    fn read_back(steps: &[Vec<EditStep>], end: StateId) -> Word {
        let mut layer = steps.len() - 1;
        let mut state = end;
        let mut word = Word::new();
        loop {
            match steps[layer][state.index()] {
                EditStep::Start => break,
                EditStep::Delete => layer -= 1,
                EditStep::Write(from, symbol) => {
                    word.push(symbol);
                    (layer, state) = (layer - 1, from);
                }
                EditStep::Insert(from, symbol) => {
                    word.push(symbol);
                    state = from;
                }
            }
        }
        word.reverse();
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::random;
    use crate::{Language as _, Regular};
    use proptest::prelude::*;
    use wug_parameter::levenshtein;

    proptest! {
        /// Against brute force: the least Levenshtein distance to any member of bounded length.
        #[test]
        fn distance_equals_brute_force(seed in any::<u64>(), bits in prop::collection::vec(0u16..2, 0..6)) {
            let language = Regular::new(random::dfa(seed));
            let dfa = language.automaton().unwrap();
            let word: Word = bits.into_iter().map(Symbol).collect();
            let brute = (0..=10)
                .flat_map(|n| language.members(n))
                .map(|member| levenshtein(&word, &member))
                .min();
            let near = dfa.nearest(&word);
            // Members much longer than the word are farther than any of these lengths, if one of them exists.
            if let Some(brute) = brute.filter(|&d| d <= 10 - word.len()) {
                let near = near.expect("a member exists");
                prop_assert_eq!(near.distance, brute);
                prop_assert!(dfa.accepts(&near.word));
                prop_assert_eq!(levenshtein(&word, &near.word), brute);
            }
        }
    }
}
