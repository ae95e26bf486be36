//! How the program ends: 0 if all went well, 1 for a failure (of a file, of the disk, of wug itself), 2 for a mistake in
//! what was typed, 128 and the number of a signal that ended it.

use std::io::{self, Write as _};
use std::process::ExitCode;

use wug_lab::LabError;
use wug_lab::dataset::DataError;
use wug_lab::language::registry::BuildError;
use wug_report::{ReportError, TableError};

use crate::safe::visible_lines;

/// Prints a line to stderr, with what would control a terminal made visible. Errors are ignored: a closed stderr does not end the program.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", visible_lines(line));
}

/// Why the program ends early.
pub(crate) enum Exit {
    Usage(String),
    Failure(String),
    /// The reader closed the pipe, as in `wug sample parity | head`: not an error.
    ClosedPipe,
}

impl Exit {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Usage(message) => {
                say(&format!("wug: {message}"));
                ExitCode::from(2)
            }
            Self::Failure(message) => {
                say(&format!("wug: {message}"));
                ExitCode::FAILURE
            }
            Self::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

impl From<io::Error> for Exit {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Failure(error.to_string()),
        }
    }
}

impl From<LabError> for Exit {
    fn from(error: LabError) -> Self {
        match error {
            // Without a wildcard: whoever adds a kind of error decides which exit code it has.
            LabError::Usage(message) => Self::Usage(message),
            LabError::Corrupt { .. }
            | LabError::Disk { .. }
            | LabError::Exists { .. }
            | LabError::Data(_)
            | LabError::Learner(_)
            | LabError::Stopped
            | LabError::Internal(_) => Self::Failure(error.to_string()),
        }
    }
}

impl From<BuildError> for Exit {
    fn from(error: BuildError) -> Self {
        LabError::from(error).into()
    }
}

impl From<DataError> for Exit {
    fn from(error: DataError) -> Self {
        LabError::from(error).into()
    }
}

impl From<ReportError> for Exit {
    fn from(error: ReportError) -> Self {
        match error {
            // The directory was typed: one without results is a mistake of usage.
            ReportError::Empty => Self::Usage(error.to_string()),
            ReportError::Table(TableError::Io(error)) => error.into(),
            ReportError::Json(_) | ReportError::Table(_) => Self::Failure(error.to_string()),
        }
    }
}
