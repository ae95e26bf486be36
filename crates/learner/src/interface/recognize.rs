//! Recognition with a trained model, in batches.

use super::{Failure, Recognizer, Trained};
use crate::kernel::{Real, softmax};
use crate::model::RecognizerModel;
use crate::tape::{Mode, Recording, Var};
use crate::train::eval_batches;

/// The outputs of a recognizer for one string.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecognizerOutput {
    /// The log-odds that it is in the language.
    pub log_odds: f64,
    /// With a language-modelling head: the natural logarithm of the probability of each symbol given those before it,
    /// and of the end.
    pub log_probs: Option<Vec<f64>>,
    /// With a next-symbol head: at each prefix, the log-odds that each id may come next; 0 is the end.
    pub next: Option<Vec<Vec<f64>>>,
}

impl<R: Real> Recognizer for Trained<RecognizerModel, R> {
    fn predict(
        &mut self,
        strings: &[&[u32]],
        is_member: &dyn Fn(usize) -> bool,
    ) -> Result<Vec<RecognizerOutput>, Failure> {
        let lengths: Vec<usize> = strings.iter().map(|s| s.len()).collect();
        let mut outputs = vec![RecognizerOutput::default(); strings.len()];
        for batch in eval_batches(&lengths, |max_len| self.model.max_batch_strings(max_len)) {
            let inputs: Vec<&[u32]> = batch.iter().map(|&i| strings[i]).collect();
            let mut record = self.tape.record(&self.params, Mode::Eval);
            let logits = self.model.read(&mut record, &inputs, |b| is_member(batch[b]));
            for (&i, logit) in batch.iter().zip(record.value(logits.recognition)) {
                outputs[i].log_odds = logit.wide();
            }
            // Rows of the heads come member by member in this order, so one iterator serves all.
            let members: Vec<usize> = batch.iter().copied().filter(|&i| is_member(i)).collect();
            let choices = self.model.spec().alphabet + 1;
            if let Some(out) = logits.language_modeling {
                let mut rows = rows(&record, out, choices);
                for &i in &members {
                    outputs[i].log_probs = Some(log_probs(strings[i], &mut rows));
                }
            }
            if let Some(out) = logits.next_symbols {
                let mut rows = rows(&record, out, choices);
                for &i in &members {
                    let of_prefixes = rows.by_ref().take(lengths[i] + 1);
                    outputs[i].next = Some(of_prefixes.map(end_first).collect());
                }
            }
        }
        Ok(outputs)
    }
}

/// The rows of an output, in double precision.
fn rows<'a, R: Real>(
    record: &'a Recording<'_, R>,
    out: Var,
    choices: usize,
) -> impl Iterator<Item = Vec<f64>> + 'a {
    // Widened before the softmax: a sum over 500 positions in single precision would lose digits.
    record.value(out).chunks(choices).map(|row| row.iter().map(|x| x.wide()).collect())
}

/// A row in the order of ids; a recognizer's output for the end is its last.
fn end_first(mut row: Vec<f64>) -> Vec<f64> {
    row.rotate_right(1);
    row
}

/// The log-probabilities of a string's symbols and its end, from one row of logits per prefix.
fn log_probs(string: &[u32], rows: &mut impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    (0..=string.len())
        .zip(rows)
        .map(|(p, mut row)| {
            let logit = row[string.get(p).map_or(row.len() - 1, |&id| id as usize - 1)];
            // `softmax` returns the logarithm of its denominator.
            logit - softmax(&mut row)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use wug_dataset::Seed;

    use super::*;
    use crate::model::{LabelledString, LossWeights};
    use crate::registry::{RecognizerTask, recognizer};
    use crate::tape::Tape;

    // The loss computed from the outputs for each string is the training loss.
    #[test]
    fn outputs_add_up_to_the_loss() {
        for family in ["rnn", "lstm", "gru", "transformer"] {
            let model = RecognizerModel::new(
                recognizer(
                    family,
                    8,
                    RecognizerTask { alphabet: 2, language_modeling: true, next_symbols: true },
                    0.0,
                )
                .unwrap(),
            )
            .unwrap();
            let params: Vec<f64> = model.layout().initialise(Seed::new(3));
            let strings: [&[u32]; 4] = [&[1, 2, 2], &[], &[2], &[2, 1, 2, 1, 1]];
            let next: [&[u64]; 4] = [&[2, 4, 6, 7], &[1], &[], &[2, 2, 3, 5, 7, 0]];
            let labels = [true, true, false, true];
            let batch: Vec<LabelledString<'_>> = (0..4)
                .map(|i| LabelledString { string: strings[i], label: labels[i], next: next[i] })
                .collect();
            let weights = LossWeights { language_modeling: 0.3, next_symbols: 0.7 };
            let mut tape = Tape::default();
            let mut record = tape.record(&params, Mode::Eval);
            model.loss(&mut record, &batch, weights, 4);
            let loss = record.loss();
            let softplus = |z: f64| libm::log1p(libm::exp(-z.abs())) + z.max(0.0);
            let cross_entropy = |z: f64, truth: bool| softplus(if truth { -z } else { z });
            let mean = |xs: Vec<f64>| xs.iter().sum::<f64>() / xs.len() as f64;
            let mut recognizer: Box<dyn Recognizer> = Box::new(Trained::new(model, params));
            let outputs = recognizer.predict(&strings, &|i| labels[i]).unwrap();
            let mut sum = 0.0;
            for (e, j) in batch.iter().zip(outputs) {
                sum += cross_entropy(j.log_odds, e.label);
                assert_eq!((j.log_probs.is_some(), j.next.is_some()), (e.label, e.label));
                if e.label {
                    sum -= 0.3 * mean(j.log_probs.unwrap());
                    let rows = j.next.unwrap().into_iter().zip(e.next);
                    let sets = rows.flat_map(|(row, set)| {
                        row.into_iter().enumerate().map(move |(s, z)| cross_entropy(z, set >> s & 1 == 1))
                    });
                    sum += 0.7 * mean(sets.collect());
                }
            }
            assert!((sum / 4.0 - loss).abs() < 1e-12, "{family:?}: {} {loss}", sum / 4.0);
        }
    }
}
