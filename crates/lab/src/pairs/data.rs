//! The strings and pairs of a run, and what can be known of them without a model.

use serde_json::{Value, json};
use wug_dataset::pairs::{MinimalPairData as PairData, NearMissKind, PairSizes as Sizes, generate};
use wug_dataset::{Bounds, MinimalPair, Seed};
use wug_language::registry;
use wug_language::{Language, LengthRange, Word};

use super::PairsPlan;
use super::law::{Law, Shares, counted};
use super::{OUT_OF_DISTRIBUTION, TEST, VALIDATION};
use crate::LabError;
use crate::protocol::RunData;

/// A language with its strings and pairs.
pub struct Data {
    pub language: Box<dyn Language>,
    pub training: Vec<Word>,
    pub validation: Strings,
    /// The pairs at the lengths of training, and at greater ones.
    pub tests: [PairSet; 2],
    /// Facts about them, for the result.
    pub facts: Value,
    hash: String,
}

/// Strings with the least that they can cost.
#[derive(Debug)]
pub struct Strings {
    pub words: Vec<Word>,
    /// Their cost in nats by the law that they were drawn from.
    pub floor: f64,
    drawn: Drawn,
}

/// How strings were drawn.
#[derive(Debug)]
struct Drawn {
    lengths: LengthRange,
    /// The shares of lengths; those of the language itself if strings are drawn as they come.
    counted: Option<Shares>,
}

/// Pairs of one split.
#[derive(Debug)]
pub struct PairSet {
    /// The name of the split.
    pub split: &'static str,
    pub pairs: Vec<MinimalPair>,
    /// What can be known of each.
    pub bounds: Vec<Bounds>,
    /// The distance of the dependency that each breaks, if there is one.
    pub dependencies: Vec<Option<usize>>,
    /// The cost of the good strings in nats by the law that they were drawn from.
    pub floor: f64,
    drawn: Drawn,
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Data").field("hash", &self.hash).field("facts", &self.facts).finish_non_exhaustive()
    }
}

impl RunData for Data {
    fn hash(&self) -> &str {
        &self.hash
    }
}

impl Data {
    /// The data of a plan.
    pub fn of(plan: &PairsPlan) -> Result<Self, LabError> {
        let named = registry::find(&plan.subject)?;
        let language = named.build(plan.reading)?;
        let drawn = generate(
            &named,
            &plan.data.sizes(),
            plan.reading,
            Seed::new(plan.data_seed.unwrap_or_default()),
        )?;
        let kind = NearMissKind::of(&named, language.as_ref());
        let (facts, hash) = (drawn.facts(language.as_ref()), hash(&drawn));
        let PairData { train, validation, test, out_of_distribution, .. } = drawn;
        let Sizes { lengths, greater_lengths, distinct, .. } = plan.data.sizes();
        let how = |lengths: &LengthRange, words: &[&Word]| Drawn {
            lengths: lengths.clone(),
            counted: distinct.then(|| counted(words)),
        };
        let set = |split, pairs: Vec<MinimalPair>, lengths| {
            let drawn = how(lengths, &pairs.iter().map(|pair| &pair.good).collect::<Vec<_>>());
            PairSet::new(split, pairs, drawn, kind, language.as_ref())
        };
        let tests =
            [set(TEST, test, &lengths)?, set(OUT_OF_DISTRIBUTION, out_of_distribution, &greater_lengths)?];
        let words: Vec<&Word> = validation.iter().collect();
        let drawn = how(&lengths, &words);
        let floor = drawn.floor(language.as_ref(), &words)?;
        let mut facts = json!({ "pairs": facts, "hash": hash, "training": train.len() });
        facts[VALIDATION] = validation.len().into();
        let validation = Strings { words: validation, floor, drawn };
        Ok(Self { training: train, validation, tests, facts, hash, language })
    }

    /// The law that the strings of each split were drawn from.
    pub(super) fn laws(&self) -> Result<Vec<(&'static str, Law<'_>)>, LabError> {
        let tests = self.tests.iter().map(|set| (set.split, &set.drawn));
        let all = std::iter::once((VALIDATION, &self.validation.drawn)).chain(tests);
        all.map(|(split, drawn)| Ok((split, drawn.law(self.language.as_ref())?))).collect()
    }
}

impl Drawn {
    fn law<'a>(&self, language: &'a dyn Language) -> Result<Law<'a>, LabError> {
        Law::of(language, &self.lengths, self.counted.as_ref())
    }

    /// What strings cost by the law that they were drawn from, in nats: no model costs less on the average.
    fn floor(&self, language: &dyn Language, words: &[&Word]) -> Result<f64, LabError> {
        let law = self.law(language)?;
        Ok(-words.iter().map(|word| law.log_prob(word)).sum::<f64>())
    }
}

impl PairSet {
    fn new(
        split: &'static str,
        pairs: Vec<MinimalPair>,
        drawn: Drawn,
        kind: NearMissKind,
        language: &dyn Language,
    ) -> Result<Self, LabError> {
        let bounds = pairs.iter().map(|pair| Bounds::of_pair(pair, language)).collect();
        let dependencies = pairs.iter().map(|pair| kind.dependency(&pair.good, &pair.bad)).collect();
        let floor = drawn.floor(language, &pairs.iter().map(|pair| &pair.good).collect::<Vec<_>>())?;
        Ok(Self { split, pairs, bounds, dependencies, floor, drawn })
    }
}

/// The hash of all strings.
fn hash(data: &PairData) -> String {
    let mut hasher = blake3::Hasher::new();
    let pairs = data.test.iter().chain(&data.out_of_distribution).flat_map(|pair| [&pair.good, &pair.bad]);
    for word in data.train.iter().chain(&data.validation).chain(pairs) {
        // Lengths before symbols: otherwise the same symbols in other strings would have the same hash.
        hasher.update(&(word.len() as u64).to_le_bytes());
        word.iter().for_each(|symbol| {
            hasher.update(&symbol.0.to_le_bytes());
        });
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
