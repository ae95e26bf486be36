//! Bias and non-linearity of a layer's sums. The backward pass needs only the outputs.

use pulp::Simd;
use serde::{Deserialize, Serialize};

use super::Real;
use super::simd::{MAX_LANES, Sigmoid, Tanh, V, dispatch, squash};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    #[default]
    Identity,
    Tanh,
    Relu,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
}

/// `out[N,O] = f(out[N,O] + bias[O])`; an empty bias is zero.
pub fn activate<R: Real>(out: &mut [R], bias: &[R], f: Activation) {
    // Two passes over sums that are still in cache: the functions are fastest on long runs of whole
    // registers, which a row that ends in the middle of one would interrupt.
    if !bias.is_empty() {
        dispatch!(add_to_rows(&mut *out, bias));
    }
    if f != Activation::Identity {
        dispatch!(activate_body(&mut *out, f));
    }
}

#[inline(always)]
fn add_to_rows<R: Real, S: Simd>(s: S, out: &mut [R], bias: &[R]) {
    let lanes = V::<R, S>::lanes();
    let mut out = out;
    if bias.len() < lanes && out.len() >= bias.len() * lanes {
        // `lanes` rows of `bias.len()` elements are `bias.len()` whole registers: the bias is repeated to match them.
        let mut again = [R::ZERO; MAX_LANES * MAX_LANES];
        again[..bias.len() * lanes].chunks_exact_mut(bias.len()).for_each(|row| row.copy_from_slice(bias));
        let many = out.len() - out.len() % (bias.len() * lanes);
        let (rows, rest) = out.split_at_mut(many);
        for rows in rows.chunks_exact_mut(bias.len() * lanes) {
            for i in (0..rows.len()).step_by(lanes) {
                (V::at(s, rows, i) + V::at(s, &again, i)).put(rows, i);
            }
        }
        out = rest;
    }
    for row in out.chunks_exact_mut(bias.len()) {
        for i in (0..row.len()).step_by(V::<R, S>::lanes()) {
            (V::at(s, row, i) + V::at(s, bias, i)).put(row, i);
        }
    }
}

#[inline(always)]
fn activate_body<R: Real, S: Simd>(s: S, out: &mut [R], f: Activation) {
    match f {
        Activation::Identity => {}
        Activation::Tanh => squash::<Tanh, R, S>(s, out),
        Activation::Sigmoid => squash::<Sigmoid, R, S>(s, out),
        Activation::Relu => {
            for i in (0..out.len()).step_by(V::<R, S>::lanes()) {
                V::at(s, out, i).max(V::constant(s, 0.0)).put(out, i);
            }
        }
    }
}

/// `dout[N] *= f'(·)`, where the derivative is computed from the output: `1 − out²` for tanh, and so on.
pub fn activate_backward<R: Real>(dout: &mut [R], out: &[R], f: Activation) {
    if f != Activation::Identity {
        dispatch!(grads(dout, out, f));
    }
}

#[inline(always)]
fn grads<R: Real, S: Simd>(s: S, dout: &mut [R], out: &[R], f: Activation) {
    let (zero, one) = (V::constant(s, 0.0), V::constant(s, 1.0));
    for i in (0..dout.len()).step_by(V::<R, S>::lanes()) {
        let (d, y) = (V::at(s, dout, i), V::at(s, out, i));
        let d = match f {
            Activation::Identity => d,
            Activation::Tanh => d * (-y).mul_add(y, one),
            // The derivative at zero is zero, as in PyTorch.
            Activation::Relu => zero.if_less(y, d, zero),
            Activation::Sigmoid => d * y * (one - y),
        };
        d.put(dout, i);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::super::simd::PORTABLE;
    use super::super::testing::{
        check_finite_differences, close, dot, near, random, size, size_or_none, values, wide,
    };
    use super::*;

    fn check<R: Real>(rows: usize, width: usize, f: Activation, seed: u64) {
        let [x, bias, g] =
            [rows * width, width, rows * width + 1].map(|len| random::<R>(seed + len as u64, len));
        let expected: Vec<f64> = wide(&x)
            .iter()
            .enumerate()
            .map(|(i, x)| naive::activate(x + bias[i % width].wide(), f))
            .collect();
        let mut out = x.clone();
        activate(&mut out, &bias, f);
        near(&out, &expected, 1);
        let mut dout = g[..x.len()].to_vec();
        activate_backward(&mut dout, &out, f);
        let grads = out.iter().map(|y| naive::derivative(y.wide(), f));
        near(&dout, &grads.zip(wide(&g)).map(|(grad, g)| grad * g).collect::<Vec<_>>(), 1);
    }

    proptest! {
        #[test]
        fn any_shape_equals_the_naive_twin(rows in size_or_none(), width in size(), seed in 0u64..1000) {
            for f in naive::ACTIVATIONS {
                check::<f32>(rows, width, f, seed);
                check::<f64>(rows, width, f, seed);
            }
        }
    }

    #[test]
    fn rows_of_any_width_match_the_formula() {
        for f in naive::ACTIVATIONS {
            for width in [1, 3, 8, 13, 40] {
                let (x, bias) = (values(1, 5 * width), values(2, width));
                let expected: Vec<f64> =
                    x.iter().enumerate().map(|(i, x)| naive::activate(x + bias[i % width], f)).collect();
                let mut out = x.clone();
                activate(&mut out, &bias, f);
                close(&out, &expected, 1e-15);
                let mut out = x.clone();
                add_to_rows(PORTABLE, &mut out, &bias);
                activate_body(PORTABLE, &mut out, f);
                close(&out, &expected, 1e-15);
                let mut out = x.clone();
                activate(&mut out, &[], f);
                close(&out, &x.iter().map(|&x| naive::activate(x, f)).collect::<Vec<_>>(), 1e-15);
            }
        }
    }

    #[test]
    fn gradients_match_finite_differences() {
        for f in naive::ACTIVATIONS {
            let (x, weight) = (values(3, 21), values(4, 21));
            let forward = |x: &[f64]| {
                let mut out = x.to_vec();
                activate(&mut out, &[], f);
                out
            };
            let mut gradient = weight.clone();
            activate_backward(&mut gradient, &forward(&x), f);
            check_finite_differences(&x, &gradient, |x| dot(&forward(x), &weight));
        }
    }

    /// The largest error in units of the last place of the true value, over values from tiny to huge.
    fn ulps<R: Real>(f: Activation, digits: f64) -> f64 {
        let grid: Vec<f64> = (-20_000..=20_000)
            .map(|i| f64::from(i) * 1e-3)
            .chain((-3_000..3_000).map(|i| f64::from(i) * 1e-6))
            .collect();
        let mut out: Vec<R> = grid.iter().map(|&x| R::of(x)).collect();
        let exact: Vec<f64> = out.iter().map(|x| naive::activate(x.wide(), f)).collect();
        activate(&mut out, &[], f);
        let error = |(out, exact): (&R, &f64)| {
            let unit = libm::exp2(libm::floor(libm::log2(exact.abs().max(1e-300))) - digits);
            (out.wide() - exact).abs() / unit
        };
        out.iter().zip(&exact).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn functions_are_accurate_to_the_last_places() {
        for (f, single, double) in [(Activation::Tanh, 2.5, 3.5), (Activation::Sigmoid, 2.5, 3.5)] {
            let (s, d) = (ulps::<f32>(f, 23.0), ulps::<f64>(f, 52.0));
            assert!(s < single, "{f:?} f32: {s} ulp");
            assert!(d < double, "{f:?} f64: {d} ulp");
        }
    }

    #[test]
    fn extremes_saturate_and_nan_stays_nan() {
        let mut x = [f32::NAN, 1e30, -1e30, f32::INFINITY, 0.0];
        activate(&mut x, &[], Activation::Tanh);
        assert!(x[0].is_nan());
        assert_eq!(x[1..], [1.0, -1.0, 1.0, 0.0]);
        let mut x = [f32::NAN, 1e30, -1e30];
        activate(&mut x, &[], Activation::Sigmoid);
        assert!(x[0].is_nan());
        assert!(x[1] > 0.999 && x[2] >= 0.0 && x[2] < 1e-37);
    }
}
