//! Randomness with a name: every consumer derives its own stream, so that a new one shifts no other.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

/// The root of all randomness of a data set or a run.
///
/// ```
/// use wug_dataset::Seed;
/// let seed = Seed::new(7);
/// let shuffle = seed.derive("train/shuffle");
/// assert_eq!(shuffle, Seed::new(7).derive("train/shuffle"));
/// assert_ne!(shuffle, seed.derive("train/dropout"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed(u64);

impl Seed {
    /// A seed as a user types it.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The number behind it.
    pub fn value(self) -> u64 {
        self.0
    }

    /// The seed of a named purpose. Purposes may be nested: `derive("a").derive("b")`.
    #[must_use]
    pub fn derive(self, purpose: &str) -> Self {
        // This text and the order below are part of every data set: another would draw other data.
        let mut hasher = blake3::Hasher::new_derive_key("wug 2026 seed");
        hasher.update(&self.0.to_le_bytes());
        hasher.update(purpose.as_bytes());
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        Self(u64::from_le_bytes(bytes))
    }

    /// The seed of the `index`-th of many alike.
    #[must_use]
    pub fn nth(self, index: usize) -> Self {
        self.derive(&format!("#{index}"))
    }

    /// The generator of this stream.
    pub fn rng(self) -> ChaCha8Rng {
        // Eight rounds: independent streams matter here, and nobody guesses seeds.
        ChaCha8Rng::seed_from_u64(self.0)
    }
}
