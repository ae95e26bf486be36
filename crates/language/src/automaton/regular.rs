//! A regular language: its automaton, read as a [`Language`].

use std::rc::Rc;

use num_bigint::BigUint;
use rand_core::Rng;

use super::{Dfa, LengthSampler, StateId, log_sum};
use crate::limit::{TooLarge, check_memory};
use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, Members, NextSet, Scanner, Symbol, Word, draw,
};

/// A regular language, given by its automaton.
#[derive(Clone, Debug)]
pub struct Regular {
    dfa: Dfa,
    next: Vec<NextSet>,
}

impl Regular {
    /// The language that an automaton accepts.
    pub fn new(dfa: Dfa) -> Self {
        let next = dfa
            .state_ids()
            .map(|q| NextSet::of(dfa.arcs(q).map(|(a, _)| a)).with_end(dfa.is_accepting(q)))
            .collect();
        Self { dfa, next }
    }
}

impl Language for Regular {
    fn alphabet(&self) -> &Alphabet {
        self.dfa.alphabet()
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        self.dfa.accepts(word)
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(DfaScanner { language: self, at: Some(self.dfa.start()), table: None })
    }

    /// Whether a prefix can be completed is looked up, so that the delay between two members is
    /// that of writing them.
    fn members(&self, length: usize) -> Members<'_> {
        let table = Some(Rc::new(LengthSampler::new(&self.dfa, length)));
        Members::new(Box::new(DfaScanner { language: self, at: Some(self.dfa.start()), table }), length)
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        self.check_length(*lengths.end())?;
        let sampler = LengthSampler::new(&self.dfa, *lengths.end());
        let possible: Vec<usize> = lengths.clone().filter(|&n| sampler.has_length(n)).collect();
        if possible.is_empty() {
            return Err(self.no_such_length(&lengths));
        }
        Ok(Box::new(UniformLength { sampler, possible }))
    }

    fn check_length(&self, longest: usize) -> Result<(), TooLarge> {
        let (states, transitions) = (self.dfa.states(), self.dfa.size());
        check_memory(LengthSampler::bytes(&self.dfa, longest), || {
            format!(
                "sampling strings of up to {longest} symbols from an automaton with {states} states and {transitions} transitions"
            )
        })
    }

    fn automaton(&self) -> Option<&Dfa> {
        Some(&self.dfa)
    }

    fn count(&self, length: usize) -> BigUint {
        self.dfa.count(length)
    }

    fn lengths(&self, range: LengthRange) -> Vec<usize> {
        let mut here = vec![false; self.dfa.states()];
        here[self.dfa.start().index()] = true;
        let accepts =
            |here: &[bool]| self.dfa.state_ids().any(|q| here[q.index()] && self.dfa.is_accepting(q));
        let mut lengths = Vec::new();
        for n in 0..=*range.end() {
            if range.contains(&n) && accepts(&here) {
                lengths.push(n);
            }
            here = self.dfa.after(&here);
        }
        lengths
    }
}

/// Eq. 1: a length uniform over the possible ones, then a string of that length.
struct UniformLength<'a> {
    sampler: LengthSampler<'a>,
    possible: Vec<usize>,
}

impl Distribution for UniformLength<'_> {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let length = *draw::choose(rng, &self.possible);
        self.sampler.sample(length, rng)
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        if self.possible.binary_search(&word.len()).is_err() {
            return f64::NEG_INFINITY;
        }
        self.sampler.log_prob(word) - libm::log(self.possible.len() as f64)
    }

    fn log_prefixes(&self, word: &[Symbol], share: &dyn Fn(usize) -> f64) -> Option<Vec<f64>> {
        let of = |&n: &usize| (share(n), self.sampler.log_prefixes(n, word));
        let of: Vec<(f64, Vec<f64>)> = self.possible.iter().map(of).collect();
        let at = |i: usize| log_sum(of.iter().map(|(share, prefixes)| share + prefixes[i]));
        Some((0..=word.len()).map(at).collect())
    }
}

#[derive(Clone)]
struct DfaScanner<'a> {
    language: &'a Regular,
    at: Option<StateId>,
    table: Option<Rc<LengthSampler<'a>>>,
}

impl Scanner for DfaScanner<'_> {
    fn next(&self) -> NextSet {
        self.at.map_or_else(NextSet::empty, |q| self.language.next[q.index()].clone())
    }

    fn push(&mut self, symbol: Symbol) {
        self.at = self.at.and_then(|q| self.language.dfa.step(q, symbol));
    }

    fn repeat(&mut self, symbol: Symbol, most: usize) -> usize {
        let stays = self.at.is_none_or(|q| self.language.dfa.step(q, symbol) == Some(q));
        if stays { most } else { 0 }
    }

    fn completes(&self, rest: usize) -> bool {
        let Some(state) = self.at else { return false };
        if let Some(table) = self.table.as_ref().filter(|table| rest <= table.max()) {
            return table.accepts_in(state, rest);
        }
        let dfa = &self.language.dfa;
        let mut here = vec![false; dfa.states()];
        here[state.index()] = true;
        for _ in 0..rest {
            here = dfa.after(&here);
        }
        dfa.state_ids().any(|q| here[q.index()] && dfa.is_accepting(q))
    }

    fn fork<'b>(&self) -> Box<dyn Scanner + 'b>
    where
        Self: 'b,
    {
        Box::new(self.clone())
    }
}
