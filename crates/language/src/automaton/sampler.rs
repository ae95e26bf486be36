//! Sampling a string of a given length from an automaton whose actions are equally likely (§3.1.2 of Butoi et
//! al. 2025).
//!
//! The paper lifts the automaton to a binning semiring and sums over paths with Lehmann's cubic algorithm. A
//! DFA has no empty transitions, so the weight of all ways to accept in exactly `i` more symbols follows from
//! that for `i − 1`: one backward pass over lengths, O(|δ|·n). Weights are logarithms in f64, so nothing
//! underflows at length 500 or 50,000.

use rand_core::Rng;

use super::{Dfa, StateId};
use crate::{Symbol, Word, draw};

/// For each state and each number of symbols left, what to do next.
#[derive(Clone, Debug)]
pub struct LengthSampler<'a> {
    dfa: &'a Dfa,
    max: usize,
    // The arcs of state q are `arcs[first[q]..first[q + 1]]`.
    arcs: Vec<(Symbol, StateId)>,
    first: Vec<usize>,
    // log p(action) at a state: minus the log of the number of arcs, plus one if it may accept.
    action: Vec<f64>,
    // weight[i * |Q| + q]: log of the total probability of accepting from q in exactly i more symbols.
    weight: Vec<f64>,
    // prob[i * |δ| + arc]: probability of the arc at its state when i symbols are left.
    prob: Vec<f64>,
}

impl<'a> LengthSampler<'a> {
    /// The memory of a sampler for all lengths up to `max`.
    pub(super) fn bytes(dfa: &Dfa, max: usize) -> f64 {
        (max as f64 + 1.0) * (dfa.states() + dfa.size()) as f64 * size_of::<f64>() as f64
    }

    /// Prepares for all lengths up to `max`.
    pub fn new(dfa: &'a Dfa, max: usize) -> Self {
        let q_len = dfa.states();
        let mut arcs = Vec::with_capacity(dfa.size());
        let mut first = vec![0];
        for q in dfa.state_ids() {
            arcs.extend(dfa.arcs(q));
            first.push(arcs.len());
        }
        let degree = |q: StateId| first[q.index() + 1] - first[q.index()] + usize::from(dfa.is_accepting(q));
        // Only the dead start of an empty language has no action; its weight stays minus infinity all the
        // same.
        let action: Vec<f64> = dfa.state_ids().map(|q| -libm::log(degree(q).max(1) as f64)).collect();
        let mut weight = Vec::with_capacity((max + 1) * q_len);
        for q in dfa.state_ids() {
            weight.push(if dfa.is_accepting(q) { action[q.index()] } else { f64::NEG_INFINITY });
        }
        let mut prob = vec![0.0; arcs.len()];
        prob.reserve_exact(max * arcs.len());
        for i in 1..=max {
            let last = (i - 1) * q_len;
            for q in 0..q_len {
                let follow = || arcs[first[q]..first[q + 1]].iter().map(|(_, r)| weight[last + r.index()]);
                // Weight pushing (§3.1.2): the probabilities of a row add up to one. The released code has
                // them in float16, which is up to 0.029 off in total variation.
                let sum = log_sum(follow());
                prob.extend(follow().map(|w| if w > f64::NEG_INFINITY { libm::exp(w - sum) } else { 0.0 }));
                weight.push(action[q] + sum);
            }
        }
        Self { dfa, max, arcs, first, action, weight, prob }
    }

    /// The longest length prepared for.
    pub fn max(&self) -> usize {
        self.max
    }

    /// The log of the probability that the automaton, left to itself, stops after exactly this many symbols.
    pub fn log_weight(&self, length: usize) -> f64 {
        self.at(length, self.dfa.start())
    }

    /// Whether a string of this length is accepted.
    pub fn has_length(&self, length: usize) -> bool {
        self.log_weight(length) > f64::NEG_INFINITY
    }

    /// Whether some string of exactly `left` symbols leads from a state to acceptance.
    pub fn accepts_in(&self, state: StateId, left: usize) -> bool {
        self.at(left, state) > f64::NEG_INFINITY
    }

    /// The probabilities of the arcs that leave a state when exactly `left` symbols must follow.
    pub fn step_probs(
        &self,
        state: StateId,
        left: usize,
    ) -> impl Iterator<Item = (Symbol, StateId, f64)> + '_ {
        let range = self.first[state.index()]..self.first[state.index() + 1];
        let probs = &self.prob[left * self.arcs.len()..];
        range.map(move |arc| (self.arcs[arc].0, self.arcs[arc].1, probs[arc])).filter(|(_, _, p)| *p > 0.0)
    }

    /// The logarithm of the probability that a string of exactly this length begins with each prefix of a word, the empty one first.
    pub(super) fn log_prefixes(&self, length: usize, word: &[Symbol]) -> Vec<f64> {
        let (mut at, mut log) = (Some(self.dfa.start()), 0.0);
        let mut prefixes = vec![log];
        for (i, &symbol) in word.iter().enumerate() {
            let step = at
                .filter(|_| i < length)
                .and_then(|state| self.step_probs(state, length - i).find(|(other, ..)| *other == symbol));
            log += step.map_or(f64::NEG_INFINITY, |(.., p)| libm::log(p));
            at = step.map(|(_, next, _)| next);
            prefixes.push(log);
        }
        prefixes
    }

    /// Draws a string of exactly this length.
    ///
    /// # Panics
    /// If there is none, or if the length is greater than [`max`](Self::max).
    pub fn sample(&self, length: usize, rng: &mut dyn Rng) -> Word {
        assert!(self.has_length(length), "no string of length {length} is accepted");
        let mut state = self.dfa.start();
        let mut word = Word::with_capacity(length);
        for left in (1..=length).rev() {
            let mut u = draw::unit(rng);
            let mut chosen = None;
            for (symbol, next, p) in self.step_probs(state, left) {
                // Set before u is compared: if rounding leaves u at zero or above after the last arc, that
                // arc is taken.
                chosen = Some((symbol, next));
                u -= p;
                if u < 0.0 {
                    break;
                }
            }
            let (symbol, next) =
                chosen.expect("a state with positive weight has an arc with positive weight");
            word.push(symbol);
            state = next;
        }
        word
    }

    /// The log-probability of a string among those of its length.
    pub fn log_prob(&self, word: &[Symbol]) -> f64 {
        if word.len() > self.max || !self.has_length(word.len()) {
            return f64::NEG_INFINITY;
        }
        let mut state = self.dfa.start();
        let mut total = 0.0;
        for &symbol in word {
            let Some(next) = self.dfa.step(state, symbol) else { return f64::NEG_INFINITY };
            total += self.action[state.index()];
            state = next;
        }
        if !self.dfa.is_accepting(state) {
            return f64::NEG_INFINITY;
        }
        total + self.action[state.index()] - self.log_weight(word.len())
    }

    fn at(&self, left: usize, state: StateId) -> f64 {
        self.weight[left * self.dfa.states() + state.index()]
    }
}

/// log Σ exp, minus infinity for an empty sum.
pub(crate) fn log_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let max = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    // Without the maximum, exp underflows below −745: a random string of 1,075 bits is less likely.
    max + libm::log(terms.map(|t| libm::exp(t - max)).sum())
}
