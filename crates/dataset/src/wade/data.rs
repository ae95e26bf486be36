//! Data sets: distinct sequences, split at random into a training and a test part.

use std::collections::BTreeSet;

use wug_language::limit::{TooLarge, check_memory};
use wug_language::{Reading, draw};

use super::task::TaskSettings;
use super::task::WadeTask;
use crate::{MaskedSequence, Seed};

/// How many draws are made at most for each sequence that is wanted.
const DRAWS_PER_SEQUENCE: usize = 5;

/// The sequences of a task, no two with the same text, and their split.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskData {
    pub task: &'static str,
    /// What the sequences were drawn with.
    pub settings: TaskSettings,
    /// In the order of their first draw.
    pub sequences: Vec<MaskedSequence>,
    /// How many distinct sequences were wanted.
    pub wanted: usize,
    /// How many draws were made, repetitions included.
    pub drawn: usize,
    /// Indices of the training sequences: four fifths, rounded down, in random order.
    pub train: Vec<usize>,
    /// Indices of the test sequences: the rest, in random order.
    pub test: Vec<usize>,
}

impl TaskData {
    /// How many sequences fewer than wanted there are, because draws repeat earlier ones.
    ///
    /// ```
    /// use wug_dataset::{Seed, wade::{PERIODIC, Reading, dataset}};
    /// let data = dataset(&PERIODIC, Reading::Published, 1200, Seed::new(1));
    /// assert_eq!((data.sequences.len(), data.missing()), (52, 1148));
    /// assert_eq!((data.train.len(), data.test.len()), (41, 11));
    /// ```
    pub fn missing(&self) -> usize {
        self.wanted - self.sequences.len()
    }

    pub fn train(&self) -> impl ExactSizeIterator<Item = &MaskedSequence> {
        self.train.iter().map(|&i| &self.sequences[i])
    }

    pub fn test(&self) -> impl ExactSizeIterator<Item = &MaskedSequence> {
        self.test.iter().map(|&i| &self.sequences[i])
    }
}

/// An error if `n` sequences would take too much memory, as a few draws show.
pub(crate) fn check_size(task: &WadeTask, settings: &TaskSettings, n: usize) -> Result<(), TooLarge> {
    // A few are enough: the limit is no fine line.
    const DRAWS: usize = 8;
    let mut rng = Seed::new(0).derive("wade/size").rng();
    let draws = (0..DRAWS).map(|_| task.generate_with(settings, &mut rng));
    // A token is in memory twice, drawn and known, and once as text; a masked position as an index and as text.
    let one = |sequence: MaskedSequence| 200 + sequence.word.len() * 9 + sequence.mask.len() * 12;
    let bytes = draws.map(one).sum::<usize>() as f64 / DRAWS as f64 * n as f64;
    check_memory(bytes, || format!("{n} sequences of `{}`", task.name))
}

/// Draws `n` distinct sequences with the settings of a reading, and splits them.
pub fn dataset(task: &WadeTask, reading: Reading, n: usize, seed: Seed) -> TaskData {
    dataset_with(task, &task.settings(reading), n, seed)
}

/// Draws until there are `n` distinct sequences or 5 `n` draws were made, and splits what there is.
///
/// Sequences are distinct if their tokens are: of two that differ in the mask alone only the first counts.
/// Repetition makes short sequences rarer than the generator does.
pub fn dataset_with(task: &WadeTask, settings: &TaskSettings, n: usize, seed: Seed) -> TaskData {
    let mut rng = seed.derive(&format!("wade/{}/draw", task.name)).rng();
    let (mut known, mut sequences, mut drawn) = (BTreeSet::new(), Vec::new(), 0);
    while sequences.len() < n && drawn < n.saturating_mul(DRAWS_PER_SEQUENCE) {
        let sequence = task.generate_with(settings, &mut rng);
        drawn += 1;
        if known.insert(sequence.word.clone()) {
            sequences.push(sequence);
        }
    }
    let mut train: Vec<usize> = (0..sequences.len()).collect();
    draw::shuffle(&mut seed.derive(&format!("wade/{}/split", task.name)).rng(), &mut train);
    let test = train.split_off(sequences.len() * 4 / 5);
    TaskData { task: task.name, settings: settings.clone(), sequences, wanted: n, drawn, train, test }
}
