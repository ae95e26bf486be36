//! Learning to recognise: labelled strings, validated by the recognition loss alone.

use super::{Objective, judged_parts};
use crate::kernel::Real;
use crate::model::{Labelled, LossWeights, RecognizerModel};
use crate::params::Layout;
use crate::tape::{Mode, Recording, Tape};

/// Labelled strings to learn from and to stop by.
#[derive(Debug)]
pub struct Recognition<'a> {
    model: &'a RecognizerModel,
    training: &'a [Labelled<'a>],
    validation: &'a [Labelled<'a>],
    weights: LossWeights,
    lengths: Vec<usize>,
}

impl<'a> Recognition<'a> {
    /// What `model` is to learn.
    pub fn new(
        model: &'a RecognizerModel,
        training: &'a [Labelled<'a>],
        validation: &'a [Labelled<'a>],
        weights: LossWeights,
    ) -> Self {
        let lengths = training.iter().map(|e| e.string.len()).collect();
        Self { model, training, validation, weights, lengths }
    }
}

impl<R: Real> Objective<R> for Recognition<'_> {
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
        batch.len() as f64
    }

    fn loss(&self, record: &mut Recording<'_, R>, examples: &[usize], size: f64) {
        let batch: Vec<Labelled<'_>> = examples.iter().map(|&i| self.training[i]).collect();
        self.model.loss(record, &batch, self.weights, size as usize);
    }

    fn validated(&self) -> usize {
        self.validation.len()
    }

    /// The mean cross-entropy of recognition, in nats.
    fn validate(&self, tape: &mut Tape<R>, params: &[R]) -> f64 {
        let lengths: Vec<usize> = self.validation.iter().map(|e| e.string.len()).collect();
        let mut total = 0.0;
        for part in judged_parts(&lengths, |longest| self.model.max_batch_strings(longest)) {
            let strings: Vec<&[u32]> = part.iter().map(|&i| self.validation[i].string).collect();
            let mut record = tape.record(params, Mode::Eval);
            let logits = self.model.forward(&mut record, &strings);
            let truth = part.iter().map(|&i| (f64::from(u8::from(self.validation[i].label)), 1.0));
            record.logistic_loss(logits, truth);
            total += record.loss();
        }
        total / self.validation.len() as f64
    }
}
