//! The one matrix product that everything goes through.
//!
//! The general case goes to the `gemm` crate, chosen by measurement: it is as fast as the alternative at the narrow shapes of
//! these models, and it clears the upper halves of the vector registers, so that the code after it is not slowed down. Three
//! special cases have kernels of their own, and [`matmul`] picks them by shape and layout:
//!
//! | `a` | `b` | kernel |
//! |---|---|---|
//! | one row | contiguous, or a transpose | [`matvec`] |
//! | a transpose | row-major, product of at most 256 KiB | [`transposed`] |
//! | row-major, 6 rows or more | at most 32 columns and small | [`packed::narrow`] |
//!
//! Everything runs on one thread, so the order of additions depends on the shapes alone.

use super::Real;
use super::matvec;
use super::{packed, transposed};

/// A view of a slice as a matrix of `rows` × `cols`, or as the transpose of one.
///
/// Invariant: the last element, `(rows − 1) · row_stride + (cols − 1) · col_stride`, is inside `data` (unless the matrix is
/// empty). The GEMM call reads through a pointer and relies on it.
#[derive(Clone, Copy, Debug)]
pub struct Mat<'a, R> {
    data: &'a [R],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a, R> Mat<'a, R> {
    /// A row-major matrix that fills the slice.
    ///
    /// # Panics
    /// If the slice is not `rows · cols` long.
    pub fn new(data: &'a [R], rows: usize, cols: usize) -> Self {
        assert_eq!(Some(data.len()), rows.checked_mul(cols), "a matrix of {rows} x {cols}");
        Self { data, rows, cols, row_stride: cols, col_stride: 1 }
    }

    /// Rows that begin `stride` elements apart.
    ///
    /// # Panics
    /// If the last row does not end inside the slice.
    pub fn strided(data: &'a [R], rows: usize, cols: usize, stride: usize) -> Self {
        // Checked arithmetic: a product that wrapped round would pass the test and let the GEMM call read out of bounds.
        let end = match rows.checked_sub(1) {
            None => Some(0),
            Some(last) => last.checked_mul(stride).and_then(|start| start.checked_add(cols)),
        };
        assert!(
            end.is_some_and(|end| end <= data.len()),
            "{rows} rows of {cols} columns, {stride} apart, do not fit in a slice of {}",
            data.len()
        );
        Self { data, rows, cols, row_stride: stride, col_stride: 1 }
    }

    pub(super) fn shape(self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    #[inline(always)]
    pub(super) fn get(self, row: usize, col: usize) -> R
    where
        R: Copy,
    {
        self.data[row * self.row_stride + col * self.col_stride]
    }

    /// The slice behind the view.
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
    assert_eq!(a.cols, b.rows, "the inner sizes of a product");
    assert_eq!(Some(c.len()), a.rows.checked_mul(b.cols), "the size of a product");
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
    // One row times a contiguous matrix or the transpose of one.
    if a.rows == 1 && a.col_stride == 1 && b.data.len() == b.rows * b.cols {
        let x = &a.data[..a.cols];
        // Every sequence starts from a state of zeros, which adds nothing: the read of the whole matrix is
        // saved. (Where the
        // matrix holds an infinity or NaN, nothing is added either.)
        if add && x.iter().all(|&x| x == R::ZERO) {
            return;
        }
        if b.col_stride == 1 && b.row_stride == b.cols {
            return matvec::vecmat(c, add, b.data, x);
        }
        if b.row_stride == 1 && b.col_stride == b.rows {
            return matvec::matvec(c, add, b.data, x);
        }
    }
    // The transpose of a row-major matrix times a row-major matrix: the gradient of a weight.
    let weight_gradient =
        a.row_stride == 1 && a.col_stride == a.rows && b.col_stride == 1 && b.row_stride == b.cols;
    if weight_gradient && transposed::pays::<R>(a.rows, b.cols) {
        return transposed::transposed(c, add, &a.data[..a.cols * a.rows], b.data, a.rows, b.cols);
    }
    let row_major = a.col_stride == 1 && a.row_stride == a.cols;
    if row_major && packed::narrow(c, into, &a.data[..a.rows * a.cols], b) {
        return;
    }
    R::gemm(c, add, a, b);
}

/// The number of rows from which on a row's result does not depend, to the last bit, on how many rows stand beside it: rows
/// of `a` in [`matmul`] with a transposed `b` of `columns` columns, and strings in a recurrent layer of `columns` sums.
///
/// Fewer rows go through other kernels (matrix–vector products, the GEMM crate's code for small products), which are faster
/// for them and add in another order. A caller that needs the same bits for any batch size pads its batch to this many rows.
pub fn min_stable_rows(columns: usize) -> usize {
    (SMALL / columns.max(1) + 1).max(super::packed::ROWS)
}

/// Elements of a product up to which the GEMM crate uses its code for small products.
const SMALL: usize = 256;

/// Hands the product to the crate, transposed (`cᵀ = bᵀ · aᵀ`), because it prefers columns and we write rows.
#[expect(unsafe_code, reason = "the GEMM crate takes pointers and strides")]
#[expect(clippy::cast_possible_wrap, reason = "a slice is never longer than isize::MAX")]
pub(super) fn gemm_crate<R: Real>(c: &mut [R], add: bool, a: Mat<'_, R>, b: Mat<'_, R>) {
    let (m, k, n) = (b.cols, b.rows, a.rows);
    // SAFETY: the constructors of `Mat` have checked, without overflow, that every (row, column) index times its stride is
    // inside its slice; `matmul` has checked that the shapes fit and that `c` holds rows · columns elements;
    // `c` is borrowed
    // mutably, so it overlaps neither operand. The crate dispatches on the type id of `R`, which is `f32` or `f64` (`Real`
    // is sealed through `Lane`).
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
    use crate::kernel::naive;
    use crate::kernel::testing::{near, random, size, size_or_none, values, wide};
    use proptest::prelude::*;

    #[test]
    fn from_min_stable_rows_on_a_row_does_not_depend_on_the_others() {
        for (k, columns) in [(32, 128), (32, 3), (8, 4), (3, 128), (7, 21), (40, 300)] {
            let b = values(1, k * columns);
            let row = values(2, k);
            let product = |rows: usize, place: usize| {
                let mut a = values(rows as u64 + 3, rows * k);
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

    /// Rows and columns whose product is `usize::MAX + 1`, which wraps round to 0.
    const ROWS: usize = 1 << (usize::BITS / 2 + 1);
    const COLS: usize = 1 << (usize::BITS / 2 - 1);

    #[test]
    #[should_panic(expected = "do not fit in a slice of 4")]
    fn a_stride_that_overflows_is_refused() {
        let _ = Mat::strided(&[0.0; 4], ROWS, COLS, COLS);
    }

    #[test]
    fn a_shape_that_overflows_is_refused() {
        assert!(std::panic::catch_unwind(|| Mat::new(&[0.0f64; 0], ROWS, COLS)).is_err());
        assert_eq!(Mat::<f64>::strided(&[], 0, 7, usize::MAX).shape(), (0, 7));
    }

    /// Rows `padding` further apart. What lies between is NaN, so that a product which read it would be NaN.
    fn spread<R: Real>(x: &[R], cols: usize, padding: usize) -> Vec<R> {
        let gap = vec![R::of(f64::NAN); padding];
        x.chunks(cols.max(1)).flat_map(|row| row.iter().chain(&gap).copied()).collect()
    }

    /// Every layout of both operands, set and added.
    fn check<R: Real>(m: usize, k: usize, n: usize, padding: usize, seed: u64) {
        let (a, b, old): (Vec<R>, Vec<R>, Vec<R>) =
            (random(seed, m * k), random(seed + 1, k * n), random(seed + 2, m * n));
        let product = naive::product(&wide(&a), &wide(&b), m, k, n);
        let sum: Vec<f64> = product.iter().zip(wide(&old)).map(|(x, old)| x + old).collect();
        let (at, bt) = (naive::transpose(&a, m, k), naive::transpose(&b, k, n));
        let (a_apart, b_apart) = (spread(&a, k, padding), spread(&b, n, padding));
        let strided = |data, rows, cols| Mat::strided(data, rows, cols, cols + padding);
        let mut a = vec![Mat::new(&a, m, k), Mat::new(&at, k, m).t()];
        let mut b = vec![Mat::new(&b, k, n), Mat::new(&bt, n, k).t()];
        if k > 0 && n > 0 {
            a.push(strided(&a_apart, m, k));
            b.push(strided(&b_apart, k, n));
        }
        for (a, b) in a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b))) {
            for (into, expected) in [(Accumulate::Set, &product), (Accumulate::Add, &sum)] {
                let mut c = old.clone();
                matmul(&mut c, into, a, b);
                near(&c, expected, k);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn any_shape_and_layout_equals_the_naive_product(
            (m, n) in (size_or_none(), size_or_none()),
            k in prop_oneof![size_or_none(), 100usize..300],
            (padding, seed) in (0usize..4, 0u64..1000),
        ) {
            check::<f32>(m, k, n, padding, seed);
            check::<f64>(m, k, n, padding, seed);
        }

        /// One row or one column is its own case in every layout.
        #[test]
        fn one_row_equals_the_naive_product(k in size(), n in size(), padding in 0usize..4, seed in 0u64..1000) {
            check::<f32>(1, k, n, padding, seed);
            check::<f64>(1, k, n, padding, seed);
            check::<f64>(n, k, 1, padding, seed);
        }
    }
}
