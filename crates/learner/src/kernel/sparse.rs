//! A step of a network with few connections, for many sequences at once.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Sequences that go in lockstep: the state of a unit for all of them is one contiguous row.
pub const LOCKSTEP: usize = 32;

/// Registers that are summed side by side.
const SIDE: usize = 4;

/// A sparse matrix, row by row.
#[derive(Clone, Debug, Default)]
pub struct SparseRows<R> {
    /// Where each row begins, and where the last one ends.
    pub starts: Vec<usize>,
    /// The column of each element.
    pub columns: Vec<usize>,
    pub values: Vec<R>,
}

impl<R: Real> SparseRows<R> {
    /// The rows that are not zero of a dense matrix, given row by row.
    pub fn new(rows: impl Iterator<Item = Vec<(usize, R)>>) -> Self {
        let mut all = Self { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for row in rows {
            for (column, value) in row {
                all.columns.push(column);
                all.values.push(value);
            }
            all.starts.push(all.columns.len());
        }
        all
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The columns and values of a row.
    #[inline(always)]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, R)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
}

/// `new = (1 - leak) · old + leak · tanh(matrix · old + input)`, with `[N, LOCKSTEP]` for the `N` rows of the matrix.
pub fn sparse_tanh_step<R: Real>(new: &mut [R], old: &[R], input: &[R], matrix: &SparseRows<R>, leak: R) {
    dispatch!(step_body(new, old, input, matrix, leak));
}

#[inline(always)]
fn step_body<R: Real, S: Simd>(s: S, new: &mut [R], old: &[R], input: &[R], matrix: &SparseRows<R>, leak: R) {
    let width = SIDE * V::<R, S>::lanes();
    let (whole, leaked, kept) = (leak == R::ONE, V::splat(s, leak), V::splat(s, R::ONE - leak));
    for i in 0..matrix.rows() {
        // Sequences are the lanes: the states of a unit are contiguous whatever it is connected to, so
        // nothing is gathered, and each weight is loaded once for four registers.
        for from in (0..LOCKSTEP).step_by(width) {
            let at = i * LOCKSTEP + from;
            let mut sums = V::<R, S>::array::<SIDE>(s, &input[at..at + width]);
            for (column, value) in matrix.row(i) {
                let (value, from) = (V::splat(s, value), column * LOCKSTEP + from);
                let states = V::<R, S>::array::<SIDE>(s, &old[from..from + width]);
                for k in 0..SIDE {
                    sums[k] = value.mul_add(states[k], sums[k]);
                }
            }
            let before = V::<R, S>::array::<SIDE>(s, &old[at..at + width]);
            for k in 0..SIDE {
                let squashed = sums[k].tanh();
                sums[k] = if whole { squashed } else { kept.mul_add(before[k], leaked * squashed) };
            }
            V::write(sums, &mut new[at..at + width]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{near, random, size_or_none, wide};
    use super::*;

    /// One unit of one sequence at a time, with a dense matrix.
    fn naive(old: &[f64], input: &[f64], dense: &[f64], units: usize, leak: f64) -> Vec<f64> {
        let mut new = Vec::new();
        for i in 0..units {
            for b in 0..LOCKSTEP {
                let mut sum = input[i * LOCKSTEP + b];
                for j in 0..units {
                    sum += dense[i * units + j] * old[j * LOCKSTEP + b];
                }
                new.push((1.0 - leak) * old[i * LOCKSTEP + b] + leak * libm::tanh(sum));
            }
        }
        new
    }

    /// Every `every`-th connection is there; some units have none.
    fn check<R: Real>(units: usize, every: usize, leak: f64, seed: u64) {
        let (weights, leak) = (random::<R>(seed, units * units), R::of(leak));
        let is_there = |i: usize, j: usize| (i + 2 * j).is_multiple_of(every) && !i.is_multiple_of(5);
        let row =
            |i: usize| (0..units).filter(|&j| is_there(i, j)).map(|j| (j, weights[i * units + j])).collect();
        let matrix = SparseRows::new((0..units).map(row));
        let weight = |at: usize| if is_there(at / units, at % units) { weights[at].wide() } else { 0.0 };
        let dense: Vec<f64> = (0..units * units).map(weight).collect();
        let (old, input): (Vec<R>, Vec<R>) =
            (random(seed + 1, units * LOCKSTEP), random(seed + 2, units * LOCKSTEP));
        let mut new = vec![R::of(9.0); units * LOCKSTEP];
        sparse_tanh_step(&mut new, &old, &input, &matrix, leak);
        near(&new, &naive(&wide(&old), &wide(&input), &dense, units, leak.wide()), units);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_matrix_equals_the_naive_twin(units in size_or_none(), every in 1usize..6, seed in 0u64..1000) {
            for leak in [1.0, 0.3] {
                check::<f32>(units, every, leak, seed);
                check::<f64>(units, every, leak, seed);
            }
        }
    }
}
