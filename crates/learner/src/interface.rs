//! The interfaces of learners: [`Recognizer`], [`NextSymbol`] and [`Transducer`] of trained ones, [`Incremental`] of those that are
//! evaluated while they learn. Evaluation depends on these and not on models, so that baselines and external learners
//! can be evaluated alike.
//!
//! Whatever a learner is asked to predict may fail, because it may be another program. Reading a symbol cannot: a model that is
//! far away remembers it and fails when it is asked.

mod erased;
mod failure;
mod incremental;
mod noisy;
mod recognize;
mod saved;
mod sets;
mod transduce;

pub use erased::{AnyNextSymbol, AnyState};
pub use failure::Failure;
pub(crate) use incremental::{ByRow, Remembered};
pub use incremental::{Incremental, Sequence};
pub use noisy::Noisy;
pub use recognize::RecognizerOutput;
pub use saved::{LoadError, Model, SavedModel};
pub use sets::Sets;

use std::ops::RangeInclusive;

use crate::aligned::Aligned;
use crate::kernel::{Real, softmax_rows};
use crate::model::{BatchStates, LanguageModel, Pair, PrefixState};
use crate::tape::{Mode, Tape};
use crate::train::eval_batches;

/// Decides whether strings are in a language.
pub trait Recognizer {
    /// The outputs for strings: log-odds for all of them, what the auxiliary heads predict for those (by index) that are
    /// members.
    fn predict(
        &mut self,
        strings: &[&[u32]],
        is_member: &dyn Fn(usize) -> bool,
    ) -> Result<Vec<RecognizerOutput>, Failure>;

    /// The log-odds that each string is in the language: accepted if not negative.
    fn log_odds(&mut self, strings: &[&[u32]]) -> Result<Vec<f64>, Failure> {
        Ok(self.predict(strings, &|_| false)?.into_iter().map(|output| output.log_odds).collect())
    }

    /// The probability that each string is in the language.
    fn probabilities(&mut self, strings: &[&[u32]]) -> Result<Vec<f64>, Failure> {
        Ok(self.log_odds(strings)?.into_iter().map(|z| 1.0 / (1.0 + libm::exp(-z))).collect())
    }
}

/// Symbols that [`NextSymbol::log_probs`] reads per call of [`NextSymbol::advance_batch`].
const PIECE: usize = 64;

/// Predicts the next symbol, one prefix at a time.
pub trait NextSymbol {
    /// The state after a prefix. It is cloned where strings diverge, so that a shared prefix is read once.
    type State: Clone;

    /// The state before the first symbol.
    fn start(&mut self) -> Self::State;

    fn push(&mut self, state: &mut Self::State, symbol: u32);

    /// The probability of every symbol to come next.
    fn next(&mut self, state: &Self::State) -> Result<Vec<f64>, Failure>;

    /// The natural logarithm of the probability of each symbol of a string, given those before it.
    fn log_probs(&mut self, string: &[u32]) -> Result<Vec<f64>, Failure> {
        let mut states = [self.start()];
        let mut rows = self.next(&states[0])?;
        let (v, mut logs) = (rows.len(), Vec::with_capacity(string.len()));
        for piece in string.chunks(PIECE) {
            rows.extend(self.advance_batch(&mut states, &[piece])?);
            logs.extend(rows.chunks(v).zip(piece).map(|(row, &symbol)| libm::log(row[symbol as usize])));
            rows.drain(..piece.len() * v);
        }
        Ok(logs)
    }

    /// Reads one piece per state, all of the same length `T`. Gives the probabilities `[B,T,V]` of every next symbol after
    /// each symbol of each piece. Results are the same as with [`push`](Self::push) and [`next`](Self::next).
    ///
    /// # Panics
    /// If there are not as many pieces as states, or pieces differ in length.
    fn advance_batch(&mut self, states: &mut [Self::State], pieces: &[&[u32]]) -> Result<Vec<f64>, Failure> {
        advance_each(self, states, pieces)
    }

    /// [`log_probs`](Self::log_probs) of several strings. Models that are asked from afar answer all of them at once; networks
    /// read them as batches, so that values may differ from those of one string by rounding.
    fn log_probs_batch(&mut self, strings: &[&[u32]]) -> Result<Vec<Vec<f64>>, Failure> {
        strings.iter().map(|string| self.log_probs(string)).collect()
    }

    /// For models that read whole strings: the probabilities `[T,V]` of every next symbol after each symbol of each string.
    /// `None` if a model is better read symbol by symbol.
    fn read_whole(&mut self, _strings: &[&[u32]]) -> Result<Option<Vec<Vec<f64>>>, Failure> {
        Ok(None)
    }

    /// Whether two states are identical, so that the same symbols lead to the same predictions. False if the learner cannot
    /// tell.
    fn same(&self, _: &Self::State, _: &Self::State) -> bool {
        false
    }

    /// The maximum number of symbols it can read, if there is one.
    fn max_len(&self) -> Option<usize> {
        None
    }

    /// How many states after prefixes of up to `max_len` symbols to keep at the same time.
    fn max_batch(&self, _max_len: usize) -> usize {
        1024
    }
}

/// The length of all pieces; panics if they differ or there is not one per state.
fn piece_len<S>(states: &[S], pieces: &[&[u32]]) -> usize {
    let steps = pieces.first().map_or(0, |piece| piece.len());
    assert_eq!(states.len(), pieces.len(), "one piece for each state");
    assert!(pieces.iter().all(|piece| piece.len() == steps), "pieces of the same length");
    steps
}

/// [`NextSymbol::advance_batch`], one state after the other.
fn advance_each<L: NextSymbol + ?Sized>(
    learner: &mut L,
    states: &mut [L::State],
    pieces: &[&[u32]],
) -> Result<Vec<f64>, Failure> {
    piece_len(states, pieces);
    let mut probabilities = Vec::new();
    for (state, piece) in states.iter_mut().zip(pieces) {
        for &symbol in *piece {
            learner.push(state, symbol);
            probabilities.extend(learner.next(state)?);
        }
    }
    Ok(probabilities)
}

/// Maps strings to strings.
pub trait Transducer {
    /// The natural logarithm of the probability of each output (its end included), given its input.
    fn log_probs(&mut self, pairs: &[Pair<'_>]) -> Result<Vec<f64>, Failure>;

    /// The terms of [`log_probs`](Self::log_probs): of each symbol of an output, and of its end. `None` from a learner that
    /// tells only how likely whole outputs are.
    fn symbol_log_probs(&mut self, _pairs: &[Pair<'_>]) -> Result<Option<Vec<Vec<f64>>>, Failure> {
        Ok(None)
    }

    /// [`log_probs`](Self::log_probs) of one pair.
    fn log_prob(&mut self, input: &[u32], output: &[u32]) -> Result<f64, Failure> {
        Ok(self.log_probs(&[Pair { input, output }])?.iter().sum())
    }

    /// Greedy decoding: the most likely symbol at each step. The output has a length in this range.
    fn greedy(&mut self, input: &[u32], lengths: RangeInclusive<usize>) -> Result<Vec<u32>, Failure>;
}

/// A model with trained parameters.
#[derive(Debug)]
pub struct Trained<M, R> {
    model: M,
    params: Aligned<R>,
    tape: Tape<R>,
}

impl<M, R: Real> Trained<M, R> {
    /// The parameters must have the layout of the model.
    pub fn new(model: M, params: Vec<R>) -> Self {
        Self { model, params: params.into(), tape: Tape::default() }
    }

    pub fn model(&self) -> &M {
        &self.model
    }

    pub fn params(&self) -> &[R] {
        &self.params
    }
}

/// The logarithm of the softmax of logits at a symbol, in double precision: it does not underflow.
fn log_softmax<R: Real>(logits: &[R], symbol: u32) -> f64 {
    let largest = logits.iter().map(|x| x.wide()).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|x| libm::exp(x.wide() - largest)).sum();
    logits[symbol as usize].wide() - largest - libm::log(sum)
}

/// Limit of the states `[T,B,D]` of a lockstep batch, in elements: they stay in the second-level cache.
const LOCKSTEP_ELEMENTS: usize = 1 << 17;

/// The size of a lockstep batch is a multiple of this. Weights are packed once per batch, and kernels process six or twelve
/// rows at a time.
const LOCKSTEP_MULTIPLE: usize = 24;

impl<R: Real> NextSymbol for Trained<LanguageModel, R> {
    type State = PrefixState<R>;

    fn start(&mut self) -> PrefixState<R> {
        self.model.initial_state(&self.params)
    }

    fn push(&mut self, state: &mut PrefixState<R>, symbol: u32) {
        let mut record = self.tape.record(&self.params, Mode::Eval);
        self.model.advance(&mut record, state, symbol);
    }

    /// A transformer that has read nothing predicts all symbols with equal probability.
    fn next(&mut self, state: &PrefixState<R>) -> Result<Vec<f64>, Failure> {
        Ok(self.outputs(state, softmax_rows))
    }

    fn advance_batch(
        &mut self,
        states: &mut [PrefixState<R>],
        pieces: &[&[u32]],
    ) -> Result<Vec<f64>, Failure> {
        match self.advance_lockstep(states, pieces, softmax_rows) {
            Some(rows) => Ok(rows),
            None => advance_each(self, states, pieces),
        }
    }

    fn log_probs_batch(&mut self, strings: &[&[u32]]) -> Result<Vec<Vec<f64>>, Failure> {
        Ok(self.log_probs_in(strings, |_| Mode::Eval))
    }

    fn same(&self, a: &PrefixState<R>, b: &PrefixState<R>) -> bool {
        a == b
    }

    fn max_len(&self) -> Option<usize> {
        self.model.max_len()
    }

    fn max_batch(&self, max_len: usize) -> usize {
        self.model.max_batch_states(max_len)
    }
}

impl<R: Real> Trained<LanguageModel, R> {
    /// [`NextSymbol::log_probs_batch`] in the mode of each batch.
    fn log_probs_in(&mut self, strings: &[&[u32]], mode: impl Fn(usize) -> Mode) -> Vec<Vec<f64>> {
        let lengths: Vec<usize> = strings.iter().map(|string| string.len()).collect();
        let v = self.model.spec().vocabulary;
        let start = self.start();
        let first = self.outputs(&start, softmax_rows);
        let mut logs: Vec<Vec<f64>> = strings
            .iter()
            .map(|s| s.iter().take(1).map(|&s| libm::log(first[s as usize])).collect())
            .collect();
        let batches = eval_batches(&lengths, |max_len| self.model.max_batch_strings(max_len));
        for (i, batch) in batches.into_iter().enumerate() {
            // The last symbol is predicted and not read.
            let inputs: Vec<&[u32]> =
                batch.iter().map(|&i| &strings[i][..lengths[i].saturating_sub(1)]).collect();
            let mut record = self.tape.record(&self.params, mode(i));
            let states = self.model.states(&mut record, &inputs);
            let rows = batch.iter().enumerate();
            let rows = rows.flat_map(|(b, &i)| (1..lengths[i]).map(move |p| states.row(b, p)));
            let logits = self.model.logits(&mut record, states, rows);
            let mut rows = record.value(logits).chunks_exact(v);
            for &i in &batch {
                let symbols = strings[i].iter().skip(1);
                logs[i].extend(symbols.zip(&mut rows).map(|(&symbol, row)| log_softmax(row, symbol)));
            }
        }
        logs
    }

    /// The output for every symbol after a prefix; `activate` turns rows of logits into outputs.
    fn outputs(&mut self, state: &PrefixState<R>, activate: fn(&mut [R], usize)) -> Vec<f64> {
        let mut row = self.logits(state);
        let v = row.len();
        activate(&mut row, v);
        row.into_iter().map(Real::wide).collect()
    }

    /// The outputs `[B,T,V]` after each symbol of each piece, read in batches that go in lockstep. None if the model reads
    /// strings one at a time.
    fn advance_lockstep(
        &mut self,
        states: &mut [PrefixState<R>],
        pieces: &[&[u32]],
        activate: fn(&mut [R], usize),
    ) -> Option<Vec<f64>> {
        let (v, steps) = (self.model.spec().vocabulary, piece_len(states, pieces));
        if steps == 0 {
            return Some(Vec::new());
        }
        let size = LOCKSTEP_ELEMENTS / (steps * self.model.state_width()).max(1);
        let size = size.max(1).next_multiple_of(LOCKSTEP_MULTIPLE);
        let mut outputs = vec![0.0; steps * states.len() * v];
        let batches = states.chunks_mut(size).zip(pieces.chunks(size));
        for ((states, pieces), own) in batches.zip(outputs.chunks_mut(size * steps * v)) {
            let mut record = self.tape.record(&self.params, Mode::Eval);
            let BatchStates { tops, rows } = self.model.step_batch(&mut record, states, pieces)?;
            let logits = self.model.output_stable(&mut record, tops);
            let mut all = record.value(logits).to_vec();
            activate(&mut all, v);
            // From `[T,N,V]`, padding included, to `[B,T,V]`.
            for (b, own) in own.chunks_exact_mut(steps * v).enumerate() {
                for (to, row) in own.chunks_exact_mut(v).zip(all[b * v..].chunks(rows * v)) {
                    to.iter_mut().zip(row).for_each(|(to, p)| *to = p.wide());
                }
            }
        }
        Some(outputs)
    }

    /// The output layer on a state; zeros if there is none before the first symbol.
    fn logits(&mut self, state: &PrefixState<R>) -> Vec<R> {
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
