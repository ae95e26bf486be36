//! Where the state after a prefix is found.

use crate::tape::MaskedVar;

/// Rows of a body's output: the state after `position` symbols of string `b` stands in row
/// `(position + skip) · per_position + b · per_string`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States {
    /// All rows.
    pub rows: MaskedVar,
    /// Numbers per row.
    pub width: usize,
    pub(super) per_position: usize,
    pub(super) per_string: usize,
    pub(super) skip: usize,
}

impl States {
    /// The row of the state after `position` symbols of string `b`.
    pub fn row(&self, b: usize, position: usize) -> u32 {
        ((position + self.skip) * self.per_position + b * self.per_string) as u32
    }
}
