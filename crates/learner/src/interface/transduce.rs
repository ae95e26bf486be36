//! Transduction with a trained model.

use std::ops::RangeInclusive;

use super::{Failure, Trained, Transducer};
use crate::kernel::{Real, softmax};
use crate::model::{Pair, TransducerModel};
use crate::tape::Mode;
use crate::train::{eval_batches, pair_symbols};

impl<R: Real> Transducer for Trained<TransducerModel, R> {
    fn log_probs(&mut self, pairs: &[Pair<'_>]) -> Result<Vec<f64>, Failure> {
        Ok(self.of_symbols(pairs).iter().map(|logs| logs.iter().sum()).collect())
    }

    fn symbol_log_probs(&mut self, pairs: &[Pair<'_>]) -> Result<Option<Vec<Vec<f64>>>, Failure> {
        Ok(Some(self.of_symbols(pairs)))
    }

    fn greedy(&mut self, input: &[u32], lengths: RangeInclusive<usize>) -> Result<Vec<u32>, Failure> {
        let mut record = self.tape.record(&self.params, Mode::Eval);
        Ok(self.model.greedy(&mut record, input, lengths))
    }
}

impl<R: Real> Trained<TransducerModel, R> {
    /// The log-probabilities of the symbols and the end of each output.
    fn of_symbols(&mut self, pairs: &[Pair<'_>]) -> Vec<Vec<f64>> {
        let lengths: Vec<usize> = pairs.iter().map(pair_symbols).collect();
        let (v, end) = (self.model.classes(), self.model.spec().end);
        let mut logs = vec![Vec::new(); pairs.len()];
        for batch in eval_batches(&lengths, |max_len| self.model.max_batch_pairs(max_len)) {
            let some: Vec<Pair<'_>> = batch.iter().map(|&i| pairs[i]).collect();
            let mut record = self.tape.record(&self.params, Mode::Eval);
            let logits = self.model.logits(&mut record, &some);
            let mut rows = record.value(logits).chunks(v);
            for (&i, pair) in batch.iter().zip(&some) {
                let symbols = pair.output.iter().copied().chain([end]);
                logs[i] = symbols
                    .zip(&mut rows)
                    .map(|(symbol, row)| {
                        // Widened before the softmax: description lengths add up thousands of these.
                        let mut row: Vec<f64> = row.iter().map(|x| x.wide()).collect();
                        row[symbol as usize] - softmax(&mut row)
                    })
                    .collect();
            }
        }
        logs
    }
}
