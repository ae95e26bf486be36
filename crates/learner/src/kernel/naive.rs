//! What several naive twins share. A naive twin is a kernel's formula as plain loops in double precision: no blocks, no
//! registers, and sums in the order in which they are written. It stands in the tests of its kernel, which must agree with it
//! up to rounding ([`testing::near`](super::testing::near)).

use super::Activation;

/// `Σ_l a[i,l] · b[l,j]` for `a[M,K]` and `b[K,N]`.
pub(super) fn product(a: &[f64], b: &[f64], m: usize, k: usize, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; m * n];
    for i in 0..m {
        for j in 0..n {
            // In the order of `l`, one sum after the other: what the fast products must agree with up to
            // rounding.
            for l in 0..k {
                out[i * n + j] += a[i * k + l] * b[l * n + j];
            }
        }
    }
    out
}

/// The transpose of `x[rows,cols]`.
pub(super) fn transpose<T: Copy>(x: &[T], rows: usize, cols: usize) -> Vec<T> {
    (0..cols).flat_map(|j| (0..rows).map(move |i| x[i * cols + j])).collect()
}

/// Backward through `sum = Σ w·x`: adds to both gradients.
pub(super) fn dot_backward(dsum: f64, w: &[f64], x: &[f64], dw: &mut [f64], dx: &mut [f64]) {
    for i in 0..x.len() {
        dw[i] += dsum * x[i];
        dx[i] += dsum * w[i];
    }
}

/// `weight[O,I] · x + bias[O]`; an empty bias is zero.
pub(super) fn affine(weight: &[f64], bias: &[f64], x: &[f64]) -> Vec<f64> {
    let sum = |row: &[f64]| row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    weight.chunks(x.len()).enumerate().map(|(o, row)| bias.get(o).unwrap_or(&0.0) + sum(row)).collect()
}

pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

pub(super) fn activate(x: f64, f: Activation) -> f64 {
    match f {
        Activation::Identity => x,
        Activation::Tanh => libm::tanh(x),
        Activation::Relu => x.max(0.0),
        Activation::Sigmoid => sigmoid(x),
    }
}

pub(super) const ACTIVATIONS: [Activation; 4] =
    [Activation::Identity, Activation::Tanh, Activation::Relu, Activation::Sigmoid];

/// The derivative where the output is `y`.
pub(super) fn derivative(y: f64, f: Activation) -> f64 {
    match f {
        Activation::Identity => 1.0,
        Activation::Tanh => 1.0 - y * y,
        Activation::Relu => f64::from(u8::from(y > 0.0)),
        Activation::Sigmoid => y * (1.0 - y),
    }
}

/// `exp(x) / Σ exp(x)`, without the subtraction of the largest that keeps the kernels from overflowing.
pub(super) fn softmax(x: &[f64]) -> Vec<f64> {
    let sum: f64 = x.iter().map(|&x| libm::exp(x)).sum();
    x.iter().map(|&x| libm::exp(x) / sum).collect()
}
