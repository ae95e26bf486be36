//! How the program ends: 0 if all went well, 1 for a failure, 2 for a mistake in what was typed.

use std::io;
use std::process::ExitCode;

use wug_lab::LabError;
use wug_lab::dataset::DataError;
use wug_lab::language::registry::BuildError;

/// Why the program ends early.
pub(crate) enum Exit {
    Usage(String),
    Failure(String),
    /// Nobody reads the output any more, as in `wug sample parity | head`: no reason to complain.
    ClosedPipe,
}

impl Exit {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    #[expect(clippy::print_stderr, reason = "the one place that talks of errors")]
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Usage(message) => {
                eprintln!("wug: {message}");
                ExitCode::from(2)
            }
            Self::Failure(message) => {
                eprintln!("wug: {message}");
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
            LabError::Usage(message) => Self::Usage(message),
            other => Self::Failure(other.to_string()),
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
