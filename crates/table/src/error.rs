//! What can go wrong with a table.

use thiserror::Error;

/// Why a table was not written or read.
#[derive(Debug, Error)]
pub enum TableError {
    /// The place it is written to does not take it.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// What the Parquet library says.
    #[error("Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// Text that is not JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Columns that cannot be told apart, or none at all.
    #[error("{0}")]
    Columns(String),
    /// A row that is too short or too long.
    #[error("a row of {given} values in a table of {allowed} columns")]
    Width {
        /// How many values it has.
        given: usize,
        /// How many columns there are.
        allowed: usize,
    },
    /// A value that its column does not take.
    #[error("the column `{column}` is of {allowed}, but was given {given}")]
    Value { column: String, given: String, allowed: String },
}
