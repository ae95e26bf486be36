//! Draws a corpus to train on and minimal pairs to test on, at the lengths of training and at greater ones.

use std::collections::BTreeSet;

use num_bigint::BigUint;
use serde_json::{Value, json};
use wug_language::limit::check_memory;
use wug_language::registry::Named;
use wug_language::{Language, LengthRange, Reading, Word};
use wug_parameter::{Key, Parameter, Settings, Span};

use super::{Bounds, MinimalPair, NearMissKind, NearMisses};
use crate::suite::{lengths, size};
use crate::{DataError, Seed};

/// How many strings of each part, and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairSizes {
    pub training: usize,
    pub validation: usize,
    /// Pairs at the lengths of training.
    pub test: usize,
    /// Pairs at greater lengths.
    pub out_of_distribution: usize,
    /// The lengths of training, validation and test.
    pub lengths: LengthRange,
    pub greater_lengths: LengthRange,
    /// Whether no string is drawn twice. A language that has few strings of these lengths needs repetitions.
    pub distinct: bool,
}

pub const TRAINING: Key<usize> = size("training", "training strings", 90_000).formerly(&["train"]);
pub const VALIDATION: Key<usize> = size("validation", "validation strings", 10_000);
pub const TEST: Key<usize> = size("test", "pairs at the lengths of training", 10_000);
pub const OUT_OF_DISTRIBUTION: Key<usize> =
    size("out_of_distribution", "pairs at greater lengths", 10_000).formerly(&["ood"]);
pub const LENGTHS: Key<Span> = lengths("lengths", "lengths of training, validation and test", 4..=30);
pub const GREATER_LENGTHS: Key<Span> =
    lengths("greater_lengths", "lengths that begin above those of training", 31..=100)
        .formerly(&["ood.lengths"]);

impl PairSizes {
    /// What can be set of them.
    pub const PARAMETERS: &[Parameter] = &[
        TRAINING.parameter(),
        VALIDATION.parameter(),
        TEST.parameter(),
        OUT_OF_DISTRIBUTION.parameter(),
        LENGTHS.parameter(),
        GREATER_LENGTHS.parameter(),
    ];

    /// The sizes that settings say.
    pub fn of(settings: &Settings) -> Self {
        Self {
            training: settings.get(&TRAINING),
            validation: settings.get(&VALIDATION),
            test: settings.get(&TEST),
            out_of_distribution: settings.get(&OUT_OF_DISTRIBUTION),
            lengths: settings.get(&LENGTHS).range(),
            greater_lengths: settings.get(&GREATER_LENGTHS).range(),
            distinct: true,
        }
    }

    /// An error if the greater lengths are not greater, or if the strings would take too much memory.
    pub fn check(&self, language: &dyn Language) -> Result<(), DataError> {
        if self.greater_lengths.start() <= self.lengths.end() {
            return Err(DataError::Request(format!(
                "the greater lengths cannot be {}..{}; they must begin above the lengths of training, {}..{}",
                self.greater_lengths.start(),
                self.greater_lengths.end(),
                self.lengths.start(),
                self.lengths.end()
            )));
        }
        // A string is in memory twice, drawn and known, and once as text: its tokens in quotes.
        let token = language.alphabet().tokens().last().map_or(1, String::len) as f64 + 3.0;
        let string = |lengths: &LengthRange| {
            let mean = f64::midpoint(*lengths.start() as f64, *lengths.end() as f64);
            100.0 + mean * (2.0 * size_of::<wug_language::Symbol>() as f64 + token)
        };
        let near = self.training as f64 + self.validation as f64 + 2.0 * self.test as f64;
        let far = 2.0 * self.out_of_distribution as f64;
        let bytes = near * string(&self.lengths) + far * string(&self.greater_lengths);
        check_memory(bytes, || {
            let Self { training, validation, test, out_of_distribution, lengths, greater_lengths, .. } = self;
            format!(
                "{training} training strings, {validation} for validation and {test} pairs of {} to {} symbols, and {out_of_distribution} pairs of {} to {}",
                lengths.start(), lengths.end(), greater_lengths.start(), greater_lengths.end()
            )
        })
        .map_err(DataError::too_large)
    }

    /// An error if strings are to be distinct and the language has not so many.
    pub fn check_distinct(&self, language: &dyn Language) -> Result<(), DataError> {
        if !self.distinct {
            return Ok(());
        }
        enough(language, &self.lengths, self.training + self.validation + self.test)?;
        enough(language, &self.greater_lengths, self.out_of_distribution)
    }
}

/// An error if a language has not so many strings of some lengths.
fn enough(language: &dyn Language, lengths: &LengthRange, wanted: usize) -> Result<(), DataError> {
    let mut exist = BigUint::ZERO;
    for length in lengths.clone() {
        exist += language.count_up_to(length, wanted);
        // Counting is exponential in the length where a language has no formula: not a length more than
        // needed.
        if exist >= BigUint::from(wanted) {
            return Ok(());
        }
    }
    let (lo, hi) = (lengths.start(), lengths.end());
    Err(DataError::Request(format!(
        "asked for {wanted} distinct strings of length {lo}..{hi}, but only {exist} exist"
    )))
}

impl Default for PairSizes {
    fn default() -> Self {
        Self::of(&Settings::default())
    }
}

/// Strings that may be passed over before there is any pair, and for each pair that there is: below one in a hundred, a language
/// counts as one without near misses.
const PASSED_OVER: [usize; 2] = [1000, 100];

/// The data of one language.
#[derive(Clone, Debug, PartialEq)]
pub struct MinimalPairData {
    pub train: Vec<Word>,
    pub validation: Vec<Word>,
    /// Pairs at the lengths of training.
    pub test: Vec<MinimalPair>,
    /// Pairs at greater lengths.
    pub out_of_distribution: Vec<MinimalPair>,
    /// Strings that no near miss can be made of (all of one class) and that were passed over.
    pub passed_over: usize,
}

impl MinimalPairData {
    /// Ceiling and chance level of the two tests, for the manifest.
    pub fn facts(&self, language: &dyn Language) -> Value {
        let bounds = |pairs: &[MinimalPair]| {
            let bounds = Bounds::of(pairs, language);
            json!({
                "pairs": bounds.pairs,
                "grammatical_negatives": bounds.grammatical,
                "identical_negatives": bounds.identical,
                "ceiling": bounds.ceiling(),
                "ceiling_indifferent": bounds.ceiling_of_indifferent(),
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

/// Draws the data of a language.
pub fn generate(
    named: &Named,
    sizes: &PairSizes,
    reading: Reading,
    seed: Seed,
) -> Result<MinimalPairData, DataError> {
    let language = named.build(reading)?;
    sizes.check(language.as_ref())?;
    sizes.check_distinct(language.as_ref())?;
    let kind = NearMissKind::of(named, language.as_ref());
    let near = NearMisses::new(kind, language.as_ref(), &sizes.lengths, reading)?;
    let far = NearMisses::new(kind, language.as_ref(), &sizes.greater_lengths, reading)?;
    // The names of streams are part of every data set: they stay as they are.
    let seed = seed.derive("tse");
    let pool = |lengths, name| Pool::new(language.as_ref(), lengths, sizes.distinct, seed.derive(name));
    let mut pool_near = pool(&sizes.lengths, "in-distribution")?;
    let train = (0..sizes.training).map(|_| pool_near.fresh()).collect::<Result<_, _>>()?;
    let validation = (0..sizes.validation).map(|_| pool_near.fresh()).collect::<Result<_, _>>()?;
    let (test, passed_near) = pairs(&mut pool_near, sizes.test, &near, seed.derive("test/near-miss"))?;
    // A pool of its own: the greater lengths begin above the others, so that no string can be in both.
    let mut distant = pool(&sizes.greater_lengths, "out-of-distribution")?;
    let near_miss = seed.derive("out-of-distribution/near-miss");
    let (out_of_distribution, passed_far) = pairs(&mut distant, sizes.out_of_distribution, &far, near_miss)?;
    Ok(MinimalPairData {
        train,
        validation,
        test,
        out_of_distribution,
        passed_over: passed_near + passed_far,
    })
}

/// So many pairs, and how many strings were passed over because no near miss of them was found.
fn pairs(
    pool: &mut Pool<'_>,
    count: usize,
    near_misses: &NearMisses<'_>,
    seed: Seed,
) -> Result<(Vec<MinimalPair>, usize), DataError> {
    let mut rng = seed.rng();
    let mut passed_over = 0;
    let mut pairs = Vec::with_capacity(count);
    while pairs.len() < count {
        let good = pool.fresh()?;
        match near_misses.of(&good, &mut rng) {
            Some(bad) => pairs.push(MinimalPair { good, bad }),
            None if passed_over >= PASSED_OVER[0] + PASSED_OVER[1] * pairs.len() => {
                let (found, tried) = (pairs.len(), pairs.len() + passed_over + 1);
                let (lo, hi) = (pool.lengths.start(), pool.lengths.end());
                return Err(DataError::Request(format!(
                    "of {tried} strings of length {lo}..{hi}, a near miss was found for {found}: too few have one, a string that a substitution or swap takes out of the language"
                )));
            }
            None => passed_over += 1,
        }
    }
    Ok((pairs, passed_over))
}

/// Strings of a language, distinct or as they come.
struct Pool<'a> {
    lengths: LengthRange,
    distinct: bool,
    strings: Box<dyn wug_language::Distribution + 'a>,
    rng: rand_chacha::ChaCha8Rng,
    seen: BTreeSet<Word>,
}

impl<'a> Pool<'a> {
    fn new(
        language: &'a dyn Language,
        lengths: &LengthRange,
        distinct: bool,
        seed: Seed,
    ) -> Result<Self, DataError> {
        let strings = language.by_length(lengths.clone())?;
        let (lengths, rng) = (lengths.clone(), seed.rng());
        Ok(Self { lengths, distinct, strings, rng, seen: BTreeSet::new() })
    }

    /// A string that was not drawn before, or any.
    fn fresh(&mut self) -> Result<Word, DataError> {
        if !self.distinct {
            return Ok(self.strings.sample(&mut self.rng));
        }
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
