//! The released generator: strings expanded from grammars, or powers drawn, with NumPy's legacy random
//! numbers.
//!
//! The seed is set again for every size, so that before sorting the smaller corpora are prefixes of the
//! larger ones.

use wug_language::{NextSet, Symbol, Word};

use super::Published;
use super::test_set::power;
use crate::corpus::MaskKind;
use crate::mt19937::Mt19937;

/// `size` draws, in the order they are drawn.
pub(super) fn draw(language: Published, size: usize, prior: f64, seed: u32) -> Vec<Word> {
    let mut rng = Mt19937::seed(seed);
    let (stop, go_on) = (prior, 1.0 - prior);
    let nonterminals: Vec<Nonterminal> = match language {
        Published::AnBnCn | Published::AnBnCnDn => {
            // No context-free grammar derives these two: the released code draws n itself.
            let letters = language.alphabet().len();
            return (0..size).map(|_| power(letters, rng.geometric(prior) as usize)).collect();
        }
        Published::AnBn => vec![
            Nonterminal::new([(1.0, vec![put(0), Expand(1), put(1)])]),
            Nonterminal::new([(go_on, vec![put(0), Expand(1), put(1)]), (stop, vec![])]),
        ],
        Published::AnBmCnPlusM => vec![
            Nonterminal::new([(1.0, vec![put(0), Expand(1), put(2)])]),
            Nonterminal::new([(go_on, vec![put(0), Expand(1), put(2)]), (stop, vec![Expand(2)])]),
            Nonterminal::new([(1.0, vec![put(1), Expand(3), put(2)])]),
            Nonterminal::new([(go_on, vec![put(1), Expand(3), put(2)]), (stop, vec![])]),
        ],
        Published::Dyck1 => {
            vec![Nonterminal::new([
                (prior, vec![put(0), Expand(0), put(1), Expand(0)]),
                (1.0 - prior, vec![]),
            ])]
        }
        Published::Dyck2 => vec![Nonterminal::new([
            (prior / 2.0, vec![put(0), Expand(0), put(1), Expand(0)]),
            (prior / 2.0, vec![put(2), Expand(0), put(3), Expand(0)]),
            (1.0 - prior, vec![]),
        ])],
    };
    (0..size).map(|_| derive(&nonterminals, &mut rng)).collect()
}

impl Published {
    /// How likely each symbol of the [`vocabulary`](crate::corpus::vocabulary) is to come next in a string of the generator, where
    /// `next` is what can come: the exact conditional probabilities.
    ///
    /// ```
    /// use wug_dataset::bliss::Published;
    /// use wug_dataset::language::{NextSet, Symbol};
    /// let after_a = NextSet::of([Symbol(0), Symbol(1)]);
    /// assert_eq!(Published::AnBn.next_probabilities(&after_a, 0.25), [0.0, 0.75, 0.25]);
    /// ```
    pub fn next_probabilities(self, next: &NextSet, prior: f64) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.alphabet().len() + 1];
        // In the Dyck alphabets the even symbols open; in the others nothing does.
        let opens = |symbol: &Symbol| self.mask_kind() == MaskKind::ValidNext && symbol.0.is_multiple_of(2);
        let pairs = next.symbols().filter(opens).count();
        if next.end() {
            probabilities[0] = if pairs > 0 { 1.0 - prior } else { 1.0 };
        }
        let choices = next.size();
        for (i, symbol) in next.symbols().enumerate() {
            probabilities[symbol.index() + 1] = match (pairs, choices) {
                (_, 1) => 1.0,
                // A phase of a counting language goes on, or the next begins.
                (0, _) if i == 0 => 1.0 - prior,
                (0, _) => prior,
                _ if opens(&symbol) => prior / pairs as f64,
                _ => 1.0 - prior,
            };
        }
        probabilities
    }
}

/// A nonterminal's rules: their probabilities and their right-hand sides.
struct Nonterminal {
    probabilities: Vec<f64>,
    sides: Vec<Vec<RulePart>>,
}

impl Nonterminal {
    fn new(rules: impl IntoIterator<Item = (f64, Vec<RulePart>)>) -> Self {
        let (probabilities, sides) = rules.into_iter().unzip();
        Self { probabilities, sides }
    }
}

#[derive(Clone, Copy)]
enum RulePart {
    Put(Symbol),
    Expand(usize),
}

use RulePart::Expand;

fn put(symbol: u16) -> RulePart {
    RulePart::Put(Symbol(symbol))
}

/// Leftmost derivation from nonterminal 0. Every expansion costs a draw, also where there is only one rule.
fn derive(nonterminals: &[Nonterminal], rng: &mut Mt19937) -> Word {
    let mut word = Word::new();
    let mut stack = vec![Expand(0)];
    while let Some(part) = stack.pop() {
        match part {
            RulePart::Put(symbol) => word.push(symbol),
            Expand(n) => {
                let rule = rng.choice(&nonterminals[n].probabilities);
                stack.extend(nonterminals[n].sides[rule].iter().rev());
            }
        }
    }
    word
}
