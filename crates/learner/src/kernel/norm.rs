//! Layer normalisation of rows `[N,D]`: each to mean zero and variance one, then scaled and shifted per column.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// `out[N,D] = (inp − mean) / √(variance + eps) · gain[D] + bias[D]`; `mean[N]` and `inverse[N]` (one over the square
/// root) are saved for the backward pass.
pub fn layer_norm<R: Real>(
    out: &mut [R],
    mean: &mut [R],
    inverse: &mut [R],
    inp: &[R],
    gain: &[R],
    bias: &[R],
    eps: R,
) {
    dispatch!(forward(out, mean, inverse, inp, gain, bias, eps));
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "as above")]
fn forward<R: Real, S: Simd>(
    s: S,
    out: &mut [R],
    mean: &mut [R],
    inverse: &mut [R],
    inp: &[R],
    gain: &[R],
    bias: &[R],
    eps: R,
) {
    let (d, lanes) = (gain.len(), V::<R, S>::lanes());
    let whole = d - d % lanes;
    let share = R::ONE / R::of(d as f64);
    let rows = out.chunks_exact_mut(d).zip(inp.chunks_exact(d));
    for (((out, inp), mean), inverse) in rows.zip(mean.iter_mut()).zip(inverse.iter_mut()) {
        // The mean first, the squares in a second pass: E[x²] − E[x]² would lose digits where the mean is
        // large, and the row is in cache.
        let mut sum = V::constant(s, 0.0);
        for i in (0..d).step_by(lanes) {
            sum = sum + V::at(s, inp, i);
        }
        *mean = sum.sum() * share;
        let center = V::splat(s, *mean);
        let mut squares = V::constant(s, 0.0);
        for i in (0..whole).step_by(lanes) {
            let x = V::at(s, inp, i) - center;
            squares = x.mul_add(x, squares);
        }
        // The end of the row by itself: lanes past it would count as (0 − mean)².
        let tail: R = inp[whole..].iter().map(|&x| (x - *mean) * (x - *mean)).sum();
        *inverse = R::ONE / ((squares.sum() + tail) * share + eps).root();
        let scale = V::splat(s, *inverse);
        for i in (0..d).step_by(lanes) {
            let x = (V::at(s, inp, i) - center) * scale;
            x.mul_add(V::at(s, gain, i), V::at(s, bias, i)).put(out, i);
        }
    }
}

/// The backward pass, from the saved statistics.
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn layer_norm_backward<R: Real>(
    dinp: &mut [R],
    dgain: &mut [R],
    dbias: &mut [R],
    dout: &[R],
    inp: &[R],
    mean: &[R],
    inverse: &[R],
    gain: &[R],
) {
    dispatch!(backward(dinp, dgain, dbias, dout, inp, mean, inverse, gain));
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "as above")]
fn backward<R: Real, S: Simd>(
    s: S,
    dinp: &mut [R],
    dgain: &mut [R],
    dbias: &mut [R],
    dout: &[R],
    inp: &[R],
    mean: &[R],
    inverse: &[R],
    gain: &[R],
) {
    let (d, lanes) = (gain.len(), V::<R, S>::lanes());
    let share = R::ONE / R::of(d as f64);
    let rows = dinp.chunks_exact_mut(d).zip(dout.chunks_exact(d)).zip(inp.chunks_exact(d));
    for (((dinp, dout), inp), (&mean, &inverse)) in rows.zip(mean.iter().zip(inverse)) {
        let (center, scale) = (V::splat(s, mean), V::splat(s, inverse));
        // Lanes past the end of a row hold zero gradient, so they add nothing to either sum.
        let (mut sum, mut product) = (V::constant(s, 0.0), V::constant(s, 0.0));
        for i in (0..d).step_by(lanes) {
            let (x, dout) = ((V::at(s, inp, i) - center) * scale, V::at(s, dout, i));
            let dx = dout * V::at(s, gain, i);
            sum = sum + dx;
            product = dx.mul_add(x, product);
            // Gradients of the parameters in the same pass, while x and its gradient are in registers.
            dout.mul_add(x, V::at(s, dgain, i)).put(dgain, i);
            (V::at(s, dbias, i) + dout).put(dbias, i);
        }
        let (sum, product) = (V::splat(s, sum.sum() * share), V::splat(s, product.sum() * share));
        for i in (0..d).step_by(lanes) {
            let x = (V::at(s, inp, i) - center) * scale;
            let dx = V::at(s, dout, i) * V::at(s, gain, i);
            (scale * (dx - sum - x * product)).put(dinp, i);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{
        check_finite_differences, dot, near, random, size, size_or_none, values, wide,
    };
    use super::*;

    fn forward<R: Real>(x: &[R], gain: &[R], bias: &[R]) -> (Vec<R>, Vec<R>, Vec<R>) {
        let n = x.len() / gain.len();
        let (mut out, mut mean, mut inverse) = (vec![R::ZERO; x.len()], vec![R::ZERO; n], vec![R::ZERO; n]);
        layer_norm(&mut out, &mut mean, &mut inverse, x, gain, bias, R::of(1e-5));
        (out, mean, inverse)
    }

    /// One row at a time, mean and variance first.
    fn naive(x: &[f64], gain: &[f64], bias: &[f64]) -> Vec<f64> {
        let (d, mut out) = (gain.len(), Vec::new());
        for row in x.chunks(d) {
            let [mean, scale] = statistics(row);
            out.extend((0..d).map(|i| (row[i] - mean) * scale * gain[i] + bias[i]));
        }
        out
    }

    /// The mean, and one over the standard deviation.
    fn statistics(row: &[f64]) -> [f64; 2] {
        let d = row.len() as f64;
        let mean = row.iter().sum::<f64>() / d;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / d;
        [mean, 1.0 / (variance + 1e-5).sqrt()]
    }

    /// Gradients of inputs, gains and biases, by the Jacobian of a row: with x̂ its normalised elements,
    /// dx̂ⱼ/dxᵢ = (δᵢⱼ − 1/D − x̂ᵢ·x̂ⱼ/D) / √(variance + ε).
    fn naive_backward(x: &[f64], gain: &[f64], g: &[f64]) -> [Vec<f64>; 3] {
        let d = gain.len();
        let (mut dx, mut dgain, mut dbias) = (vec![0.0; x.len()], vec![0.0; d], vec![0.0; d]);
        for (n, row) in x.chunks(d).enumerate() {
            let [mean, scale] = statistics(row);
            let hat = |i: usize| (row[i] - mean) * scale;
            for j in 0..d {
                let g = g[n * d + j];
                dgain[j] += g * hat(j);
                dbias[j] += g;
                for i in 0..d {
                    let same = f64::from(u8::from(i == j));
                    dx[n * d + i] += g * gain[j] * scale * (same - (1.0 + hat(i) * hat(j)) / d as f64);
                }
            }
        }
        [dx, dgain, dbias]
    }

    fn check<R: Real>(n: usize, d: usize, seed: u64) {
        let [x, gain, bias, g] = [n * d, d, d, n * d].map(|len| random::<R>(seed + len as u64, len));
        let (out, mean, inverse) = forward(&x, &gain, &bias);
        // A row of two elements that are nearly equal is divided by √ε = 0.003: rounding grows by as much.
        let terms = if d < 4 { 300 * d } else { 8 * d };
        near(&out, &naive(&wide(&x), &wide(&gain), &wide(&bias)), terms);
        let (mut dx, mut dgain, mut dbias) = (vec![R::of(9.0); n * d], vec![R::ZERO; d], vec![R::ZERO; d]);
        layer_norm_backward(&mut dx, &mut dgain, &mut dbias, &g, &x, &mean, &inverse, &gain);
        let [naive_dx, naive_dgain, naive_dbias] = naive_backward(&wide(&x), &wide(&gain), &wide(&g));
        near(&dx, &naive_dx, terms);
        near(&dgain, &naive_dgain, terms + n);
        near(&dbias, &naive_dbias, n);
    }

    proptest! {
        #[test]
        fn any_shape_equals_the_naive_twin(n in size_or_none(), d in size(), seed in 0u64..1000) {
            check::<f32>(n, d, seed);
            check::<f64>(n, d, seed);
        }
    }

    #[test]
    fn gradients_match_finite_differences() {
        for d in [4, 7] {
            let (x, gain, bias, g) = (values(1, 3 * d), values(2, d), values(3, d), values(4, 3 * d));
            let loss = |x: &[f64], gain: &[f64], bias: &[f64]| dot(&forward(x, gain, bias).0, &g);
            let (_, mean, inverse) = forward(&x, &gain, &bias);
            let (mut dx, mut dgain, mut dbias) = (vec![9.0; 3 * d], vec![0.0; d], vec![0.0; d]);
            layer_norm_backward(&mut dx, &mut dgain, &mut dbias, &g, &x, &mean, &inverse, &gain);
            check_finite_differences(&x, &dx, |x| loss(x, &gain, &bias));
            check_finite_differences(&gain, &dgain, |gain| loss(&x, gain, &bias));
            check_finite_differences(&bias, &dbias, |bias| loss(&x, &gain, bias));
        }
    }
}
