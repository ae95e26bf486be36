//! Language modelling: predict symbols of strings, all of them or those of a mask, from the symbols before them.

use serde::{Deserialize, Serialize};

use super::Objective;
use crate::kernel::Real;
use crate::model::LanguageModel;
use crate::params::Layout;
use crate::tape::Recording;

/// A training or validation string with its weight in the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedString<'a> {
    /// Without start and end.
    pub symbols: &'a [u32],
    /// The multiplicity of the string, if duplicates were merged.
    pub weight: f64,
    /// The predicted positions, in any order: 0 is the first of `symbols`, `symbols.len()` the end. All if not given.
    pub mask: Option<&'a [usize]>,
}

impl<'a> WeightedString<'a> {
    /// A string of weight 1, of which all symbols and the end are predicted.
    pub fn new(symbols: &'a [u32]) -> Self {
        Self { symbols, weight: 1.0, mask: None }
    }
}

/// The symbols added to both ends of every string, as written in a config. They may be the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boundaries {
    /// Read before the first symbol and never predicted there.
    pub start: Option<u32>,
    /// Predicted after the last symbol.
    pub end: Option<u32>,
}

/// How the loss of a batch is averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// Over all predicted symbols of the batch (Someya et al., Lan et al.).
    Symbols,
    /// Over the predicted symbols of each string, then over strings (Butoi et al.).
    Examples,
}

/// A string that cannot be trained or validated on.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{corpus} string {index}: {problem}")]
pub struct StringError {
    pub corpus: &'static str,
    /// The index of the string.
    pub index: usize,
    pub problem: StringProblem,
}

/// What is wrong with a string.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StringProblem {
    #[error("symbol {symbol} is given, but the model has only {vocabulary}")]
    Symbol { symbol: u32, vocabulary: usize },
    #[error(
        "position {position} is masked, but there are only {positions} (the end included, if it has a symbol)"
    )]
    Position { position: usize, positions: usize },
    #[error("position {position} is masked twice; use a weight for a string that counts more than once")]
    Twice { position: usize },
    #[error(
        "a transformer predicts nothing before it has read a symbol; give a start symbol or mask position 0"
    )]
    First,
    #[error("its weight is {weight}; it must be finite and more than 0")]
    Weight { weight: f64 },
    #[error("none of its symbols is predicted; at least one must be")]
    Nothing,
    #[error("{length} symbols are read, but the model has only {max} positions")]
    Long { length: usize, max: usize },
    #[error("{given} sets of next symbols are given, but there must be one after each of {needed} symbols")]
    Sets { given: usize, needed: usize },
}

/// A checked string with start and end, and its predicted positions in increasing order.
#[derive(Clone, Debug)]
struct CheckedString {
    string: Vec<u32>,
    targets: Vec<usize>,
    weight: f64,
}

impl CheckedString {
    fn new(
        model: &LanguageModel,
        example: &WeightedString<'_>,
        ends: Boundaries,
    ) -> Result<Self, StringProblem> {
        let vocabulary = model.spec().vocabulary;
        let string: Vec<u32> =
            ends.start.into_iter().chain(example.symbols.iter().copied()).chain(ends.end).collect();
        if let Some(&symbol) = string.iter().find(|&&s| s as usize >= vocabulary) {
            return Err(StringProblem::Symbol { symbol, vocabulary });
        }
        // Masks count from the first symbol; the start symbol moves their positions by one.
        let shift = usize::from(ends.start.is_some());
        let positions = string.len() - shift;
        let mut targets = example.mask.map_or_else(|| (0..positions).collect(), <[usize]>::to_vec);
        targets.sort_unstable();
        if let Some(&position) = targets.last().filter(|&&p| p >= positions) {
            return Err(StringProblem::Position { position, positions });
        }
        if let Some(pair) = targets.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(StringProblem::Twice { position: pair[0] });
        }
        for position in &mut targets {
            *position += shift;
        }
        match targets.first() {
            None => return Err(StringProblem::Nothing),
            Some(0) if !model.predicts_before_input() => return Err(StringProblem::First),
            Some(_) => {}
        }
        if !(example.weight.is_finite() && example.weight > 0.0) {
            return Err(StringProblem::Weight { weight: example.weight });
        }
        let length = string.len() - 1; // the last symbol is predicted and not read
        match model.max_len() {
            Some(max) if length > max => Err(StringProblem::Long { length, max }),
            _ => Ok(Self { string, targets, weight: example.weight }),
        }
    }

    /// The weight of all its predicted symbols.
    fn symbols(&self) -> f64 {
        self.weight * self.targets.len() as f64
    }
}

/// Training and validation strings. The validation loss is the mean cross-entropy per predicted symbol, in nats, whatever the
/// average of the training loss.
#[derive(Debug)]
pub struct LanguageModeling<'a> {
    model: &'a LanguageModel,
    training: Vec<CheckedString>,
    validation: Vec<CheckedString>,
    average: Average,
    lengths: [Vec<usize>; 2],
    trained: usize,
}

impl<'a> LanguageModeling<'a> {
    /// Checks all strings against the model.
    pub fn new(
        model: &'a LanguageModel,
        training: &[WeightedString<'_>],
        validation: &[WeightedString<'_>],
        ends: Boundaries,
        average: Average,
    ) -> Result<Self, StringError> {
        let prepare = |corpus, strings: &[WeightedString<'_>]| -> Result<Vec<CheckedString>, StringError> {
            let one = |(index, string)| {
                CheckedString::new(model, string, ends).map_err(|problem| StringError {
                    corpus,
                    index,
                    problem,
                })
            };
            strings.iter().enumerate().map(one).collect()
        };
        // Batches are cut by lengths without boundaries. Validation lengths only limit memory, so they count all.
        let symbols = training.iter().map(|string| string.symbols.len()).collect();
        let (training, validation) = (prepare("training", training)?, prepare("validation", validation)?);
        let lengths = [symbols, validation.iter().map(|example| example.string.len()).collect()];
        Ok(Self { model, training, validation, average, lengths, trained: model.layout().count() })
    }

    /// The same with an output layer that stays as it was initialised.
    #[must_use]
    pub fn with_untrained_output(self) -> Self {
        Self { trained: self.model.output_start(), ..self }
    }

    /// Records the cross-entropy of examples; the predicted symbols of each have weight `weight(example)`.
    fn record<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        examples: &[&CheckedString],
        weight: impl Fn(&CheckedString) -> f64,
    ) {
        let strings: Vec<&[u32]> = examples.iter().map(|example| &example.string[..]).collect();
        let targets: Vec<(usize, usize, f64)> = (examples.iter().enumerate())
            .flat_map(|(b, example)| {
                let weight = weight(example);
                example.targets.iter().map(move |&p| (b, p, weight))
            })
            .collect();
        self.model.loss(r, &strings, &targets);
    }
}

impl<R: Real> Objective<R> for LanguageModeling<'_> {
    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn lengths(&self) -> &[Vec<usize>; 2] {
        &self.lengths
    }

    fn trained(&self) -> usize {
        self.trained
    }

    fn max_batch(&self, max_len: usize) -> usize {
        self.model.max_batch_strings(max_len)
    }

    fn size(&self, batch: &[usize]) -> f64 {
        let examples = batch.iter().map(|&i| &self.training[i]);
        match self.average {
            Average::Symbols => examples.map(CheckedString::symbols).sum(),
            Average::Examples => examples.map(|example| example.weight).sum(),
        }
    }

    fn loss(&self, record: &mut Recording<'_, R>, examples: &[usize], size: f64) {
        let examples: Vec<&CheckedString> = examples.iter().map(|&i| &self.training[i]).collect();
        self.record(record, &examples, |example| match self.average {
            Average::Symbols => example.weight / size,
            // The mean over a string's own symbols first, so that each string weighs the same.
            Average::Examples => example.weight / (size * example.targets.len() as f64),
        });
    }

    fn anneal(&self, params: &mut [R], examples: u64) {
        self.model.anneal(params, examples);
    }

    fn validation_size(&self) -> f64 {
        self.validation.iter().map(CheckedString::symbols).sum()
    }

    /// The cross-entropy of predicted symbols, in nats.
    fn validation_loss(&self, record: &mut Recording<'_, R>, examples: &[usize]) {
        let examples: Vec<&CheckedString> = examples.iter().map(|&i| &self.validation[i]).collect();
        self.record(record, &examples, |example| example.weight);
    }
}

#[cfg(test)]
mod tests;
