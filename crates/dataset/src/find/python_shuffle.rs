//! The order in which the description length transmits the hold-out.

use wug_language::{Reading, draw};

use crate::Seed;
use crate::mt19937::Mt19937;

/// The order of `n` hold-out examples: as Python shuffled them, or from a named stream of our own.
pub fn holdout_order(n: usize, reading: Reading, seed: Seed) -> Vec<usize> {
    match reading {
        Reading::Published => published_order(n, seed.value()),
        Reading::Corrected => {
            let mut order: Vec<usize> = (0..n).collect();
            draw::shuffle(&mut seed.derive("find/holdout-order").rng(), &mut order);
            order
        }
    }
}

/// What Python makes of `random.seed(seed); random.shuffle(list(range(n)))`.
///
/// The published script seeds right before it shuffles, so one seed gives one order to all candidates of a task.
///
/// ```
/// use wug_dataset::find::published_order;
/// assert_eq!(published_order(6, 1), [2, 3, 5, 0, 4, 1]);
/// ```
pub fn published_order(n: usize, seed: u64) -> Vec<usize> {
    // Python's key is the seed in base 2^32, lowest digit first, without leading zeros.
    let key = [seed as u32, (seed >> 32) as u32];
    let digits = if key[1] == 0 { 1 } else { 2 };
    let mut rng = Mt19937::seed_array(&key[..digits]);
    let mut order: Vec<usize> = (0..n).collect();
    // From the end, as `random.shuffle` does it.
    for i in (1..n).rev() {
        order.swap(i, below(&mut rng, i as u64 + 1) as usize);
    }
    order
}

/// Python's draw from `0..n`: as many bits as `n` has, again until they are below `n`.
fn below(rng: &mut Mt19937, n: u64) -> u64 {
    let bits = u64::BITS - n.leading_zeros();
    loop {
        let drawn = random_bits(rng, bits);
        if drawn < n {
            return drawn;
        }
    }
}

/// Python's `getrandbits`: the top bits of one word, or a whole low word and the top bits of a second.
fn random_bits(rng: &mut Mt19937, bits: u32) -> u64 {
    if bits <= 32 {
        return u64::from(rng.next_u32() >> (32 - bits));
    }
    let low = u64::from(rng.next_u32());
    low | u64::from(rng.next_u32() >> (64 - bits)) << 32
}
