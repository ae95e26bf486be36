//! Learning what comes next: strings, of which all symbols or the masked ones are predicted from those before them.

use serde::{Deserialize, Serialize};

use super::{Objective, judged_parts};
use crate::kernel::Real;
use crate::model::LanguageModel;
use crate::params::Layout;
use crate::tape::{Mode, Recording, Tape};

/// One string to learn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Text<'a> {
    /// Without start and end.
    pub symbols: &'a [u32],
    /// How often it counts: its multiplicity, if equal strings were made one.
    pub weight: f64,
    /// The positions predicted, in any order, 0 for the first of `symbols` and their number for the end; all if not given.
    pub mask: Option<&'a [usize]>,
}

impl<'a> Text<'a> {
    /// A string that counts once and is predicted from its first symbol to its end.
    pub fn new(symbols: &'a [u32]) -> Self {
        Self { symbols, weight: 1.0, mask: None }
    }
}

/// The symbols put around every string, as written in a config. They may be the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boundaries {
    /// Read before the first symbol and never predicted there.
    pub start: Option<u32>,
    /// Predicted after the last symbol.
    pub end: Option<u32>,
}

/// What the loss of a batch is an average over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// All predicted symbols of the batch alike (Someya et al., Lan et al.).
    Symbols,
    /// Its strings, each with the average over its own predicted symbols (Butoi et al.).
    Examples,
}

/// A string that a model cannot learn from.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{corpus} string {index}: {problem}")]
pub struct TextError {
    /// Training or validation.
    pub corpus: &'static str,
    /// The string's number.
    pub index: usize,
    /// What is wrong.
    pub problem: TextProblem,
}

/// What is wrong with a string.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TextProblem {
    #[error("symbol {symbol} is given, but the model has only {vocabulary}")]
    Symbol { symbol: u32, vocabulary: usize },
    #[error(
        "position {position} is masked, but there are only {positions} (the end included, if it has a symbol)"
    )]
    Position { position: usize, positions: usize },
    #[error("position {position} is masked twice; a weight says how often a string counts")]
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

/// A string with its ends, and which of it is predicted.
#[derive(Clone, Debug)]
struct Line {
    string: Vec<u32>,
    asked: Vec<usize>,
    weight: f64,
}

impl Line {
    fn new(model: &LanguageModel, text: &Text<'_>, ends: Boundaries) -> Result<Self, TextProblem> {
        let vocabulary = model.spec().vocabulary;
        let string: Vec<u32> =
            ends.start.into_iter().chain(text.symbols.iter().copied()).chain(ends.end).collect();
        if let Some(&symbol) = string.iter().find(|&&s| s as usize >= vocabulary) {
            return Err(TextProblem::Symbol { symbol, vocabulary });
        }
        let shift = usize::from(ends.start.is_some());
        let positions = string.len() - shift;
        let mut asked = text.mask.map_or_else(|| (0..positions).collect(), <[usize]>::to_vec);
        asked.sort_unstable();
        if let Some(&position) = asked.last().filter(|&&p| p >= positions) {
            return Err(TextProblem::Position { position, positions });
        }
        if let Some(pair) = asked.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(TextProblem::Twice { position: pair[0] });
        }
        for position in &mut asked {
            *position += shift;
        }
        match asked.first() {
            None => return Err(TextProblem::Nothing),
            Some(0) if !model.speaks_first() => return Err(TextProblem::First),
            Some(_) => {}
        }
        if !(text.weight.is_finite() && text.weight > 0.0) {
            return Err(TextProblem::Weight { weight: text.weight });
        }
        let length = string.len() - 1; // the last symbol is predicted and not read
        match model.max_len() {
            Some(max) if length > max => Err(TextProblem::Long { length, max }),
            _ => Ok(Self { string, asked, weight: text.weight }),
        }
    }

    /// What all its predicted symbols weigh together.
    fn symbols(&self) -> f64 {
        self.weight * self.asked.len() as f64
    }
}

/// Strings to learn from and to stop by. Validated by the mean cross-entropy per predicted symbol, in nats, whatever the
/// average that is trained on.
#[derive(Debug)]
pub struct LanguageModeling<'a> {
    model: &'a LanguageModel,
    training: Vec<Line>,
    validation: Vec<Line>,
    average: Average,
    lengths: Vec<usize>,
}

impl<'a> LanguageModeling<'a> {
    /// What `model` is to learn.
    pub fn new(
        model: &'a LanguageModel,
        training: &[Text<'_>],
        validation: &[Text<'_>],
        ends: Boundaries,
        average: Average,
    ) -> Result<Self, TextError> {
        let lines = |corpus, texts: &[Text<'_>]| -> Result<Vec<Line>, TextError> {
            let line = |(index, text)| {
                Line::new(model, text, ends).map_err(|problem| TextError { corpus, index, problem })
            };
            texts.iter().enumerate().map(line).collect()
        };
        Ok(Self {
            model,
            training: lines("training", training)?,
            validation: lines("validation", validation)?,
            average,
            lengths: training.iter().map(|t| t.symbols.len()).collect(),
        })
    }

    /// Records the cross-entropy of lines; each of a line's predicted symbols weighs `weight(line)`.
    fn record<R: Real>(&self, r: &mut Recording<'_, R>, lines: &[&Line], weight: impl Fn(&Line) -> f64) {
        let strings: Vec<&[u32]> = lines.iter().map(|line| &line.string[..]).collect();
        let asked: Vec<(usize, usize, f64)> = (lines.iter().enumerate())
            .flat_map(|(b, line)| {
                let weight = weight(line);
                line.asked.iter().map(move |&p| (b, p, weight))
            })
            .collect();
        self.model.loss(r, &strings, &asked);
    }
}

impl<R: Real> Objective<R> for LanguageModeling<'_> {
    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    fn max_batch(&self, longest: usize) -> usize {
        self.model.max_batch_strings(longest)
    }

    fn size(&self, batch: &[usize]) -> f64 {
        let lines = batch.iter().map(|&i| &self.training[i]);
        match self.average {
            Average::Symbols => lines.map(Line::symbols).sum(),
            Average::Examples => lines.map(|line| line.weight).sum(),
        }
    }

    fn loss(&self, record: &mut Recording<'_, R>, examples: &[usize], size: f64) {
        let lines: Vec<&Line> = examples.iter().map(|&i| &self.training[i]).collect();
        self.record(record, &lines, |line| match self.average {
            Average::Symbols => line.weight / size,
            Average::Examples => line.weight / (size * line.asked.len() as f64),
        });
    }

    fn validated(&self) -> usize {
        self.validation.len()
    }

    fn anneal(&self, params: &mut [R], examples: u64) {
        self.model.anneal(params, examples);
    }

    /// The mean cross-entropy of predicted symbols, in nats.
    fn validate(&self, tape: &mut Tape<R>, params: &[R]) -> f64 {
        let lengths: Vec<usize> = self.validation.iter().map(|line| line.string.len()).collect();
        let mut loss = 0.0;
        for part in judged_parts(&lengths, |longest| self.model.max_batch_strings(longest)) {
            let lines: Vec<&Line> = part.iter().map(|&i| &self.validation[i]).collect();
            let mut record = tape.record(params, Mode::Eval);
            self.record(&mut record, &lines, |line| line.weight);
            loss += record.loss();
        }
        loss / self.validation.iter().map(Line::symbols).sum::<f64>()
    }
}

#[cfg(test)]
mod tests;
