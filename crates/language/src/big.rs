//! Big integers: logarithms and binomial coefficients.

use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};

/// The natural logarithm of a positive big integer, to f64 accuracy whatever its size.
pub(crate) fn ln(n: &BigUint) -> f64 {
    // The leading 1000 bits fit a double and have all of its 53; what is shifted out is a multiple of ln 2.
    let shift = n.bits().saturating_sub(1000);
    let head = (n >> shift).to_f64().unwrap_or(f64::INFINITY);
    libm::log(head) + shift as f64 * std::f64::consts::LN_2
}

/// The number of ways to choose `n` of `2n`, from its prime factors: fast at a million, where products
/// of quotients take hours.
pub(crate) fn central_binomial(n: usize) -> BigUint {
    let top = 2 * n;
    let mut composite = vec![false; top + 1];
    let mut factors: Vec<BigUint> = Vec::new();
    for p in 2..=top {
        if composite[p] {
            continue;
        }
        (p.saturating_mul(p)..=top).step_by(p).for_each(|multiple| composite[multiple] = true);
        // Legendre: the exponent of p in (2n)! / (n!)².
        let powers =
            std::iter::successors(Some(p), |power| power.checked_mul(p)).take_while(|&power| power <= top);
        let exponent: usize = powers.map(|power| top / power - 2 * (n / power)).sum();
        if exponent > 0 {
            factors.push(BigUint::from(p).pow(exponent as u32));
        }
    }
    // Factors of like size are multiplied, so that fast multiplication pays.
    while factors.len() > 1 {
        factors = factors.chunks(2).map(|pair| pair.iter().product()).collect();
    }
    factors.pop().unwrap_or_else(BigUint::one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_integer::binomial;

    #[test]
    fn central_binomials_are_exact_and_fast() {
        for n in (0..60).chain([255, 256, 1000]) {
            assert_eq!(central_binomial(n), binomial(BigUint::from(2 * n), BigUint::from(n)), "{n}");
        }
        // Stirling's formula at a million.
        let n = 500_000.0f64;
        let stirling = 2.0 * n * 2f64.ln() - (std::f64::consts::PI * n).ln() / 2.0 - 1.0 / (8.0 * n);
        assert!((ln(&central_binomial(500_000)) - stirling).abs() < 1e-6);
    }

    #[test]
    fn logarithms_of_large_powers() {
        let n = BigUint::from(3u8).pow(5000);
        assert!((ln(&n) - 5000.0 * 3f64.ln()).abs() < 1e-9);
        assert!(ln(&BigUint::from(1u8)).abs() < 1e-15);
    }
}
