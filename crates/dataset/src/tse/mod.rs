//! Targeted syntactic evaluation: a training corpus and minimal pairs to test on, at seen and at
//! greater lengths (Someya, Yoshida and Oseki 2024).
//!
//! The released negatives of the dependency languages swap any two words of one half, so that a third of them
//! stay grammatical; the corrected reading swaps words of different classes.

mod files;
mod near_miss;
mod suite;
#[cfg(test)]
mod tests;
mod validate;

use std::collections::BTreeSet;

use num_bigint::BigUint;
use serde_json::{Value, json};
use wug_language::limit::check_memory;
use wug_language::registry::Named;
use wug_language::{Language, LengthRange, Reading, Word};

use crate::{Bounds, DataError, MinimalPair, Seed};

pub use files::{read_corpus, read_pairs, write, write_rows};
pub use near_miss::{NearMissKind, NearMisses};
pub use suite::{FORMAT, Tse};
pub use validate::validate;

/// How many strings of each part, and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Training strings.
    pub train: usize,
    /// Validation strings.
    pub validation: usize,
    /// Pairs at the lengths of training.
    pub test: usize,
    /// Pairs at greater lengths.
    pub out_of_distribution: usize,
    /// The lengths of training, validation and test.
    pub lengths: LengthRange,
    /// The greater lengths.
    pub greater_lengths: LengthRange,
}

impl Sizes {
    /// An error if the strings would take too much memory.
    pub(crate) fn check(&self, language: &dyn Language) -> Result<(), DataError> {
        // A string is in memory twice, drawn and known, and once as text: its tokens in quotes.
        let token = language.alphabet().tokens().last().map_or(1, String::len) as f64 + 3.0;
        let string = |lengths: &LengthRange| {
            let mean = f64::midpoint(*lengths.start() as f64, *lengths.end() as f64);
            100.0 + mean * (2.0 * size_of::<wug_language::Symbol>() as f64 + token)
        };
        let near = self.train as f64 + self.validation as f64 + 2.0 * self.test as f64;
        let far = 2.0 * self.out_of_distribution as f64;
        let bytes = near * string(&self.lengths) + far * string(&self.greater_lengths);
        check_memory(bytes, || {
            let Self { train, validation, test, out_of_distribution, lengths, greater_lengths } = self;
            format!(
                "{train} training strings, {validation} for validation and {test} pairs of {} to {} symbols, and {out_of_distribution} pairs of {} to {}",
                lengths.start(), lengths.end(), greater_lengths.start(), greater_lengths.end()
            )
        })
        .map_err(DataError::too_large)
    }
}

impl Default for Sizes {
    /// The paper's.
    fn default() -> Self {
        Self {
            train: 90_000,
            validation: 10_000,
            test: 10_000,
            out_of_distribution: 10_000,
            lengths: 4..=30,
            greater_lengths: 31..=100,
        }
    }
}

/// The data of one language.
#[derive(Clone, Debug, PartialEq)]
pub struct TseData {
    /// Training strings.
    pub train: Vec<Word>,
    /// Validation strings.
    pub validation: Vec<Word>,
    /// Pairs at the lengths of training.
    pub test: Vec<MinimalPair>,
    /// Pairs at greater lengths.
    pub out_of_distribution: Vec<MinimalPair>,
    /// Strings that no near miss can be made of (all of one class) and that were passed over.
    pub passed_over: usize,
}

impl TseData {
    /// Ceiling and chance level of the two tests, for the manifest.
    pub fn facts(&self, language: &dyn Language) -> Value {
        let bounds = |pairs: &[MinimalPair]| {
            let bounds = Bounds::of(pairs, language);
            json!({
                "pairs": bounds.pairs,
                "grammatical_negatives": bounds.grammatical,
                "identical_negatives": bounds.identical,
                "ceiling": bounds.ceiling(),
                "ceiling_with_noise": bounds.ceiling_with_noise(),
                "chance": bounds.chance(),
            })
        };
        json!({
            "test": bounds(&self.test),
            "out_of_distribution": bounds(&self.out_of_distribution),
            "strings_passed_over": self.passed_over,
        })
    }
}

/// Draws the data of a language: all strings are distinct.
pub fn generate(named: &Named, sizes: &Sizes, reading: Reading, seed: Seed) -> Result<TseData, DataError> {
    let language = named.build(reading)?;
    sizes.check(language.as_ref())?;
    let kind = NearMissKind::of(named, language.as_ref())?;
    let near = NearMisses::new(kind, language.as_ref(), &sizes.lengths, reading)?;
    let far = NearMisses::new(kind, language.as_ref(), &sizes.greater_lengths, reading)?;
    let seed = seed.derive("tse");
    let mut pool = Pool::new(language.as_ref(), &sizes.lengths, seed.derive("in-distribution"))?;
    pool.reserve(sizes.train + sizes.validation + sizes.test)?;
    let train = (0..sizes.train).map(|_| pool.fresh()).collect::<Result<_, _>>()?;
    let validation = (0..sizes.validation).map(|_| pool.fresh()).collect::<Result<_, _>>()?;
    let mut passed_over = 0;
    let test = pairs(&mut pool, sizes.test, &near, seed.derive("test/near-miss"), &mut passed_over)?;
    let mut distant =
        Pool::new(language.as_ref(), &sizes.greater_lengths, seed.derive("out-of-distribution"))?;
    distant.reserve(sizes.out_of_distribution)?;
    let near_miss = seed.derive("out-of-distribution/near-miss");
    let out_of_distribution =
        pairs(&mut distant, sizes.out_of_distribution, &far, near_miss, &mut passed_over)?;
    Ok(TseData { train, validation, test, out_of_distribution, passed_over })
}

fn pairs(
    pool: &mut Pool<'_>,
    count: usize,
    near_misses: &NearMisses<'_>,
    seed: Seed,
    passed_over: &mut usize,
) -> Result<Vec<MinimalPair>, DataError> {
    let mut rng = seed.rng();
    let mut pairs = Vec::with_capacity(count);
    while pairs.len() < count {
        let good = pool.fresh()?;
        match near_misses.of(&good, &mut rng) {
            Some(bad) => pairs.push(MinimalPair { good, bad }),
            None => *passed_over += 1,
        }
    }
    Ok(pairs)
}

/// Distinct strings of a language.
struct Pool<'a> {
    language: &'a dyn Language,
    lengths: LengthRange,
    strings: Box<dyn wug_language::Distribution + 'a>,
    rng: rand_chacha::ChaCha8Rng,
    seen: BTreeSet<Word>,
}

impl<'a> Pool<'a> {
    fn new(language: &'a dyn Language, lengths: &LengthRange, seed: Seed) -> Result<Self, DataError> {
        let strings = language.by_length(lengths.clone())?;
        Ok(Self { language, lengths: lengths.clone(), strings, rng: seed.rng(), seen: BTreeSet::new() })
    }

    /// An error, before anything is drawn, if there are not so many.
    fn reserve(&self, wanted: usize) -> Result<(), DataError> {
        let mut exist = BigUint::ZERO;
        for length in self.lengths.clone() {
            exist += self.language.count(length);
            if exist >= BigUint::from(wanted) {
                return Ok(());
            }
        }
        let (lo, hi) = (self.lengths.start(), self.lengths.end());
        Err(DataError::Request(format!(
            "asked for {wanted} distinct strings of length {lo}..{hi}, but only {exist} exist"
        )))
    }

    /// A string that was not drawn before.
    fn fresh(&mut self) -> Result<Word, DataError> {
        // The patience grows with what has been drawn, so that small languages can be nearly used up.
        let patience = 10_000 + 100 * self.seen.len();
        for _ in 0..patience {
            let word = self.strings.sample(&mut self.rng);
            if self.seen.insert(word.clone()) {
                return Ok(word);
            }
        }
        let (lo, hi) = (self.lengths.start(), self.lengths.end());
        Err(DataError::Request(format!(
            "after {} distinct strings of length {lo}..{hi}, {patience} draws gave none that was new: ask for fewer",
            self.seen.len()
        )))
    }
}
