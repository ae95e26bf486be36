//! The strings of a run, encoded for training and evaluation.

use std::path::{Path, PathBuf};

use serde_json::Value;
use wug_dataset::manifest::{DataManifest as Manifest, MANIFEST};
use wug_dataset::recognition::{self, Dataset, TRAINING};
use wug_dataset::tabular::ParquetRows;
use wug_dataset::{Labelled, Seed, Split, ids};
use wug_language::registry::{self, Named};
use wug_language::{Language, LengthRange, Reading};
use wug_score::plan::{RecognitionData, StringSource};

use super::RecognitionPlan;
use crate::LabError;
use crate::disk::{Directory, read_manifest};
use crate::protocol::RunData;

/// A language with all its splits.
pub struct Data {
    pub language: Box<dyn Language>,
    pub splits: Vec<EncodedSplit>,
    /// The hash of all strings, labels, edits and next-symbol sets.
    pub hash: String,
    /// Facts for the result: sizes, and what was left out.
    pub facts: Value,
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Data").field("hash", &self.hash).field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// A split, as examples and encoded.
#[derive(Debug)]
pub struct EncodedSplit {
    pub split: Split,
    /// The strings as ids.
    pub strings: Vec<Vec<u32>>,
    /// The next-symbol set of each prefix of a member, as bits of ids.
    pub next: Vec<Vec<u64>>,
    /// The range of lengths, if the strings were drawn.
    pub lengths: Option<LengthRange>,
}

/// The splits of a published directory.
const SPLITS: [&str; 6] =
    [TRAINING, "validation-short", "validation-long", "test", "test-short-held-out", "test-edit-distance"];

/// The files that show the training split: as published, and our own rows.
const TRAINING_FILES: [&str; 3] = ["main.tok", "training.jsonl", "training.parquet"];

impl RunData for Data {
    fn hash(&self) -> &str {
        &self.hash
    }
}

impl Data {
    /// The data of a plan.
    pub fn of(plan: &RecognitionPlan) -> Result<Self, LabError> {
        let language = registry::find(&plan.subject)?.build(plan.reading)?;
        match &plan.data.source {
            StringSource::Drawn => Self::drawn(language, plan, Seed::new(plan.data_seed.unwrap_or_default())),
            StringSource::Directory { path, hash } => {
                let files = Self::read(path, language.as_ref())?;
                // The id has the content and not the path: other strings must not get a result under it.
                if files.hash != *hash {
                    return Err(LabError::Usage(format!(
                        "{} has changed since the run was planned: its content was {hash}, and is {}",
                        path.display(),
                        files.hash
                    )));
                }
                Ok(Self::prepared(language, files.dataset, None, files.hash))
            }
        }
    }

    fn drawn(language: Box<dyn Language>, plan: &RecognitionPlan, seed: Seed) -> Result<Self, LabError> {
        // By language: two languages with one data seed share no randomness.
        let seed = seed.derive(&plan.subject);
        let mut dataset = recognition::generate(language.as_ref(), &plan.data.splits(), plan.reading, seed)?;
        measure_distances(language.as_ref(), &mut dataset);
        let hash = hash(&dataset);
        Ok(Self::prepared(language, dataset, Some(&plan.data), hash))
    }

    fn prepared(
        language: Box<dyn Language>,
        dataset: Dataset,
        plan: Option<&RecognitionData>,
        hash: String,
    ) -> Self {
        let facts = dataset.facts();
        let specs = plan.map(RecognitionData::splits).unwrap_or_default();
        let lengths = |name: &str| specs.iter().find(|s| s.name == name).map(|s| s.lengths.clone());
        let choices = language.alphabet().len();
        let prepare = |split: Split| EncodedSplit {
            strings: split.examples.iter().map(|e| ids::encode(&e.word)).collect(),
            next: split.examples.iter().map(|e| next_sets(e, choices)).collect(),
            lengths: lengths(&split.name),
            split,
        };
        Self { splits: dataset.splits.into_iter().map(prepare).collect(), language, hash, facts }
    }

    /// Where the published directory of a language is: a folder in `directory` under the language's name, or `directory`
    /// itself, if its manifest says so or it has the language's name.
    pub(super) fn find(directory: &Path, named: &Named) -> Result<PathBuf, String> {
        let full = directory.canonicalize().map_err(|error| format!("{}: {error}", directory.display()))?;
        let names = std::iter::once(&named.entry.name).chain(named.entry.aliases).copied();
        let has_data = |path: &PathBuf| TRAINING_FILES.iter().any(|file| path.join(file).is_file());
        let inside = names.clone().map(|name| full.join(name)).find(has_data);
        let here = || {
            let manifest = read_manifest(&full).ok().flatten();
            let own = manifest.as_ref().map(|manifest| manifest.name.as_str());
            let own = own.or_else(|| full.file_name().and_then(|name| name.to_str()));
            let ours = own.is_some_and(|own| names.clone().any(|name| name == own) || own == named.spelled());
            (ours && has_data(&full)).then(|| full.clone())
        };
        inside.or_else(here).ok_or_else(|| {
            let folders: Vec<&str> = names.clone().collect();
            format!(
                "has no data of {}: looked for a folder {} with {}",
                named.spelled(),
                folders.join(" or "),
                TRAINING_FILES.join(" or ")
            )
        })
    }

    /// Reads a published directory.
    pub(super) fn read(path: &Path, language: &dyn Language) -> Result<DirectoryData, LabError> {
        let directory = Directory::open(path)?;
        let manifest = read_manifest(path)?;
        let source = ParquetRows { files: &directory, manifest: manifest.as_ref() };
        let mut dataset = Dataset { splits: Vec::new(), notes: Vec::new() };
        for name in SPLITS {
            // The published layout first; our own rows hold the same data in another form.
            let split = match recognition::read(&source, name, language.alphabet())? {
                None => recognition::read_rows(&source, name, language.alphabet())?,
                published => published,
            };
            match split {
                Some(split) => dataset.splits.push(split),
                None => dataset.notes.push(format!("{name}: not in the directory")),
            }
        }
        Ok(DirectoryData { hash: hash(&dataset), dataset, manifest })
    }

    /// The split with this name.
    pub fn split(&self, name: &str) -> Result<&EncodedSplit, LabError> {
        self.splits.iter().find(|p| p.split.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.splits.iter().map(|p| p.split.name.as_str()).collect();
            LabError::Usage(format!("the data have no split `{name}`; they have: {}", names.join(", ")))
        })
    }
}

/// The content of a published directory.
pub(super) struct DirectoryData {
    dataset: Dataset,
    hash: String,
    /// The manifest, if wug wrote the directory.
    manifest: Option<Manifest>,
}

impl DirectoryData {
    /// The plan of a run on these data, with their sizes and lengths.
    pub(super) fn plan(&self, path: PathBuf) -> RecognitionData {
        let examples = |name: &str| {
            let split = self.dataset.splits.iter().find(|split| split.name == name);
            split.map_or(&[][..], |split| &split.examples)
        };
        let size = |name: &str| examples(name).len();
        let longest = |name: &str| examples(name).iter().map(|e| e.word.len()).max().unwrap_or(0);
        RecognitionData {
            source: StringSource::Directory { path, hash: self.hash.clone() },
            training: size(TRAINING),
            // The plan has one number for both sets, and estimates are safe with the greater.
            validation: size("validation-short").max(size("validation-long")),
            test: size("test"),
            held_out: size("test-short-held-out"),
            distances: size("test-edit-distance"),
            short: longest(TRAINING),
            long: longest("validation-long"),
            longest: longest("test"),
        }
    }

    /// Refuses data that were written in another reading.
    pub(super) fn check_reading(&self, reading: Reading) -> Result<(), String> {
        match &self.manifest {
            Some(manifest) if manifest.reading != reading.name() => Err(format!(
                "holds data of reading `{}` (its {MANIFEST} says so), but the spec has reading `{reading}`",
                manifest.reading
            )),
            _ => Ok(()),
        }
    }
}

/// Sets the edit distance of the negatives of the long test from a regular language.
fn measure_distances(language: &dyn Language, dataset: &mut Dataset) {
    let Some(dfa) = language.automaton() else { return };
    for split in dataset.splits.iter_mut().filter(|split| split.name == "test") {
        for example in split.examples.iter_mut().filter(|e| !e.label) {
            example.distance = dfa.nearest(&example.word).map(|near| near.distance);
        }
    }
}

fn next_sets(example: &Labelled, choices: usize) -> Vec<u64> {
    // More symbols than bits: models with a next-symbol head refuse such an alphabet.
    if choices >= 64 {
        return Vec::new();
    }
    example.next.iter().flatten().map(ids::bits).collect()
}

fn hash(dataset: &Dataset) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut number = |n: usize| {
        hasher.update(&(n as u64).to_le_bytes());
    };
    for split in &dataset.splits {
        split.name.bytes().for_each(|b| number(usize::from(b)));
        number(split.examples.len());
        for e in &split.examples {
            number(e.word.len());
            e.word.iter().for_each(|s| number(s.index()));
            number(usize::from(e.label));
            // No count of edits and a count of 0 are different facts.
            number(e.edits.map_or(0, |k| k.saturating_add(1)));
            for set in e.next.iter().flatten() {
                number(usize::from(set.end()));
                set.symbols().for_each(|s| number(s.index() + 2));
            }
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
