//! The training and test sequences of a run.

use serde_json::{Value, json};
use wug_dataset::masked::{self, MaskedExample};
use wug_dataset::{DataError, Seed};
use wug_learner::interface::Sequence;
use wug_score::plan::CorpusFile;

use super::SpeedPlan;
use super::corpus::{LABELS, Read, read};
use crate::LabError;
use crate::protocol::RunData;

#[derive(Debug)]
pub struct Data {
    pub train: Vec<MaskedExample>,
    pub test: Vec<MaskedExample>,
    pub vocabulary: usize,
    /// The symbols as they are shown.
    pub tokens: Vec<String>,
    /// How many answers of the test sequences are correct if the most frequent answer of the training sequences is always given.
    pub chance: usize,
    /// The mean number of answers of fresh sequences.
    pub answers_per_sequence: f64,
    hash: String,
    drawn: usize,
}

impl RunData for Data {
    fn hash(&self) -> &str {
        &self.hash
    }
}

impl Data {
    /// The data of a plan.
    pub fn of(plan: &SpeedPlan) -> Result<Self, LabError> {
        let data = match &plan.data.corpus {
            Some(corpus) => Self::of_reviews(corpus, Seed::new(plan.data_seed.unwrap_or_default()))?,
            None => Self::drawn(plan)?,
        };
        if data.train.is_empty() || data.test.is_empty() {
            let count = data.train.len() + data.test.len();
            let few = format!("{} has only {count} distinct sequences", plan.subject);
            return Err(DataError::Request(few).into());
        }
        Ok(data)
    }

    fn of_reviews(corpus: &CorpusFile, seed: Seed) -> Result<Self, LabError> {
        let Read { train, test, pieces } = read(corpus, seed)?;
        let labels = LABELS.iter().map(|&label| label.to_owned());
        let tokens: Vec<String> =
            labels.chain((0..pieces.len() as u32).map(|id| pieces.piece(id).to_owned())).collect();
        Ok(Self {
            hash: hash(&train, &test),
            chance: chance(&train, &test, LABELS.len()),
            answers_per_sequence: 1.0,
            vocabulary: tokens.len(),
            tokens,
            drawn: train.len() + test.len(),
            train,
            test,
        })
    }

    fn drawn(plan: &SpeedPlan) -> Result<Self, LabError> {
        let mut found = masked::find(&plan.subject, plan.reading, &plan.data.lengths.range())?;
        let source = found.pop().filter(|_| found.is_empty());
        let source = source.ok_or_else(|| LabError::Usage(format!("`{}` is not one task", plan.subject)))?;
        let seed = Seed::new(plan.data_seed.unwrap_or_default());
        let data = source.draw(plan.data.sequences, seed)?;
        if data.train.is_empty() || data.test.is_empty() {
            let few = format!(
                "{} has only {} distinct sequences",
                plan.subject,
                data.train.len() + data.test.len()
            );
            return Err(DataError::Request(few).into());
        }
        let vocabulary = source.vocabulary();
        Ok(Self {
            hash: hash(&data.train, &data.test),
            chance: chance(&data.train, &data.test, vocabulary),
            answers_per_sequence: source.answers_per_sequence(seed),
            tokens: (0..vocabulary as u32).map(|symbol| source.token(symbol)).collect(),
            vocabulary,
            train: data.train,
            test: data.test,
            drawn: data.drawn,
        })
    }

    /// Answers of the test sequences.
    pub(super) fn answers(&self) -> usize {
        self.test.iter().map(|e| e.answers.len()).sum()
    }

    /// Facts about the sequences, for the result.
    pub(super) fn facts(&self) -> Value {
        let answers = |examples: &[MaskedExample]| examples.iter().map(|e| e.answers.len()).sum::<usize>();
        json!({
            "train": self.train.len(), "test": self.test.len(), "drawn": self.drawn,
            "train_answers": answers(&self.train), "test_answers": answers(&self.test),
            "vocabulary": self.vocabulary, "chance": self.chance as f64 / self.answers() as f64,
            "hash": self.hash,
            "answers_per_sequence": self.answers_per_sequence,
        })
    }
}

/// The ids of each example: symbols are numbered from 1.
pub(super) fn ids_of(examples: &[MaskedExample]) -> Vec<Vec<u32>> {
    examples.iter().map(|example| example.symbols.iter().map(|symbol| symbol + 1).collect()).collect()
}

/// Examples as learners see them.
pub(super) fn sequences<'a>(ids: &'a [Vec<u32>], examples: &'a [MaskedExample]) -> Vec<Sequence<'a>> {
    ids.iter().zip(examples).map(|(symbols, e)| Sequence { symbols, answers: &e.answers }).collect()
}

/// How many of the predictions, one id for each answer, are correct.
pub(super) fn correct(examples: &[MaskedExample], predictions: &[u32]) -> usize {
    let answers = examples.iter().flat_map(|e| (0..e.answers.len()).map(move |k| (e, k)));
    answers
        .zip(predictions)
        .filter(|((example, k), id)| id.checked_sub(1).is_some_and(|symbol| example.accepts(*k, symbol)))
        .count()
}

fn chance(train: &[MaskedExample], test: &[MaskedExample], vocabulary: usize) -> usize {
    let mut counts = vec![0_usize; vocabulary];
    train.iter().flat_map(|e| e.answers.iter().map(|&i| e.symbols[i])).for_each(|s| counts[s as usize] += 1);
    // The first of equals.
    let most = (0..vocabulary as u32).rev().max_by_key(|&symbol| counts[symbol as usize]).unwrap_or(0);
    let answers: usize = test.iter().map(|e| e.answers.len()).sum();
    correct(test, &vec![most + 1; answers])
}

fn hash(train: &[MaskedExample], test: &[MaskedExample]) -> String {
    let mut hasher = blake3::Hasher::new();
    for (part, examples) in [train, test].into_iter().enumerate() {
        hasher.update(&[part as u8]);
        for example in examples {
            for list in [&example.symbols[..], &example.answers.iter().map(|&i| i as u32).collect::<Vec<_>>()]
            {
                hasher.update(&(list.len() as u64).to_le_bytes());
                list.iter().for_each(|x| {
                    hasher.update(&x.to_le_bytes());
                });
            }
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
