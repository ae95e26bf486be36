//! The predictions of a model for a string, as plain data, together with the string.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wug_dataset::Labelled;
use wug_language::{Alphabet, Distribution};

use crate::ratio::{finite, sum};

/// The predictions of a model for one string; what it does not predict is left out, and the metrics that need
/// it do not apply.
///
/// ```
/// use wug_score::{Prediction, Verdict};
/// let line = r#"{"recognition":{"logit":-0.3},"log_probs":[-0.7,-0.2]}"#;
/// let prediction: Prediction = serde_json::from_str(line).unwrap();
/// assert_eq!(prediction.recognition, Some(Verdict::Logit(-0.3)));
/// assert_eq!(serde_json::to_string(&prediction).unwrap(), line);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// Whether the string is a member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recognition: Option<Verdict>,
    /// The natural logarithms of the probabilities of the symbols that came, each given those before it, and
    /// of the end after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_probs: Option<Vec<f64>>,
    /// What may come at each prefix, from the empty one to the whole string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextAnswer>,
}

/// Whether a string is a member.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Verdict {
    /// The log-odds that it is: accepted if not negative.
    Logit(f64),
    /// The probability that it is: accepted from one half on.
    Probability(f64),
}

/// What may come at each prefix: one row per prefix, with an entry for every symbol in the order of the
/// alphabet and the last for the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NextAnswer {
    /// Log-odds that each may come: in the set if not negative.
    Logits(Vec<Vec<f64>>),
    /// Whether each may come, from a model without probabilities.
    Sets(Vec<Vec<bool>>),
}

impl Prediction {
    /// A recognizer's log-odds and nothing else.
    pub fn of_logit(logit: f64) -> Self {
        Self { recognition: Some(Verdict::Logit(logit)), ..Self::default() }
    }
}

impl Verdict {
    /// Whether the string is accepted; `None` if the answer is NaN.
    pub fn accepts(self) -> Option<bool> {
        let (x, threshold) = match self {
            Self::Logit(z) => (z, 0.0),
            Self::Probability(p) => (p, 0.5),
        };
        (!x.is_nan()).then_some(x >= threshold)
    }
}

/// A prediction that does not fit its string.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Mismatch {
    /// Too many or too few prefixes.
    #[error("{what} for {given} prefixes, but a string of {length} symbols has {}", length + 1)]
    Prefixes {
        what: &'static str,
        /// For how many prefixes.
        given: usize,
        /// The length of the string.
        length: usize,
    },
    /// A row that is too long or too short.
    #[error("{given} next-symbol answers at prefix {prefix}, but the alphabet and the end make {allowed}")]
    Choices {
        /// How many answers were given.
        given: usize,
        /// The length of the prefix.
        prefix: usize,
        /// How many there should be.
        allowed: usize,
    },
    #[error("{given} was given as a probability, but probabilities are from 0 to 1")]
    Probability { given: f64 },
    /// No logarithm of a probability.
    #[error("{given} was given as a log-probability at prefix {prefix}, but those are at most 0")]
    LogProbability {
        given: f64,
        /// The length of the prefix.
        prefix: usize,
    },
    /// The data set's own sets do not fit its string.
    #[error("the data have next-symbol sets for {given} prefixes, but the string has {}", length + 1)]
    Truth {
        /// How many sets there are.
        given: usize,
        /// The length of the string.
        length: usize,
    },
}

/// What single precision may add to the logarithm of one.
const ROUNDING: f64 = 1e-5;

/// A string with its true labels and the predictions of a model, which are known to fit together.
#[derive(Clone, Copy, Debug)]
pub struct Example<'a> {
    truth: &'a Labelled,
    prediction: &'a Prediction,
    choices: usize,
    drawn: Option<DrawProbability>,
}

/// How likely a string was to be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DrawProbability {
    pub(crate) log_prob: f64,
    pub(crate) mean_inverse_length: f64,
}

impl<'a> Example<'a> {
    /// Checks that a prediction fits a string over an alphabet.
    pub fn new(
        truth: &'a Labelled,
        prediction: &'a Prediction,
        alphabet: &Alphabet,
    ) -> Result<Self, Mismatch> {
        let length = truth.word.len();
        if let Some(given) = truth.next.as_ref().map(Vec::len).filter(|&n| n != length + 1) {
            return Err(Mismatch::Truth { given, length });
        }
        let example = Self { truth, prediction, choices: alphabet.len() + 1, drawn: None };
        example.check_recognition()?;
        example.check_log_probs()?;
        example.check_next()?;
        Ok(example)
    }

    /// The same, with its exact probability under the sampler that drew it, which the optimum of language
    /// modelling needs. (The data's own `log_prob` is not taken: those of published files are incorrect.)
    /// `mean_inverse_length` is that of [`mean_inverse_length`].
    #[must_use]
    pub fn drawn_from(mut self, sampler: &dyn Distribution, mean_inverse_length: f64) -> Self {
        let log_prob = sampler.log_prob(&self.truth.word);
        self.drawn = Some(DrawProbability { log_prob, mean_inverse_length });
        self
    }

    /// The string with its true labels.
    pub fn truth(&self) -> &'a Labelled {
        self.truth
    }

    /// The predictions of the model.
    pub fn prediction(&self) -> &'a Prediction {
        self.prediction
    }

    /// How many prefixes the string has: one more than symbols.
    pub fn prefixes(&self) -> usize {
        self.truth.word.len() + 1
    }

    /// How many things may come next: the symbols of the alphabet and the end.
    pub fn choices(&self) -> usize {
        self.choices
    }

    /// Its exact log-probability under the sampler that drew it, if that is known.
    pub fn sampler_log_prob(&self) -> Option<f64> {
        self.drawn.map(|drawn| drawn.log_prob)
    }

    pub(crate) fn drawn(&self) -> Option<DrawProbability> {
        self.drawn
    }

    fn check_prefixes(&self, what: &'static str, given: usize) -> Result<(), Mismatch> {
        let length = self.truth.word.len();
        if given == length + 1 { Ok(()) } else { Err(Mismatch::Prefixes { what, given, length }) }
    }

    fn check_recognition(&self) -> Result<(), Mismatch> {
        match self.prediction.recognition {
            Some(Verdict::Probability(given)) if !(0.0..=1.0).contains(&given) => {
                Err(Mismatch::Probability { given })
            }
            _ => Ok(()),
        }
    }

    fn check_log_probs(&self) -> Result<(), Mismatch> {
        let Some(logs) = &self.prediction.log_probs else { return Ok(()) };
        self.check_prefixes("log-probabilities", logs.len())?;
        match logs.iter().position(|&log| log > ROUNDING) {
            Some(prefix) => Err(Mismatch::LogProbability { given: logs[prefix], prefix }),
            None => Ok(()),
        }
    }

    fn check_next(&self) -> Result<(), Mismatch> {
        let sizes: Vec<usize> = match &self.prediction.next {
            None => return Ok(()),
            Some(NextAnswer::Logits(rows)) => rows.iter().map(Vec::len).collect(),
            Some(NextAnswer::Sets(rows)) => rows.iter().map(Vec::len).collect(),
        };
        self.check_prefixes("next-symbol answers", sizes.len())?;
        match sizes.iter().position(|&size| size != self.choices) {
            Some(prefix) => Err(Mismatch::Choices { given: sizes[prefix], prefix, allowed: self.choices }),
            None => Ok(()),
        }
    }
}

/// The mean of `1 / (n + 1)` over lengths: of the strings that were scored, or of all that a sampler may
/// draw. `None` without any.
///
/// ```
/// assert_eq!(wug_score::mean_inverse_length([0, 1]), Some(0.75));
/// assert_eq!(wug_score::mean_inverse_length([]), None);
/// ```
pub fn mean_inverse_length(lengths: impl IntoIterator<Item = usize>) -> Option<f64> {
    let inverses: Vec<f64> = lengths.into_iter().map(|n| 1.0 / (n + 1) as f64).collect();
    let n = inverses.len() as f64;
    finite(sum(inverses) / n)
}

#[cfg(test)]
mod tests;
