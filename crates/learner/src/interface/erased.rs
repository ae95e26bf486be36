//! Next-symbol models whose type is known only at run time: what a registry hands out.

use std::any::Any;
use std::fmt;

use super::{Failure, NextSymbol};
use crate::baseline::{Grammar, GrammarState};

pub struct AnyNextSymbol<'a>(NextSymbolKind<'a>);

enum NextSymbolKind<'a> {
    Boxed(Box<dyn Erased + 'a>),
    /// Its states borrow the language, so they cannot be `Any`.
    Grammar(Grammar<'a>),
}

impl fmt::Debug for AnyNextSymbol<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyNextSymbol")
    }
}

impl<'a> AnyNextSymbol<'a> {
    /// Forgets the type of a model.
    pub fn new<L>(model: L) -> Self
    where
        L: NextSymbol + 'a,
        L::State: 'static,
    {
        Self(NextSymbolKind::Boxed(Box::new(Typed(model))))
    }
}

impl<'a> From<Grammar<'a>> for AnyNextSymbol<'a> {
    fn from(grammar: Grammar<'a>) -> Self {
        Self(NextSymbolKind::Grammar(grammar))
    }
}

/// A state of [`AnyNextSymbol`].
pub struct AnyState<'a>(StateKind<'a>);

enum StateKind<'a> {
    Boxed(Box<dyn ErasedState>),
    /// While it is part of a batch.
    Taken,
    Grammar(GrammarState<'a>),
}

impl fmt::Debug for AnyState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyState")
    }
}

impl Clone for AnyState<'_> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            StateKind::Boxed(state) => StateKind::Boxed((**state).boxed_clone()),
            StateKind::Grammar(state) => StateKind::Grammar(state.clone()),
            StateKind::Taken => StateKind::Taken,
        })
    }
}

impl<'a> AnyState<'a> {
    fn erased<S: Clone + 'static>(state: S) -> Self {
        Self(StateKind::Boxed(Box::new(state)))
    }

    /// The state itself. States go back to the model that made them, so its type is known there.
    fn known<S: 'static>(&self) -> &S {
        match &self.0 {
            StateKind::Boxed(state) => (**state).as_any().downcast_ref().expect(FOREIGN),
            StateKind::Grammar(_) | StateKind::Taken => panic!("{FOREIGN}"),
        }
    }

    fn known_mut<S: 'static>(&mut self) -> &mut S {
        match &mut self.0 {
            StateKind::Boxed(state) => (**state).as_any_mut().downcast_mut().expect(FOREIGN),
            StateKind::Grammar(_) | StateKind::Taken => panic!("{FOREIGN}"),
        }
    }

    fn take<S: 'static>(&mut self) -> S {
        match std::mem::replace(&mut self.0, StateKind::Taken) {
            StateKind::Boxed(state) => *state.into_any().downcast().expect(FOREIGN),
            StateKind::Grammar(_) | StateKind::Taken => panic!("{FOREIGN}"),
        }
    }

    fn grammar(&self) -> &GrammarState<'a> {
        match &self.0 {
            StateKind::Grammar(state) => state,
            StateKind::Boxed(_) | StateKind::Taken => panic!("{FOREIGN}"),
        }
    }

    fn grammar_mut(&mut self) -> &mut GrammarState<'a> {
        match &mut self.0 {
            StateKind::Grammar(state) => state,
            StateKind::Boxed(_) | StateKind::Taken => panic!("{FOREIGN}"),
        }
    }
}

const FOREIGN: &str = "a state goes back to the model that made it";

/// A state that can be cloned without knowing its type.
trait ErasedState: Any {
    fn boxed_clone(&self) -> Box<dyn ErasedState>;
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<S: Clone + 'static> ErasedState for S {
    fn boxed_clone(&self) -> Box<dyn ErasedState> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// [`NextSymbol`] with states that are [`AnyState`].
trait Erased {
    fn start(&mut self) -> AnyState<'static>;
    fn push(&mut self, state: &mut AnyState<'_>, symbol: u32);
    fn next(&mut self, state: &AnyState<'_>) -> Result<Vec<f64>, Failure>;
    fn log_probs(&mut self, string: &[u32]) -> Result<Vec<f64>, Failure>;
    fn log_probs_batch(&mut self, strings: &[&[u32]]) -> Result<Vec<Vec<f64>>, Failure>;
    fn read_whole(&mut self, strings: &[&[u32]]) -> Result<Option<Vec<Vec<f64>>>, Failure>;
    fn advance_batch(&mut self, states: &mut [AnyState<'_>], pieces: &[&[u32]]) -> Result<Vec<f64>, Failure>;
    fn same(&self, a: &AnyState<'_>, b: &AnyState<'_>) -> bool;
    fn max_len(&self) -> Option<usize>;
    fn max_batch(&self, length: usize) -> usize;
}

/// A model whose type is known.
struct Typed<L>(L);

impl<L> Erased for Typed<L>
where
    L: NextSymbol,
    L::State: 'static,
{
    fn start(&mut self) -> AnyState<'static> {
        AnyState::erased(self.0.start())
    }

    fn push(&mut self, state: &mut AnyState<'_>, symbol: u32) {
        self.0.push(state.known_mut(), symbol);
    }

    fn next(&mut self, state: &AnyState<'_>) -> Result<Vec<f64>, Failure> {
        self.0.next(state.known())
    }

    fn log_probs(&mut self, string: &[u32]) -> Result<Vec<f64>, Failure> {
        self.0.log_probs(string)
    }

    fn log_probs_batch(&mut self, strings: &[&[u32]]) -> Result<Vec<Vec<f64>>, Failure> {
        self.0.log_probs_batch(strings)
    }

    fn read_whole(&mut self, strings: &[&[u32]]) -> Result<Option<Vec<Vec<f64>>>, Failure> {
        self.0.read_whole(strings)
    }

    /// The states of a batch lie side by side in memory, so they are moved out of their boxes and back, after a failure too.
    fn advance_batch(&mut self, states: &mut [AnyState<'_>], pieces: &[&[u32]]) -> Result<Vec<f64>, Failure> {
        let mut batch: Vec<L::State> = states.iter_mut().map(AnyState::take).collect();
        let probabilities = self.0.advance_batch(&mut batch, pieces);
        for (state, advanced) in states.iter_mut().zip(batch) {
            *state = AnyState::erased(advanced);
        }
        probabilities
    }

    fn same(&self, a: &AnyState<'_>, b: &AnyState<'_>) -> bool {
        self.0.same(a.known(), b.known())
    }

    fn max_len(&self) -> Option<usize> {
        self.0.max_len()
    }

    fn max_batch(&self, length: usize) -> usize {
        self.0.max_batch(length)
    }
}

impl<'a> NextSymbol for AnyNextSymbol<'a> {
    type State = AnyState<'a>;

    fn start(&mut self) -> AnyState<'a> {
        match &mut self.0 {
            NextSymbolKind::Boxed(model) => model.start(),
            NextSymbolKind::Grammar(grammar) => AnyState(StateKind::Grammar(grammar.start())),
        }
    }

    fn push(&mut self, state: &mut AnyState<'a>, symbol: u32) {
        match &mut self.0 {
            NextSymbolKind::Boxed(model) => model.push(state, symbol),
            NextSymbolKind::Grammar(grammar) => grammar.push(state.grammar_mut(), symbol),
        }
    }

    fn next(&mut self, state: &AnyState<'a>) -> Result<Vec<f64>, Failure> {
        match &mut self.0 {
            NextSymbolKind::Boxed(model) => model.next(state),
            NextSymbolKind::Grammar(grammar) => grammar.next(state.grammar()),
        }
    }

    fn log_probs(&mut self, string: &[u32]) -> Result<Vec<f64>, Failure> {
        match &mut self.0 {
            NextSymbolKind::Boxed(model) => model.log_probs(string),
            NextSymbolKind::Grammar(grammar) => grammar.log_probs(string),
        }
    }

    fn log_probs_batch(&mut self, strings: &[&[u32]]) -> Result<Vec<Vec<f64>>, Failure> {
        match &mut self.0 {
            NextSymbolKind::Boxed(model) => model.log_probs_batch(strings),
            NextSymbolKind::Grammar(grammar) => grammar.log_probs_batch(strings),
        }
    }

    fn read_whole(&mut self, strings: &[&[u32]]) -> Result<Option<Vec<Vec<f64>>>, Failure> {
        match &mut self.0 {
            NextSymbolKind::Boxed(model) => model.read_whole(strings),
            NextSymbolKind::Grammar(grammar) => grammar.read_whole(strings),
        }
    }

    fn advance_batch(&mut self, states: &mut [AnyState<'a>], pieces: &[&[u32]]) -> Result<Vec<f64>, Failure> {
        match &mut self.0 {
            NextSymbolKind::Boxed(model) => model.advance_batch(states, pieces),
            // Scanners share no arithmetic that a batch could save.
            NextSymbolKind::Grammar(_) => super::advance_each(self, states, pieces),
        }
    }

    fn same(&self, a: &AnyState<'a>, b: &AnyState<'a>) -> bool {
        match &self.0 {
            NextSymbolKind::Boxed(model) => model.same(a, b),
            NextSymbolKind::Grammar(grammar) => grammar.same(a.grammar(), b.grammar()),
        }
    }

    fn max_len(&self) -> Option<usize> {
        match &self.0 {
            NextSymbolKind::Boxed(model) => model.max_len(),
            NextSymbolKind::Grammar(grammar) => grammar.max_len(),
        }
    }

    fn max_batch(&self, length: usize) -> usize {
        match &self.0 {
            NextSymbolKind::Boxed(model) => model.max_batch(length),
            NextSymbolKind::Grammar(grammar) => grammar.max_batch(length),
        }
    }
}
