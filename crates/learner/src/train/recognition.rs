//! Recognition: labelled strings, with the recognition loss alone as validation loss.

use super::{Objective, lengths_of};
use crate::kernel::Real;
use crate::model::{LabelledString, LossWeights, RecognizerModel};
use crate::params::Layout;
use crate::tape::Recording;

/// Training and validation strings with their labels.
#[derive(Debug)]
pub struct Recognition<'a> {
    model: &'a RecognizerModel,
    training: &'a [LabelledString<'a>],
    validation: &'a [LabelledString<'a>],
    weights: LossWeights,
    lengths: [Vec<usize>; 2],
}

impl<'a> Recognition<'a> {
    /// The strings must be over the alphabet of the model.
    pub fn new(
        model: &'a RecognizerModel,
        training: &'a [LabelledString<'a>],
        validation: &'a [LabelledString<'a>],
        weights: LossWeights,
    ) -> Self {
        let lengths = lengths_of([training, validation], |e| e.string.len());
        Self { model, training, validation, weights, lengths }
    }
}

impl<R: Real> Objective<R> for Recognition<'_> {
    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn lengths(&self) -> &[Vec<usize>; 2] {
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

    fn validation_size(&self) -> f64 {
        self.validation.len() as f64
    }

    /// The cross-entropy of recognition, in nats.
    fn validation_loss(&self, record: &mut Recording<'_, R>, examples: &[usize]) {
        let strings: Vec<&[u32]> = examples.iter().map(|&i| self.validation[i].string).collect();
        // FLaRe stops and selects by recognition alone, whatever the auxiliary losses.
        let logits = self.model.forward(record, &strings);
        let truth = examples.iter().map(|&i| (f64::from(u8::from(self.validation[i].label)), 1.0));
        record.logistic_loss(logits, truth);
    }
}
