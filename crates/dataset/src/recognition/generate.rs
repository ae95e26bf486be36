//! Drawing the splits of a language.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wug_language::limit::check_memory;
use wug_language::negative::{Coin, Negatives};
use wug_language::{Distribution, Language, LengthRange, Reading, Word, draw};
use wug_parameter::{Key, Parameter, Settings, Span};

use super::{Labelled, Split, TRAINING};
use crate::suite::{lengths, size};
use crate::{DataError, Seed};

/// How a split is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitSpec {
    pub name: String,
    pub size: usize,
    pub lengths: LengthRange,
    /// What is special about it.
    pub kind: SplitKind,
}

/// What is special about a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitKind {
    Plain,
    /// No string of the splits before it (of those that are not longer) may occur; if that cannot be, the
    /// split is left out.
    HeldOut,
    /// Negatives alone, with their exact edit distance; for regular languages.
    Distance,
}

/// What can be set of a split, and what is special about it.
struct SplitKeys {
    name: &'static str,
    size: Key<usize>,
    lengths: Key<Span>,
    kind: SplitKind,
}

/// The splits of Butoi et al. (2025, §3.1 and §4): their five, and the one for edit distances.
const SPLITS: [SplitKeys; 6] = [
    SplitKeys {
        name: TRAINING,
        size: size("training.size", "training strings", 10_000),
        lengths: lengths("training.lengths", "their lengths", 0..=40),
        kind: SplitKind::Plain,
    },
    SplitKeys {
        name: "validation-short",
        size: size("validation-short.size", "validation strings as long as the training strings", 1_000),
        lengths: lengths("validation-short.lengths", "their lengths", 0..=40),
        kind: SplitKind::Plain,
    },
    SplitKeys {
        name: "validation-long",
        size: size("validation-long.size", "longer validation strings", 1_000),
        lengths: lengths("validation-long.lengths", "their lengths", 0..=80),
        kind: SplitKind::Plain,
    },
    SplitKeys {
        name: "test",
        size: size("test.size", "strings of the long test", 5_010),
        lengths: lengths("test.lengths", "their lengths", 0..=500),
        kind: SplitKind::Plain,
    },
    SplitKeys {
        name: "test-short-held-out",
        size: size("test-short-held-out.size", "short test strings, none of them in the training set", 1_000),
        lengths: lengths("test-short-held-out.lengths", "their lengths", 0..=40),
        kind: SplitKind::HeldOut,
    },
    SplitKeys {
        name: "test-edit-distance",
        size: size("test-edit-distance.size", "negatives with their distance from the language", 50),
        lengths: lengths("test-edit-distance.lengths", "their lengths", 0..=500),
        kind: SplitKind::Distance,
    },
];

/// What can be set of the splits.
pub(crate) static SPLIT_PARAMETERS: &[Parameter] = &{
    // Constants are evaluated without iterators, so that the pairs of keys are laid out in a loop.
    let mut all = [SPLITS[0].size.parameter(); 2 * SPLITS.len()];
    let mut i = 0;
    while i < SPLITS.len() {
        all[2 * i] = SPLITS[i].size.parameter();
        all[2 * i + 1] = SPLITS[i].lengths.parameter();
        i += 1;
    }
    all
};

/// The splits that settings say, in the published order.
pub(crate) fn splits(settings: &Settings) -> Vec<SplitSpec> {
    let split = |keys: &SplitKeys| SplitSpec {
        name: keys.name.to_owned(),
        size: settings.get(&keys.size),
        lengths: settings.get(&keys.lengths).range(),
        kind: keys.kind,
    };
    SPLITS.iter().map(split).collect()
}

pub fn default_splits() -> Vec<SplitSpec> {
    splits(&Settings::default())
}

/// The data of one language.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The splits that could be made, in order.
    pub splits: Vec<Split>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl Dataset {
    /// What the manifest says of it: sizes, positives, the share of perturbed negatives, and
    /// what was left out.
    pub fn facts(&self) -> Value {
        let splits = self.splits.iter().map(|split| {
            let facts = json!({
                "examples": split.examples.len(),
                "positives": split.positives(),
                "distinct": split.distinct().len(),
                "perturbed_negatives": split.examples.iter().filter(|e| e.edits.is_some()).count(),
            });
            (split.name.clone(), facts)
        });
        json!({ "splits": Value::Object(splits.collect()), "notes": self.notes })
    }

    /// The strings up to a length in all splits but the long test.
    fn seen(&self, longest: usize) -> BTreeSet<Word> {
        let splits = self.splits.iter().filter(|split| split.name != "test");
        let words = splits.flat_map(|split| split.examples.iter().map(|example| &example.word));
        words.filter(|word| word.len() <= longest).cloned().collect()
    }
}

/// Draws the splits of a language. In the published reading each label is a fair coin, and the coin of negatives is tossed
/// for every proposal; in the corrected one half of each split are members, or one more or fewer than half if its size is
/// odd. `language` must be built in the same reading.
pub fn generate(
    language: &dyn Language,
    specs: &[SplitSpec],
    reading: Reading,
    seed: Seed,
) -> Result<Dataset, DataError> {
    check_sizes(language, specs)?;
    let mut dataset = Dataset { splits: Vec::new(), notes: Vec::new() };
    for spec in specs {
        let source = SplitSource::new(language, spec, reading)?;
        // The name of the stream is fixed: another one would draw other strings.
        let seed = seed.derive("flare").derive(&spec.name);
        let examples = match spec.kind {
            SplitKind::Plain => Some(source.draw(spec.size, seed, &BTreeSet::new())?),
            SplitKind::HeldOut => match source.draw(spec.size, seed, &dataset.seen(*spec.lengths.end())) {
                Ok(examples) => Some(examples),
                Err(error) => {
                    dataset.notes.push(format!("{}: left out: {error}", spec.name));
                    None
                }
            },
            SplitKind::Distance => source.negatives_with_distances(spec.size, seed)?,
        };
        dataset.splits.extend(examples.map(|examples| Split { name: spec.name.clone(), examples }));
    }
    Ok(dataset)
}

/// An error if the strings of all splits would take too much memory, or the sampler or the edit distances of one.
pub(crate) fn check_sizes(language: &dyn Language, specs: &[SplitSpec]) -> Result<(), DataError> {
    // A symbol in memory and as text; half of the strings are positives and have a next-symbol set at each step.
    let alphabet = language.alphabet().len() as f64;
    let next_set = size_of::<wug_language::NextSet>() as f64 + alphabet / 8.0;
    let (symbol, next) = (8.0, next_set / 2.0 + 16.0 + alphabet);
    let mut bytes = 0.0;
    for SplitSpec { name, size, lengths, kind } in specs {
        let (shortest, longest) = (*lengths.start(), *lengths.end());
        language.check_length(longest).map_err(DataError::too_large)?;
        let per_symbol = if *kind == SplitKind::Distance { symbol } else { symbol + next };
        let mean = f64::midpoint(shortest as f64, longest as f64) + 1.0;
        bytes += *size as f64 * (size_of::<Labelled>() as f64 + mean * per_symbol);
        let what = || format!("the split `{name}` of {size} strings of {shortest} to {longest} symbols");
        check_memory(bytes, what).map_err(DataError::too_large)?;
        if let (SplitKind::Distance, Some(dfa)) = (kind, language.automaton()) {
            dfa.check_nearest(longest).map_err(DataError::too_large)?;
        }
    }
    Ok(())
}

/// The two samplers of a split.
struct SplitSource<'a> {
    language: &'a dyn Language,
    positives: Box<dyn Distribution + 'a>,
    negatives: Negatives<'a>,
    patience: usize,
    reading: Reading,
}

impl<'a> SplitSource<'a> {
    fn new(language: &'a dyn Language, spec: &SplitSpec, reading: Reading) -> Result<Self, DataError> {
        let coin = Coin::of(reading);
        Ok(Self {
            language,
            positives: language.by_length(spec.lengths.clone())?,
            negatives: Negatives::new(language, spec.lengths.clone(), coin)?,
            patience: coin.patience(),
            reading,
        })
    }

    fn draw(&self, size: usize, seed: Seed, avoid: &BTreeSet<Word>) -> Result<Vec<Labelled>, DataError> {
        let mut labels = match self.reading {
            Reading::Published => Vec::new(),
            Reading::Corrected => balanced_labels(size, seed.derive("labels")),
        }
        .into_iter();
        let mut rng = seed.rng();
        (0..size)
            .map(|_| {
                // In the published reading coins and strings come from one stream, in turn: drawn apart,
                // they would be other data.
                if labels.next().unwrap_or_else(|| draw::coin(&mut rng)) {
                    self.positive(&mut rng, avoid)
                } else {
                    self.negative(&mut rng, avoid)
                }
            })
            .collect()
    }

    /// Negatives with their edit distance from the language; `None` if it is not regular.
    fn negatives_with_distances(&self, size: usize, seed: Seed) -> Result<Option<Vec<Labelled>>, DataError> {
        let Some(dfa) = self.language.automaton() else { return Ok(None) };
        let mut rng = seed.rng();
        let examples: Result<Vec<Labelled>, DataError> =
            (0..size).map(|_| self.negative(&mut rng, &BTreeSet::new())).collect();
        let mut examples = examples?;
        for example in &mut examples {
            example.distance = dfa.nearest(&example.word).map(|near| near.distance);
        }
        Ok(Some(examples))
    }

    fn positive(&self, rng: &mut dyn rand_core::Rng, avoid: &BTreeSet<Word>) -> Result<Labelled, DataError> {
        for _ in 0..self.patience {
            let word = self.positives.sample(rng);
            if !avoid.contains(&word) {
                let next = Some(self.language.next_sets(&word));
                let log_prob = Some(self.positives.log_prob(&word));
                return Ok(Labelled { log_prob, next, ..Labelled::new(word, true) });
            }
        }
        Err(DataError::Request(format!("{} members in a row were seen before", self.patience)))
    }

    fn negative(&self, rng: &mut dyn rand_core::Rng, avoid: &BTreeSet<Word>) -> Result<Labelled, DataError> {
        let negative = self.negatives.sample_where(rng, |word| !avoid.contains(word))?;
        Ok(Labelled { edits: negative.edits, ..Labelled::new(negative.word, false) })
    }
}

/// As many members as other strings, in random order; a coin decides about the last one of an odd number.
fn balanced_labels(size: usize, seed: Seed) -> Vec<bool> {
    let mut rng = seed.rng();
    let positives = size / 2 + usize::from(size % 2 == 1 && draw::coin(&mut rng));
    let mut labels: Vec<bool> = (0..size).map(|i| i < positives).collect();
    draw::shuffle(&mut rng, &mut labels);
    labels
}
