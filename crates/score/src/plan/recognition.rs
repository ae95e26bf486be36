//! Plans of recognition at unseen lengths.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wug_dataset::recognition::{SplitSpec, default_splits};
use wug_parameter::choices;

use super::PlanKind;

/// Train on short labelled strings, recognise long ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognition;

impl PlanKind for Recognition {
    const PROTOCOL: &'static str = "recognition";
    type Data = RecognitionData;
    type Measure = RecognitionMeasure;

    fn forget_paths(data: &mut RecognitionData) {
        if let StringSource::Directory { path, .. } = &mut data.source {
            path.clear();
        }
    }
}

/// Where the strings come from, and how many of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecognitionData {
    pub source: StringSource,
    pub training: usize,
    pub validation: usize,
    /// Strings of the long test.
    pub test: usize,
    /// Strings of the short test, none of which is in the training set.
    pub held_out: usize,
    /// Negatives with their distance from the language.
    pub distances: usize,
    /// The longest training string.
    pub short: usize,
    /// The longest string of the long validation set.
    pub long: usize,
    /// The longest string of the long test.
    pub longest: usize,
}

/// Where strings come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum StringSource {
    /// From the language's samplers.
    Drawn,
    /// From a directory in the published layout.
    Directory {
        path: PathBuf,
        /// What was in it when the run was planned.
        hash: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecognitionMeasure {
    pub loss: Loss,
    pub validation: Validation,
    /// The weights of the auxiliary losses; recognition has weight 1.
    pub weights: AuxiliaryWeights,
}

/// How much the losses beside recognition count; 0 where there is no such loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuxiliaryWeights {
    pub language_modeling: f64,
    pub next_symbols: f64,
}

choices! {
    /// The training loss of a recognizer.
    pub enum Loss {
        R = "R",
        /// Recognition, and language modelling on members.
        Lm = "R+LM",
        /// Recognition, and next-symbol sets of members.
        Ns = "R+NS",
        LmNs = "R+LM+NS",
    }
}

choices! {
    /// Which set stops training and chooses the model.
    pub enum Validation {
        /// Strings as long as the training strings.
        Short = "short",
        /// Strings up to twice as long.
        Long = "long",
    }
}

impl Loss {
    /// Whether there is a language-modelling head, and whether there is a next-symbol head.
    pub fn heads(self) -> (bool, bool) {
        match self {
            Self::R => (false, false),
            Self::Lm => (true, false),
            Self::Ns => (false, true),
            Self::LmNs => (true, true),
        }
    }
}

impl Validation {
    /// The name of the split.
    pub fn split(self) -> &'static str {
        match self {
            Self::Short => "validation-short",
            Self::Long => "validation-long",
        }
    }
}

impl RecognitionMeasure {
    /// The weight that all auxiliary losses have; none if there are none, or if they differ.
    pub fn common_weight(&self) -> Option<f64> {
        let AuxiliaryWeights { language_modeling, next_symbols } = self.weights;
        match self.loss.heads() {
            (false, false) => None,
            (true, false) => Some(language_modeling),
            (false, true) => Some(next_symbols),
            (true, true) => {
                (language_modeling.to_bits() == next_symbols.to_bits()).then_some(language_modeling)
            }
        }
    }
}

impl RecognitionData {
    /// The splits to draw: the published ones, in their order, with these sizes and lengths.
    pub fn splits(&self) -> Vec<SplitSpec> {
        let ours = [
            (self.training, self.short),
            (self.validation, self.short),
            (self.validation, self.long),
            (self.test, self.longest),
            (self.held_out, self.short),
            (self.distances, self.longest),
        ];
        let with = |(split, (size, longest))| SplitSpec { size, lengths: 0..=longest, ..split };
        default_splits().into_iter().zip(ours).map(with).collect()
    }
}
