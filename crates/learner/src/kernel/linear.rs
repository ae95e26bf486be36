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
        activate(out, bias, f);
    }
}

/// Rows of a block such that all rows of `width` elements of it stay in the second-level cache. Blocks are of about equal
/// size: a last block of one or two rows would go through another kernel and be rounded differently.
fn rows_in_cache<R>(width: usize, rows: usize) -> usize {
    let most = ((1 << 18) / (width * size_of::<R>())).max(1);
    rows.div_ceil(rows.div_ceil(most).max(1)).max(1)
}

/// The backward pass. `dout[N,O]` is first multiplied by the derivative of `f` in place; gradients that are not required may
/// be empty.
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
    use super::super::testing::{check_finite_differences, close, close_single, dot, singles, values};
    use super::*;

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
            let mut single = vec![0.0f32; n * o];
            linear(&mut single, &singles(&x), &singles(&w), &singles(&b), i, f);
            close_single(&single, &out, 1e-6);
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
