//! What a trained learner can be asked. Suites see these three interfaces and nothing of a model, so that learners from
//! elsewhere can stand in for ours.

mod judge;
mod saved;
mod sets;
mod transduce;

pub use judge::Judgement;
pub use saved::{LoadError, Model, SavedModel};
pub use sets::Sets;

use std::ops::RangeInclusive;

use crate::kernel::{Real, softmax_rows};
use crate::model::{LanguageModel, Memory, Pair};
use crate::tape::{Mode, Tape};

/// Says whether strings are in a language.
pub trait Recognizer {
    /// The log-odds that each string is in the language: accepted if not negative.
    fn log_odds(&mut self, strings: &[&[u32]]) -> Vec<f64>;

    /// The probability that each string is in the language.
    fn probabilities(&mut self, strings: &[&[u32]]) -> Vec<f64> {
        self.log_odds(strings).into_iter().map(|z| 1.0 / (1.0 + libm::exp(-z))).collect()
    }
}

/// Symbols of a string read at once: a learner may prepare itself once for all of them.
const PIECE: usize = 64;

/// Says what comes next.
pub trait NextSymbol {
    /// Where the learner stands after a prefix. Cloned where strings part, so that a shared prefix is read once.
    type State: Clone;

    /// Before the first symbol.
    fn start(&mut self) -> Self::State;

    /// After one more symbol.
    fn push(&mut self, state: &mut Self::State, symbol: u32);

    /// The probability of every symbol to come next.
    fn next(&mut self, state: &Self::State) -> Vec<f64>;

    /// The natural logarithm of the probability of each symbol of a string, given those before it.
    fn log_probs(&mut self, string: &[u32]) -> Vec<f64> {
        let mut states = [self.start()];
        let mut rows = self.next(&states[0]);
        let (v, mut logs) = (rows.len(), Vec::with_capacity(string.len()));
        for piece in string.chunks(PIECE) {
            rows.extend(self.advance_batch(&mut states, &[piece]));
            logs.extend(rows.chunks(v).zip(piece).map(|(row, &symbol)| libm::log(row[symbol as usize])));
            rows.drain(..piece.len() * v);
        }
        logs
    }

    /// Reads pieces of the same length after many prefixes, one each, in step. Gives the probabilities of every symbol to
    /// come after each symbol, `[B,T,V]`, one string after the other, just as reading one by one would.
    ///
    /// # Panics
    /// If there are not as many pieces as states, or one has another length.
    fn advance_batch(&mut self, states: &mut [Self::State], pieces: &[&[u32]]) -> Vec<f64> {
        one_by_one(self, states, pieces)
    }

    /// Whether two states are the very same, so that whatever is read next leads to the same. A learner that cannot tell
    /// says no.
    fn same(&self, _: &Self::State, _: &Self::State) -> bool {
        false
    }

    /// The most symbols it can read, if there is a limit.
    fn max_len(&self) -> Option<usize> {
        None
    }

    /// How many states after prefixes of up to this length to keep at once.
    fn max_batch(&self, _longest: usize) -> usize {
        1024
    }
}

/// Insists on one piece per state, all of the same length, and says which.
fn alike<S>(states: &[S], pieces: &[&[u32]]) -> usize {
    let steps = pieces.first().map_or(0, |piece| piece.len());
    assert_eq!(states.len(), pieces.len(), "one piece for each state");
    assert!(pieces.iter().all(|piece| piece.len() == steps), "pieces of the same length");
    steps
}

fn one_by_one<L: NextSymbol + ?Sized>(
    learner: &mut L,
    states: &mut [L::State],
    pieces: &[&[u32]],
) -> Vec<f64> {
    alike(states, pieces);
    let mut probabilities = Vec::new();
    for (state, piece) in states.iter_mut().zip(pieces) {
        for &symbol in *piece {
            learner.push(state, symbol);
            probabilities.extend(learner.next(state));
        }
    }
    probabilities
}

/// Turns strings into strings.
pub trait Transducer {
    /// The natural logarithm of the probability of each output (its end included), given its input.
    fn log_probs(&mut self, pairs: &[Pair<'_>]) -> Vec<f64>;

    /// The same of a single pair.
    fn log_prob(&mut self, input: &[u32], output: &[u32]) -> f64 {
        self.log_probs(&[Pair { input, output }]).iter().sum()
    }

    /// The output chosen symbol by symbol, of a length in this range.
    fn greedy(&mut self, input: &[u32], lengths: RangeInclusive<usize>) -> Vec<u32>;
}

/// A model with the parameters it has learned.
#[derive(Debug)]
pub struct Trained<M, R> {
    model: M,
    params: Vec<R>,
    tape: Tape<R>,
}

impl<M, R: Real> Trained<M, R> {
    /// Puts model and parameters together; they must belong together.
    pub fn new(model: M, params: Vec<R>) -> Self {
        Self { model, params, tape: Tape::default() }
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// What it has learned.
    pub fn params(&self) -> &[R] {
        &self.params
    }
}

/// Where a [`LanguageModel`] stands: what its layers remember of the prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct Prefix<R> {
    memory: Memory<R>,
    /// The state that outputs are read from; empty if nothing has been read by a transformer.
    top: Vec<R>,
}

/// Numbers of states that are read on together, and stay in the second-level cache.
const IN_STEP: usize = 1 << 17;

/// Strings are read on together in multiples of so many: the weights are laid out anew for them, and kernels take six or
/// twelve at a time.
const TOGETHER: usize = 24;

impl<R: Real> NextSymbol for Trained<LanguageModel, R> {
    type State = Prefix<R>;

    fn start(&mut self) -> Prefix<R> {
        let (memory, top) = self.model.initial_memory(&self.params);
        Prefix { memory, top }
    }

    fn push(&mut self, state: &mut Prefix<R>, symbol: u32) {
        let mut record = self.tape.record(&self.params, Mode::Eval);
        state.top = self.model.advance(&mut record, &mut state.memory, symbol);
    }

    /// A transformer says nothing before its first symbol: all are equally likely.
    fn next(&mut self, state: &Prefix<R>) -> Vec<f64> {
        self.answers(state, softmax_rows)
    }

    fn advance_batch(&mut self, states: &mut [Prefix<R>], pieces: &[&[u32]]) -> Vec<f64> {
        self.read_in_step(states, pieces, softmax_rows).unwrap_or_else(|| one_by_one(self, states, pieces))
    }

    fn same(&self, a: &Prefix<R>, b: &Prefix<R>) -> bool {
        a == b
    }

    fn max_len(&self) -> Option<usize> {
        self.model.max_len()
    }

    fn max_batch(&self, longest: usize) -> usize {
        self.model.max_batch_states(longest)
    }
}

impl<R: Real> Trained<LanguageModel, R> {
    /// What the logits of a state say, each row turned into probabilities by `squash`.
    fn answers(&mut self, state: &Prefix<R>, squash: fn(&mut [R], usize)) -> Vec<f64> {
        let mut row = self.logits(state);
        let v = row.len();
        squash(&mut row, v);
        row.into_iter().map(Real::wide).collect()
    }

    /// The same after each of many symbols, `[B,T,V]`; none if the model cannot read many strings in step.
    fn read_in_step(
        &mut self,
        states: &mut [Prefix<R>],
        pieces: &[&[u32]],
        squash: fn(&mut [R], usize),
    ) -> Option<Vec<f64>> {
        let (v, steps) = (self.model.spec().vocabulary, alike(states, pieces));
        if steps == 0 {
            return Some(Vec::new());
        }
        let width = self.model.spec().body.width();
        let part = (IN_STEP / (steps * width).max(1)).max(1).next_multiple_of(TOGETHER);
        let mut probabilities = vec![0.0; steps * states.len() * v];
        let parts = states.chunks_mut(part).zip(pieces.chunks(part));
        for ((states, pieces), own) in parts.zip(probabilities.chunks_mut(part * steps * v)) {
            let mut record = self.tape.record(&self.params, Mode::Eval);
            let memories = states.iter_mut().map(|state| &mut state.memory);
            let (tops, rows) = self.model.step_batch(&mut record, memories, pieces)?;
            let numbers = record.value(tops);
            for (state, top) in states.iter_mut().zip(numbers[numbers.len() - rows * width..].chunks(width)) {
                state.top.copy_from_slice(top);
            }
            let logits = self.model.output_stable(&mut record, tops);
            let mut said = record.value(logits).to_vec();
            squash(&mut said, v);
            for (b, own) in own.chunks_exact_mut(steps * v).enumerate() {
                for (to, row) in own.chunks_exact_mut(v).zip(said[b * v..].chunks(rows * v)) {
                    to.iter_mut().zip(row).for_each(|(to, p)| *to = p.wide());
                }
            }
        }
        Some(probabilities)
    }

    /// The output layer on a state; zeros if a transformer has read nothing.
    fn logits(&mut self, state: &Prefix<R>) -> Vec<R> {
        if state.top.is_empty() {
            return vec![R::ZERO; self.model.spec().vocabulary];
        }
        let mut record = self.tape.record(&self.params, Mode::Eval);
        let top = record.constant(&state.top);
        let logits = self.model.output_stable(&mut record, top);
        record.value(logits)[..self.model.spec().vocabulary].to_vec()
    }
}

#[cfg(test)]
mod tests;
