//! What can go wrong in the lab, and whose fault it is: the request's, a file's, the disk's or our own.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use wug_dataset::DataError;
use wug_language::registry::BuildError;
use wug_learner::fit::FitError;
use wug_learner::interface::Failure;

/// Why the lab could not do what was asked.
#[derive(Debug, Error)]
pub enum LabError {
    /// The request asks for something that does not exist or cannot be.
    #[error("{0}")]
    Usage(String),
    /// A file of ours is damaged, or something else is in its place.
    #[error("{} {problem}", path.display())]
    Corrupt {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it, as the end of a sentence that begins with the path.
        problem: String,
    },
    /// The operating system refused to read or write.
    #[error("{}: {source}", path.display())]
    Disk {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that is there already, and differs.
    #[error("{} exists and differs from what would be written; nothing was changed (--force replaces it)", path.display())]
    Exists { path: PathBuf },
    /// The data are not what they should be.
    #[error(transparent)]
    Data(DataError),
    /// A learner, ours or an external one, failed while it was fitted or asked.
    #[error("{0}")]
    Learner(String),
    /// The run is to stop before it is over, because its process is to end. Nothing has failed.
    #[error("the run was stopped")]
    Stopped,
    /// An error in wug itself, such as a panic in a worker.
    #[error("an error in wug itself: {0}")]
    Internal(String),
}

impl LabError {
    /// Something that the caller's words are to blame for.
    pub(crate) fn usage(error: impl std::fmt::Display) -> Self {
        Self::Usage(error.to_string())
    }

    pub(crate) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Disk { path: path.to_path_buf(), source }
    }

    pub(crate) fn corrupt(path: &Path, problem: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_path_buf(), problem: problem.into() }
    }

    pub(crate) fn internal(error: impl std::fmt::Display) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<DataError> for LabError {
    fn from(error: DataError) -> Self {
        match error {
            // What a request caused is the user's to change. The rest is about the content of files.
            DataError::Language(_) | DataError::Length(_) | DataError::Request(_) => {
                Self::Usage(error.to_string())
            }
            other => Self::Data(other),
        }
    }
}

impl From<Failure> for LabError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Stopped => Self::Stopped,
            Failure::Learner(_) | Failure::Diverged => Self::Learner(failure.to_string()),
        }
    }
}

impl From<FitError> for LabError {
    fn from(error: FitError) -> Self {
        match error {
            FitError::Watch(failure) => failure.into(),
            FitError::Optimizer(error) => Self::internal(error),
            // The rest is in the request: a name, a setting, a string.
            error => Self::usage(error),
        }
    }
}

impl From<BuildError> for LabError {
    fn from(error: BuildError) -> Self {
        Self::Usage(error.to_string())
    }
}
