//! Strings that pose a question and answer it: a free head, a marker, and a tail that the head determines.
//!
//! Copying, reversing, sorting, arithmetic and stack programs all have this shape. One reader serves them: it
//! follows the head as the language says, computes the answer once at the marker, and from there on allows
//! nothing else.

use std::rc::Rc;

use crate::{NextSet, Scanner, Symbol, Word};

/// What reading one more symbol of the head leads to.
pub(crate) enum HeadStep {
    /// Still inside the head.
    More,
    /// The marker: from here on only this answer may follow.
    Answer(Tail),
    /// No member goes on this way.
    Dead,
}

/// The tail of a string.
pub(crate) struct Tail {
    /// What must follow the marker.
    pub(crate) word: Word,
    /// A symbol that may be repeated after it (numbers may end in any number of zeros).
    pub(crate) padding: Option<Symbol>,
}

/// The head of an answered string, as far as it has been read.
pub(crate) trait QuestionHead: Clone {
    fn read(&mut self, symbol: Symbol) -> HeadStep;

    /// What may follow inside the head, the marker included.
    fn next(&self) -> NextSet;

    /// Whether exactly `rest` more symbols, marker and answer included, can complete the string.
    fn completes(&self, rest: usize) -> bool;
}

/// A reader of answered strings.
#[derive(Clone)]
pub(crate) struct AnsweredReader<H> {
    state: ReaderState<H>,
}

#[derive(Clone)]
enum ReaderState<H> {
    Head(H),
    Tail { answer: Rc<Tail>, at: usize },
    Dead,
}

impl<H: QuestionHead> AnsweredReader<H> {
    pub(crate) fn new(head: H) -> Self {
        Self { state: ReaderState::Head(head) }
    }
}

impl<H: QuestionHead> Scanner for AnsweredReader<H> {
    fn next(&self) -> NextSet {
        match &self.state {
            ReaderState::Head(head) => head.next(),
            ReaderState::Tail { answer, at } => match answer.word.get(*at) {
                Some(&symbol) => NextSet::of([symbol]),
                None => NextSet::of(answer.padding).with_end(true),
            },
            ReaderState::Dead => NextSet::empty(),
        }
    }

    fn push(&mut self, symbol: Symbol) {
        let after = match &mut self.state {
            ReaderState::Head(head) => match head.read(symbol) {
                HeadStep::More => return,
                // Shared by forks: enumeration copies a reader wherever two symbols can come.
                HeadStep::Answer(answer) => ReaderState::Tail { answer: Rc::new(answer), at: 0 },
                HeadStep::Dead => ReaderState::Dead,
            },
            ReaderState::Tail { answer, at } => match answer.word.get(*at) {
                Some(&expected) if expected == symbol => {
                    *at += 1;
                    return;
                }
                None if answer.padding == Some(symbol) => return,
                _ => ReaderState::Dead,
            },
            ReaderState::Dead => return,
        };
        self.state = after;
    }

    fn completes(&self, rest: usize) -> bool {
        match &self.state {
            ReaderState::Head(head) => head.completes(rest),
            ReaderState::Tail { answer, at } => {
                let left = answer.word.len() - at;
                rest == left || (answer.padding.is_some() && rest > left)
            }
            ReaderState::Dead => false,
        }
    }

    fn fork<'a>(&self) -> Box<dyn Scanner + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }
}
