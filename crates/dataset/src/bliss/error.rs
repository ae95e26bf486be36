//! What can be wrong with a file.

use std::io;

use thiserror::Error;
use zip::result::ZipError;

/// Why a corpus, an archive or a mask cannot be read or written.
#[derive(Debug, Error)]
pub enum FormatError {
    /// The underlying reader or writer failed.
    #[error("input or output failed: {0}")]
    Io(#[source] io::Error),
    /// The bytes are no zip archive at all.
    #[error("this is not a zip archive")]
    NotAZip,
    /// The archive or its data stops too early.
    #[error("the file is truncated")]
    Truncated,
    /// The data inside the archive does not unpack. One wrong password in 256 shows only here.
    #[error("the archive is damaged or its password is wrong: {0}")]
    Damaged(String),
    /// The member is encrypted, with another password or though none was given.
    #[error("the archive is encrypted with another password")]
    WrongPassword,
    /// An archive holds one file.
    #[error("the archive holds {given} files; it should hold 1")]
    Members {
        /// How many there are.
        given: usize,
    },
    /// A line does not start and end with `#`.
    #[error("line {line} is not wrapped in `#`")]
    NotWrapped {
        /// The line, from 1.
        line: usize,
    },
    /// A line holds something that is not in the alphabet.
    #[error("line {line}: unknown symbol `{symbol}`; the alphabet is: {allowed}")]
    UnknownSymbol {
        /// The line, from 1.
        line: usize,
        /// The character as it stands.
        symbol: String,
        allowed: String,
    },
    /// A line is too long to be a string of a corpus.
    #[error("line {line} is longer than {limit} bytes")]
    LineTooLong {
        /// The line, from 1.
        line: usize,
        /// The longest line allowed.
        limit: usize,
    },
    /// A corpus has more lines than any that is written.
    #[error("there are more than {limit} lines; the rest was not read")]
    TooManyLines {
        /// The most lines allowed.
        limit: usize,
    },
    /// A token that cannot be written as one byte.
    #[error("token `{token}` does not fit this format: tokens are single ASCII characters other than `#`")]
    TokenTooLong { token: String },
    /// The member is no array of NumPy's format, version 1.0.
    #[error("not a NumPy array: {given}")]
    NotNpy { given: String },
    /// The array's elements are not Booleans.
    #[error("the array has elements of type {given}; a mask has `|b1`")]
    WrongType {
        /// The type as the file names it.
        given: String,
    },
    /// The array has another shape than its strings need.
    #[error("the array has shape {given:?}; expected {expected:?}")]
    WrongShape {
        /// The shape of the file or of the rows given.
        given: Vec<usize>,
        /// The shape it should have.
        expected: Vec<usize>,
    },
    /// An element is neither 0 nor 1.
    #[error("row {row} holds the byte {given}; a mask holds 0 and 1")]
    NotBoolean {
        /// The row, from 0.
        row: usize,
        given: u8,
    },
    /// A row of the array is longer than its strings need.
    #[error("the array has rows of {given} cells; the strings need up to {needed}")]
    TooWide {
        /// The cells of a row.
        given: usize,
        /// The cells that the longest string needs.
        needed: usize,
    },
    /// There are bytes after the last row.
    #[error("there is data after the last row")]
    TrailingData,
    /// The archive would need the 64-bit format.
    #[error("{given} bytes are too many for the archive; it holds up to 4,294,967,295")]
    TooLarge { given: u64 },
}

impl From<io::Error> for FormatError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated,
            // What unpacking and the checksum complain with.
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Self::Damaged(error.to_string()),
            _ => Self::Io(error),
        }
    }
}

impl From<ZipError> for FormatError {
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => error.into(),
            ZipError::InvalidPassword | ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
                Self::WrongPassword
            }
            other => Self::Damaged(other.to_string()),
        }
    }
}
