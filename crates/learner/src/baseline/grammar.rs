//! The language itself as a learner.

use std::fmt;

use wug_dataset::corpus::ReleasedCorpus;
use wug_language::{Alphabet, Language, NextSet, Scanner, Symbol};

use crate::interface::NextSymbol;

/// Predicts exactly the symbols that may come next.
///
/// ```
/// use wug_learner::baseline::Grammar;
/// use wug_learner::interface::NextSymbol;
/// let language = wug_dataset::language::registry::build("an-bn").unwrap();
/// let mut grammar = Grammar::of(&*language);
/// let mut state = grammar.start();
/// for symbol in [0, 1] {
///     grammar.push(&mut state, symbol);
/// }
/// assert_eq!(grammar.next(&state), [0.0, 0.5, 0.5]); // after `#a`
/// grammar.push(&mut state, 2);
/// assert_eq!(grammar.next(&state), [1.0, 0.0, 0.0]); // `ab` can only end
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Grammar<'a> {
    language: &'a dyn Language,
    /// A published language and its prior, which determine probabilities.
    published: Option<(&'static dyn ReleasedCorpus, f64)>,
}

impl<'a> Grammar<'a> {
    /// Any language: all symbols that may come next are equally likely.
    pub fn of(language: &'a dyn Language) -> Self {
        Self { language, published: None }
    }

    /// A published language, with the probabilities that its training corpora are drawn with: no learner is better on average.
    /// `language` is the one of the same name in the registry.
    pub fn published(language: &'a dyn Language, published: &'static dyn ReleasedCorpus, prior: f64) -> Self {
        Self { language, published: Some((published, prior)) }
    }

    /// The alphabet of the language.
    pub fn alphabet(&self) -> &'a Alphabet {
        self.language.alphabet()
    }

    fn probabilities(&self, next: &NextSet) -> Vec<f64> {
        if let Some((published, prior)) = self.published {
            return published.next_probabilities(next, prior);
        }
        let share = 1.0 / next.size().max(1) as f64;
        let symbols = 0..=self.language.alphabet().len();
        symbols.map(|symbol| if may_come(next, symbol) { share } else { 0.0 }).collect()
    }
}

/// Whether a symbol of the vocabulary (0 is the boundary) may come next.
fn may_come(next: &NextSet, symbol: usize) -> bool {
    if symbol == 0 { next.end() } else { next.contains(Symbol(symbol as u16 - 1)) }
}

/// The scanner of a string; none before the boundary.
pub struct GrammarState<'a>(Option<Box<dyn Scanner + 'a>>);

impl fmt::Debug for GrammarState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GrammarState").field(&self.0.as_ref().map(|scanner| scanner.next())).finish()
    }
}

impl Clone for GrammarState<'_> {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|scanner| scanner.fork()))
    }
}

impl<'a> NextSymbol for Grammar<'a> {
    type State = GrammarState<'a>;

    fn start(&mut self) -> GrammarState<'a> {
        GrammarState(None)
    }

    fn push(&mut self, state: &mut GrammarState<'a>, symbol: u32) {
        match (&mut state.0, symbol.checked_sub(1)) {
            (Some(scanner), Some(symbol)) => scanner.push(Symbol(symbol as u16)),
            (start, _) => *start = Some(self.language.scanner()),
        }
    }

    /// Before the boundary, only the boundary may come next.
    fn next(&mut self, state: &GrammarState<'a>) -> Vec<f64> {
        self.probabilities(&state.0.as_ref().map_or_else(NextSet::only_end, |scanner| scanner.next()))
    }
}
