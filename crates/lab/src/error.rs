//! What can go wrong in the lab, and whose fault it is.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use wug_dataset::DataError;
use wug_language::registry::BuildError;

/// Why the lab could not do what was asked.
#[derive(Debug, Error)]
pub enum LabError {
    /// Something was asked for that does not exist or cannot be: the caller's words are to be mended.
    #[error("{0}")]
    Usage(String),
    /// The disk said no.
    #[error("{}: {source}", path.display())]
    Disk {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that is there already, and differs.
    #[error("{} exists and differs from what would be written; nothing was changed (--force replaces it)", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The data are not what they should be.
    #[error(transparent)]
    Data(DataError),
}

impl LabError {
    /// Something that the caller's words are to blame for.
    pub(crate) fn usage(error: impl std::fmt::Display) -> Self {
        Self::Usage(error.to_string())
    }

    pub(crate) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Disk { path: path.to_path_buf(), source }
    }
}

impl From<DataError> for LabError {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Language(_) | DataError::Length(_) | DataError::Request(_) => {
                Self::Usage(error.to_string())
            }
            other => Self::Data(other),
        }
    }
}

impl From<BuildError> for LabError {
    fn from(error: BuildError) -> Self {
        Self::Usage(error.to_string())
    }
}
