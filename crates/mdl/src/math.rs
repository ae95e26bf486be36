//! Exponentials without branches and without fused operations: compilers turn a loop over lanes into vector code, and every
//! machine gives the same bits, whatever its registers. Results are within two units of the last place.

use std::f64::consts::LOG2_E;

/// Adding it rounds a small number to an integer, in the lowest bits of the sum.
const SHIFTER: f64 = 6_755_399_441_055_744.0;
/// ln 2 as a short head and a tail.
const LN_2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);
/// (exp r − 1 − r) / r², highest power first.
const POLY: [f64; 12] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
];

/// Below this, `exp` is zero.
const LEAST: f64 = -746.0;

/// x = n·ln 2 + r: n, shifted, and exp(r) − 1.
#[inline(always)]
fn reduced(x: f64) -> (f64, f64) {
    let shifted = x * LOG2_E + SHIFTER;
    let n = shifted - SHIFTER;
    let r = (x - n * LN_2.0) - n * LN_2.1;
    let mut p = POLY[0];
    for c in &POLY[1..] {
        p = p * r + c;
    }
    (shifted, p * (r * r) + r)
}

/// 2ⁿ from n, shifted; n is from −1022 to 1023.
#[inline(always)]
fn power(shifted: f64) -> f64 {
    f64::from_bits(shifted.to_bits().wrapping_sub(SHIFTER.to_bits()).wrapping_add(1023) << 52)
}

/// exp x for x ≤ 0.
#[inline(always)]
pub(super) fn exp_negative(x: f64) -> f64 {
    let (shifted, p) = reduced(if x < LEAST { LEAST } else { x });
    // In two factors, because the result may be subnormal.
    let n = shifted - SHIFTER;
    let half = n * 0.5 + SHIFTER;
    let rest = (n - (half - SHIFTER)) + SHIFTER;
    (p + 1.0) * power(half) * power(rest)
}

#[inline(always)]
pub(super) fn tanh(x: f64) -> f64 {
    let size = x.abs();
    // NaN stays NaN: only what is greater is replaced.
    let size = if size > 20.0 { 20.0 } else { size };
    let (shifted, p) = reduced(2.0 * size);
    let scale = power(shifted);
    let minus_one = (scale - 1.0) + scale * p;
    (minus_one / (minus_one + 2.0)).copysign(x)
}

/// 1 / (1 + e⁻ˣ).
#[inline(always)]
pub(super) fn sigmoid(x: f64) -> f64 {
    let e = exp_negative(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_of_the_library_to_the_last_places() {
        let close = |ours: f64, theirs: f64| {
            (ours - theirs).abs() <= 8.0 * f64::EPSILON * theirs.abs() + f64::MIN_POSITIVE
        };
        for i in -40_000..=40_000_i32 {
            let x = f64::from(i) / 997.0;
            assert!(close(tanh(x), libm::tanh(x)), "tanh {x}: {} {}", tanh(x), libm::tanh(x));
            let sigma =
                if x < 0.0 { libm::exp(x) / (1.0 + libm::exp(x)) } else { 1.0 / (1.0 + libm::exp(-x)) };
            assert!(close(sigmoid(x), sigma), "sigmoid {x}");
            let far = -x.abs() * 20.0;
            assert!(close(exp_negative(far), libm::exp(far)), "exp {far}: {}", exp_negative(far));
        }
        let ends = [tanh(1e6), tanh(-1e6), tanh(0.0), sigmoid(-1e6), sigmoid(1e6)];
        assert_eq!(ends.map(f64::to_bits), [1.0_f64, -1.0, 0.0, 0.0, 1.0].map(f64::to_bits));
        assert!(
            tanh(1e-300) > 0.0
                && sigmoid(-740.0) > 0.0
                && tanh(f64::NAN).is_nan()
                && sigmoid(f64::NAN).is_nan()
        );
    }
}
