//! Gradient descent from sequences that come one batch after the other.

use wug_dataset::Seed;

use crate::aligned::Aligned;
use crate::interface::{Failure, Incremental, Remembered, Sequence};
use crate::kernel::Real;
use crate::model::{AnswerModel, PrefixTree};
use crate::optim::{Optimizer, OptimizerSpec};
use crate::tape::{Mode, Tape};

/// A network that takes a step of its optimiser for each batch that it observes. The loss is the cross-entropy of answers: the mean over those
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
    /// The prefixes of what was asked last, if it pays to read them as a tree.
    asked: Option<Remembered<Option<PrefixTree>>>,
}

impl<R: Real> IncrementalNetwork<R> {
    /// Before the first step. Parameters are initialised from the seed.
    pub fn new(model: AnswerModel, optimizer: OptimizerSpec, rate: f64, seed: Seed) -> Self {
        let params: Vec<R> = model.layout().initialise(seed.derive("init"));
        Self {
            optimizer: Optimizer::new(optimizer, params.len()),
            gradients: vec![R::ZERO; params.len()],
            params: params.into(),
            tape: Tape::default(),
            model,
            rate,
            seed,
            asked: None,
        }
    }

    /// Batches of sequences, each of about the same length and not too many to be read at once.
    fn batches<'s>(&self, sequences: &[Sequence<'s>]) -> Vec<Vec<(usize, Sequence<'s>)>> {
        let mut all: Vec<(usize, Sequence<'s>)> = sequences.iter().copied().enumerate().collect();
        all.retain(|(_, sequence)| !sequence.answers.is_empty());
        // Ties by index: the order within a batch decides the order of sums, hence the bits.
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
    fn observe(&mut self, batch: &[Sequence<'_>]) -> Result<(), Failure> {
        let done = self.optimizer.steps() as usize;
        // A stream per step, as in the trainer.
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
                // A mean per sequence and a sum over the batch: WADE's released code adds up gradients of sequences.
                let weight = 1.0 / sequence.answers.len() as f64;
                sequence.answers.iter().map(move |&p| (sequence.symbols[p], weight))
            });
            record.softmax_loss(logits, v, truth);
            if !record.loss().is_finite() {
                return Err(Failure::Diverged);
            }
            // The first part overwrites the gradients, which saves clearing them.
            if p == 0 {
                record.backward_fresh(&mut self.gradients);
            } else {
                record.backward(&mut self.gradients);
            }
        }
        let step = self.optimizer.step(&mut self.params, &self.gradients, self.rate, 1.0);
        step.map(|_| ()).map_err(|_| Failure::Diverged)
    }

    fn predict(&mut self, sequences: &[Sequence<'_>]) -> Result<Vec<u32>, Failure> {
        // A curve asks the same test sequences after each update: their tree is built once.
        let asked = match self.asked.take() {
            Some(known) if known.is_of(sequences) => known,
            _ => Remembered::new(sequences, self.tree(sequences)),
        };
        let predicted = match &asked.made {
            Some(tree) => self.predict_tree(tree),
            None => self.logits(sequences).chunks_exact(self.model.spec().answers).map(likeliest).collect(),
        };
        self.asked = Some(asked);
        Ok(predicted)
    }

    fn scores(&mut self, sequences: &[Sequence<'_>]) -> Result<Option<Vec<f64>>, Failure> {
        Ok(Some(self.logits(sequences).into_iter().map(Real::wide).collect()))
    }
}

/// A tree is read if it has at most this share of the symbols of the sequences: its levels are many small products.
const SHARED: f64 = 0.8;

impl<R: Real> IncrementalNetwork<R> {
    /// The logits `[N, answers]` of all answers, in the order of the sequences.
    fn logits(&mut self, sequences: &[Sequence<'_>]) -> Vec<R> {
        let mut firsts = Vec::with_capacity(sequences.len());
        let mut count = 0;
        for sequence in sequences {
            firsts.push(count);
            count += sequence.answers.len();
        }
        let v = self.model.spec().answers;
        let mut all = vec![R::ZERO; count * v];
        for batch in self.batches(sequences) {
            let strings: Vec<Sequence<'_>> = batch.iter().map(|(_, sequence)| *sequence).collect();
            let mut record = self.tape.record(&self.params, Mode::Eval);
            let logits = self.model.logits(&mut record, &strings);
            let mut rest = record.value(logits);
            for (i, sequence) in batch {
                let (own, others) = rest.split_at(sequence.answers.len() * v);
                all[firsts[i] * v..][..own.len()].copy_from_slice(own);
                rest = others;
            }
        }
        all
    }

    /// The prefixes of sequences, if the network can read on from each of them and enough are shared.
    fn tree(&self, sequences: &[Sequence<'_>]) -> Option<PrefixTree> {
        self.model.initial_state(&self.params)?;
        let tree = PrefixTree::new(sequences);
        let symbols: usize = sequences.iter().filter_map(|s| s.answers.last()).sum();
        (tree.count() as f64 <= SHARED * symbols as f64).then_some(tree)
    }

    /// The predicted answers. Each prefix is read once; the states of a level are all that is kept of those before.
    fn predict_tree(&mut self, tree: &PrefixTree) -> Vec<u32> {
        let Some(start) = self.model.initial_state(&self.params) else { return Vec::new() };
        let (mut states, mut asked) = (vec![start], Vec::new());
        for level in &tree.levels {
            states = level.parents.iter().map(|&parent| states[parent].clone()).collect();
            let mut record = self.tape.record(&self.params, Mode::Eval);
            self.model.read_on(&mut record, &mut states, &level.symbols);
            level.asked.iter().for_each(|&node| asked.extend_from_slice(&states[node].top));
        }
        if asked.is_empty() {
            return Vec::new();
        }
        // The logits of all levels in one product: those of a level alone are few.
        let mut record = self.tape.record(&self.params, Mode::Eval);
        let logits = self.model.logits_after(&mut record, &asked);
        let by_row: Vec<u32> =
            record.value(logits).chunks_exact(self.model.spec().answers).map(likeliest).collect();
        tree.rows.iter().map(|&row| by_row[row]).collect()
    }
}

/// The index of the largest, the first of equals.
fn likeliest<R: Real>(row: &[R]) -> u32 {
    let mut best = 0;
    for (k, x) in row.iter().enumerate() {
        // Strictly greater: of equals the first stays, on every machine.
        if *x > row[best] {
            best = k;
        }
    }
    best as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AnswerBodySpec, AnswerModelSpec, BodySpec, Cell, RecurrentSpec, Start};

    /// The same predictions as those of whole sequences, on the way and for every cell, one layer or two.
    #[test]
    fn a_tree_of_prefixes_gives_the_predictions_of_whole_sequences() {
        let strings: Vec<Vec<u32>> = (0..60_u32)
            .map(|i| (0..12 + i % 5).map(|t| if t < 8 { (i % 4 + t) % 5 } else { (i + t * t) % 5 }).collect())
            .collect();
        let answers: Vec<Vec<usize>> = strings.iter().map(|s| vec![3, 9, s.len() - 1]).collect();
        let all: Vec<Sequence<'_>> =
            strings.iter().zip(&answers).map(|(symbols, answers)| Sequence { symbols, answers }).collect();
        for (cell, layers, embedding) in
            [(Cell::Lstm, 1, None), (Cell::Rnn, 1, None), (Cell::Gru, 2, None), (Cell::Lstm, 2, Some(6))]
        {
            let body = RecurrentSpec {
                cell,
                layers,
                hidden: 24,
                embedding,
                biases: 2,
                start: Start::Zero,
                dropout: 0.0,
            };
            let body = AnswerBodySpec::Prefix(BodySpec::Recurrent(body));
            let model = AnswerModel::new(AnswerModelSpec { body, vocabulary: 5, answers: 5 }).unwrap();
            let mut network =
                IncrementalNetwork::<f32>::new(model, OptimizerSpec::adam(), 0.01, Seed::new(1));
            for batch in all.chunks(8) {
                network.observe(batch).unwrap();
                let whole: Vec<u32> = network.logits(&all).chunks_exact(5).map(likeliest).collect();
                assert_eq!(network.predict(&all).unwrap(), whole, "{cell:?}");
                assert!(network.asked.as_ref().is_some_and(|known| known.made.is_some()));
            }
            let changed = network.predict(&all[..40]).unwrap();
            assert_eq!(changed[..], network.predict(&all).unwrap()[..120]);
        }
    }
}
