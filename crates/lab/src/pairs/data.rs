//! The strings and pairs of a run, and what can be known of them without a model.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wug_dataset::pairs::{NearMissKind, PairData, generate};
use wug_dataset::{Bounds, MinimalPair, Seed, corpus};
use wug_language::registry;
use wug_language::{Language, Symbol, Word};

use super::plan::Plan;
use super::{OUT_OF_DISTRIBUTION, TEST, VALIDATION};
use crate::LabError;
use crate::protocol::RunData;

/// A language with its strings and pairs.
pub struct Data {
    /// The language.
    pub language: Box<dyn Language>,
    /// The training strings.
    pub training: Vec<Word>,
    /// The validation strings.
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
    /// The strings.
    pub words: Vec<Word>,
    /// Their cost in nats by the grammar's own probabilities.
    pub floor: f64,
}

/// Pairs of one split.
#[derive(Debug)]
pub struct PairSet {
    /// The name of the split.
    pub split: &'static str,
    /// The pairs.
    pub pairs: Vec<MinimalPair>,
    /// What can be known of each.
    pub bounds: Vec<Bounds>,
    /// The distance of the dependency that each breaks, if there is one.
    pub dependencies: Vec<Option<usize>>,
    /// The cost of the good strings in nats by the grammar's own probabilities.
    pub floor: f64,
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
    pub fn of(plan: &Plan) -> Result<Self, LabError> {
        let named = registry::find(&plan.language)?;
        let language = named.build(plan.reading)?;
        let drawn = generate(&named, &plan.data.sizes(), plan.reading, Seed::new(plan.data.seed))?;
        let kind = NearMissKind::of(&named, language.as_ref());
        let (facts, hash) = (drawn.facts(language.as_ref()), hash(&drawn));
        let PairData { train, validation, test, out_of_distribution, .. } = drawn;
        let set = |split, pairs| PairSet::new(split, pairs, kind, language.as_ref());
        let tests = [set(TEST, test)?, set(OUT_OF_DISTRIBUTION, out_of_distribution)?];
        let floor = floor(language.as_ref(), &validation.iter().collect::<Vec<_>>())?;
        let mut facts = json!({ "pairs": facts, "hash": hash, "training": train.len() });
        facts[VALIDATION] = validation.len().into();
        let validation = Strings { words: validation, floor };
        Ok(Self { training: train, validation, tests, facts, hash, language })
    }
}

impl PairSet {
    fn new(
        split: &'static str,
        pairs: Vec<MinimalPair>,
        kind: NearMissKind,
        language: &dyn Language,
    ) -> Result<Self, LabError> {
        let bounds = pairs.iter().map(|pair| Bounds::of_pair(pair, language)).collect();
        let dependencies = pairs.iter().map(|pair| kind.dependency(&pair.good, &pair.bad)).collect();
        let floor = floor(language, &pairs.iter().map(|pair| &pair.good).collect::<Vec<_>>())?;
        Ok(Self { split, pairs, bounds, dependencies, floor })
    }
}

/// The least that strings can cost in nats: a string's probability is the share of its length among them, times the probability of
/// the string among those of its length by the language's own law. Distinct strings have no other law of lengths than this one,
/// because there are few short ones.
fn floor(language: &dyn Language, words: &[&Word]) -> Result<f64, LabError> {
    let mut by_length: BTreeMap<usize, Vec<&Word>> = BTreeMap::new();
    for word in words {
        by_length.entry(word.len()).or_default().push(word);
    }
    let (mut nats, all) = (0.0, words.len() as f64);
    for (length, words) in by_length {
        let law = language.by_length(length..=length).map_err(|error| LabError::Usage(error.to_string()))?;
        let share = libm::log(words.len() as f64 / all);
        nats -= words.iter().map(|word| share + law.log_prob(word)).sum::<f64>();
    }
    Ok(nats)
}

/// A word as a learner's input: between boundary symbols.
pub(super) fn between_boundaries(word: &[Symbol]) -> Vec<u32> {
    corpus::encode(word).iter().map(|symbol| u32::from(symbol.0)).collect()
}

/// The hash of all strings.
fn hash(data: &PairData) -> String {
    let mut hasher = blake3::Hasher::new();
    let pairs = data.test.iter().chain(&data.out_of_distribution).flat_map(|pair| [&pair.good, &pair.bad]);
    for word in data.train.iter().chain(&data.validation).chain(pairs) {
        hasher.update(&(word.len() as u64).to_le_bytes());
        word.iter().for_each(|symbol| {
            hasher.update(&symbol.0.to_le_bytes());
        });
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
