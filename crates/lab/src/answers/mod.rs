//! Answers that a model gave elsewhere: a file with one answer per string of a data set, scored like any learner's.
//!
//! A file of answers stands for a learner that is fitted already and that knows only these strings. So it goes through the same
//! plans, runs and results as every other learner.

mod arrays;
mod lines;
mod model;
mod npy;
mod splits;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wug_dataset::manifest::{DataManifest as Manifest, MANIFEST};
use wug_language::{Alphabet, Reading, registry};
use wug_learner::registry::Role;
use wug_score::plan::{Generalization, PlanKind as _, Recognition};

use crate::LabError;
use crate::disk::read_manifest;
use crate::foreign::{Begin, Conversation, Failure, Fitted, Hear, Learners, Question, Task};
use crate::spec::Experiment;
use crate::spec::draft::Fields;

pub use model::{LoadedModel, load_model};
pub use splits::{SplitStrings, read_splits};

/// What is answered about a string.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// The log-odds that it is a member.
    LogOdds(f64),
    /// The probabilities `[T,V]` of every next symbol after each prefix, the boundary included.
    Rows(Vec<f64>),
}

/// Answers by string, as symbol ids from 1 on.
pub(crate) type ByString = BTreeMap<Vec<u32>, (usize, Answer)>;

#[derive(Clone, Debug)]
pub struct Request {
    /// The data set: a directory that `wug data` wrote.
    pub data: PathBuf,
    /// What tables call the learner.
    pub learner: String,
    /// The seed that its results have.
    pub seed: u64,
    /// Values of the section, as in `--set`.
    pub sets: Vec<(String, String)>,
}

/// What answers: a file of answers, or a saved model.
#[derive(Debug)]
pub enum Source<'p> {
    Answers(&'p Path),
    /// A directory with `config.json` and `model.safetensors`.
    Model(&'p Path),
}

/// The runs that score a model on a data set, and the learner for them.
pub fn experiment(request: &Request, source: &Source<'_>) -> Result<(Experiment, Learners), LabError> {
    let subject = Subject::read(&request.data)?;
    let (version, host, begin): (String, &str, Box<Begin>) = match source {
        Source::Answers(path) => {
            let splits = read_splits(&request.data)?;
            let (hash, answers) = lines::read(path, &subject, &splits)?;
            // Before any run, which would fail at its first missing string and not say how many are missing.
            subject.complete(path, &answers, &splits)?;
            let answers = Arc::new(answers);
            let known = Known { answers, alphabet: Arc::clone(&subject.alphabet), file: lines::source(path) };
            (hash, "answers", Box::new(move || Ok(Box::new(known.clone()) as Box<dyn Conversation>)))
        }
        Source::Model(path) => {
            let model = Arc::new(load_model(path)?);
            let begin = Arc::clone(&model);
            (model.hash.clone(), "model", Box::new(move || Ok(begin.conversation())))
        }
    };
    let (protocol, section) = subject.section(request, host, &version)?;
    let (name, title) = (format!("score-{}", request.learner), format!("answers of {}", request.learner));
    let experiment = Experiment::of_section(&name, "wug score", protocol, &title, section, &request.sets)?;
    Ok((experiment, Arc::new(BTreeMap::from([(request.learner.clone(), begin)]))))
}

/// What a data set is.
pub(crate) struct Subject {
    manifest: Manifest,
    directory: PathBuf,
    /// The role that answers it.
    role: Role,
    pub(crate) alphabet: Arc<Alphabet>,
}

impl Subject {
    fn read(directory: &Path) -> Result<Self, LabError> {
        let manifest = read_manifest(directory)?.ok_or_else(|| {
            LabError::Usage(format!(
                "{} is no data set that `wug data` wrote: there is no {MANIFEST}",
                directory.display()
            ))
        })?;
        let role = match manifest.suite.as_str() {
            "flare" => Role::Recognizer,
            "bliss" => Role::NextSymbol,
            other => {
                return Err(LabError::Usage(format!(
                    "answers about data of `{other}` cannot be scored from a file: flare and bliss can; give the model as a `command` in an experiment, or through Python"
                )));
            }
        };
        let reading: Reading = manifest.reading.parse().map_err(LabError::usage)?;
        let language = registry::find(&manifest.name)?.build(reading)?;
        let alphabet = Arc::new(language.alphabet().clone());
        // The plan names it, and the sweep may go on from another working directory.
        let directory = directory.canonicalize().map_err(LabError::disk(directory))?;
        Ok(Self { manifest, directory, role, alphabet })
    }

    /// Refuses answers that leave strings out. Of the two validation sets of recognition one is enough.
    fn complete(&self, path: &Path, answers: &ByString, splits: &[SplitStrings]) -> Result<(), LabError> {
        for split in splits.iter().filter(|split| split.name != "validation-long") {
            let ids = split.strings.iter().map(|string| Ok((string, self.ids(string)?)));
            let ids = ids.collect::<Result<Vec<_>, String>>().map_err(LabError::Usage)?;
            let missing: Vec<&String> =
                ids.iter().filter(|(_, ids)| !answers.contains_key(ids)).map(|(string, _)| *string).collect();
            if let Some(first) = missing.first() {
                return Err(LabError::Usage(format!(
                    "{} has no answer for {} of the {} strings of split `{}`, such as `{}`",
                    lines::source(path),
                    missing.len(),
                    ids.len(),
                    split.name,
                    lines::short(first)
                )));
            }
        }
        Ok(())
    }

    /// The protocol and the section that has the data and the learner.
    fn section(
        &self,
        request: &Request,
        host: &str,
        version: &str,
    ) -> Result<(&'static str, Fields), LabError> {
        let Manifest { name, reading, seed: data_seed, .. } = &self.manifest;
        let learner = Fields::default()
            .with("name", request.learner.as_str())
            .with("host", host)
            .with("version", version)
            .with("roles", vec![self.role.name()]);
        let section = Fields::default()
            .with("languages", name.as_str())
            .with("reading", reading.as_str())
            .with("learners", vec![learner])
            .with("seeds", 1)
            .with("first_seed", request.seed);
        if self.role == Role::Recognizer {
            let directory = self.directory.display().to_string();
            let data = Fields::default().with("directory", directory.as_str());
            return Ok((Recognition::PROTOCOL, section.with("validation", "short").with("data", data)));
        }
        let sizes = self.manifest.spec.pointer("/data/sizes").and_then(|sizes| {
            let sizes = sizes.as_array()?.iter().map(serde_json::Value::as_u64);
            sizes.collect::<Option<Vec<u64>>>()
        });
        // The index of order 3 trains on 1000/b strings: a corpus of another size belongs to no b.
        let factors: Vec<u64> = (sizes.unwrap_or_default().into_iter())
            .filter(|size| *size > 0 && 1000 % size == 0)
            .map(|size| 1000 / size)
            .collect();
        if factors.is_empty() {
            return Err(LabError::Usage(format!(
                "{} has no training corpus of 1000/b strings for an index",
                self.directory.display()
            )));
        }
        let section = section.with("factors", factors).with("data_seed", *data_seed);
        Ok((Generalization::PROTOCOL, section))
    }
}

/// A learner that knows the answers of a file.
#[derive(Clone)]
struct Known {
    answers: Arc<ByString>,
    alphabet: Arc<Alphabet>,
    file: String,
}

impl Conversation for Known {
    fn fit(&mut self, _: &Task, _: Hear<'_>) -> Result<Fitted, Failure> {
        Ok(Fitted::default())
    }

    fn ask(&mut self, question: Question<'_>) -> Result<Vec<f64>, Failure> {
        let mut numbers = Vec::new();
        for string in question.strings() {
            // A next-symbol model is asked about prefixes: the boundary first, the end perhaps not.
            let symbols = match question {
                Question::NextSymbols(..) => &string[1..],
                _ => string,
            };
            let (_, answer) = self.answers.get(symbols).ok_or_else(|| self.unanswered(symbols))?;
            match answer {
                Answer::LogOdds(z) => numbers.push(*z),
                Answer::Rows(rows) => numbers.extend_from_slice(rows),
            }
        }
        Ok(numbers)
    }
}

impl Known {
    fn unanswered(&self, symbols: &[u32]) -> Failure {
        let word: Vec<_> = symbols.iter().map(|id| wug_language::Symbol(*id as u16 - 1)).collect();
        let string = self.alphabet.format(&word);
        Failure::learner(format!("{} has no answer for the string `{string}`", self.file))
    }
}
