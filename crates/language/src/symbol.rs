//! Symbols, the alphabets that name them, and words.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use thiserror::Error;

/// One letter of a language: an index into its [`Alphabet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u16);

impl Symbol {
    /// The symbol's position in its alphabet.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A string over an alphabet.
pub type Word = Vec<Symbol>;

/// The named symbols of a language, in a fixed order.
///
/// ```
/// use wug_language::Alphabet;
/// let brackets = Alphabet::new(["(0", ")0"]);
/// let word = brackets.parse("(0 (0 )0 )0").unwrap();
/// assert_eq!(word.len(), 4);
/// assert_eq!(brackets.format(&word), "(0 (0 )0 )0");
/// // Where every token is one character, spaces may be left out.
/// assert_eq!(Alphabet::new(["0", "1"]).parse("01 1").unwrap().len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    tokens: Vec<String>,
    index: BTreeMap<String, Symbol>,
    one_char: bool,
}

/// A token that an alphabet does not have.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("unknown token `{token}` at position {position}; the alphabet is: {allowed}")]
pub struct UnknownToken {
    /// The token as it was given.
    pub token: String,
    /// How many symbols stood before it.
    pub position: usize,
    /// The alphabet, space-separated (shortened if it is large).
    pub allowed: String,
}

impl Alphabet {
    /// An alphabet of the given tokens, in the given order.
    ///
    /// # Panics
    /// If a token is empty, holds white space or occurs twice, or if there are more than 65,536.
    pub fn new<T: Into<String>>(tokens: impl IntoIterator<Item = T>) -> Self {
        let tokens: Vec<String> = tokens.into_iter().map(Into::into).collect();
        assert!(tokens.len() <= usize::from(u16::MAX) + 1, "an alphabet has at most 65,536 symbols");
        let mut index = BTreeMap::new();
        for (i, token) in tokens.iter().enumerate() {
            assert!(!token.is_empty() && !token.contains(char::is_whitespace), "bad token {token:?}");
            let fresh = index.insert(token.clone(), Symbol(i as u16)).is_none();
            assert!(fresh, "token {token:?} occurs twice");
        }
        let one_char = tokens.iter().all(|t| t.chars().count() == 1);
        Self { tokens, index, one_char }
    }

    /// How many symbols there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is no symbol at all.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Every symbol, in order.
    pub fn symbols(&self) -> impl DoubleEndedIterator<Item = Symbol> + use<> {
        (0..self.tokens.len()).map(|i| Symbol(i as u16))
    }

    /// Every token, in order.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The name of a symbol.
    pub fn token(&self, symbol: Symbol) -> &str {
        &self.tokens[symbol.index()]
    }

    /// The symbol of a name.
    pub fn symbol(&self, token: &str) -> Option<Symbol> {
        self.index.get(token).copied()
    }

    /// The symbols in the order of their tokens' code points, as published files list them.
    pub fn sorted(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.index.values().copied()
    }

    /// Reads a word: tokens separated by white space, which may be left out if all
    /// tokens are single characters.
    pub fn parse(&self, text: &str) -> Result<Word, UnknownToken> {
        let mut word = Word::new();
        for piece in text.split_whitespace() {
            if let Some(symbol) = self.symbol(piece) {
                word.push(symbol);
            } else if self.one_char {
                let mut buffer = [0; 4];
                for c in piece.chars() {
                    let token = c.encode_utf8(&mut buffer);
                    word.push(self.symbol(token).ok_or_else(|| self.unknown(token, word.len()))?);
                }
            } else {
                return Err(self.unknown(piece, word.len()));
            }
        }
        Ok(word)
    }

    /// The tokens of a word, separated by single spaces.
    pub fn format(&self, word: &[Symbol]) -> String {
        let mut text = String::with_capacity(word.len() * 2);
        for (i, &symbol) in word.iter().enumerate() {
            if i > 0 {
                text.push(' ');
            }
            text.push_str(self.token(symbol));
        }
        text
    }

    fn unknown(&self, token: &str, position: usize) -> UnknownToken {
        // The alphabets of TSE have up to 3,000 tokens.
        let mut allowed = self.tokens.iter().take(40).map(String::as_str).collect::<Vec<_>>().join(" ");
        if self.tokens.len() > 40 {
            let _ = write!(allowed, " … ({} tokens)", self.tokens.len());
        }
        UnknownToken { token: token.to_owned(), position, allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_token_is_named_with_the_alphabet() {
        let bits = Alphabet::new(["0", "1"]);
        let error = bits.parse("0120").unwrap_err();
        assert_eq!(error.to_string(), "unknown token `2` at position 2; the alphabet is: 0 1");
    }

    #[test]
    fn multi_character_alphabets_need_spaces() {
        let brackets = Alphabet::new(["(0", ")0"]);
        assert!(brackets.parse("(0)0").is_err());
    }
}
