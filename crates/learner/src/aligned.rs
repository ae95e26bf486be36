//! Values that begin with a cache line.

use std::ops::{Deref, DerefMut};

use crate::kernel::Real;

/// A vector whose first value is at the start of a cache line, wherever the allocator put it.
///
/// Kernels read matrices in vectors of 32 bytes. From here none of those reads crosses a line as long as rows are a multiple of
/// 32 bytes; from an address that the allocator chose, every second one does. That is worth 6 % of a step of a small RNN.
#[derive(Debug)]
pub struct Aligned<R> {
    values: Vec<R>,
    start: usize,
}

/// Bytes of a cache line.
const LINE: usize = 64;

impl<R: Real> From<Vec<R>> for Aligned<R> {
    fn from(mut values: Vec<R>) -> Self {
        let (len, line) = (values.len(), LINE / size_of::<R>());
        values.resize(len + line, R::ZERO);
        // The offset may be unknown (`usize::MAX`); any start is correct.
        let start = values.as_ptr().align_offset(LINE).min(line);
        values.copy_within(..len, start);
        values.truncate(start + len);
        Self { values, start }
    }
}

impl<R> Deref for Aligned<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        &self.values[self.start..]
    }
}

impl<R> DerefMut for Aligned<R> {
    fn deref_mut(&mut self) -> &mut [R] {
        &mut self.values[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_the_same_and_begin_with_a_line() {
        for n in [0, 1, 5, 16, 1000, 100_000] {
            let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
            let mut aligned = Aligned::from(values.clone());
            assert_eq!(aligned[..], values);
            assert_eq!(aligned.as_ptr().align_offset(LINE), 0);
            aligned.reverse();
            assert!(aligned.iter().rev().eq(&values));
        }
    }
}
