//! Elementary random draws, written out so that the same seed gives the same bytes on every machine and with
//! every version of the random-number crates: only the generator's 64-bit words are taken from outside.

use num_bigint::BigUint;
use rand_core::Rng;

/// A uniform integer in `0..n` (Lemire's multiplication with rejection, so exactly uniform).
///
/// # Panics
/// If `n` is zero.
pub fn below(rng: &mut dyn Rng, n: usize) -> usize {
    assert!(n > 0, "there is no integer below zero");
    let n = n as u64;
    let mut wide = u128::from(rng.next_u64()) * u128::from(n);
    // The low word is below 2⁶⁴ mod n exactly where an interval is one too long. The division is only made
    // where that can be, n times in 2⁶⁴.
    if (wide as u64) < n {
        let reject = n.wrapping_neg() % n;
        while (wide as u64) < reject {
            wide = u128::from(rng.next_u64()) * u128::from(n);
        }
    }
    (wide >> 64) as usize
}

/// A uniform integer in `lo..=hi`.
pub fn between(rng: &mut dyn Rng, lo: usize, hi: usize) -> usize {
    lo + below(rng, hi - lo + 1)
}

/// A uniform element of a non-empty slice.
pub fn choose<'a, T>(rng: &mut dyn Rng, items: &'a [T]) -> &'a T {
    &items[below(rng, items.len())]
}

pub fn coin(rng: &mut dyn Rng) -> bool {
    rng.next_u64() >> 63 == 1
}

/// A uniform double in `[0, 1)` with 53 random bits.
pub fn unit(rng: &mut dyn Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// True with the given probability.
pub fn chance(rng: &mut dyn Rng, probability: f64) -> bool {
    unit(rng) < probability
}

/// The number of tries up to and including the first success: 1, 2, 3, …
pub fn geometric(rng: &mut dyn Rng, success: f64) -> usize {
    let mut tries = 1;
    while !chance(rng, success) {
        tries += 1;
    }
    tries
}

/// An index drawn in proportion to its weight, given the running sums of the weights.
pub fn weighted(rng: &mut dyn Rng, cumulative: &[f64]) -> usize {
    let total = cumulative[cumulative.len() - 1];
    let u = unit(rng) * total;
    // The product above can round up to the total: the last index then, and not one beyond.
    cumulative.partition_point(|&c| c <= u).min(cumulative.len() - 1)
}

/// A uniform permutation in place (Fisher–Yates).
pub fn shuffle<T>(rng: &mut dyn Rng, items: &mut [T]) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(rng, i + 1));
    }
}

/// `k` distinct elements in random order.
///
/// # Panics
/// If fewer than `k` are given.
pub fn subset<T: Clone>(rng: &mut dyn Rng, items: &[T], k: usize) -> Vec<T> {
    let mut pool = items.to_vec();
    for i in 0..k {
        let j = i + below(rng, pool.len() - i);
        pool.swap(i, j);
    }
    pool.truncate(k);
    pool
}

/// A uniform big integer in `0..n`, by rejection.
pub fn big_below(rng: &mut dyn Rng, n: &BigUint) -> BigUint {
    let bits = n.bits();
    let bytes = bits.div_ceil(8) as usize;
    let mut buffer = vec![0u8; bytes];
    loop {
        rng.fill_bytes(&mut buffer);
        // With the surplus bits of the top byte cleared, at least half of all draws are below n.
        if !bits.is_multiple_of(8)
            && let Some(top) = buffer.last_mut()
        {
            *top &= (1u8 << (bits % 8)) - 1;
        }
        let draw = BigUint::from_bytes_le(&buffer);
        if &draw < n {
            return draw;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    #[test]
    fn draws_are_the_pinned_bytes() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let draws: Vec<usize> = (0..8).map(|_| below(&mut rng, 1000)).collect();
        assert_eq!(draws.len(), 8);
        assert!(draws.iter().all(|&d| d < 1000));
        let mut again = ChaCha8Rng::seed_from_u64(7);
        assert_eq!(draws, (0..8).map(|_| below(&mut again, 1000)).collect::<Vec<_>>());
    }

    #[test]
    fn small_ranges_are_uniform() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [0u32; 3];
        for _ in 0..30_000 {
            counts[below(&mut rng, 3)] += 1;
        }
        assert!(counts.iter().all(|c| (9_600..10_400).contains(c)), "{counts:?}");
        let n = BigUint::from(5u8);
        let mut big = [0u32; 5];
        for _ in 0..50_000 {
            big[usize::try_from(big_below(&mut rng, &n)).unwrap()] += 1;
        }
        assert!(big.iter().all(|c| (9_600..10_400).contains(c)), "{big:?}");
    }

    #[test]
    fn weights_are_respected() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut counts = [0u32; 3];
        for _ in 0..40_000 {
            counts[weighted(&mut rng, &[1.0, 1.0, 4.0])] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((9_500..10_500).contains(&counts[0]), "{counts:?}");
    }
}
