//! The strings of a run: those to learn from, those to be marked on, and what a learner that knows nothing gets for them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wug_dataset::corpus::{self, ReleasedCorpus, Statistics, code_length_bits, test_after, test_from_first};
use wug_language::{Language, Reading, Symbol, Word};
use wug_learner::baseline::{RepeatLast, Uniform};
use wug_score::StringSteps;

use super::evaluate::{Evaluation, evaluate_steps};
use super::plan::{Measure, Plan, TestPlan, TestStart};
use crate::LabError;

/// A language with its strings.
pub struct Data {
    /// The language.
    pub language: Box<dyn Language>,
    /// The strings to learn from, shortest first.
    pub corpus: Vec<Word>,
    /// Of every string to learn from, and what the test is.
    pub hash: String,
    /// What is known of the corpus and the test.
    pub facts: Value,
    /// At each margin, what a learner that knows nothing gets for each test string.
    pub(super) chance: Vec<Vec<StringSteps>>,
    reading: Reading,
    released: Option<&'static dyn ReleasedCorpus>,
    test: TestPlan,
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Data").field("hash", &self.hash).field("facts", &self.facts).finish_non_exhaustive()
    }
}

impl Data {
    /// The data of a plan.
    pub fn of(plan: &Plan) -> Result<Self, LabError> {
        let named = plan.named()?;
        let language = named.build(plan.reading)?;
        let corpus = corpus::training(&named, plan.training, plan.reading, plan.data_seed)?;
        let mut data = Self {
            hash: hash(&corpus, plan),
            facts: Value::Null,
            chance: Vec::new(),
            reading: plan.reading,
            released: corpus::released(named.entry.name).ok(),
            test: plan.test,
            language,
            corpus,
        };
        data.chance = data.of_knowing_nothing(plan)?;
        data.facts = data.count();
        Ok(data)
    }

    /// The language as it was released, if it was.
    pub(super) fn released(&self) -> Option<&'static dyn ReleasedCorpus> {
        self.released
    }

    /// The different strings to learn from, shortest first, each with how often it is there.
    pub(super) fn distinct(&self) -> Vec<(&Word, usize)> {
        let mut counts: BTreeMap<(usize, &Word), usize> = BTreeMap::new();
        for word in &self.corpus {
            *counts.entry((word.len(), word)).or_default() += 1;
        }
        counts.into_iter().map(|((_, word), count)| (word, count)).collect()
    }

    /// The test strings, in their order; there may be fewer than were asked for.
    pub fn strings(&self) -> Box<dyn Iterator<Item = Word> + '_> {
        let TestPlan { from, after, strings } = self.test;
        let released = self.released.filter(|_| self.reading == Reading::Published);
        match (from, released) {
            (TestStart::Longest, Some(released)) => released.slice(after.slice(), &self.corpus, strings),
            (TestStart::First, Some(released)) => Box::new(released.test().take(strings)),
            (TestStart::Longest, None) => Box::new(test_after(&*self.language, self.longest(), strings)),
            (TestStart::First, None) => Box::new(test_from_first(&*self.language, strings)),
        }
    }

    fn longest(&self) -> usize {
        self.corpus.last().map_or(0, Vec::len)
    }

    /// What is asked at a margin.
    pub(super) fn exam(&self, measure: Measure, margin: f64) -> Evaluation<'_> {
        let rule = measure.rule(margin);
        match self.reading {
            Reading::Published => Evaluation::published(&*self.language, rule),
            Reading::Corrected => Evaluation::exact(&*self.language, rule),
        }
    }

    fn of_knowing_nothing(&self, plan: &Plan) -> Result<Vec<Vec<StringSteps>>, LabError> {
        let vocabulary = self.language.alphabet().len() + 1;
        let marked = |margin: &f64| {
            let exam = self.exam(plan.measure, *margin);
            let marks = match plan.measure {
                Measure::Deterministic => {
                    evaluate_steps(&mut RepeatLast::new(vocabulary), self.strings(), &exam)
                }
                Measure::Categorical => evaluate_steps(&mut Uniform::new(vocabulary), self.strings(), &exam),
            };
            marks.map(|marks| marks.strings).map_err(|error| LabError::Usage(error.to_string()))
        };
        // Where the margin is what is forgiven, steps are right or wrong whatever it is.
        match plan.measure {
            Measure::Categorical => plan.margins.iter().map(marked).collect(),
            Measure::Deterministic => {
                let marks = plan.margins.first().map_or(Ok(Vec::new()), marked)?;
                Ok(vec![marks; plan.margins.len()])
            }
        }
    }

    fn count(&self) -> Value {
        let Statistics { strings, unique, longest, targets, empty } = Statistics::of(&self.corpus);
        let natural = self.language.natural();
        let bits = natural.map(|d| code_length_bits(d.as_ref(), &self.corpus)).filter(|b| b.is_finite());
        let marked = self.chance.first().map_or(&[][..], Vec::as_slice);
        json!({
            "strings": strings, "distinct": unique, "longest": longest, "symbols": targets, "empty": empty,
            "optimal_bits": bits,
            "hash": self.hash,
            "test": {
                "strings": marked.len(), "asked": self.test.strings,
                "steps": marked.iter().map(|steps| steps.scored).sum::<usize>(),
            },
        })
    }
}

/// A word as a learner reads it.
pub(super) fn between_boundaries(word: &[Symbol]) -> Vec<u32> {
    corpus::encode(word).iter().map(|symbol| u32::from(symbol.0)).collect()
}

/// The hash of the strings to learn from. Those of the test follow from them and from the plan.
fn hash(corpus: &[Word], plan: &Plan) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut number = |n: usize| {
        hasher.update(&(n as u64).to_le_bytes());
    };
    for word in corpus {
        number(word.len());
        word.iter().for_each(|symbol| number(symbol.index()));
    }
    hasher.update(format!("{} {:?}", plan.reading, plan.test).as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}
