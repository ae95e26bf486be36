//! Features: a row for each answer.

use crate::kernel::{Accumulate, Mat, Real, matmul};

pub trait FeatureRows<R: Real> {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn read(&self, row: usize, to: &mut [R]);

    /// The products `[K,N]` of all rows with each of `K` weight vectors.
    fn products(&self, weights: &[R], to: &mut [R]);
}

/// Features that are any numbers.
#[derive(Clone, Debug)]
pub struct DenseRows<R> {
    width: usize,
    values: Vec<R>,
}

impl<R: Real> DenseRows<R> {
    pub fn zeros(rows: usize, width: usize) -> Self {
        Self { width, values: vec![R::ZERO; rows * width] }
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [R] {
        &mut self.values[row * self.width..][..self.width]
    }
}

impl<R: Real> FeatureRows<R> for DenseRows<R> {
    fn len(&self) -> usize {
        self.values.len() / self.width
    }

    fn read(&self, row: usize, to: &mut [R]) {
        to.copy_from_slice(&self.values[row * self.width..][..self.width]);
    }

    fn products(&self, weights: &[R], to: &mut [R]) {
        let (k, n) = (weights.len() / self.width, self.len());
        let rows = Mat::new(&self.values, n, self.width).t();
        matmul(to, Accumulate::Set, Mat::new(weights, k, self.width), rows);
    }
}

/// Features that are 0 or 1, eight to a byte.
#[derive(Clone, Debug)]
pub struct BitRows {
    width: usize,
    bytes: Vec<u8>,
}

/// Up to this many weight vectors, sums are looked up byte by byte; more of them go through a matrix product.
const LOOKED_UP: usize = 2;

/// Rows that are written out at a time for a matrix product.
const BLOCK: usize = 64;

impl BitRows {
    /// No rows of `width` features.
    pub fn new(width: usize) -> Self {
        Self { width, bytes: Vec::new() }
    }

    fn stride(&self) -> usize {
        self.width.div_ceil(8)
    }

    /// Adds a row that is made of several states of `cells` features each.
    pub fn push(&mut self, states: &[u64], cells: usize) {
        let start = self.bytes.len();
        self.bytes.resize(start + self.stride(), 0);
        let row = &mut self.bytes[start..];
        let words = cells.div_ceil(64);
        for (k, state) in states.chunks(words).enumerate() {
            let (shift, first) = (k * cells % 8, k * cells / 8);
            let bytes = state.iter().flat_map(|word| word.to_le_bytes()).take(cells.div_ceil(8));
            for (i, byte) in bytes.enumerate() {
                row[first + i] |= byte << shift;
                if shift > 0 && first + i + 1 < row.len() {
                    row[first + i + 1] |= byte >> (8 - shift);
                }
            }
        }
    }

    /// The sums of every subset of eight weights.
    fn table<R: Real>(weights: &[R], table: &mut [R; 256]) {
        table[0] = R::ZERO;
        for bit in 0..8 {
            let weight = weights.get(bit).copied().unwrap_or(R::ZERO);
            let (known, new) = table.split_at_mut(1 << bit);
            for (to, from) in new.iter_mut().zip(known.iter()) {
                *to = *from + weight;
            }
        }
    }

    fn looked_up<R: Real>(&self, weights: &[R], to: &mut [R]) {
        let mut tables = vec![[R::ZERO; 256]; self.stride()];
        for (table, weights) in tables.iter_mut().zip(weights.chunks(8)) {
            Self::table(weights, table);
        }
        for (to, row) in to.iter_mut().zip(self.bytes.chunks_exact(self.stride())) {
            // Four sums side by side, because one would wait for its own last addition.
            let mut sums = [R::ZERO; 4];
            let (blocks, rest) = row.as_chunks::<4>();
            let (table_blocks, table_rest) = tables.as_chunks::<4>();
            for (bytes, tables) in blocks.iter().zip(table_blocks) {
                for k in 0..4 {
                    sums[k] += tables[k][usize::from(bytes[k])];
                }
            }
            for (&byte, table) in rest.iter().zip(table_rest) {
                sums[0] += table[usize::from(byte)];
            }
            *to = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
    }
}

impl<R: Real> FeatureRows<R> for BitRows {
    fn len(&self) -> usize {
        self.bytes.len() / self.stride()
    }

    fn read(&self, row: usize, to: &mut [R]) {
        let bytes = &self.bytes[row * self.stride()..][..self.stride()];
        for (to, &byte) in to.chunks_mut(8).zip(bytes) {
            for (bit, to) in to.iter_mut().enumerate() {
                *to = if byte >> bit & 1 == 1 { R::ONE } else { R::ZERO };
            }
        }
    }

    fn products(&self, weights: &[R], to: &mut [R]) {
        let (k, n) = (weights.len() / self.width, FeatureRows::<R>::len(self));
        if k <= LOOKED_UP {
            for (weights, to) in weights.chunks_exact(self.width).zip(to.chunks_exact_mut(n)) {
                self.looked_up(weights, to);
            }
            return;
        }
        let mut block = vec![R::ZERO; BLOCK * self.width];
        let mut products = vec![R::ZERO; BLOCK * k];
        for first in (0..n).step_by(BLOCK) {
            let rows = BLOCK.min(n - first);
            for (row, to) in block.chunks_exact_mut(self.width).take(rows).enumerate() {
                self.read(first + row, to);
            }
            // All rows of the block, so that the order of sums does not depend on how many are left.
            matmul(
                &mut products,
                Accumulate::Set,
                Mat::new(&block, BLOCK, self.width),
                Mat::new(weights, k, self.width).t(),
            );
            for (row, products) in products.chunks_exact(k).take(rows).enumerate() {
                for (k, product) in products.iter().enumerate() {
                    to[k * n + first + row] = *product;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::values;

    #[test]
    fn products_with_bits_are_those_with_zeros_and_ones() {
        for (cells, states) in [(12, 2), (64, 1), (900, 2), (13, 3)] {
            let (width, words) = (cells * states, usize::div_ceil(cells, 64));
            let mut rows = BitRows::new(width);
            let mut dense = DenseRows::zeros(70, width);
            for row in 0..70 {
                let bits = |i: usize| (i * i + 3 * row).is_multiple_of(5) || (i + row).is_multiple_of(3);
                let mut packed = vec![0_u64; words * states];
                for i in (0..width).filter(|&i| bits(i)) {
                    packed[i / cells * words + i % cells / 64] |= 1 << (i % cells % 64);
                    dense.row_mut(row)[i] = 1.0;
                }
                rows.push(&packed, cells);
            }
            let (mut a, mut b) = (vec![0.0; width], vec![0.0; width]);
            for row in 0..70 {
                rows.read(row, &mut a);
                dense.read(row, &mut b);
                assert_eq!(a, b);
            }
            for k in [1, 2, 5] {
                let weights = values(k, k as usize * width);
                let (mut a, mut b) = (vec![0.0; 70 * k as usize], vec![0.0; 70 * k as usize]);
                rows.products(&weights, &mut a);
                dense.products(&weights, &mut b);
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
            }
        }
    }
}
