//! What a trained transducer makes of strings.

use std::ops::RangeInclusive;

use super::{Trained, Transducer};
use crate::kernel::{Real, softmax};
use crate::model::{Pair, TransducerModel};
use crate::tape::Mode;
use crate::train::{judged_parts, pair_symbols};

impl<R: Real> Transducer for Trained<TransducerModel, R> {
    fn log_probs(&mut self, pairs: &[Pair<'_>]) -> Vec<f64> {
        let lengths: Vec<usize> = pairs.iter().map(pair_symbols).collect();
        let (v, end) = (self.model.spec().outputs, self.model.spec().end);
        let mut logs = vec![0.0; pairs.len()];
        for part in judged_parts(&lengths, |longest| self.model.pairs_at_once(longest)) {
            let some: Vec<Pair<'_>> = part.iter().map(|&i| pairs[i]).collect();
            let mut record = self.tape.record(&self.params, Mode::Eval);
            let logits = self.model.logits(&mut record, &some);
            let mut rows = record.value(logits).chunks(v);
            for (&i, pair) in part.iter().zip(&some) {
                let symbols = pair.output.iter().copied().chain([end]);
                logs[i] = symbols
                    .zip(&mut rows)
                    .map(|(symbol, row)| {
                        let mut row: Vec<f64> = row.iter().map(|x| x.wide()).collect();
                        row[symbol as usize] - softmax(&mut row)
                    })
                    .sum();
            }
        }
        logs
    }

    fn greedy(&mut self, input: &[u32], lengths: RangeInclusive<usize>) -> Vec<u32> {
        let mut record = self.tape.record(&self.params, Mode::Eval);
        self.model.greedy(&mut record, input, lengths)
    }
}
