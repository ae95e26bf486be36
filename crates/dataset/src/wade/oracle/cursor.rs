//! A position in a text whose masked tokens cannot be seen.

use super::Malformed;

/// Reads a text from left to right; `None` is a masked token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a [Option<&'a str>],
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [Option<&'a str>]) -> Self {
        Self { text, position: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// The visible token here, if there is one.
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.text.get(self.position).copied().flatten()
    }

    /// The visible token after this one, if there is one.
    pub(super) fn peek_second(&self) -> Option<&'a str> {
        self.text.get(self.position + 1).copied().flatten()
    }

    /// Steps over one token if it is the given one.
    pub(super) fn skip(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        self.position += usize::from(found);
        found
    }

    /// Steps over the given token, which must be here.
    pub(super) fn expect(&mut self, token: &str, expected: &'static str) -> Result<(), Malformed> {
        if self.skip(token) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Steps over one of the given tokens and returns it, if one is here.
    pub(super) fn skip_any(&mut self, tokens: &[&'static str]) -> Option<&'static str> {
        let found = tokens.iter().copied().find(|&token| Some(token) == self.peek());
        self.position += usize::from(found.is_some());
        found
    }

    /// Steps over one of the given tokens, which must be here.
    pub(super) fn expect_any(
        &mut self,
        tokens: &[&'static str],
        expected: &'static str,
    ) -> Result<&'static str, Malformed> {
        self.skip_any(tokens).ok_or_else(|| self.unexpected(expected))
    }

    /// Steps over all masked tokens that follow each other here; at least one must.
    pub(super) fn expect_masked(&mut self) -> Result<usize, Malformed> {
        let masked = self.text.iter().skip(self.position).take_while(|token| token.is_none()).count();
        if masked == 0 {
            return Err(self.unexpected("a masked answer"));
        }
        self.position += masked;
        Ok(masked)
    }

    pub(super) fn at_end(&self) -> bool {
        self.position >= self.text.len()
    }

    pub(super) fn expect_end(&self) -> Result<(), Malformed> {
        if self.at_end() { Ok(()) } else { Err(self.unexpected("the end of the text")) }
    }

    /// The error that something else was due here.
    pub(super) fn unexpected(&self, expected: &'static str) -> Malformed {
        let found = match self.text.get(self.position) {
            Some(Some(token)) => format!("`{token}`"),
            Some(None) => "a masked token".to_owned(),
            None => "the end of the text".to_owned(),
        };
        Malformed::Token { position: self.position, expected, found }
    }
}
