//! The task of a run, encoded for training and evaluation.

use serde_json::{Value, json};
use wug_dataset::{RuleTask, Seed, transduction};
use wug_language::{Reading, Symbol, Word};
use wug_learner::model::Pair;
use wug_learner::registry::TransducerTask;

use super::tasks;
use super::{PreferencePlan, RuleTaskSource};
use crate::LabError;
use crate::fit::transducer::PairData;
use crate::protocol::RunData;

/// A task with its encoding.
#[derive(Debug)]
pub struct Data {
    pub task: RuleTask,
    /// How its symbols are numbered.
    pub(super) encoding: Encoding,
    /// The hash of all pairs, inputs and outputs.
    hash: String,
    /// Facts for the result.
    pub(super) facts: Value,
}

impl RunData for Data {
    fn hash(&self) -> &str {
        &self.hash
    }
}

/// How symbols are numbered for a learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encoding {
    pub(super) vocabularies: TransducerTask,
    /// The number of the first symbol of either alphabet.
    first: u32,
}

/// An input and its output as a learner reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EncodedPair {
    pub(super) input: Vec<u32>,
    pub(super) output: Vec<u32>,
}

impl EncodedPair {
    pub(super) fn pair(&self) -> Pair<'_> {
        Pair { input: &self.input, output: &self.output }
    }
}

/// Symbols that fairseq's dictionaries have before all others: start, padding, end, unknown.
const SPECIAL: usize = 4;
/// Its dictionaries have a multiple of so many symbols, the last ones never used.
const MULTIPLE: usize = 8;

impl Encoding {
    /// As published, dictionaries are fairseq's: the softmax has classes that never occur. Corrected, there is the end and what
    /// the task has.
    pub(super) fn of(task: &RuleTask, reading: Reading) -> Self {
        let (source, target) = (task.source.len(), task.target.len());
        match reading {
            Reading::Published => {
                let size = |symbols: usize| (SPECIAL + symbols).next_multiple_of(MULTIPLE);
                let (inputs, outputs) = (size(source), size(target));
                // The ids of fairseq 0.9.0: <s> 0, <pad> 1, </s> 2, <unk> 3.
                let vocabularies = TransducerTask { inputs, outputs, end: 2, padding: Some(1) };
                Self { vocabularies, first: SPECIAL as u32 }
            }
            Reading::Corrected => {
                let vocabularies =
                    TransducerTask { inputs: 1 + source, outputs: 1 + target, end: 0, padding: None };
                Self { vocabularies, first: 1 }
            }
        }
    }

    pub(super) fn word(self, word: &[Symbol]) -> Vec<u32> {
        word.iter().map(|symbol| u32::from(symbol.0) + self.first).collect()
    }

    pub(super) fn pair(self, pair: &wug_dataset::TransductionPair) -> EncodedPair {
        EncodedPair { input: self.word(&pair.input), output: self.word(&pair.output) }
    }

    /// An output in the tokens of the task; symbols that it does not have in angle brackets.
    pub(super) fn show(self, task: &RuleTask, output: &[u32]) -> String {
        let token = |&symbol: &u32| {
            let known = symbol.checked_sub(self.first).and_then(|i| task.target.tokens().get(i as usize));
            known.cloned().unwrap_or_else(|| format!("<{symbol}>"))
        };
        output.iter().map(token).collect::<Vec<_>>().join(" ")
    }
}

impl Data {
    /// The data of a plan.
    pub fn of(plan: &PreferencePlan) -> Result<Self, LabError> {
        let task = match &plan.data.source {
            RuleTaskSource::Named => {
                transduction::build(&plan.subject, Seed::new(plan.data_seed.unwrap_or_default()))
                    .map_err(LabError::usage)?
            }
            RuleTaskSource::File { path, hash } => {
                let task = tasks::read(path).map_err(LabError::Usage)?;
                let found = content_hash(&task);
                if found != *hash {
                    return Err(LabError::Usage(format!(
                        "{} has changed since the run was planned: its content was {hash}, and is {found}",
                        path.display()
                    )));
                }
                task
            }
        };
        Ok(Self::new(task, plan.reading))
    }

    pub(super) fn new(task: RuleTask, reading: Reading) -> Self {
        let encoding = Encoding::of(&task, reading);
        let TransducerTask { inputs, outputs, .. } = encoding.vocabularies;
        let hash = content_hash(&task);
        let symbols: usize = task.train.iter().map(|pair| pair.output.len() + 1).sum();
        let facts = json!({
            "training": task.train.len(), "holdout": task.holdout.len(), "unseen": task.unseen().len(),
            "rules": task.rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>(),
            "vocabulary": { "inputs": inputs, "outputs": outputs },
            // What the training outputs cost at most: the constant that is left out of every description length.
            "constant_nats": symbols as f64 * libm::log(outputs as f64),
            "hash": hash,
        });
        Self { task, encoding, hash, facts }
    }

    /// Pairs to fit a learner to.
    pub(super) fn pairs<'a>(&'a self, pairs: &'a [Pair<'a>]) -> PairData<'a> {
        let alphabets = ([&self.task.source, &self.task.target], self.encoding.first);
        PairData { pairs, task: self.encoding.vocabularies, alphabets }
    }

    pub(super) fn train(&self) -> Vec<EncodedPair> {
        self.task.train.iter().map(|pair| self.encoding.pair(pair)).collect()
    }
}

/// The hash of all that a task holds.
pub(super) fn content_hash(task: &RuleTask) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("wug 2026 rule task");
    let mut text = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    let (source, target) = (&task.source, &task.target);
    text(&task.name);
    for tokens in [source.tokens(), target.tokens()] {
        text(&tokens.join(" "));
    }
    let words = |words: &mut dyn Iterator<Item = String>| words.collect::<Vec<_>>().join("\n");
    let (input, output) = (|word: &Word| source.format(word), |word: &Word| target.format(word));
    text(&words(&mut task.train.iter().map(|pair| input(&pair.input))));
    text(&words(&mut task.train.iter().map(|pair| output(&pair.output))));
    text(&words(&mut task.holdout.iter().map(input)));
    for rule in &task.rules {
        text(&rule.name);
        text(&words(&mut rule.outputs.iter().map(output)));
    }
    // The block size decides what is sent together, and so every description length.
    text(&task.block_size.to_string());
    hasher.finalize().to_hex()[..32].to_owned()
}
