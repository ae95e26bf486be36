//! Logarithms of big integers.

use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// The natural logarithm of a positive big integer, to f64 accuracy whatever its size.
pub(crate) fn ln(n: &BigUint) -> f64 {
    let shift = n.bits().saturating_sub(1000);
    let head = (n >> shift).to_f64().unwrap_or(f64::INFINITY);
    libm::log(head) + shift as f64 * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_of_large_powers() {
        let n = BigUint::from(3u8).pow(5000);
        assert!((ln(&n) - 5000.0 * 3f64.ln()).abs() < 1e-9);
        assert!(ln(&BigUint::from(1u8)).abs() < 1e-15);
    }
}
