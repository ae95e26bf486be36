//! What a perfect model knows at each step: whether only one symbol can come, and which can.

use wug_language::{Language, NextSet, Symbol};

/// For each of the `word.len() + 1` steps, whether exactly one thing (a symbol or the end) can come.
pub fn deterministic_steps(language: &dyn Language, word: &[Symbol]) -> Vec<bool> {
    let mut mask = Vec::with_capacity(word.len() + 1);
    each_step(language, word, |next| mask.push(next.size() == 1));
    mask
}

/// For each of the `word.len() + 1` steps, whether each symbol of the [`vocabulary`](super::vocabulary) can
/// come: one row of `alphabet.len() + 1` cells after the other.
pub fn valid_next(language: &dyn Language, word: &[Symbol]) -> Vec<bool> {
    let alphabet = language.alphabet();
    let mut mask = Vec::with_capacity((word.len() + 1) * (alphabet.len() + 1));
    each_step(language, word, |next| {
        mask.push(next.end());
        mask.extend(alphabet.symbols().map(|symbol| next.contains(symbol)));
    });
    mask
}

fn each_step(language: &dyn Language, word: &[Symbol], mut see: impl FnMut(&NextSet)) {
    let mut scanner = language.scanner();
    see(&scanner.next());
    for &symbol in word {
        scanner.push(symbol);
        see(&scanner.next());
    }
}
