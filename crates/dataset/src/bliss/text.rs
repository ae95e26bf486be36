//! Corpora as text: `#string#` on each line, a newline between lines and none at the end.

use std::io::{self, BufRead, Read, Write};

use wug_language::{Alphabet, Symbol, Word};

use super::FormatError;
use crate::suite::LONGEST;

/// The longest string, between two `#`. No published line has more than 60,002 bytes.
const LONGEST_LINE: usize = LONGEST + 2;

/// The most lines. No corpus that wug writes has more than a million.
const MOST_LINES: usize = 10_000_000;

/// Reads and writes words as text, each symbol a byte.
///
/// ```
/// use wug_dataset::bliss::CorpusText;
/// use wug_dataset::language::Alphabet;
/// let text = CorpusText::new(&Alphabet::new(["a", "b"])).unwrap();
/// let words = text.read(&b"##\n#ab#"[..]).collect::<Result<Vec<_>, _>>().unwrap();
/// let mut bytes = Vec::new();
/// text.write(&mut bytes, &words).unwrap();
/// assert_eq!(bytes, b"##\n#ab#");
/// ```
#[derive(Clone, Debug)]
pub struct CorpusText {
    bytes: Vec<u8>,
    symbols: [Option<Symbol>; 256],
}

impl CorpusText {
    /// The text format of words over an alphabet of single ASCII characters.
    pub fn new(alphabet: &Alphabet) -> Result<Self, FormatError> {
        let mut text = Self { bytes: Vec::new(), symbols: [None; 256] };
        for symbol in alphabet.symbols() {
            match *alphabet.token(symbol).as_bytes() {
                [byte] if byte != b'#' => {
                    text.symbols[usize::from(byte)] = Some(symbol);
                    text.bytes.push(byte);
                }
                _ => return Err(FormatError::TokenTooLong { token: alphabet.token(symbol).to_owned() }),
            }
        }
        Ok(text)
    }

    /// Writes words, one per line, without a newline at the end.
    pub fn write<W: AsRef<[Symbol]>>(
        &self,
        out: &mut dyn Write,
        words: impl IntoIterator<Item = W>,
    ) -> io::Result<()> {
        let mut line = Vec::new();
        for (i, word) in words.into_iter().enumerate() {
            line.clear();
            if i > 0 {
                line.push(b'\n');
            }
            line.push(b'#');
            line.extend(word.as_ref().iter().map(|symbol| self.bytes[symbol.index()]));
            line.push(b'#');
            out.write_all(&line)?;
        }
        Ok(())
    }

    /// Reads words one by one. A newline at the end is allowed.
    pub fn read<R: BufRead>(&self, input: R) -> Lines<'_, R> {
        Lines { text: self, input, line: Vec::new(), number: 0, failed: false }
    }

    fn word(&self, line: &[u8], number: usize) -> Result<Word, FormatError> {
        let inner = line.strip_prefix(b"#").and_then(|rest| rest.strip_suffix(b"#"));
        let inner = inner.ok_or(FormatError::NotWrapped { line: number })?;
        let symbols = inner.iter().enumerate().map(|(i, &byte)| {
            self.symbols[usize::from(byte)].ok_or_else(|| self.unknown(&inner[i..], number))
        });
        symbols.collect()
    }

    fn unknown(&self, rest: &[u8], line: usize) -> FormatError {
        // Four bytes hold any character, whole.
        let symbol = String::from_utf8_lossy(&rest[..rest.len().min(4)]).chars().take(1).collect();
        let tokens: Vec<String> = self.bytes.iter().map(|&byte| char::from(byte).to_string()).collect();
        FormatError::UnknownSymbol { line, symbol, allowed: tokens.join(" ") }
    }
}

/// The words of a text, in order. It ends at the first error.
#[derive(Debug)]
pub struct Lines<'a, R> {
    text: &'a CorpusText,
    input: R,
    line: Vec<u8>,
    number: usize,
    failed: bool,
}

impl<R: BufRead> Lines<'_, R> {
    fn read(&mut self) -> Result<Option<Word>, FormatError> {
        self.line.clear();
        let limit = LONGEST_LINE as u64 + 1;
        if self.input.by_ref().take(limit).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        if line.len() > LONGEST_LINE {
            return Err(FormatError::LineTooLong { line: self.number, limit: LONGEST_LINE });
        }
        if self.number > MOST_LINES {
            return Err(FormatError::TooManyLines { limit: MOST_LINES });
        }
        self.text.word(line, self.number).map(Some)
    }
}

impl<R: BufRead> Iterator for Lines<'_, R> {
    type Item = Result<Word, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let read = self.read();
        self.failed = read.is_err();
        read.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn brackets() -> CorpusText {
        CorpusText::new(&Alphabet::new(["(", ")", "[", "]"])).unwrap()
    }

    fn error(bytes: &[u8]) -> String {
        let text = brackets();
        let mut lines = text.read(bytes).skip_while(Result::is_ok);
        let error = lines.next().unwrap().unwrap_err().to_string();
        assert!(lines.next().is_none(), "it goes on after an error");
        error
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(error(b"#()#\n#[]\n##"), "line 2 is not wrapped in `#`");
        assert_eq!(error(b"#"), "line 1 is not wrapped in `#`");
        assert_eq!(error(b"##\n\n##"), "line 2 is not wrapped in `#`");
        assert_eq!(error(b"##\r\n##"), "line 1 is not wrapped in `#`");
        assert_eq!(error(b"##\n#(a)#"), "line 2: unknown symbol `a`; the alphabet is: ( ) [ ]");
        assert_eq!(error("#(é)#".as_bytes()), "line 1: unknown symbol `é`; the alphabet is: ( ) [ ]");
        assert_eq!(error(b"#(#)#"), "line 1: unknown symbol `#`; the alphabet is: ( ) [ ]");
    }

    #[test]
    fn only_single_characters_can_be_written() {
        assert!(matches!(CorpusText::new(&Alphabet::new(["(0"])), Err(FormatError::TokenTooLong { .. })));
        assert!(matches!(CorpusText::new(&Alphabet::new(["#"])), Err(FormatError::TokenTooLong { .. })));
    }

    #[test]
    fn a_newline_at_the_end_adds_no_word() {
        assert_eq!(brackets().read(&b"#()#\n"[..]).count(), 1);
        assert_eq!(brackets().read(&b""[..]).count(), 0);
    }

    proptest! {
        #[test]
        fn words_round_trip(words in prop::collection::vec(prop::collection::vec(0..4u16, 0..20), 0..20)) {
            let words: Vec<Word> = words.into_iter().map(|w| w.into_iter().map(Symbol).collect()).collect();
            let mut bytes = Vec::new();
            brackets().write(&mut bytes, &words).unwrap();
            let read: Vec<Word> = brackets().read(&bytes[..]).collect::<Result<_, _>>().unwrap();
            prop_assert_eq!(read, words);
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            brackets().read(&bytes[..]).for_each(drop);
        }
    }
}
