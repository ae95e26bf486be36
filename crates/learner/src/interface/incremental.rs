//! Learners that are evaluated while they learn.

use super::Failure;

/// A sequence some of whose symbols, the answers, are predicted from those before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence<'a> {
    /// The ids of all symbols, answers included: they are numbered from 1.
    pub symbols: &'a [u32],
    /// The positions of answers, ascending; the first symbol is none of them. The answer at `i` is predicted from
    /// `symbols[..i]`.
    pub answers: &'a [usize],
}

/// Learns from sequences one after the other, and can be asked at any time. How it learns is its own affair.
///
/// ```
/// use wug_learner::interface::{Failure, Incremental, Sequence};
/// /// Answers with the last answer that it has seen.
/// struct Last(u32);
/// impl Incremental for Last {
///     fn observe(&mut self, batch: &[Sequence<'_>]) -> Result<(), Failure> {
///         for sequence in batch {
///             self.0 = sequence.answers.last().map_or(self.0, |&i| sequence.symbols[i]);
///         }
///         Ok(())
///     }
///     fn predict(&mut self, sequences: &[Sequence<'_>]) -> Result<Vec<u32>, Failure> {
///         Ok(vec![self.0; sequences.iter().map(|sequence| sequence.answers.len()).sum()])
///     }
/// }
/// let mut learner = Last(0);
/// let sequence = Sequence { symbols: &[3, 1, 4, 1], answers: &[2, 3] };
/// learner.observe(&[sequence])?;
/// assert_eq!(learner.predict(&[sequence])?, [1, 1]);
/// # Ok::<(), Failure>(())
/// ```
pub trait Incremental {
    /// Called once before anything is observed, with all that will be. What a learner takes from here it knows before the
    /// first step, so most ignore it; the published reservoirs standardise their features with it.
    fn prepare(&mut self, _training: &[Sequence<'_>]) -> Result<(), Failure> {
        Ok(())
    }

    /// Learns from the answers of some sequences: one update, or several in this order.
    fn observe(&mut self, batch: &[Sequence<'_>]) -> Result<(), Failure>;

    /// The predicted answers of sequences, all those of the first, then those of the second, and so on. Nothing is learned.
    /// A prediction must not depend on the answer itself nor on what comes after it.
    fn predict(&mut self, sequences: &[Sequence<'_>]) -> Result<Vec<u32>, Failure>;

    /// What predictions are made of: the scores `[N, K]` of the `K` possible answers, row by row in the order of
    /// [`predict`](Self::predict). None if the learner tells its predictions alone.
    fn scores(&mut self, _sequences: &[Sequence<'_>]) -> Result<Option<Vec<f64>>, Failure> {
        Ok(None)
    }
}

/// A learner over rows, which symbols have from 0 on, behind ids, which symbols have from 1 on: sequences have no boundary, and
/// no parameters are spent on one.
#[derive(Debug)]
pub(crate) struct ByRow<L>(pub(crate) L);

fn by_row<T>(sequences: &[Sequence<'_>], call: impl FnOnce(&[Sequence<'_>]) -> T) -> T {
    let rows: Vec<Vec<u32>> =
        sequences.iter().map(|sequence| sequence.symbols.iter().map(|id| id - 1).collect()).collect();
    let own = rows.iter().zip(sequences);
    let own: Vec<Sequence<'_>> =
        own.map(|(symbols, Sequence { answers, .. })| Sequence { symbols, answers }).collect();
    call(&own)
}

impl<L: Incremental> Incremental for ByRow<L> {
    fn prepare(&mut self, training: &[Sequence<'_>]) -> Result<(), Failure> {
        by_row(training, |rows| self.0.prepare(rows))
    }

    fn observe(&mut self, batch: &[Sequence<'_>]) -> Result<(), Failure> {
        by_row(batch, |rows| self.0.observe(rows))
    }

    fn predict(&mut self, sequences: &[Sequence<'_>]) -> Result<Vec<u32>, Failure> {
        let predicted = by_row(sequences, |rows| self.0.predict(rows))?;
        // Scores stay by row: only predictions are compared with ids.
        Ok(predicted.into_iter().map(|row| row + 1).collect())
    }

    fn scores(&mut self, sequences: &[Sequence<'_>]) -> Result<Option<Vec<f64>>, Failure> {
        by_row(sequences, |rows| self.0.scores(rows))
    }
}

/// Something that was made of sequences once: the same test sequences are asked again and again.
#[derive(Debug)]
pub(crate) struct Remembered<T> {
    sequences: Vec<(Vec<u32>, Vec<usize>)>,
    pub(crate) made: T,
}

impl<T> Remembered<T> {
    pub(crate) fn new(sequences: &[Sequence<'_>], made: T) -> Self {
        let copy = |s: &Sequence<'_>| (s.symbols.to_vec(), s.answers.to_vec());
        Self { sequences: sequences.iter().map(copy).collect(), made }
    }

    /// Whether it is of these sequences.
    pub(crate) fn is_of(&self, sequences: &[Sequence<'_>]) -> bool {
        let same = |(known, given): (&(Vec<u32>, Vec<usize>), &Sequence<'_>)| {
            known.0 == given.symbols && known.1 == given.answers
        };
        self.sequences.len() == sequences.len() && self.sequences.iter().zip(sequences).all(same)
    }
}
