//! The strings of one batch, as the tree of their prefixes.

use std::ops::Range;

use wug_dataset::ids;
use wug_language::{Scanner, Symbol, Word};
use wug_learner::interface::{Failure, NextSymbol};
use wug_score::StringSteps;

use super::evaluate::{Evaluation, Until};

/// The most symbols that a batch is advanced by. A state that is the same after this many equal symbols is a fixed point: rounding
/// mostly leaves cycles of one to six steps, and 60 is a multiple of these.
const BLOCK: usize = 60;

/// How many preceding edges are searched for one in the same state.
const LOOK_BACK: usize = 8;

/// The scores of the strings of one batch.
pub(super) struct BatchScores {
    pub(super) strings: Vec<StringSteps>,
    /// The first string with an error, if evaluation ended there.
    pub(super) first_error: Option<usize>,
    /// How many steps the learner took.
    pub(super) taken: usize,
}

/// An edge of the tree: symbols that some strings have in common.
struct Edge<'a, S> {
    /// The strings, as indices into the sorted order.
    strings: Range<usize>,
    /// The smallest index among them in the given order.
    earliest: usize,
    /// How many symbols have been read, the boundary included.
    read: usize,
    /// How many will have been read at the end of the edge, where the strings differ or the last one ends.
    end: usize,
    scanner: Box<dyn Scanner + 'a>,
    state: S,
    steps: StringSteps,
    /// The next symbols to read, as many as for the other edges.
    inputs: Vec<u32>,
}

pub(super) struct Trie<'a, 'w, L: NextSymbol> {
    learner: &'w mut L,
    evaluation: &'w Evaluation<'a>,
    words: &'w [Word],
    /// The words in lexicographic order.
    sorted: Vec<usize>,
    /// Edges at whose ends strings differ: read first, so that then all strings can be read as one batch.
    forks: Vec<Edge<'a, L::State>>,
    /// Edges at whose ends one string ends.
    leaves: Vec<Edge<'a, L::State>>,
    scores: Vec<StringSteps>,
    first_error: Option<usize>,
    taken: usize,
}

impl<'a, 'w, L: NextSymbol> Trie<'a, 'w, L> {
    pub(super) fn new(learner: &'w mut L, evaluation: &'w Evaluation<'a>, words: &'w [Word]) -> Self {
        let mut sorted: Vec<usize> = (0..words.len()).collect();
        sorted.sort_by(|&a, &b| words[a].cmp(&words[b]));
        let (forks, leaves, scores) = (vec![], vec![], vec![StringSteps::default(); words.len()]);
        Self { learner, evaluation, words, sorted, forks, leaves, scores, first_error: None, taken: 0 }
    }

    pub(super) fn evaluate(mut self) -> Result<BatchScores, Failure> {
        let (scanner, state) = (self.evaluation.language.scanner(), self.learner.start());
        self.open(0..self.words.len(), 0, scanner, state, StringSteps::default());
        loop {
            if !self.forks.is_empty() {
                let edges = std::mem::take(&mut self.forks);
                let block = edges.iter().map(|edge| edge.end - edge.read).min().unwrap_or(0);
                self.advance(edges, block.min(BLOCK))?;
            } else if !self.leaves.is_empty() {
                let edges = std::mem::take(&mut self.leaves);
                // Shorter ones are padded to the length of the block.
                let block = edges.iter().map(|edge| edge.end - edge.read).max().unwrap_or(0);
                self.advance(edges, block.min(BLOCK))?;
            } else {
                let Self { scores: strings, first_error, taken, .. } = self;
                return Ok(BatchScores { strings, first_error, taken });
            }
        }
    }

    fn word(&self, index: usize) -> &'w Word {
        &self.words[self.sorted[index]]
    }

    /// Starts an edge after `read` symbols.
    fn open(
        &mut self,
        strings: Range<usize>,
        read: usize,
        scanner: Box<dyn Scanner + 'a>,
        state: L::State,
        steps: StringSteps,
    ) {
        let Some(&earliest) = self.sorted[strings.clone()].iter().min() else { return };
        let (first, last) = (self.word(strings.start), self.word(strings.end - 1));
        let known = read.saturating_sub(1);
        let common = known + first[known..].iter().zip(&last[known..]).take_while(|(a, b)| a == b).count();
        let edge =
            Edge { strings, earliest, read, end: common + 1, scanner, state, steps, inputs: Vec::new() };
        // In sorted order a string comes before those that it is a prefix of.
        let edges = if common == last.len() { &mut self.leaves } else { &mut self.forks };
        edges.push(edge);
    }

    /// Reads `block` symbols of every edge, and files the edges again.
    fn advance(&mut self, mut edges: Vec<Edge<'a, L::State>>, block: usize) -> Result<(), Failure> {
        for edge in &mut edges {
            let word = self.word(edge.strings.start);
            edge.inputs.clear();
            edge.inputs.extend((edge.read == 0).then_some(ids::BOUNDARY));
            let ahead = edge.read.max(1) - 1..edge.end.min(edge.read + block) - 1;
            edge.inputs.extend(word[ahead].iter().map(|&symbol| ids::id(symbol)));
            edge.inputs.resize(block, 0);
        }
        let (leaders, states) = self.distinct(&edges);
        let inputs: Vec<&[u32]> = states.iter().map(|&(i, _)| edges[i].inputs.as_slice()).collect();
        let mut after: Vec<L::State> = states.into_iter().map(|(_, state)| state).collect();
        let probs = self.learner.advance_batch(&mut after, &inputs)?;
        let taken = inputs.len() * block;
        self.taken += taken;
        let vocabulary = probs.len() / taken;
        for (edge, &leader) in edges.iter_mut().zip(&leaders) {
            // The very same state, not nearly: only then are all later probabilities the same.
            let unchanged = self.learner.same(&edge.state, &after[leader]);
            edge.state.clone_from(&after[leader]);
            let probs = &probs[leader * block * vocabulary..][..block * vocabulary];
            let word = &self.words[self.sorted[edge.strings.start]];
            edge.score(self.evaluation, word, block.min(edge.end - edge.read), probs, vocabulary);
            if unchanged && edge.inputs.iter().all(|&symbol| symbol == edge.inputs[0]) {
                let ahead = (edge.read..edge.end).take_while(|&i| at(word, i) == edge.inputs[0]).count();
                edge.score(self.evaluation, word, ahead - ahead % block, probs, vocabulary);
            }
        }
        edges.into_iter().for_each(|edge| self.file(edge));
        if let Some(first) = self.first_error {
            // Only an earlier string can still become the first with an error.
            self.forks.retain(|edge| edge.earliest < first);
            self.leaves.retain(|edge| edge.earliest < first);
        }
        Ok(())
    }

    /// For every edge the index of its state, and the states, each with the first edge that is in it: edges in the same state with
    /// the same inputs share one.
    fn distinct(&self, edges: &[Edge<'a, L::State>]) -> (Vec<usize>, Vec<(usize, L::State)>) {
        let mut states: Vec<(usize, L::State)> = Vec::with_capacity(edges.len());
        let mut leaders = Vec::with_capacity(edges.len());
        for (i, edge) in edges.iter().enumerate() {
            // In sorted order, strings that share a state are mostly neighbours; a comparison with all would be quadratic.
            let recent = states.len().saturating_sub(LOOK_BACK)..states.len();
            let leader = recent.rev().find(|&leader| {
                let other = &edges[states[leader].0];
                edge.inputs == other.inputs && self.learner.same(&edge.state, &other.state)
            });
            leaders.push(leader.unwrap_or(states.len()));
            if leader.is_none() {
                states.push((i, edge.state.clone()));
            }
        }
        (leaders, states)
    }

    fn file(&mut self, edge: Edge<'a, L::State>) {
        if self.evaluation.until == Until::FirstError && edge.steps.correct < edge.steps.scored {
            if self.first_error.is_none_or(|first| edge.earliest < first) {
                self.first_error = Some(edge.earliest);
                self.scores[edge.earliest] = edge.steps;
            }
        } else if edge.read == edge.end {
            self.split(edge);
        } else if self.word(edge.strings.end - 1).len() + 1 == edge.end {
            self.leaves.push(edge);
        } else {
            self.forks.push(edge);
        }
    }

    /// At the end of an edge: stores the scores of the strings that end here, and opens an edge for each symbol that follows.
    fn split(&mut self, edge: Edge<'a, L::State>) {
        let Edge { strings: Range { mut start, end }, read, scanner, state, steps, .. } = edge;
        while start < end && self.word(start).len() + 1 == read {
            self.scores[self.sorted[start]] = steps;
            start += 1;
        }
        while start < end {
            let symbol = at(self.word(start), read);
            // Sorted, so that the strings with one next symbol are a range.
            let same = self.sorted[start..end].partition_point(|&i| at(&self.words[i], read) <= symbol);
            self.open(start..start + same, read, scanner.fork(), state.clone(), steps);
            start += same;
        }
    }
}

/// The same as [`Trie::evaluate`] for a learner that reads whole strings; `None` if it does not.
pub(super) fn evaluate_whole<L: NextSymbol>(
    learner: &mut L,
    evaluation: &Evaluation<'_>,
    words: &[Word],
) -> Result<Option<BatchScores>, Failure> {
    let inputs: Vec<Vec<u32>> =
        words.iter().map(|word| (0..=word.len()).map(|i| at(word, i)).collect()).collect();
    let pieces: Vec<&[u32]> = inputs.iter().map(Vec::as_slice).collect();
    let Some(rows) = learner.read_whole(&pieces)? else { return Ok(None) };
    let mut scores = Vec::with_capacity(words.len());
    for ((word, inputs), rows) in words.iter().zip(&inputs).zip(rows) {
        let end = inputs.len();
        let mut edge = Edge {
            strings: 0..1,
            earliest: 0,
            read: 0,
            end,
            scanner: evaluation.language.scanner(),
            state: (),
            steps: StringSteps::default(),
            inputs: Vec::new(),
        };
        edge.score(evaluation, word, end, &rows, rows.len() / end);
        scores.push(edge.steps);
    }
    let wrong = |steps: &StringSteps| steps.correct < steps.scored;
    let first_error = scores.iter().position(wrong).filter(|_| evaluation.until == Until::FirstError);
    let taken = inputs.iter().map(Vec::len).sum();
    Ok(Some(BatchScores { strings: scores, first_error, taken }))
}

impl<S> Edge<'_, S> {
    /// Scores `count` steps along a word. `probs` is `[T,V]`; after `T` steps it repeats.
    fn score(
        &mut self,
        evaluation: &Evaluation<'_>,
        word: &[Symbol],
        count: usize,
        probs: &[f64],
        vocabulary: usize,
    ) {
        let block = probs.len() / vocabulary;
        // `known`: up to where the last symbol is known to repeat.
        let (mut t, mut known) = (0, 0);
        while t < count {
            let symbol = self.read.checked_sub(1).map(|i| word[i]);
            symbol.into_iter().for_each(|symbol| self.scanner.push(symbol));
            let next = self.scanner.next();
            let mut times = 1;
            if let Some(symbol) = symbol {
                if known <= self.read {
                    let ahead = word[self.read..].iter().take(count - t - 1);
                    known = self.read + ahead.take_while(|&&other| other == symbol).count();
                }
                times += self.scanner.repeat(symbol, known - self.read);
            }
            if evaluation.rule.scores(&next) && (self.read > 0 || evaluation.first_step) {
                let (again, first) = probs.split_at(t % block * vocabulary);
                let probs = first.chunks_exact(vocabulary).chain(again.chunks_exact(vocabulary));
                // Probabilities repeat every `block` steps: each row counts `whole` times, and the first `more` rows once more.
                let (whole, more) = (times / block, times % block);
                probs.take(times).enumerate().for_each(|(i, probs)| {
                    self.steps.count(evaluation.rule.is_correct(&next, probs), whole + usize::from(i < more));
                });
            }
            t += times;
            self.read += times;
        }
    }
}

/// The `i`-th input of a word, of which the first is the boundary, 0.
fn at(word: &[Symbol], i: usize) -> u32 {
    i.checked_sub(1).map_or(ids::BOUNDARY, |i| ids::id(word[i]))
}
