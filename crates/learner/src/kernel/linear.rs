//! A fully connected layer.

use pulp::Simd;

use super::simd::{V, dispatch};
use super::{Accumulate, Activation, Mat, Real, activate, activate_backward, matmul};

/// `out[N,O] = f(inp[N,I] · weight[O,I]ᵀ + bias[O])`; an empty bias is zero.
///
/// ```
/// use wug_learner::kernel::{Activation, linear};
/// let mut out = [0.0f32; 2];
/// // Two rows of one element each; weight 3, bias ½.
/// linear(&mut out, &[1.0, -2.0], &[3.0], &[0.5], 1, Activation::Relu);
/// assert_eq!(out, [3.5, 0.0]);
/// ```
pub fn linear<R: Real>(out: &mut [R], inp: &[R], weight: &[R], bias: &[R], i: usize, f: Activation) {
    let o = weight.len() / i;
    let block = rows_in_cache::<R>(i + o, inp.len() / i);
    for (out, inp) in out.chunks_mut(block * o).zip(inp.chunks(block * i)) {
        matmul(out, Accumulate::Set, Mat::new(inp, inp.len() / i, i), Mat::new(weight, o, i).t());
        // Right after the product of the same rows, whose sums are still in the second-level cache.
        activate(out, bias, f);
    }
}

/// Rows of a block such that all rows of `width` elements of it stay in the second-level cache. Blocks are of about equal
/// size: a last block of one or two rows would go through another kernel and be rounded differently.
fn rows_in_cache<R>(width: usize, rows: usize) -> usize {
    let most = ((1 << 18) / (width * size_of::<R>())).max(1);
    rows.div_ceil(rows.div_ceil(most).max(1)).max(1)
}

/// The backward pass. `dout[N,O]` is first multiplied by the derivative of `f` in place; gradients that are not
/// required may be empty.
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn linear_backward<R: Real>(
    dinp: &mut [R],
    dweight: &mut [R],
    dbias: &mut [R],
    dout: &mut [R],
    out: &[R],
    inp: &[R],
    weight: &[R],
    i: usize,
    f: Activation,
) {
    let o = weight.len() / i;
    // Gradients are read from memory once for all three products.
    let block = rows_in_cache::<R>(i + o, inp.len() / i);
    let rows = dout.chunks_mut(block * o).zip(out.chunks(block * o)).zip(inp.chunks(block * i));
    for (b, ((dout, out), inp)) in rows.enumerate() {
        activate_backward(dout, out, f);
        let n = inp.len() / i;
        let dout = Mat::new(dout, n, o);
        if !dinp.is_empty() {
            let dinp = &mut dinp[b * block * i..][..n * i];
            matmul(dinp, Accumulate::Set, dout, Mat::new(weight, o, i));
        }
        if !dweight.is_empty() {
            matmul(dweight, Accumulate::Add, dout.t(), Mat::new(inp, n, i));
        }
        if !dbias.is_empty() {
            column_sums(dbias, dout.data());
        }
    }
}

/// `sums[O] += Σ rows[N,O]`.
pub fn column_sums<R: Real>(sums: &mut [R], rows: &[R]) {
    dispatch!(column_sums_body(sums, rows));
}

#[inline(always)]
fn column_sums_body<R: Real, S: Simd>(s: S, sums: &mut [R], rows: &[R]) {
    let o = sums.len();
    let mut quads = rows.chunks_exact(4 * o);
    for quad in &mut quads {
        for i in (0..o).step_by(V::<R, S>::lanes()) {
            // Four rows per pass over the sums, added in pairs: a quarter of the loads and stores, and no
            // chain of additions.
            // Each load must end with its own row.
            let at = |r: usize| V::at(s, &quad[r * o..(r + 1) * o], i);
            let sum = V::at(s, sums, i) + ((at(0) + at(1)) + (at(2) + at(3)));
            sum.put(sums, i);
        }
    }
    for row in quads.remainder().chunks_exact(o) {
        for i in (0..o).step_by(V::<R, S>::lanes()) {
            (V::at(s, sums, i) + V::at(s, row, i)).put(sums, i);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::super::testing::{
        check_finite_differences, close, dot, near, random, size, size_or_none, values, wide,
    };
    use super::*;

    /// One row and one output at a time: the outputs.
    fn naive(x: &[f64], w: &[f64], b: &[f64], i: usize, f: Activation) -> Vec<f64> {
        let row = |x| naive::affine(w, b, x).into_iter().map(|sum| naive::activate(sum, f));
        x.chunks(i).flat_map(row).collect()
    }

    /// The gradients of inputs, weights and biases, one sum at a time.
    fn naive_backward(
        x: &[f64],
        w: &[f64],
        dout: &[f64],
        out: &[f64],
        i: usize,
        f: Activation,
    ) -> [Vec<f64>; 3] {
        let o = w.len() / i;
        let [mut dx, mut dw, mut db] = [x.len(), w.len(), o].map(|len| vec![0.0; len]);
        for (n, (x, dx)) in x.chunks(i).zip(dx.chunks_mut(i)).enumerate() {
            for u in 0..o {
                let dsum = dout[n * o + u] * naive::derivative(out[n * o + u], f);
                naive::dot_backward(dsum, &w[u * i..][..i], x, &mut dw[u * i..][..i], dx);
                db[u] += dsum;
            }
        }
        [dx, dw, db]
    }

    fn check<R: Real>(n: usize, i: usize, o: usize, f: Activation, seed: u64) {
        let [x, w, b, g] = [n * i, o * i, o, n * o].map(|len| random::<R>(seed + len as u64, len));
        let mut out = vec![R::of(9.0); n * o];
        linear(&mut out, &x, &w, &b, i, f);
        near(&out, &naive(&wide(&x), &wide(&w), &wide(&b), i, f), i);
        // From the outputs of the kernel, so that a relu whose sum is nearly zero is on the same side for both.
        let [dx, dw, db] = naive_backward(&wide(&x), &wide(&w), &wide(&g), &wide(&out), i, f);
        let (mut dinp, mut dweight, mut dbias) =
            (vec![R::of(9.0); n * i], vec![R::ZERO; o * i], vec![R::ZERO; o]);
        linear_backward(&mut dinp, &mut dweight, &mut dbias, &mut g.clone(), &out, &x, &w, i, f);
        near(&dinp, &dx, o);
        near(&dweight, &dw, n);
        near(&dbias, &db, n);
        linear_backward(&mut [], &mut dweight, &mut [], &mut g.clone(), &out, &x, &w, i, f);
        near(&dweight, &dw.iter().map(|d| 2.0 * d).collect::<Vec<_>>(), 2 * n);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_shape_equals_the_naive_twin(
            n in prop_oneof![size_or_none(), 60usize..200],
            (i, o, seed) in (size(), size(), 0u64..1000),
        ) {
            for f in naive::ACTIVATIONS {
                check::<f32>(n, i, o, f, seed);
                check::<f64>(n, i, o, f, seed);
            }
        }
    }

    /// More rows than stay in the second-level cache go block by block.
    #[test]
    fn blocks_of_rows_equal_the_naive_twin() {
        check::<f32>(900, 120, 40, Activation::Tanh, 1);
        check::<f64>(450, 120, 40, Activation::Tanh, 1);
    }

    #[test]
    fn gradients_match_finite_differences() {
        let (n, i, o) = (5, 3, 4);
        let (x, w, b, g) = (values(1, n * i), values(2, o * i), values(3, o), values(4, n * o));
        for f in [Activation::Identity, Activation::Relu, Activation::Tanh] {
            let forward = |x: &[f64], w: &[f64], b: &[f64]| {
                let mut out = vec![0.0; n * o];
                linear(&mut out, x, w, b, i, f);
                out
            };
            let (mut dx, mut dw, mut db) = (vec![9.0; n * i], vec![0.0; o * i], vec![0.0; o]);
            let mut dout = g.clone();
            let out = forward(&x, &w, &b);
            linear_backward(&mut dx, &mut dw, &mut db, &mut dout, &out, &x, &w, i, f);
            check_finite_differences(&x, &dx, |x| dot(&forward(x, &w, &b), &g));
            check_finite_differences(&w, &dw, |w| dot(&forward(&x, w, &b), &g));
            check_finite_differences(&b, &db, |b| dot(&forward(&x, &w, b), &g));
        }
    }

    #[test]
    fn columns_add_up_whatever_the_shape() {
        for (n, o) in [(1, 1), (4, 8), (7, 5), (9, 17), (0, 3)] {
            let (rows, start) = (values(1, n * o), values(2, o));
            let mut sums = start.clone();
            column_sums(&mut sums, &rows);
            let expected: Vec<f64> =
                (0..o).map(|j| start[j] + (0..n).map(|i| rows[i * o + j]).sum::<f64>()).collect();
            close(&sums, &expected, 1e-14);
        }
    }
}
