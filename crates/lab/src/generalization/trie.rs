//! The strings of one lot, as the tree of their prefixes.

use std::ops::Range;

use wug_language::{Scanner, Symbol, Word};
use wug_learner::interface::NextSymbol;
use wug_score::StringSteps;

use super::evaluate::{Evaluation, Until};

/// The most symbols that strings are read on in step. A state that has come round to itself after so many is at rest: what
/// rounding keeps in motion mostly comes round after two, three, four, five or six.
const BLOCK: usize = 60;

/// How many strings back to look for one in the same state.
const LOOK_BACK: usize = 8;

/// A stretch along which strings do not part.
struct Edge<'a, S> {
    /// The strings, as places in the sorted order.
    strings: Range<usize>,
    /// The first of them in the order they were given.
    earliest: usize,
    /// How many symbols have been read, the start included.
    read: usize,
    /// How many will have been read where the strings part, or the last one ends.
    end: usize,
    scanner: Box<dyn Scanner + 'a>,
    state: S,
    steps: StringSteps,
    /// What the strings read next, in step with the other edges.
    piece: Vec<u32>,
}

pub(super) struct Trie<'a, 'w, L: NextSymbol> {
    learner: &'w mut L,
    exam: &'w Evaluation<'a>,
    words: &'w [Word],
    /// The words in lexicographic order.
    sorted: Vec<usize>,
    /// Edges at whose ends strings part: read first, so that then all strings can be read in step.
    forks: Vec<Edge<'a, L::State>>,
    /// Edges at whose ends one string ends.
    leaves: Vec<Edge<'a, L::State>>,
    marked: Vec<StringSteps>,
    first_error: Option<usize>,
    taken: usize,
}

impl<'a, 'w, L: NextSymbol> Trie<'a, 'w, L> {
    pub(super) fn new(learner: &'w mut L, exam: &'w Evaluation<'a>, words: &'w [Word]) -> Self {
        let mut sorted: Vec<usize> = (0..words.len()).collect();
        sorted.sort_by(|&a, &b| words[a].cmp(&words[b]));
        let (forks, leaves, marked) = (vec![], vec![], vec![StringSteps::default(); words.len()]);
        Self { learner, exam, words, sorted, forks, leaves, marked, first_error: None, taken: 0 }
    }

    /// The marks of all strings, the first with an error if that is where marking ended, and the steps taken.
    pub(super) fn mark(mut self) -> (Vec<StringSteps>, Option<usize>, usize) {
        let (scanner, state) = (self.exam.language.scanner(), self.learner.start());
        self.open(0..self.words.len(), 0, scanner, state, StringSteps::default());
        loop {
            if !self.forks.is_empty() {
                let edges = std::mem::take(&mut self.forks);
                let block = edges.iter().map(|edge| edge.end - edge.read).min().unwrap_or(0);
                self.read_on(edges, block.min(BLOCK));
            } else if !self.leaves.is_empty() {
                let edges = std::mem::take(&mut self.leaves);
                // Those that end earlier read on in vain for the rest of the block.
                let block = edges.iter().map(|edge| edge.end - edge.read).max().unwrap_or(0);
                self.read_on(edges, block.min(BLOCK));
            } else {
                return (self.marked, self.first_error, self.taken);
            }
        }
    }

    fn word(&self, place: usize) -> &'w Word {
        &self.words[self.sorted[place]]
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
            Edge { strings, earliest, read, end: common + 1, scanner, state, steps, piece: Vec::new() };
        // In sorted order a string stands before those that it begins.
        let edges = if common == last.len() { &mut self.leaves } else { &mut self.forks };
        edges.push(edge);
    }

    /// Reads `block` symbols of every edge, and puts the edges back where they belong.
    fn read_on(&mut self, mut edges: Vec<Edge<'a, L::State>>, block: usize) {
        for edge in &mut edges {
            let word = self.word(edge.strings.start);
            edge.piece.clear();
            edge.piece.extend((edge.read == 0).then_some(0));
            let ahead = edge.read.max(1) - 1..edge.end.min(edge.read + block) - 1;
            edge.piece.extend(word[ahead].iter().map(|&symbol| spoken(symbol)));
            edge.piece.resize(block, 0);
        }
        let (leaders, states) = self.distinct(&edges);
        let pieces: Vec<&[u32]> = states.iter().map(|&(i, _)| edges[i].piece.as_slice()).collect();
        let mut after: Vec<L::State> = states.into_iter().map(|(_, state)| state).collect();
        let said = self.learner.advance_batch(&mut after, &pieces);
        let taken = pieces.len() * block;
        self.taken += taken;
        let choices = said.len() / taken;
        for (edge, &leader) in edges.iter_mut().zip(&leaders) {
            let rests = self.learner.same(&edge.state, &after[leader]);
            edge.state.clone_from(&after[leader]);
            let answers = &said[leader * block * choices..][..block * choices];
            let word = &self.words[self.sorted[edge.strings.start]];
            edge.judge(self.exam, word, block.min(edge.end - edge.read), answers, choices);
            if rests && edge.piece.iter().all(|&symbol| symbol == edge.piece[0]) {
                let ahead = (edge.read..edge.end).take_while(|&i| at(word, i) == edge.piece[0]).count();
                edge.judge(self.exam, word, ahead - ahead % block, answers, choices);
            }
        }
        edges.into_iter().for_each(|edge| self.put_back(edge));
        if let Some(first) = self.first_error {
            self.forks.retain(|edge| edge.earliest < first);
            self.leaves.retain(|edge| edge.earliest < first);
        }
    }

    /// The states to read on from, each with an edge that stands there, and for every edge which of them is its own: edges
    /// in the same state that read the same need it only once.
    fn distinct(&self, edges: &[Edge<'a, L::State>]) -> (Vec<usize>, Vec<(usize, L::State)>) {
        let mut states: Vec<(usize, L::State)> = Vec::with_capacity(edges.len());
        let mut leaders = Vec::with_capacity(edges.len());
        for (i, edge) in edges.iter().enumerate() {
            let recent = states.len().saturating_sub(LOOK_BACK)..states.len();
            let leader = recent.rev().find(|&leader| {
                let other = &edges[states[leader].0];
                edge.piece == other.piece && self.learner.same(&edge.state, &other.state)
            });
            leaders.push(leader.unwrap_or(states.len()));
            if leader.is_none() {
                states.push((i, edge.state.clone()));
            }
        }
        (leaders, states)
    }

    fn put_back(&mut self, edge: Edge<'a, L::State>) {
        if self.exam.until == Until::FirstError && edge.steps.correct < edge.steps.scored {
            if self.first_error.is_none_or(|first| edge.earliest < first) {
                self.first_error = Some(edge.earliest);
                self.marked[edge.earliest] = edge.steps;
            }
        } else if edge.read == edge.end {
            self.part(edge);
        } else if self.word(edge.strings.end - 1).len() + 1 == edge.end {
            self.leaves.push(edge);
        } else {
            self.forks.push(edge);
        }
    }

    /// Where an edge ends: marks the strings that end here, and follows the others on their ways.
    fn part(&mut self, edge: Edge<'a, L::State>) {
        let Edge { strings: Range { mut start, end }, read, scanner, state, steps, .. } = edge;
        while start < end && self.word(start).len() + 1 == read {
            self.marked[self.sorted[start]] = steps;
            start += 1;
        }
        while start < end {
            let symbol = at(self.word(start), read);
            let same = self.sorted[start..end].partition_point(|&i| at(&self.words[i], read) <= symbol);
            self.open(start..start + same, read, scanner.fork(), state.clone(), steps);
            start += same;
        }
    }
}

impl<S> Edge<'_, S> {
    /// Takes `count` steps along a word, of which the learner said `answers`, `[T,V]`, and after `T` steps again the same.
    fn judge(
        &mut self,
        exam: &Evaluation<'_>,
        word: &[Symbol],
        count: usize,
        answers: &[f64],
        choices: usize,
    ) {
        let block = answers.len() / choices;
        // Up to where the symbol that was read last is known to come again.
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
            if exam.rule.scores(&next) && (self.read > 0 || exam.first_step) {
                let (again, first) = answers.split_at(t % block * choices);
                let answers = first.chunks_exact(choices).chain(again.chunks_exact(choices));
                let (whole, more) = (times / block, times % block);
                answers.take(times).enumerate().for_each(|(i, answer)| {
                    self.steps.count(exam.rule.is_correct(&next, answer), whole + usize::from(i < more));
                });
            }
            t += times;
            self.read += times;
        }
    }
}

/// A symbol of a word as a learner reads it, the boundary in front.
fn at(word: &[Symbol], i: usize) -> u32 {
    i.checked_sub(1).map_or(0, |i| spoken(word[i]))
}

/// A symbol as a learner reads it: after the boundary.
fn spoken(symbol: Symbol) -> u32 {
    u32::from(symbol.0) + 1
}
