//! Next-symbol sets: predict, after each prefix, the set of symbols that may come next, as one binary output per symbol
//! (Suzgun et al. 2019).

use super::{Objective, StringError, StringProblem, lengths_of};
use crate::kernel::Real;
use crate::model::LanguageModel;
use crate::params::Layout;
use crate::tape::Recording;

/// A training or validation string with its next-symbol sets and its weight in the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextSetString<'a> {
    /// The whole string: no start or end is added.
    pub symbols: &'a [u32],
    /// After each of its symbols, the symbols that may come next, one bit each.
    pub next: &'a [u64],
    /// The multiplicity of the string, if duplicates were merged.
    pub weight: f64,
}

impl NextSetString<'_> {
    fn problem(&self, model: &LanguageModel) -> Option<StringProblem> {
        let vocabulary = model.spec().vocabulary;
        let (given, needed) = (self.next.len(), self.symbols.len());
        // With 64 symbols or more, every bit is a symbol.
        let outside = |set: &u64| set.checked_shr(vocabulary as u32).unwrap_or(0) != 0;
        if let Some(&symbol) = self.symbols.iter().find(|&&s| s as usize >= vocabulary) {
            return Some(StringProblem::Symbol { symbol, vocabulary });
        }
        if !(self.weight.is_finite() && self.weight > 0.0) {
            return Some(StringProblem::Weight { weight: self.weight });
        }
        if needed == 0 {
            return Some(StringProblem::Nothing);
        }
        if given != needed {
            return Some(StringProblem::Sets { given, needed });
        }
        if let Some(max) = model.max_len().filter(|&max| needed > max) {
            return Some(StringProblem::Long { length: needed, max });
        }
        let set = self.next.iter().find(|set| outside(set))?;
        Some(StringProblem::Symbol { symbol: set.ilog2(), vocabulary })
    }
}

/// Training and validation strings. The training and the validation loss are the mean, over all symbols after all prefixes,
/// of the squared error of `σ(logit)` against 1 (may come next) or 0.
#[derive(Debug)]
pub struct NextSets<'a> {
    model: &'a LanguageModel,
    training: &'a [NextSetString<'a>],
    validation: &'a [NextSetString<'a>],
    lengths: [Vec<usize>; 2],
    trained: usize,
}

impl<'a> NextSets<'a> {
    /// Checks all strings against the model.
    pub fn new(
        model: &'a LanguageModel,
        training: &'a [NextSetString<'a>],
        validation: &'a [NextSetString<'a>],
    ) -> Result<Self, StringError> {
        for (corpus, strings) in [("training", training), ("validation", validation)] {
            for (index, string) in strings.iter().enumerate() {
                if let Some(problem) = string.problem(model) {
                    return Err(StringError { corpus, index, problem });
                }
            }
        }
        let lengths = lengths_of([training, validation], |string| string.symbols.len());
        Ok(Self { model, training, validation, lengths, trained: model.layout().count() })
    }

    /// The same with an output layer that stays as it was initialised.
    #[must_use]
    pub fn with_untrained_output(self) -> Self {
        Self { trained: self.model.output_start(), ..self }
    }

    /// The weighted number of binary outputs for strings.
    fn outputs(&self, strings: impl Iterator<Item = &'a NextSetString<'a>>) -> f64 {
        let outputs = |string: &NextSetString<'_>| (string.next.len() * self.model.spec().vocabulary) as f64;
        strings.map(|string| string.weight * outputs(string)).sum()
    }

    /// Records the squared error of strings, times `weight`.
    fn record<R: Real>(&self, r: &mut Recording<'_, R>, examples: &[NextSetString<'_>], weight: f64) {
        let strings: Vec<&[u32]> = examples.iter().map(|example| example.symbols).collect();
        let states = self.model.states(r, &strings);
        let rows = strings.iter().enumerate();
        // From 1 on: Suzgun et al. predict after each symbol, and nothing before the first.
        let rows = rows.flat_map(|(b, string)| (1..=string.len()).map(move |p| states.row(b, p)));
        let logits = self.model.logits(r, states, rows);
        let v = self.model.spec().vocabulary;
        let sets = examples.iter().flat_map(|e| e.next.iter().map(|set| (set, weight * e.weight)));
        r.squared_loss(
            logits,
            sets.flat_map(|(set, weight)| (0..v).map(move |s| (f64::from(set >> s & 1 == 1), weight))),
        );
    }
}

impl<R: Real> Objective<R> for NextSets<'_> {
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
        self.outputs(batch.iter().map(|&i| &self.training[i]))
    }

    fn loss(&self, record: &mut Recording<'_, R>, examples: &[usize], size: f64) {
        let strings: Vec<NextSetString<'_>> = examples.iter().map(|&i| self.training[i]).collect();
        self.record(record, &strings, 1.0 / size);
    }

    fn anneal(&self, params: &mut [R], examples: u64) {
        self.model.anneal(params, examples);
    }

    fn validation_size(&self) -> f64 {
        self.outputs(self.validation.iter())
    }

    fn validation_loss(&self, record: &mut Recording<'_, R>, examples: &[usize]) {
        let strings: Vec<NextSetString<'_>> = examples.iter().map(|&i| self.validation[i]).collect();
        self.record(record, &strings, 1.0);
    }
}

#[cfg(test)]
mod tests;
