//! Enumeration of the members of one length, in lexicographic order.

use crate::{Scanner, Symbol, Word};

/// Walks the tree of prefixes depth first, entering a branch only if it can be completed to the length asked for, so
/// that the delay between two members is bounded by length times alphabet and nothing is stored but the current path.
pub struct Members<'a> {
    length: usize,
    word: Word,
    // One frame per prefix of `word`: the place after it and its successors not yet tried, last one first.
    frames: Vec<(Box<dyn Scanner + 'a>, Vec<Symbol>)>,
}

impl<'a> Members<'a> {
    pub(crate) fn new(scanner: Box<dyn Scanner + 'a>, length: usize) -> Self {
        let mut members = Self { length, word: Word::with_capacity(length), frames: Vec::new() };
        if scanner.completes(length) {
            members.enter(scanner);
        }
        members
    }

    fn enter(&mut self, scanner: Box<dyn Scanner + 'a>) {
        let untried = if self.word.len() < self.length {
            let mut symbols: Vec<Symbol> = scanner.next().symbols().collect();
            symbols.reverse();
            symbols
        } else {
            Vec::new()
        };
        self.frames.push((scanner, untried));
    }

    fn leave(&mut self) {
        self.frames.pop();
        self.word.pop();
    }
}

impl Iterator for Members<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        // A complete word on the path is the one returned last time (or the root of length 0, returned below).
        loop {
            let depth = self.frames.len();
            let (scanner, untried) = self.frames.last_mut()?;
            if depth == self.length + 1 {
                let word = self.word.clone();
                self.leave();
                return Some(word);
            }
            let Some(symbol) = untried.pop() else {
                self.leave();
                continue;
            };
            let mut child = scanner.fork();
            child.push(symbol);
            if child.completes(self.length - depth) {
                self.word.push(symbol);
                self.enter(child);
            }
        }
    }
}
