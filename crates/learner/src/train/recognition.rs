//! Recognition: labelled strings, with the recognition loss alone as validation loss.

use super::{Objective, eval_batches};
use crate::kernel::Real;
use crate::model::{LabelledString, LossWeights, RecognizerModel};
use crate::params::Layout;
use crate::tape::{Mode, Recording, Tape};

/// Training and validation strings with their labels.
#[derive(Debug)]
pub struct Recognition<'a> {
    model: &'a RecognizerModel,
    training: &'a [LabelledString<'a>],
    validation: &'a [LabelledString<'a>],
    weights: LossWeights,
    lengths: Vec<usize>,
}

impl<'a> Recognition<'a> {
    /// The strings must be over the alphabet of the model.
    pub fn new(
        model: &'a RecognizerModel,
        training: &'a [LabelledString<'a>],
        validation: &'a [LabelledString<'a>],
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

    fn max_batch(&self, max_len: usize) -> usize {
        self.model.max_batch_strings(max_len)
    }

    fn size(&self, batch: &[usize]) -> f64 {
        batch.len() as f64
    }

    fn loss(&self, record: &mut Recording<'_, R>, examples: &[usize], size: f64) {
        let batch: Vec<LabelledString<'_>> = examples.iter().map(|&i| self.training[i]).collect();
        self.model.loss(record, &batch, self.weights, size as usize);
    }

    fn validation_len(&self) -> usize {
        self.validation.len()
    }

    /// The mean cross-entropy of recognition, in nats.
    fn validate(&self, tape: &mut Tape<R>, params: &[R]) -> f64 {
        let lengths: Vec<usize> = self.validation.iter().map(|e| e.string.len()).collect();
        let mut total = 0.0;
        for batch in eval_batches(&lengths, |max_len| self.model.max_batch_strings(max_len)) {
            let strings: Vec<&[u32]> = batch.iter().map(|&i| self.validation[i].string).collect();
            let mut record = tape.record(params, Mode::Eval);
            let logits = self.model.forward(&mut record, &strings);
            let truth = batch.iter().map(|&i| (f64::from(u8::from(self.validation[i].label)), 1.0));
            record.logistic_loss(logits, truth);
            total += record.loss();
        }
        total / self.validation.len() as f64
    }
}
