//! Knowing the language.

use std::fmt;

use wug_dataset::corpus::ReleasedCorpus;
use wug_language::{Language, NextSet, Scanner, Symbol};

use crate::interface::NextSymbol;

/// Knows what can come next, and says how likely it is.
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
    /// A published language and its prior, for its probabilities.
    published: Option<(&'static dyn ReleasedCorpus, f64)>,
}

impl<'a> Grammar<'a> {
    /// Of any language: whatever can come is equally likely.
    pub fn of(language: &'a dyn Language) -> Self {
        Self { language, published: None }
    }

    /// Of a published language, with the probabilities that its training corpora are drawn with: no learner can do better
    /// on average. `language` is the one of the same name in the registry.
    pub fn published(language: &'a dyn Language, published: &'static dyn ReleasedCorpus, prior: f64) -> Self {
        Self { language, published: Some((published, prior)) }
    }

    fn weigh(&self, next: &NextSet) -> Vec<f64> {
        if let Some((published, prior)) = self.published {
            return published.next_probabilities(next, prior);
        }
        let share = 1.0 / next.size().max(1) as f64;
        let places = 0..=self.language.alphabet().len();
        places.map(|place| if may_come(next, place) { share } else { 0.0 }).collect()
    }
}

fn may_come(next: &NextSet, place: usize) -> bool {
    if place == 0 { next.end() } else { next.contains(Symbol(place as u16 - 1)) }
}

/// Where the grammar stands in a string; nowhere before the boundary.
pub struct Place<'a>(Option<Box<dyn Scanner + 'a>>);

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.0.as_ref().map(|scanner| scanner.next())).finish()
    }
}

impl Clone for Place<'_> {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|scanner| scanner.fork()))
    }
}

impl<'a> NextSymbol for Grammar<'a> {
    type State = Place<'a>;

    fn start(&mut self) -> Place<'a> {
        Place(None)
    }

    fn push(&mut self, place: &mut Place<'a>, symbol: u32) {
        match (&mut place.0, symbol.checked_sub(1)) {
            (Some(scanner), Some(symbol)) => scanner.push(Symbol(symbol as u16)),
            (start, _) => *start = Some(self.language.scanner()),
        }
    }

    /// Before the boundary only the boundary can come.
    fn next(&mut self, place: &Place<'a>) -> Vec<f64> {
        self.weigh(&place.0.as_ref().map_or_else(NextSet::only_end, |scanner| scanner.next()))
    }
}
