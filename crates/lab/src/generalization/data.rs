//! The training and test strings of a run, and the scores of the chance baseline on the test strings.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wug_dataset::corpus::{self, ReleasedCorpus, Statistics, code_length_bits, test_after, test_from_first};
use wug_language::{Language, Reading, Word, registry};
use wug_learner::baseline::{RepeatLast, Uniform};
use wug_score::StringSteps;

use super::evaluate::{Evaluation, evaluate_steps};
use super::grid::with_prior;
use super::{Criterion, GeneralizationPlan, TestPlan, TestStart};
use crate::LabError;
use crate::protocol::RunData;

/// A language with its strings.
pub struct Data {
    pub language: Box<dyn Language>,
    /// The training strings, shortest first.
    pub corpus: Vec<Word>,
    /// The hash of the training strings and of the plan of the test.
    pub hash: String,
    /// Facts about the corpus and the test, for the result.
    pub facts: Value,
    /// At each margin, the scores of the chance baseline for each test string.
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

impl RunData for Data {
    fn hash(&self) -> &str {
        &self.hash
    }
}

impl Data {
    /// The data of a plan.
    pub fn of(plan: &GeneralizationPlan) -> Result<Self, LabError> {
        let named = registry::find(&with_prior(&plan.subject, plan.data.prior))?;
        let language = named.build(plan.reading)?;
        let corpus =
            corpus::training(&named, plan.data.training, plan.reading, plan.data_seed.unwrap_or_default())?;
        let mut data = Self {
            hash: hash(&corpus, plan),
            facts: Value::Null,
            chance: Vec::new(),
            reading: plan.reading,
            released: corpus::released(named.entry.name).ok(),
            test: plan.data.test,
            language,
            corpus,
        };
        // With the data and not with each run: the baseline is the same for all learners.
        data.chance = data.chance_scores(plan)?;
        data.facts = data.count();
        Ok(data)
    }

    /// The released corpus of the language, if there is one.
    pub(super) fn released(&self) -> Option<&'static dyn ReleasedCorpus> {
        self.released
    }

    /// The distinct training strings, shortest first, each with its count.
    pub(super) fn distinct(&self) -> Vec<(&Word, usize)> {
        let mut counts: BTreeMap<(usize, &Word), usize> = BTreeMap::new();
        for word in &self.corpus {
            *counts.entry((word.len(), word)).or_default() += 1;
        }
        counts.into_iter().map(|((_, word), count)| (word, count)).collect()
    }

    /// The test strings, in order; there may be fewer than the plan asks for.
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

    /// How to evaluate at a margin.
    pub(super) fn evaluation(&self, criterion: Criterion, margin: f64) -> Evaluation<'_> {
        let rule = criterion.rule(margin);
        match self.reading {
            Reading::Published => Evaluation::published(&*self.language, rule),
            Reading::Corrected => Evaluation::exact(&*self.language, rule),
        }
    }

    fn chance_scores(&self, plan: &GeneralizationPlan) -> Result<Vec<Vec<StringSteps>>, LabError> {
        let vocabulary = self.language.alphabet().len() + 1;
        let at_margin = |margin: &f64| {
            let evaluation = self.evaluation(plan.measure.criterion, *margin);
            let scores = match plan.measure.criterion {
                Criterion::Deterministic => {
                    // On aⁿbⁿ it misses only the end of each string: with ε = 0.005 it passes every published window.
                    evaluate_steps(&mut RepeatLast::new(vocabulary), self.strings(), &evaluation)
                }
                Criterion::Categorical => {
                    evaluate_steps(&mut Uniform::new(vocabulary), self.strings(), &evaluation)
                }
            };
            scores.map(|scores| scores.strings)
        };
        // A deterministic step is correct or not whatever the margin: one evaluation is enough.
        match plan.measure.criterion {
            Criterion::Categorical => plan.measure.margins.iter().map(at_margin).collect(),
            Criterion::Deterministic => {
                let scores = plan.measure.margins.first().map_or(Ok(Vec::new()), at_margin)?;
                Ok(vec![scores; plan.measure.margins.len()])
            }
        }
    }

    fn count(&self) -> Value {
        let Statistics { strings, unique, longest, targets, empty } = Statistics::of(&self.corpus);
        let natural = self.language.natural();
        let bits = natural.map(|d| code_length_bits(d.as_ref(), &self.corpus)).filter(|b| b.is_finite());
        let tested = self.chance.first().map_or(&[][..], Vec::as_slice);
        json!({
            "strings": strings, "distinct": unique, "longest": longest, "symbols": targets, "empty": empty,
            "optimal_bits": bits,
            "hash": self.hash,
            "test": {
                "strings": tested.len(), "asked": self.test.strings,
                "steps": tested.iter().map(|steps| steps.scored).sum::<usize>(),
            },
        })
    }
}

/// The hash of the training strings and of the plan of the test, from which the test strings follow. The `Debug` form of the plan is
/// part of it: it stays as it is.
fn hash(corpus: &[Word], plan: &GeneralizationPlan) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut number = |n: usize| {
        hasher.update(&(n as u64).to_le_bytes());
    };
    for word in corpus {
        number(word.len());
        word.iter().for_each(|symbol| number(symbol.index()));
    }
    hasher.update(format!("{} {:?}", plan.reading, plan.data.test).as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}
