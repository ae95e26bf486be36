//! Plans of learning speed.

use serde::{Deserialize, Serialize};
use wug_parameter::{Span, choices};

use super::PlanKind;
use crate::wade::WadeMeasure;

/// See sequences one after the other, answer others on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed;

impl PlanKind for Speed {
    const PROTOCOL: &'static str = "speed";
    type Data = SpeedData;
    type Measure = SpeedMeasure;

    fn forget_paths(data: &mut SpeedData) {
        if let Some(corpus) = &mut data.corpus {
            corpus.path.clear();
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeedData {
    /// Distinct sequences that are drawn; four fifths are for training.
    pub sequences: usize,
    /// Shortest and longest strings of a language; a task has lengths of its own.
    pub lengths: Span,
    /// The reviews to read instead of drawing sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<CorpusFile>,
}

/// Where reviews are and how they are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusFile {
    /// A directory with `train/pos`, `train/neg`, `test/pos` and `test/neg`, one review per file; or a file of comma-separated values.
    pub path: String,
    /// Pieces to learn from the training part, at most.
    pub pieces: usize,
    /// Pieces of a review, at most: the first.
    pub longest: usize,
    /// The hash of all reviews when the run was planned: reviews that were changed since are others.
    pub hash: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeedMeasure {
    /// How often each training sequence is seen.
    pub passes: usize,
    /// How many of them are observed at a time.
    pub batch: usize,
    /// What is observed: whole sequences, or their answers one by one.
    pub unit: TrainingUnit,
    /// When it is evaluated.
    pub evaluations: Evaluations,
    /// How the learning curve is scored.
    pub wade: WadeMeasure,
    /// Whether the run serves to choose settings, and its score is not to be compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub selection: bool,
}

/// When a learner is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluations {
    /// Whether once before any training.
    pub before: bool,
    /// After every observation until so many sequences were seen.
    pub first: usize,
    /// From then on every so many sequences; where answers are observed one by one, every so many answers.
    pub every: usize,
}

choices! {
    pub enum TrainingUnit {
        /// Sequences, in random order, with all their answers.
        Sequences = "sequences",
        /// Single answers, those of all sequences shuffled together. The first is observed once more, after the first evaluation: as
        /// the released code does it.
        Answers = "answers",
    }
}
