//! What a trained recognizer says of strings, many at a time.

use super::{Recognizer, Trained};
use crate::kernel::{Real, softmax};
use crate::model::RecognizerModel;
use crate::tape::{Mode, Recording};
use crate::train::judged_parts;

/// All that a recognizer says of one string.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The log-odds that it is in the language.
    pub log_odds: f64,
    /// With a language-modelling head: the natural logarithm of the probability of each symbol given those before it,
    /// and of the end.
    pub log_probs: Option<Vec<f64>>,
    /// With a next-symbol head: at each prefix, the log-odds that each symbol, and the end, may come.
    pub next: Option<Vec<Vec<f64>>>,
}

impl<R: Real> Recognizer for Trained<RecognizerModel, R> {
    fn log_odds(&mut self, strings: &[&[u32]]) -> Vec<f64> {
        self.judge(strings, |_| false).into_iter().map(|judgement| judgement.log_odds).collect()
    }
}

impl<R: Real> Trained<RecognizerModel, R> {
    /// What it says of strings, and at every prefix of those (by their place) that are asked for.
    pub fn judge(&mut self, strings: &[&[u32]], asked: impl Fn(usize) -> bool) -> Vec<Judgement> {
        let lengths: Vec<usize> = strings.iter().map(|s| s.len()).collect();
        let mut judgements = vec![Judgement::default(); strings.len()];
        for part in judged_parts(&lengths, |longest| self.model.max_batch_strings(longest)) {
            let texts: Vec<&[u32]> = part.iter().map(|&i| strings[i]).collect();
            let mut record = self.tape.record(&self.params, Mode::Eval);
            let logits = self.model.read(&mut record, &texts, |b| asked(part[b]));
            for (&i, logit) in part.iter().zip(record.value(logits.recognition)) {
                judgements[i].log_odds = logit.wide();
            }
            let asked: Vec<usize> = part.iter().copied().filter(|&i| asked(i)).collect();
            let choices = self.model.spec().alphabet + 1;
            if let Some(out) = logits.language_modeling {
                let mut rows = rows(&record, out, choices);
                for &i in &asked {
                    judgements[i].log_probs = Some(log_probs(strings[i], &mut rows));
                }
            }
            if let Some(out) = logits.next_symbols {
                let mut rows = rows(&record, out, choices);
                for &i in &asked {
                    judgements[i].next = Some(rows.by_ref().take(lengths[i] + 1).collect());
                }
            }
        }
        judgements
    }
}

/// The rows of an output, in double precision.
fn rows<'a, R: Real>(
    record: &'a Recording<'_, R>,
    out: crate::tape::Var,
    choices: usize,
) -> impl Iterator<Item = Vec<f64>> + 'a {
    record.value(out).chunks(choices).map(|row| row.iter().map(|x| x.wide()).collect())
}

/// The log-probabilities of a string's symbols and its end, from one row of logits per prefix.
fn log_probs(string: &[u32], rows: &mut impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    (0..=string.len())
        .zip(rows)
        .map(|(p, mut row)| {
            let came = row[string.get(p).map_or(row.len() - 1, |&s| s as usize)];
            // The logarithm of the sum of exponentials is what a softmax divides by.
            came - softmax(&mut row)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use wug_dataset::Seed;

    use super::*;
    use crate::model::{Family, Labelled, LossWeights};
    use crate::tape::Tape;

    // The three parts of the loss, put together from what is said of each string, are the loss that is trained.
    #[test]
    fn judgements_add_up_to_the_loss() {
        for family in [Family::Rnn, Family::Lstm, Family::Gru, Family::Transformer] {
            let model = RecognizerModel::new(family.recognizer(8, 2, (true, true), 0.0)).unwrap();
            let params: Vec<f64> = model.layout().initialise(Seed::new(3));
            let strings: [&[u32]; 4] = [&[0, 1, 1], &[], &[1], &[1, 0, 1, 0, 0]];
            let next: [&[u64]; 4] = [&[1, 2, 3, 7], &[4], &[], &[1, 1, 5, 6, 7, 0]];
            let labels = [true, true, false, true];
            let batch: Vec<Labelled<'_>> =
                (0..4).map(|i| Labelled { string: strings[i], label: labels[i], next: next[i] }).collect();
            let weights = LossWeights { language_modeling: 0.3, next_symbols: 0.7 };
            let mut tape = Tape::default();
            let mut record = tape.record(&params, Mode::Eval);
            model.loss(&mut record, &batch, weights, 4);
            let loss = record.loss();
            let soft = |z: f64| libm::log1p(libm::exp(-z.abs())) + z.max(0.0);
            let coin = |z: f64, yes: bool| if yes { soft(-z) } else { soft(z) };
            let mean = |xs: Vec<f64>| xs.iter().sum::<f64>() / xs.len() as f64;
            let judgements = Trained::new(model, params).judge(&strings, |i| labels[i]);
            let mut sum = 0.0;
            for (e, j) in batch.iter().zip(judgements) {
                sum += coin(j.log_odds, e.label);
                assert_eq!((j.log_probs.is_some(), j.next.is_some()), (e.label, e.label));
                if e.label {
                    sum -= 0.3 * mean(j.log_probs.unwrap());
                    let rows = j.next.unwrap().into_iter().zip(e.next);
                    let sets = rows.flat_map(|(row, set)| {
                        row.into_iter().enumerate().map(move |(s, z)| coin(z, set >> s & 1 == 1))
                    });
                    sum += 0.7 * mean(sets.collect());
                }
            }
            assert!((sum / 4.0 - loss).abs() < 1e-12, "{family:?}: {} {loss}", sum / 4.0);
        }
    }
}
