//! What can be wrong with data.

use std::io;

use thiserror::Error;
use wug_language::limit::TooLarge;
use wug_language::negative::NoNegative;
use wug_language::registry::BuildError;
use wug_language::{LengthError, UnknownToken};

/// Why a data set could not be made, written or read.
#[derive(Debug, Error)]
pub enum DataError {
    /// A file could not be read or written.
    #[error("{file}: {source}")]
    Io {
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file does not say what its format asks for.
    #[error("{file}, line {line}: {message}")]
    Line {
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What was found and what is allowed.
        message: String,
    },
    /// A file as a whole is not what it should be.
    #[error("{file}: {message}")]
    File { file: String, message: String },
    /// A file that must be there is not.
    #[error("there is no `{file}`{hint}")]
    Missing {
        file: String,
        /// What to do about it.
        hint: String,
    },
    /// A language that does not exist.
    #[error(transparent)]
    Language(#[from] BuildError),
    /// A range of lengths without strings, or with strings that are too long.
    #[error(transparent)]
    Length(#[from] LengthError),
    /// A language whose complement is too small.
    #[error(transparent)]
    Negative(#[from] NoNegative),
    /// Something asked for that cannot be.
    #[error("{0}")]
    Request(String),
}

impl DataError {
    /// A request that would take too much memory.
    #[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
    pub(crate) fn too_large(error: TooLarge) -> Self {
        Self::Request(format!("{error}; ask for less"))
    }

    /// An input or output error, with the file's name.
    pub fn io(file: &str) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Io { file: file.to_owned(), source }
    }

    /// Something asked for that cannot be.
    pub(crate) fn request(error: impl std::fmt::Display) -> Self {
        Self::Request(error.to_string())
    }

    /// The same error with its file named otherwise.
    pub(crate) fn renamed(mut self, name: fn(&str) -> String) -> Self {
        if let Self::Io { file, .. }
        | Self::Line { file, .. }
        | Self::File { file, .. }
        | Self::Missing { file, .. } = &mut self
        {
            *file = name(file);
        }
        self
    }

    /// An error in a line of a file (lines count from 1).
    pub fn line(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self::Line { file: file.to_owned(), line, message: message.into() }
    }

    /// An error of a file as a whole.
    pub fn file(file: &str, message: impl Into<String>) -> Self {
        Self::File { file: file.to_owned(), message: message.into() }
    }

    /// An unknown token in a line of a file.
    pub fn token(file: &str, line: usize, error: &UnknownToken) -> Self {
        Self::line(file, line, error.to_string())
    }
}
