//! Errors as Python exceptions, with the same text as on the command line.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use wug_lab::LabError;

create_exception!(wug, WugError, PyException, "Something failed: a file, the disk, a learner, wug itself.");
create_exception!(wug, UsageError, PyValueError, "What was asked for does not exist or cannot be.");

/// The exception of an error.
pub(crate) fn raised(error: impl Into<LabError>) -> PyErr {
    match error.into() {
        LabError::Usage(message) => UsageError::new_err(message),
        other => WugError::new_err(other.to_string()),
    }
}

/// A mistake in what was asked for.
pub(crate) fn usage(message: impl ToString) -> PyErr {
    UsageError::new_err(message.to_string())
}
