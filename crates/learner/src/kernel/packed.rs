//! Products with the same weight matrix, step after step.
//!
//! A matrix product first copies ("packs") its operands into the order in which its inner loop reads them. At the sizes of
//! recurrent layers that costs a tenth of the product, and a layer multiplies by the same weights at every step of a sequence.
//! So [`PackedWeight`] packs the matrix once per sequence, and the rows of the other operand are read in place.
//!
//! Layout: the columns of `matrix[K,N]` are cut into panels of two registers, `[K, 2·lanes]` each, one after the other; the
//! last panel is padded with zeros to one or two registers. A tile of [`ROWS`] × 2 registers of sums is held in registers
//! while the `K` rows of a panel pass by.

use pulp::Simd;

use super::simd::{MAX_LANES, V, dispatch};
use super::{Accumulate, Mat, Real, matmul};

/// Rows of a tile: six rows of two registers of sums, two registers of the panel and a broadcast element fill the
/// sixteen registers of AVX2.
pub(super) const ROWS: usize = 6;

/// Terms of a sum per iteration of the inner loop: enough that the bounds checks cost little beside them.
pub(super) const UNROLL: usize = 4;

/// A matrix `[K,N]` that many rows are multiplied by.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedWeight<'a, R> {
    matrix: Mat<'a, R>,
    /// The packed matrix; empty if there are too few rows to make up for packing.
    panels: &'a [R],
}

/// Elements of workspace that [`PackedWeight::new`] needs for products of `rows` rows with a matrix `[k,n]` or `[n,k]`.
pub(super) fn workspace(rows: usize, k: usize, n: usize) -> usize {
    // An upper bound: the last panel is padded by less than two registers, and the front by less than one.
    if pays(rows) { (k + 2 * MAX_LANES) * (n + 2 * MAX_LANES) } else { 0 }
}

/// The part of a workspace that begins at a multiple of the register size, so that no load straddles two cache lines.
pub(super) fn aligned<R>(workspace: &mut [R]) -> &mut [R] {
    let offset = workspace.as_ptr().align_offset(MAX_LANES * size_of::<R>()).min(MAX_LANES);
    &mut workspace[offset..]
}

/// Whether packing pays for products of so many rows: from one full tile on.
pub(super) fn pays(rows: usize) -> bool {
    rows >= ROWS
}

/// Elements of the workspace on the stack of [`narrow`].
const STACK_WORKSPACE: usize = 1 << 12;

/// `c[M,N] = a[M,K] · matrix[K,N]`, or `+=`, for a matrix of at most two panels that is so small that packing it for a single
/// product costs next to nothing. Returns false, and does nothing, for any other matrix.
pub(super) fn narrow<R: Real>(c: &mut [R], into: Accumulate, a: &[R], matrix: Mat<'_, R>) -> bool {
    let (k, n) = matrix.shape();
    let rows = c.len() / n.max(1);
    let fits = n <= 2 * MAX_LANES && pays(rows) && workspace(rows, k, n) <= STACK_WORKSPACE;
    if fits {
        PackedWeight::new(matrix, rows, &mut [R::ZERO; STACK_WORKSPACE]).0.product(c, into, a);
    }
    fits
}

impl<'a, R: Real> PackedWeight<'a, R> {
    /// Packs the matrix into the front of `workspace` if that pays for products of `rows` rows; returns the rest
    /// of the workspace too.
    pub(super) fn new(matrix: Mat<'a, R>, rows: usize, workspace: &'a mut [R]) -> (Self, &'a mut [R]) {
        let (k, n) = matrix.shape();
        if !pays(rows) || k == 0 || n == 0 {
            return (Self { matrix, panels: &[] }, workspace);
        }
        let (panels, rest) = workspace.split_at_mut(self::workspace(rows, k, n));
        let panels = aligned(panels);
        dispatch!(pack(&mut *panels, matrix));
        (Self { matrix, panels }, rest)
    }

    /// `c[M,N] = a[M,K] · self`, or `+=`.
    pub(super) fn product(self, c: &mut [R], into: Accumulate, a: &[R]) {
        let (k, n) = self.matrix.shape();
        if self.panels.is_empty() {
            return matmul(c, into, Mat::new(a, c.len() / n.max(1), k), self.matrix);
        }
        self.multiply(c, a, To { add: into == Accumulate::Add, bias: &[], n });
    }

    /// `c[M,N] = a[M,K] · self + bias[N]`; an empty bias is zero.
    pub(super) fn product_with(self, c: &mut [R], a: &[R], bias: &[R]) {
        if !self.panels.is_empty() {
            let n = self.matrix.shape().1;
            self.multiply(c, a, To { add: false, bias, n });
        } else if bias.is_empty() {
            self.product(c, Accumulate::Set, a);
        } else {
            c.chunks_exact_mut(bias.len()).for_each(|row| row.copy_from_slice(bias));
            self.product(c, Accumulate::Add, a);
        }
    }

    fn multiply(self, c: &mut [R], a: &[R], to: To<'_, R>) {
        let k = self.matrix.shape().0;
        assert_eq!(c.len() * k, a.len() * to.n, "as many rows out of a product as into it");
        dispatch!(product(c, a, self.panels, k, to));
    }
}

/// Registers in the panel that begins at column `first` of `n`.
fn registers(n: usize, first: usize, lanes: usize) -> usize {
    if n - first > lanes { 2 } else { 1 }
}

#[inline(always)]
fn pack<R: Real, S: Simd>(_: S, to: &mut [R], matrix: Mat<'_, R>) {
    let lanes = V::<R, S>::lanes();
    let (k, n) = matrix.shape();
    for first in (0..n).step_by(2 * lanes) {
        let width = registers(n, first, lanes) * lanes;
        let inside = width.min(n - first);
        for (i, row) in to[first * k..][..k * width].chunks_exact_mut(width).enumerate() {
            for (j, x) in row[..inside].iter_mut().enumerate() {
                // One element at a time, because the matrix may be a transpose: this is done once per
                // sequence.
                *x = matrix.get(i, first + j);
            }
            row[inside..].fill(R::ZERO);
        }
    }
}

#[inline(always)]
fn product<R: Real, S: Simd>(s: S, c: &mut [R], a: &[R], panels: &[R], k: usize, to: To<'_, R>) {
    let (mut c, mut a) = (c, a);
    if to.n <= V::<R, S>::lanes() {
        // With one register of sums per row, twice as many rows fill the registers.
        while a.len() >= 2 * ROWS * k {
            let start = [[V::at(s, to.bias, 0)]; 2 * ROWS];
            put(s, c, tile(s, start, first_rows(a, k), panels, k), to.n, to);
            (c, a) = (&mut c[2 * ROWS * to.n..], &a[2 * ROWS * k..]);
        }
    }
    for (i, a) in a.chunks(ROWS * k).enumerate() {
        let c = &mut c[i * ROWS * to.n..];
        // The number of rows is a constant of the code, so that all sums of a tile are registers.
        match a.len() / k {
            1 => rows::<R, S, 1>(s, c, a, panels, k, to),
            2 => rows::<R, S, 2>(s, c, a, panels, k, to),
            3 => rows::<R, S, 3>(s, c, a, panels, k, to),
            4 => rows::<R, S, 4>(s, c, a, panels, k, to),
            5 => rows::<R, S, 5>(s, c, a, panels, k, to),
            _ => rows::<R, S, ROWS>(s, c, a, panels, k, to),
        }
    }
}

#[derive(Clone, Copy)]
struct To<'a, R> {
    /// Whether they are added to what is there.
    add: bool,
    /// What the sums of each row begin with, `[N]` or empty; must be empty with `add`.
    bias: &'a [R],
    /// `N`, elements per row.
    n: usize,
}

/// `M` rows with all panels: the rows stay in the first-level cache while the panels pass by.
#[inline(always)]
fn rows<R: Real, S: Simd, const M: usize>(s: S, c: &mut [R], a: &[R], panels: &[R], k: usize, to: To<'_, R>) {
    let lanes = V::<R, S>::lanes();
    let all = first_rows(a, k);
    let whole = to.n - to.n % (2 * lanes);
    for first in (0..whole).step_by(2 * lanes) {
        let (c, mut sums) = (&mut c[first..], [[V::<R, S>::constant(s, 0.0); 2]; M]);
        if to.add {
            for m in 0..M {
                sums[m] = V::array(s, &c[m * to.n..]);
            }
        } else if !to.bias.is_empty() {
            sums = [V::array(s, &to.bias[first..]); M];
        }
        let sums = tile(s, sums, all, &panels[first * k..], k);
        for m in 0..M {
            V::write(sums[m], &mut c[m * to.n..]);
        }
    }
    let (c, panel, inside) = (&mut c[whole..], &panels[whole * k..], to.n - whole);
    let bias = to.bias.get(whole..).unwrap_or_default();
    if inside > lanes {
        let start = [V::at(s, bias, 0), V::at(s, bias, lanes.min(bias.len()))];
        put(s, c, tile(s, [start; M], all, panel, k), inside, to);
    } else if inside > 0 {
        put(s, c, tile(s, [[V::at(s, bias, 0)]; M], all, panel, k), inside, to);
    }
}

#[inline(always)]
fn first_rows<R, const M: usize>(a: &[R], k: usize) -> [&[R]; M] {
    let mut rows = [&a[..0]; M];
    for m in 0..M {
        rows[m] = &a[m * k..][..k];
    }
    rows
}

/// `sums += rows · panel` for a panel of `W` registers.
#[inline(always)]
fn tile<R: Real, S: Simd, const M: usize, const W: usize>(
    s: S,
    mut sums: [[V<R, S>; W]; M],
    rows: [&[R]; M],
    panel: &[R],
    k: usize,
) -> [[V<R, S>; W]; M] {
    // Each sum is a single chain over `K` in order, whatever rows stand beside it: that is what makes results
    // independent of the batch size (`min_stable_rows`). Twelve chains side by side hide the latency.
    let panel = &V::<R, S>::regs(panel)[..W * k];
    let (whole, none) = (k - k % UNROLL, [R::ZERO; UNROLL]);
    for i in (0..whole).step_by(UNROLL) {
        let mut x = [&none; M];
        for m in 0..M {
            x[m] = rows[m][i..].first_chunk().expect("UNROLL elements are left");
        }
        let panel = &panel[W * i..][..W * UNROLL];
        for j in 0..UNROLL {
            for m in 0..M {
                for w in 0..W {
                    sums[m][w] = V::splat(s, x[m][j]).mul_add(V::of(s, panel[W * j + w]), sums[m][w]);
                }
            }
        }
    }
    for i in whole..k {
        for m in 0..M {
            for w in 0..W {
                sums[m][w] = V::splat(s, rows[m][i]).mul_add(V::of(s, panel[W * i + w]), sums[m][w]);
            }
        }
    }
    sums
}

/// Writes the sums of the last panel to its `inside` columns. Whole registers are stored, because a masked store costs more:
/// the elements after the row, which belong to the next one, are written back unchanged.
#[inline(always)]
fn put<R: Real, S: Simd, const M: usize, const W: usize>(
    s: S,
    c: &mut [R],
    sums: [[V<R, S>; W]; M],
    inside: usize,
    to: To<'_, R>,
) {
    let lanes = V::<R, S>::lanes();
    for m in 0..M {
        let c = &mut c[m * to.n..];
        if c.len() >= W * lanes {
            V::update::<W>(s, c, |w, old| {
                let sum = if to.add { old + sums[m][w] } else { sums[m][w] };
                V::below(s, inside.saturating_sub(w * lanes), sum, old)
            });
        } else {
            let row = &mut c[..inside];
            for (w, &sum) in sums[m].iter().enumerate() {
                let sum = if to.add { V::at(s, row, w * lanes) + sum } else { sum };
                sum.put(row, w * lanes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::super::testing::{near, random, size, size_or_none, wide};
    use super::*;

    fn check<R: Real>(m: usize, k: usize, n: usize, seed: u64) {
        let (a, b): (Vec<R>, Vec<R>) = (random(seed, m * k), random(seed + 1, k * n));
        let (old, bias): (Vec<R>, Vec<R>) = (random(seed + 2, m * n), random(seed + 3, n));
        let product = naive::product(&wide(&a), &wide(&b), m, k, n);
        let plus = |more: &[R]| -> Vec<f64> {
            product.iter().enumerate().map(|(i, x)| x + more[i % more.len()].wide()).collect()
        };
        let transposed = naive::transpose(&b, k, n);
        for matrix in [Mat::new(&b, k, n), Mat::new(&transposed, n, k).t()] {
            // What a workspace held before must not matter.
            let mut space = vec![R::of(f64::NAN); workspace(m, k, n)];
            let (weight, _) = PackedWeight::new(matrix, m, &mut space);
            let mut c = old.clone();
            weight.product(&mut c, Accumulate::Add, &a);
            near(&c, &if m == 0 { vec![] } else { plus(&old) }, k);
            weight.product(&mut c, Accumulate::Set, &a);
            near(&c, &product, k);
            weight.product_with(&mut c, &a, &bias);
            near(&c, &plus(&bias), k);
            weight.product_with(&mut c, &a, &[]);
            near(&c, &product, k);
            let mut c = old.clone();
            if narrow(&mut c, Accumulate::Set, &a, matrix) {
                near(&c, &product, k);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn any_shape_equals_the_naive_product(
            (m, k) in (size_or_none(), size()),
            n in prop_oneof![size(), 40usize..100],
            seed in 0u64..1000,
        ) {
            check::<f32>(m, k, n, seed);
            check::<f64>(m, k, n, seed);
        }
    }
}
