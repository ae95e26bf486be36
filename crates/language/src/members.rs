//! Enumeration of the members of one length, in lexicographic order.

use crate::{Scanner, Symbol, Word};

/// Walks the tree of prefixes depth first, entering a branch only if it can be completed to the length asked
/// for, so that nothing is stored but the current path, and the delay between two members is length times
/// alphabet times the cost of [`Scanner::completes`]. Where only one symbol can come, the walk goes on
/// without looking back: scanners are copied at forks alone.
pub struct Members<'a> {
    length: usize,
    // A member that is known without a walk.
    known: Option<Word>,
    word: Word,
    // Where the walk goes on, after `word`; it can be completed.
    here: Option<Box<dyn Scanner + 'a>>,
    // The forks behind, each with the length of its prefix and its symbols not yet tried, last one first.
    forks: Vec<(usize, Box<dyn Scanner + 'a>, Vec<Symbol>)>,
}

impl<'a> Members<'a> {
    pub(crate) fn new(scanner: Box<dyn Scanner + 'a>, length: usize) -> Self {
        let here = scanner.completes(length).then_some(scanner);
        Self { length, known: None, word: Word::with_capacity(length), here, forks: Vec::new() }
    }

    /// The only member of its length, or none: for languages that can write it down directly.
    pub(crate) fn only(word: Option<Word>) -> Self {
        Self { length: 0, known: word, word: Word::new(), here: None, forks: Vec::new() }
    }

    /// Goes back to the last fork that has a branch left.
    fn back(&mut self) -> Option<Box<dyn Scanner + 'a>> {
        while let Some((depth, scanner, mut untried)) = self.forks.pop() {
            self.word.truncate(depth);
            while let Some(symbol) = untried.pop() {
                let mut child = scanner.fork();
                child.push(symbol);
                if child.completes(self.length - depth - 1) {
                    self.word.push(symbol);
                    if !untried.is_empty() {
                        self.forks.push((depth, scanner, untried));
                    }
                    return Some(child);
                }
            }
        }
        None
    }
}

impl Iterator for Members<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        if let Some(word) = self.known.take() {
            return Some(word);
        }
        let mut here = match self.here.take() {
            Some(here) => here,
            None => self.back()?,
        };
        while self.word.len() < self.length {
            let next = here.next();
            let mut symbols = next.symbols();
            let symbol = symbols.next()?;
            let mut untried: Vec<Symbol> = symbols.collect();
            if untried.is_empty() {
                here.push(symbol);
                self.word.push(symbol);
            } else {
                untried.reverse();
                untried.push(symbol);
                self.forks.push((self.word.len(), here, untried));
                here = self.back()?;
            }
        }
        Some(self.word.clone())
    }
}
