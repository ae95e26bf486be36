//! Gradient descent from sequences that come one batch after the other.

use wug_dataset::Seed;

use crate::aligned::Aligned;
use crate::interface::{Incremental, IncrementalError, Sequence};
use crate::kernel::Real;
use crate::model::AnswerModel;
use crate::optim::{Optimizer, OptimizerSpec};
use crate::tape::{Mode, Tape};

/// A network that takes a step of Adam for each batch that it observes. The loss is the cross-entropy of answers: the mean over those
/// of a sequence, summed over sequences.
#[derive(Debug)]
pub struct IncrementalNetwork<R> {
    model: AnswerModel,
    params: Aligned<R>,
    optimizer: Optimizer<R>,
    gradients: Vec<R>,
    tape: Tape<R>,
    rate: f64,
    seed: Seed,
}

impl<R: Real> IncrementalNetwork<R> {
    /// Before the first step. Parameters are initialised from the seed.
    pub fn new(model: AnswerModel, rate: f64, seed: Seed) -> Self {
        let params: Vec<R> = model.layout().initialise(seed.derive("init"));
        Self {
            optimizer: Optimizer::new(OptimizerSpec::adam(), params.len()),
            gradients: vec![R::ZERO; params.len()],
            params: params.into(),
            tape: Tape::default(),
            model,
            rate,
            seed,
        }
    }

    /// Batches of sequences, each of about the same length and not too many to be read at once.
    fn batches<'s>(&self, sequences: &[Sequence<'s>]) -> Vec<Vec<(usize, Sequence<'s>)>> {
        let mut all: Vec<(usize, Sequence<'s>)> = sequences.iter().copied().enumerate().collect();
        all.retain(|(_, sequence)| !sequence.answers.is_empty());
        all.sort_by_key(|(i, sequence)| (sequence.symbols.len(), *i));
        let (mut batches, mut rest) = (Vec::new(), &all[..]);
        while let Some((_, last)) = rest.last() {
            // The longest first: what fits with it fits with the others.
            let count = self.model.max_batch(last.symbols.len()).min(rest.len());
            let (before, batch) = rest.split_at(rest.len() - count);
            batches.push(batch.to_vec());
            rest = before;
        }
        batches
    }
}

impl<R: Real> Incremental for IncrementalNetwork<R> {
    fn observe(&mut self, batch: &[Sequence<'_>]) -> Result<(), IncrementalError> {
        let done = self.optimizer.steps() as usize;
        let dropout = self.seed.derive("train/dropout").nth(done);
        let batches = self.batches(batch);
        if batches.is_empty() {
            return Ok(());
        }
        let v = self.model.spec().answers;
        for (p, part) in batches.iter().enumerate() {
            let mut record = self.tape.record(&self.params, Mode::Train { seed: dropout.nth(p).value() });
            let sequences: Vec<Sequence<'_>> = part.iter().map(|(_, sequence)| *sequence).collect();
            let logits = self.model.logits(&mut record, &sequences);
            let truth = sequences.iter().flat_map(|sequence| {
                let weight = 1.0 / sequence.answers.len() as f64;
                sequence.answers.iter().map(move |&p| (sequence.symbols[p], weight))
            });
            record.softmax_loss(logits, v, truth);
            if !record.loss().is_finite() {
                return Err(IncrementalError::Diverged);
            }
            if p == 0 {
                record.backward_fresh(&mut self.gradients);
            } else {
                record.backward(&mut self.gradients);
            }
        }
        let step = self.optimizer.step(&mut self.params, &self.gradients, self.rate, 1.0);
        step.map(|_| ()).map_err(|_| IncrementalError::Diverged)
    }

    fn predict(&mut self, sequences: &[Sequence<'_>]) -> Result<Vec<u32>, IncrementalError> {
        let mut firsts = Vec::with_capacity(sequences.len());
        let mut count = 0;
        for sequence in sequences {
            firsts.push(count);
            count += sequence.answers.len();
        }
        let (mut predicted, v) = (vec![0; count], self.model.spec().answers);
        for batch in self.batches(sequences) {
            let strings: Vec<Sequence<'_>> = batch.iter().map(|(_, sequence)| *sequence).collect();
            let mut record = self.tape.record(&self.params, Mode::Eval);
            let logits = self.model.logits(&mut record, &strings);
            let mut rows = record.value(logits).chunks_exact(v);
            for (i, sequence) in batch {
                for to in &mut predicted[firsts[i]..firsts[i] + sequence.answers.len()] {
                    *to = rows.next().map_or(0, likeliest);
                }
            }
        }
        Ok(predicted)
    }
}

/// The index of the largest, the first of equals.
fn likeliest<R: Real>(row: &[R]) -> u32 {
    let mut best = 0;
    for (k, x) in row.iter().enumerate() {
        if *x > row[best] {
            best = k;
        }
    }
    best as u32
}
