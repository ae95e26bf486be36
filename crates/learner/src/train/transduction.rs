//! Transduction: predict the output of each pair from its input.

use super::{Objective, lengths_of};
use crate::kernel::Real;
use crate::model::{Pair, TransducerModel};
use crate::params::Layout;
use crate::tape::Recording;

/// A pair that cannot be trained or validated on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{corpus} pair {index}: {problem}")]
pub struct PairError {
    pub corpus: &'static str,
    /// The index of the pair.
    pub index: usize,
    pub problem: PairProblem,
}

/// What is wrong with a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PairProblem {
    #[error("symbol {symbol} is in its {side}, but the model has only {vocabulary} there")]
    Symbol { side: &'static str, symbol: u32, vocabulary: usize },
    #[error("its {side} has {length} symbols with its end, but the model has only {max} positions")]
    Long { side: &'static str, length: usize, max: usize },
}

fn check(model: &TransducerModel, pair: &Pair<'_>) -> Result<(), PairProblem> {
    let spec = model.spec();
    for (side, string, vocabulary) in
        [("input", pair.input, spec.inputs), ("output", pair.output, spec.outputs)]
    {
        if let Some(&symbol) = string.iter().find(|&&s| s as usize >= vocabulary) {
            return Err(PairProblem::Symbol { side, symbol, vocabulary });
        }
        let length = string.len() + 1;
        if let Some(max) = model.max_len().filter(|&max| length > max) {
            return Err(PairProblem::Long { side, length, max });
        }
    }
    Ok(())
}

/// Training and validation pairs. The training and the validation loss are the mean over pairs of the cross-entropy of a whole
/// output, its end included, in nats (Kharitonov and Chaabouni).
#[derive(Debug)]
pub struct Transduction<'a> {
    model: &'a TransducerModel,
    training: &'a [Pair<'a>],
    validation: &'a [Pair<'a>],
    lengths: [Vec<usize>; 2],
}

/// The symbols of a pair, input and output.
pub(crate) fn symbols(pair: &Pair<'_>) -> usize {
    // Both sides: the states of either stay on the tape.
    pair.input.len() + pair.output.len()
}

impl<'a> Transduction<'a> {
    /// Checks all pairs against the model.
    pub fn new(
        model: &'a TransducerModel,
        training: &'a [Pair<'a>],
        validation: &'a [Pair<'a>],
    ) -> Result<Self, PairError> {
        for (corpus, pairs) in [("training", training), ("validation", validation)] {
            for (index, pair) in pairs.iter().enumerate() {
                check(model, pair).map_err(|problem| PairError { corpus, index, problem })?;
            }
        }
        Ok(Self { model, training, validation, lengths: lengths_of([training, validation], symbols) })
    }
}

impl<R: Real> Objective<R> for Transduction<'_> {
    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn lengths(&self) -> &[Vec<usize>; 2] {
        &self.lengths
    }

    fn max_batch(&self, max_len: usize) -> usize {
        self.model.max_batch_pairs(max_len)
    }

    fn size(&self, batch: &[usize]) -> f64 {
        batch.len() as f64
    }

    fn loss(&self, record: &mut Recording<'_, R>, examples: &[usize], size: f64) {
        let pairs: Vec<Pair<'_>> = examples.iter().map(|&i| self.training[i]).collect();
        self.model.loss(record, &pairs, 1.0 / size);
    }

    fn validation_size(&self) -> f64 {
        self.validation.len() as f64
    }

    /// The cross-entropy of outputs, in nats.
    fn validation_loss(&self, record: &mut Recording<'_, R>, examples: &[usize]) {
        let pairs: Vec<Pair<'_>> = examples.iter().map(|&i| self.validation[i]).collect();
        self.model.loss(record, &pairs, 1.0);
    }
}

#[cfg(test)]
mod tests;
