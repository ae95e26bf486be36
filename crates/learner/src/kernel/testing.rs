//! What kernel tests share: closed-form values, sizes, tolerances, and gradients by finite differences.

use proptest::prelude::*;

use super::{DropoutMask, Real, drop_in_place};

/// Sizes of every kind: one, around the four and eight lanes of a register and multiples of them, and any other below 40.
pub(crate) fn size() -> impl Strategy<Value = usize> {
    prop_oneof![proptest::sample::select(vec![1, 7, 8, 9, 16, 31, 32, 33]), 1_usize..40]
}

/// The same, or nothing.
pub(crate) fn size_or_none() -> impl Strategy<Value = usize> {
    prop_oneof![1 => Just(0), 7 => size()]
}

/// Values in (−1, 1), rounded to a precision: a kernel and its naive twin read the same.
pub(crate) fn random<R: Real>(seed: u64, n: usize) -> Vec<R> {
    values(seed, n).into_iter().map(R::of).collect()
}

pub(crate) fn wide<R: Real>(x: &[R]) -> Vec<f64> {
    x.iter().map(|x| x.wide()).collect()
}

/// Asserts that a kernel agrees with its naive twin, whose values are sums of about `terms` products of values in (−1,
/// 1), up to rounding.
///
/// Such a sum is of the size of √`terms` / 3. Each addition rounds by at most ε/2 of that, and `terms` errors of random signs
/// are √`terms` times as large as one: `terms` · ε / 6 in all. 24 times as much is allowed, and a few ε for what comes after
/// the sum. A missing, repeated or misplaced term is wrong in the first digits, thousands of times as much.
#[track_caller]
pub(crate) fn near<R: Real>(got: &[R], naive: &[f64], terms: usize) {
    let epsilon = if size_of::<R>() == size_of::<f32>() { f64::from(f32::EPSILON) } else { f64::EPSILON };
    close(&wide(got), naive, 4.0 * (terms + 8) as f64 * epsilon);
}

/// One mask that drops nothing, and one that does.
pub(crate) const MASKS: [DropoutMask; 2] = [DropoutMask::NONE, DropoutMask::THIRD];

pub(crate) fn dropped(x: &[f64], mask: DropoutMask) -> Vec<f64> {
    let mut dropped = x.to_vec();
    drop_in_place(&mut dropped, mask, 0);
    dropped
}

/// Values in (−1, 1) that look random but come from a formula.
pub(crate) fn values(seed: u64, n: usize) -> Vec<f64> {
    (0..n as u64)
        .map(|i| {
            let mut x =
                (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd134_2543_de82_ef95);
            x ^= x >> 32;
            x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
            x ^= x >> 32;
            (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

/// The same in single precision.
pub(crate) fn singles(x: &[f64]) -> Vec<f32> {
    x.iter().map(|&x| x as f32).collect()
}

/// Sum of products: turns a vector of outputs into a scalar to differentiate.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Asserts that two vectors agree to `tolerance`, relative to the larger of 1 and the expected value.
#[track_caller]
pub(crate) fn close(got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "lengths");
    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
        assert!((g - e).abs() <= tolerance * e.abs().max(1.0), "at {i}: got {g}, expected {e}");
    }
}

/// Asserts that single precision agrees with double.
#[track_caller]
pub(crate) fn close_single(got: &[f32], expected: &[f64], tolerance: f64) {
    let got: Vec<f64> = got.iter().map(|&x| f64::from(x)).collect();
    close(&got, expected, tolerance);
}

/// Asserts that `gradient` is that of `loss` at `x`, by central differences.
#[track_caller]
pub(crate) fn check_finite_differences(x: &[f64], gradient: &[f64], mut loss: impl FnMut(&[f64]) -> f64) {
    assert_eq!(x.len(), gradient.len(), "one derivative per element");
    let eps = 1e-5;
    let mut x = x.to_vec();
    for i in 0..x.len() {
        let old = x[i];
        x[i] = old + eps;
        let hi = loss(&x);
        x[i] = old - eps;
        let lo = loss(&x);
        x[i] = old;
        let numeric = (hi - lo) / (2.0 * eps);
        assert!(
            (numeric - gradient[i]).abs() < 1e-7 * numeric.abs().max(1.0),
            "element {i}: finite differences give {numeric}, the kernel {}",
            gradient[i]
        );
    }
}
