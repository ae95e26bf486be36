//! The corpus that a network is scored on or searched for.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wug_dataset::corpus;
use wug_language::{Language, Reading, Word, registry};
use wug_learner::mdl::{CorpusSequence, MdlNetwork};

use crate::LabError;

#[derive(Clone, Debug)]
pub struct CorpusRequest {
    pub language: String,
    pub training: usize,
    /// As published, or corrected.
    pub reading: Reading,
    /// The seed that they are drawn with.
    pub seed: u64,
}

/// Distinct strings between boundaries, each with its count.
pub type WeightedStrings = Vec<(Vec<u32>, f64)>;

/// The most training strings.
const MAX_TRAINING: usize = 1_000_000;

impl CorpusRequest {
    pub fn build(&self) -> Result<Box<dyn Language>, LabError> {
        Ok(registry::find(&self.language)?.build(self.reading)?)
    }

    /// The training strings, shortest first.
    pub fn words(&self) -> Result<Vec<Word>, LabError> {
        if !(1..=MAX_TRAINING).contains(&self.training) {
            let message = format!("{} training strings; from 1 to {MAX_TRAINING} are allowed", self.training);
            return Err(LabError::Usage(message));
        }
        let named = registry::find(&self.language)?;
        Ok(corpus::training(&named, self.training, self.reading, self.seed)?)
    }

    /// The distinct training strings between boundaries, each with its count, and the number of symbols.
    pub fn strings(&self) -> Result<(WeightedStrings, usize), LabError> {
        // Equal strings are evaluated once: the 100 published strings of aⁿbⁿ are 13 distinct ones.
        let mut counts: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for word in self.words()? {
            let symbols = corpus::encode(&word).iter().map(|symbol| u32::from(symbol.0)).collect();
            *counts.entry(symbols).or_default() += 1.0;
        }
        Ok((counts.into_iter().collect(), self.build()?.alphabet().len() + 1))
    }

    /// The corpus for a network, which must have an input and an output for each symbol.
    pub fn sequences(&self, network: &MdlNetwork) -> Result<Vec<CorpusSequence>, LabError> {
        let (strings, vocabulary) = self.strings()?;
        fits(network, vocabulary, &self.language)?;
        let sequence =
            |(symbols, weight): &(Vec<u32>, f64)| CorpusSequence::of_symbols(symbols, vocabulary, *weight);
        Ok(strings.iter().map(sequence).collect())
    }

    /// What it is, for a file.
    pub fn facts(&self) -> Value {
        json!({
            "language": self.language, "training": self.training, "reading": self.reading.name(), "seed": self.seed,
        })
    }
}

/// Refuses a network that is not over the symbols of a language.
pub(super) fn fits(network: &MdlNetwork, vocabulary: usize, language: &str) -> Result<(), LabError> {
    if (network.inputs(), network.outputs()) == (vocabulary, vocabulary) {
        return Ok(());
    }
    let (inputs, outputs) = (network.inputs(), network.outputs());
    let binary = match outputs {
        1 => {
            "; a single output is the probability of the bit 1, and wug has no corpora of bits to score it on"
        }
        _ => "",
    };
    Err(LabError::Usage(format!(
        "the network has {inputs} inputs and {outputs} outputs, but `{language}` has {vocabulary} symbols, the boundary included{binary}"
    )))
}
