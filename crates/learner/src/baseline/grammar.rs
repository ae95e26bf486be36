//! The language itself as a learner.

use std::fmt;

use wug_dataset::Seed;
use wug_dataset::corpus::ReleasedCorpus;
use wug_language::{Alphabet, Language, NextSet, Scanner, Symbol};

use crate::interface::{Failure, NextSymbol};

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
/// assert_eq!(grammar.next(&state)?, [0.0, 0.5, 0.5]); // after `#a`
/// grammar.push(&mut state, 2);
/// assert_eq!(grammar.next(&state)?, [1.0, 0.0, 0.0]); // `ab` can only end
/// # Ok::<(), wug_learner::interface::Failure>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Grammar<'a> {
    language: &'a dyn Language,
    /// A published language and its prior, which determine probabilities.
    published: Option<(&'static dyn ReleasedCorpus, f64)>,
    /// The seed of preferences among what may come next.
    preference: Option<Seed>,
}

impl<'a> Grammar<'a> {
    /// Any language: all symbols that may come next are equally likely.
    pub fn of(language: &'a dyn Language) -> Self {
        Self { language, published: None, preference: None }
    }

    /// A published language, with the probabilities that its training corpora are drawn with: no learner is better on average.
    /// `language` is the one of the same name in the registry.
    pub fn published(language: &'a dyn Language, published: &'static dyn ReleasedCorpus, prior: f64) -> Self {
        Self { language, published: Some((published, prior)), preference: None }
    }

    /// The same language with preferences of its own: at each prefix, every symbol that may come next is up to twice as likely, by a
    /// factor that is drawn from the prefix and the symbol. It knows the language, and no two of its strings are equally likely;
    /// which of them is likelier has nothing to do with how they are drawn.
    ///
    /// ```
    /// use wug_dataset::{Seed, language::registry};
    /// use wug_learner::baseline::Grammar;
    /// use wug_learner::interface::NextSymbol;
    /// let language = registry::build("parity").unwrap();
    /// let mut oracle = Grammar::of(&*language).preferring(Seed::new(1));
    /// let string = |oracle: &mut Grammar<'_>, word: [u32; 4]| oracle.log_probs(&word).unwrap().iter().sum::<f64>();
    /// let [one, other, again] = [[0, 1, 2, 0], [0, 2, 1, 0], [0, 1, 2, 0]].map(|word| string(&mut oracle, word));
    /// assert!((one - other).abs() > 1e-6 && one.to_bits() == again.to_bits());
    /// assert_eq!(string(&mut oracle, [0, 1, 1, 0]), f64::NEG_INFINITY);
    /// ```
    #[must_use]
    pub fn preferring(self, seed: Seed) -> Self {
        Self { preference: Some(seed.derive("oracle")), ..self }
    }

    /// The alphabet of the language.
    pub fn alphabet(&self) -> &'a Alphabet {
        self.language.alphabet()
    }

    fn probabilities(&self, next: &NextSet, prefix: u64) -> Vec<f64> {
        let mut probabilities = self.known_probabilities(next);
        if self.preference.is_some() {
            for (symbol, p) in probabilities.iter_mut().enumerate() {
                // From the prefix and not from a stream, so that a string has the same probability however it is
                // asked.
                *p *= 1.0 + unit(mixed(prefix, symbol as u64));
            }
            let sum: f64 = probabilities.iter().sum();
            probabilities.iter_mut().filter(|_| sum > 0.0).for_each(|p| *p /= sum);
        }
        probabilities
    }

    fn known_probabilities(&self, next: &NextSet) -> Vec<f64> {
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

/// A number that is drawn from a prefix, as a number, and its next symbol (the finaliser of `SplitMix64`).
fn mixed(prefix: u64, symbol: u64) -> u64 {
    let mut z = prefix.wrapping_add(symbol.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number from 0 to 1, from the upper bits of another.
fn unit(z: u64) -> f64 {
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

/// The scanner of a string, none before the boundary; and the prefix as a number, which preferences depend on.
pub struct GrammarState<'a>(Option<Box<dyn Scanner + 'a>>, u64);

impl fmt::Debug for GrammarState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GrammarState").field(&self.0.as_ref().map(|scanner| scanner.next())).finish()
    }
}

impl Clone for GrammarState<'_> {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|scanner| scanner.fork()), self.1)
    }
}

impl<'a> NextSymbol for Grammar<'a> {
    type State = GrammarState<'a>;

    fn start(&mut self) -> GrammarState<'a> {
        GrammarState(None, self.preference.map_or(0, Seed::value))
    }

    fn push(&mut self, state: &mut GrammarState<'a>, symbol: u32) {
        state.1 = mixed(state.1, u64::from(symbol));
        match (&mut state.0, symbol.checked_sub(1)) {
            (Some(scanner), Some(symbol)) => scanner.push(Symbol(symbol as u16)),
            // Symbol 0 begins a string, also where it ends one before.
            (start, _) => *start = Some(self.language.scanner()),
        }
    }

    /// Before the boundary, only the boundary may come next.
    fn next(&mut self, state: &GrammarState<'a>) -> Result<Vec<f64>, Failure> {
        let next = state.0.as_ref().map_or_else(NextSet::only_end, |scanner| scanner.next());
        Ok(self.probabilities(&next, state.1))
    }
}
