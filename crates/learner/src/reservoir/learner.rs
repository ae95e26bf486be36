//! A reservoir with its decoder, as an incremental learner.

use std::collections::{BTreeMap, BTreeSet};

use wug_parameter::choices;

use super::Reservoir;
use super::decoder::{DecoderSpec, LinearDecoder, Standardization};
use super::features::FeatureRows as _;
use crate::interface::{Failure, Incremental, Remembered, Sequence};
use crate::kernel::Real;

choices! {
    /// What a decoder chooses from.
    pub enum Labels {
        /// Every symbol that can be an answer.
        All = "all",
        /// The answers of the training sequences, known before the first step (published). An answer that is none of
        /// them is never given.
        OfTraining = "training",
    }
}

/// Of each sequence its first row and its answers.
type FirstRows = BTreeMap<Vec<u32>, (usize, Vec<usize>)>;

/// A reservoir with its decoder.
pub struct ReservoirLearner<R: Real, V: Reservoir<R>> {
    reservoir: V,
    spec: DecoderSpec,
    labels: Labels,
    decoder: LinearDecoder<R>,
    /// The training sequences, if they are known: their rows, and of each the first row and its answers.
    training: Option<(V::Rows, FirstRows)>,
    /// What was asked last: the same test sequences are asked again and again.
    asked: Option<Remembered<V::Rows>>,
}

impl<R: Real, V: Reservoir<R>> ReservoirLearner<R, V> {
    /// Before the first step; answers are symbols below `answers`.
    pub fn new(reservoir: V, spec: DecoderSpec, labels: Labels, answers: usize) -> Self {
        let decoder = LinearDecoder::new(spec, reservoir.width(), (0..answers as u32).collect());
        Self { reservoir, spec, labels, decoder, training: None, asked: None }
    }
}

impl<R: Real, V: Reservoir<R>> Incremental for ReservoirLearner<R, V> {
    fn prepare(&mut self, training: &[Sequence<'_>]) -> Result<(), Failure> {
        if self.labels == Labels::OfTraining {
            let answers = |s: &Sequence<'_>| s.answers.iter().map(|&i| s.symbols[i]).collect::<Vec<_>>();
            let labels: BTreeSet<u32> = training.iter().flat_map(answers).collect();
            self.decoder =
                LinearDecoder::new(self.spec, self.reservoir.width(), labels.into_iter().collect());
        }
        // Features do not depend on what is learned: to have them early saves time and tells the decoder nothing.
        let rows = self.reservoir.run(training);
        if self.spec.standardization == Standardization::Prior {
            self.decoder.prepare(&rows);
        }
        let (mut at, mut first) = (BTreeMap::new(), 0);
        for sequence in training {
            at.insert(sequence.symbols.to_vec(), (first, sequence.answers.to_vec()));
            first += sequence.answers.len();
        }
        self.training = Some((rows, at));
        Ok(())
    }

    /// One step for each answer, in order.
    fn observe(&mut self, batch: &[Sequence<'_>]) -> Result<(), Failure> {
        for sequence in batch {
            let known = self.training.as_ref().and_then(|(rows, at)| Some((rows, at.get(sequence.symbols)?)));
            if let Some((rows, (first, answers))) = known {
                for answer in sequence.answers {
                    if let Ok(k) = answers.binary_search(answer) {
                        self.decoder.learn(rows, first + k, sequence.symbols[*answer]);
                    }
                }
                continue;
            }
            let rows = self.reservoir.run(&[*sequence]);
            for (row, &answer) in sequence.answers.iter().enumerate() {
                self.decoder.learn(&rows, row, sequence.symbols[answer]);
            }
        }
        Ok(())
    }

    fn predict(&mut self, sequences: &[Sequence<'_>]) -> Result<Vec<u32>, Failure> {
        if let Some(known) = self.asked.as_ref().filter(|known| known.is_of(sequences)) {
            return Ok(self.decoder.predict(&known.made));
        }
        let rows = self.reservoir.run(sequences);
        let predicted = self.decoder.predict(&rows);
        self.asked = Some(Remembered::new(sequences, rows));
        Ok(predicted)
    }

    fn scores(&mut self, sequences: &[Sequence<'_>]) -> Result<Option<Vec<f64>>, Failure> {
        let rows = self.reservoir.run(sequences);
        let n = rows.len();
        if n == 0 {
            return Ok(Some(Vec::new()));
        }
        let by_unit = self.decoder.scores(&rows);
        let units = by_unit.len() / n;
        let score = |i: usize| by_unit[i % units * n + i / units].wide();
        Ok(Some((0..n * units).map(score).collect()))
    }
}
