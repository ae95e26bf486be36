//! Learning what may come next: strings with the set of symbols that can follow each prefix, learned as yes or no per symbol
//! (Suzgun et al. 2019).

use super::{Objective, TextError, TextProblem, judged_parts};
use crate::kernel::Real;
use crate::model::LanguageModel;
use crate::params::Layout;
use crate::tape::{Mode, Recording, Tape};

/// A string with what may follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Followed<'a> {
    /// The string; nothing is put around it.
    pub symbols: &'a [u32],
    /// After each of its symbols, those that may come next, one bit each.
    pub next: &'a [u64],
    /// How often it counts: its multiplicity, if equal strings were made one.
    pub weight: f64,
}

impl Followed<'_> {
    fn problem(&self, model: &LanguageModel) -> Option<TextProblem> {
        let vocabulary = model.spec().vocabulary;
        let (given, needed) = (self.next.len(), self.symbols.len());
        let outside = |set: &u64| set.checked_shr(vocabulary as u32).unwrap_or(0) != 0;
        if let Some(&symbol) = self.symbols.iter().find(|&&s| s as usize >= vocabulary) {
            return Some(TextProblem::Symbol { symbol, vocabulary });
        }
        if !(self.weight.is_finite() && self.weight > 0.0) {
            return Some(TextProblem::Weight { weight: self.weight });
        }
        if needed == 0 {
            return Some(TextProblem::Nothing);
        }
        if given != needed {
            return Some(TextProblem::Sets { given, needed });
        }
        if let Some(max) = model.max_len().filter(|&max| needed > max) {
            return Some(TextProblem::Long { length: needed, max });
        }
        let set = self.next.iter().find(|set| outside(set))?;
        Some(TextProblem::Symbol { symbol: set.ilog2(), vocabulary })
    }
}

/// Strings to learn from and to stop by. The loss is the mean over all symbols after all prefixes of the square by which
/// `σ(logit)` is off from 1 (may follow) or 0; validated by the same.
#[derive(Debug)]
pub struct NextSets<'a> {
    model: &'a LanguageModel,
    training: &'a [Followed<'a>],
    validation: &'a [Followed<'a>],
    lengths: Vec<usize>,
}

impl<'a> NextSets<'a> {
    /// What `model` is to learn.
    pub fn new(
        model: &'a LanguageModel,
        training: &'a [Followed<'a>],
        validation: &'a [Followed<'a>],
    ) -> Result<Self, TextError> {
        for (corpus, texts) in [("training", training), ("validation", validation)] {
            for (index, text) in texts.iter().enumerate() {
                if let Some(problem) = text.problem(model) {
                    return Err(TextError { corpus, index, problem });
                }
            }
        }
        let lengths = training.iter().map(|text| text.symbols.len()).collect();
        Ok(Self { model, training, validation, lengths })
    }

    /// Yes and no after all prefixes of strings.
    fn answers(&self, texts: impl Iterator<Item = &'a Followed<'a>>) -> f64 {
        let answers = |text: &Followed<'_>| (text.next.len() * self.model.spec().vocabulary) as f64;
        texts.map(|text| text.weight * answers(text)).sum()
    }

    /// Records the loss of strings; an answer of one that counts once weighs `weight`.
    fn record<R: Real>(&self, r: &mut Recording<'_, R>, texts: &[Followed<'_>], weight: f64) {
        let strings: Vec<&[u32]> = texts.iter().map(|text| text.symbols).collect();
        let states = self.model.states(r, &strings);
        let rows = strings.iter().enumerate().flat_map(|(b, string)| {
            (1..=string.len()).map(move |position| self.model.row(states, b, position))
        });
        let logits = self.model.logits(r, states, rows);
        let v = self.model.spec().vocabulary;
        let sets = texts.iter().flat_map(|text| text.next.iter().map(|set| (set, weight * text.weight)));
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

    fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    fn max_batch(&self, longest: usize) -> usize {
        self.model.max_batch_strings(longest)
    }

    fn size(&self, batch: &[usize]) -> f64 {
        self.answers(batch.iter().map(|&i| &self.training[i]))
    }

    fn loss(&self, record: &mut Recording<'_, R>, examples: &[usize], size: f64) {
        let texts: Vec<Followed<'_>> = examples.iter().map(|&i| self.training[i]).collect();
        self.record(record, &texts, 1.0 / size);
    }

    fn anneal(&self, params: &mut [R], examples: u64) {
        self.model.anneal(params, examples);
    }

    fn validated(&self) -> usize {
        self.validation.len()
    }

    fn validate(&self, tape: &mut Tape<R>, params: &[R]) -> f64 {
        let lengths: Vec<usize> = self.validation.iter().map(|text| text.symbols.len()).collect();
        let mut loss = 0.0;
        for part in judged_parts(&lengths, |longest| self.model.max_batch_strings(longest)) {
            let texts: Vec<Followed<'_>> = part.iter().map(|&i| self.validation[i]).collect();
            let mut record = tape.record(params, Mode::Eval);
            self.record(&mut record, &texts, 1.0);
            loss += record.loss();
        }
        loss / self.answers(self.validation.iter())
    }
}

#[cfg(test)]
mod tests;
