//! The one matrix product everything goes through. In general it belongs to the `gemm` crate, chosen by measurement: as fast
//! as its rival at the thin shapes of this trade, and it leaves the vector registers clean. Single rows, narrow matrices and
//! gradients of weights have faster ways of their own.
//! One thread, so the order of additions depends on nothing but the shapes.

use super::Real;
use super::matvec::{self, End};
use super::{packed, transposed};

/// A matrix seen in a slice: `rows` × `cols`, or its transpose.
#[derive(Clone, Copy, Debug)]
pub struct Mat<'a, R> {
    data: &'a [R],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a, R> Mat<'a, R> {
    /// Row after row.
    ///
    /// # Panics
    /// If the slice is not `rows · cols` long.
    pub fn new(data: &'a [R], rows: usize, cols: usize) -> Self {
        assert_eq!(data.len(), rows * cols, "a matrix of {rows} x {cols}");
        Self { data, rows, cols, row_stride: cols, col_stride: 1 }
    }

    /// Rows that lie `stride` apart.
    ///
    /// # Panics
    /// If the last row ends outside the slice.
    pub fn strided(data: &'a [R], rows: usize, cols: usize, stride: usize) -> Self {
        assert!(rows == 0 || (rows - 1) * stride + cols <= data.len(), "rows must end inside the slice");
        Self { data, rows, cols, row_stride: stride, col_stride: 1 }
    }

    /// Rows and columns.
    pub(super) fn shape(self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// One number of it.
    #[inline(always)]
    pub(super) fn get(self, row: usize, col: usize) -> R
    where
        R: Copy,
    {
        self.data[row * self.row_stride + col * self.col_stride]
    }

    /// The numbers behind it.
    pub fn data(self) -> &'a [R] {
        self.data
    }

    /// The transpose, without moving anything.
    #[must_use]
    pub fn t(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            ..self
        }
    }
}

/// Whether a product replaces what was there or is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulate {
    /// `c = a · b`
    Set,
    /// `c += a · b`
    Add,
}

/// `c[M,N] = a[M,K] · b[K,N]`, or `+=`.
///
/// ```
/// use wug_learner::kernel::{Accumulate, Mat, matmul};
/// let mut c = [1.0f32; 2];
/// matmul(&mut c, Accumulate::Add, Mat::new(&[1.0, 2.0], 1, 2), Mat::new(&[1.0, 3.0, 10.0, 30.0], 2, 2));
/// assert_eq!(c, [22.0, 64.0]);
/// ```
///
/// # Panics
/// If the shapes do not fit.
pub fn matmul<R: Real>(c: &mut [R], into: Accumulate, a: Mat<'_, R>, b: Mat<'_, R>) {
    matmul_from(End::Front, c, into, a, b);
}

/// The same; where `a` is one row, `b` is read from this end.
pub(super) fn matmul_from<R: Real>(from: End, c: &mut [R], into: Accumulate, a: Mat<'_, R>, b: Mat<'_, R>) {
    assert_eq!(a.cols, b.rows, "the inner sizes of a product");
    assert_eq!(c.len(), a.rows * b.cols, "the size of a product");
    if c.is_empty() {
        return;
    }
    if a.cols == 0 {
        if into == Accumulate::Set {
            c.fill(R::ZERO);
        }
        return;
    }
    let add = into == Accumulate::Add;
    // One row (or column) times a whole matrix that lies row by row, or column by column.
    if a.rows == 1 && a.col_stride == 1 && b.data.len() == b.rows * b.cols {
        let x = &a.data[..a.cols];
        // A state that was never set adds nothing (not even where the matrix holds no numbers), and the first step of
        // every string starts from one.
        if add && x.iter().all(|&x| x == R::ZERO) {
            return;
        }
        if b.col_stride == 1 && b.row_stride == b.cols {
            return matvec::vecmat(c, add, b.data, x, from);
        }
        if b.row_stride == 1 && b.col_stride == b.rows {
            return matvec::matvec(c, add, b.data, x, from);
        }
    }
    // Both row by row, the first one seen across.
    let across = a.row_stride == 1 && a.col_stride == a.rows && b.col_stride == 1 && b.row_stride == b.cols;
    if across && transposed::pays::<R>(a.rows, b.cols) {
        return transposed::transposed(c, add, &a.data[..a.cols * a.rows], b.data, a.rows, b.cols);
    }
    let along = a.col_stride == 1 && a.row_stride == a.cols;
    if along && packed::narrow(c, into, &a.data[..a.rows * a.cols], b) {
        return;
    }
    R::gemm(c, add, a, b);
}

/// The fewest rows of `a` in [`matmul`] with a transposed `b` of so many columns, and of strings in a recurrent layer of so
/// many units, from which on a row's sums are the same bits whatever stands beside it. Fewer take another way (through the
/// crate, or around packing), one that is better for vectors and small matrices, and are added in another order.
pub fn min_stable_rows(columns: usize) -> usize {
    (SMALL / columns.max(1) + 1).max(super::packed::ROWS)
}

/// The numbers of a product that the crate takes for small.
const SMALL: usize = 256;

/// Hands the product to the crate, transposed (`cᵀ = bᵀ · aᵀ`), because it prefers columns and we write rows.
#[expect(unsafe_code, reason = "the GEMM crate takes pointers and strides")]
#[expect(clippy::cast_possible_wrap, reason = "a slice is never longer than isize::MAX")]
pub(super) fn gemm_crate<R: Real>(c: &mut [R], add: bool, a: Mat<'_, R>, b: Mat<'_, R>) {
    let (m, k, n) = (b.cols, b.rows, a.rows);
    // SAFETY: `Mat` upholds that every (row, column) index times its stride is inside its slice, `matmul` has checked
    // that the shapes fit and that `c` holds rows · columns numbers; `c` is borrowed mutably, so it overlaps neither.
    // The crate dispatches on the type id of `R`, which is `f32` or `f64` (`Real` has no other implementations).
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            m as isize,
            1,
            add,
            b.data.as_ptr(),
            b.row_stride as isize,
            b.col_stride as isize,
            a.data.as_ptr(),
            a.row_stride as isize,
            a.col_stride as isize,
            R::ONE,
            R::ONE,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::testing::{close, numbers};
    use proptest::prelude::*;

    fn naive(c: &mut [f64], a: &[f64], b: &[f64], (m, k, n): (usize, usize, usize)) {
        for i in 0..m {
            for j in 0..n {
                c[i * n + j] += (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum::<f64>();
            }
        }
    }

    #[test]
    fn in_company_a_row_is_always_the_same() {
        for (k, columns) in [(32, 128), (32, 3), (8, 4), (3, 128), (7, 21), (40, 300)] {
            let b = numbers(1, k * columns);
            let row = numbers(2, k);
            let product = |rows: usize, place: usize| {
                let mut a = numbers(rows as u64 + 3, rows * k);
                a[place * k..][..k].copy_from_slice(&row);
                let mut c = vec![0.0; rows * columns];
                matmul(&mut c, Accumulate::Set, Mat::new(&a, rows, k), Mat::new(&b, columns, k).t());
                c[place * columns..][..columns].to_vec()
            };
            let least = min_stable_rows(columns);
            let expected = product(least, 0);
            for rows in [least, least + 1, least + 2, least + 5, 3 * least, 500 + least] {
                for place in [0, 1, rows / 2, rows - 2, rows - 1] {
                    assert_eq!(product(rows, place), expected, "{k} {columns} {rows} {place}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn equals_the_sum_of_products(m in 1usize..40, k in 0usize..150, n in 1usize..40, seed in 0u64..1000) {
            let (a, b, old) = (numbers(seed, m * k), numbers(seed + 1, k * n), numbers(seed + 2, m * n));
            let mut expected = old.clone();
            naive(&mut expected, &a, &b, (m, k, n));
            let mut c = old.clone();
            matmul(&mut c, Accumulate::Add, Mat::new(&a, m, k), Mat::new(&b, k, n));
            close(&c, &expected, 1e-12);
            // Transposed copies, seen as transposes, give the same.
            let at: Vec<f64> = (0..k * m).map(|i| a[(i % m) * k + i / m]).collect();
            let bt: Vec<f64> = (0..n * k).map(|i| b[(i % k.max(1)) * n + i / k.max(1)]).collect();
            let mut c = old.clone();
            matmul(&mut c, Accumulate::Add, Mat::new(&at, k, m).t(), Mat::new(&bt, n, k).t());
            close(&c, &expected, 1e-12);
            let mut c = old.clone();
            matmul(&mut c, Accumulate::Add, Mat::new(&at, k, m).t(), Mat::new(&b, k, n));
            close(&c, &expected, 1e-12);
            // Single precision is close, and setting forgets what was there.
            let single: Vec<f32> = a.iter().map(|&x| x as f32).collect();
            let double: Vec<f32> = b.iter().map(|&x| x as f32).collect();
            let mut c = vec![7.0f32; m * n];
            matmul(&mut c, Accumulate::Set, Mat::new(&single, m, k), Mat::new(&double, k, n));
            for (c, (e, o)) in c.iter().zip(expected.iter().zip(&old)) {
                prop_assert!((f64::from(*c) - (e - o)).abs() < 1e-4);
            }
        }
    }
}
