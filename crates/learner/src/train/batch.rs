//! How examples are divided into batches.

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;
use wug_language::draw;

/// The batches of a step of the optimiser, as written in a config.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchSize {
    /// Strings of similar length, as many as a budget of symbols allows: see [`batches`] (Butoi et al.).
    Symbols(usize),
    /// This number of examples, shuffled; the last batch of an epoch may be smaller (Someya et al.).
    Examples(usize),
    /// This number of examples, in the given order (Suzgun et al.).
    InOrder(usize),
    /// All examples (Kharitonov and Chaabouni, Lan et al.).
    All,
    /// This number of examples, drawn with replacement: an epoch is one batch (Lake and Baroni).
    Drawn(usize),
}

impl BatchSize {
    /// Whether batches have size 0.
    pub(super) fn is_empty(self) -> bool {
        matches!(self, Self::Symbols(0) | Self::Examples(0) | Self::InOrder(0) | Self::Drawn(0))
    }

    /// The batches of one epoch, drawn from the seed.
    pub fn epoch(self, lengths: &[usize], seed: Seed) -> Vec<Vec<usize>> {
        let mut rng = seed.rng();
        if let Self::Drawn(count) = self {
            return vec![(0..count).map(|_| draw::below(&mut rng, lengths.len())).collect()];
        }
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        // A single batch of all is shuffled too: the order of its sums decides the bits.
        if !matches!(self, Self::InOrder(_)) {
            draw::shuffle(&mut rng, &mut order);
        }
        match self {
            Self::Symbols(budget) => {
                // Strings are shuffled before the stable sort by length, and batches again after it.
                let mut batches = by_length(order, lengths, budget);
                draw::shuffle(&mut rng, &mut batches);
                batches
            }
            Self::Examples(count) | Self::InOrder(count) => {
                order.chunks(count.max(1)).map(<[usize]>::to_vec).collect()
            }
            Self::All | Self::Drawn(_) => vec![order],
        }
    }
}

/// Divides strings, given by their lengths, into batches: shortest first (equal lengths in the given order), each batch as
/// large as `count × max_len ≤ budget` allows. A string over the budget gets a batch of its own; empty strings are free.
/// Start and end symbols are not counted.
///
/// ```
/// use wug_learner::train::batches;
/// assert_eq!(batches(&[3, 1, 9, 3, 0], 6), [vec![4, 1], vec![0, 3], vec![2]]);
/// ```
pub fn batches(lengths: &[usize], budget: usize) -> Vec<Vec<usize>> {
    by_length((0..lengths.len()).collect(), lengths, budget)
}

fn by_length(mut order: Vec<usize>, lengths: &[usize], budget: usize) -> Vec<Vec<usize>> {
    order.sort_by_key(|&i| lengths[i]);
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for i in order {
        match batches.last_mut() {
            // Sorted by length, so the string at hand is the longest of its batch.
            Some(batch) if (batch.len() + 1) * lengths[i] <= budget => batch.push(i),
            _ => batches.push(vec![i]),
        }
    }
    batches
}

/// Examples that make good use of the kernels: smaller parts of a batch save less padding than they cost.
const ENOUGH_EXAMPLES: usize = 64;

/// Divides a batch into parts that are recorded one at a time; `max_batch` is the number of examples up to a length that a
/// model reads at once. If much of the batch would be padding, examples of similar length go together, longest first.
///
/// ```text
/// lengths 9 1 8 2, at most two at once:  (9 1)(8 2) has 14 positions of padding, (9 8)(2 1) has 2
/// ```
pub fn parts(batch: &[usize], lengths: &[usize], max_batch: impl Fn(usize) -> usize) -> Vec<Vec<usize>> {
    let max_len = batch.iter().map(|&i| lengths[i]).max().unwrap_or(0);
    let (padded, symbols) = (batch.len() * max_len, batch.iter().map(|&i| lengths[i]).sum::<usize>());
    let most = max_batch(max_len);
    let divisible = batch.len() > most || batch.len() >= 2 * ENOUGH_EXAMPLES;
    // An eighth of padding costs less than smaller products would.
    if !divisible || padded - symbols <= padded / 8 {
        return batch.chunks(most).map(<[usize]>::to_vec).collect();
    }
    let mut order = batch.to_vec();
    order.sort_by_key(|&i| std::cmp::Reverse(lengths[i]));
    let (mut rest, mut parts) = (&order[..], Vec::new());
    while let Some(&longest) = rest.first() {
        let count = max_batch(lengths[longest]).min(ENOUGH_EXAMPLES).min(rest.len());
        let (part, others) = rest.split_at(count);
        parts.push(part.to_vec());
        rest = others;
    }
    parts
}

/// Symbols per batch in evaluation: enough to share steps, and little memory.
const EVAL_SYMBOLS: usize = 1 << 16;

/// The batches of evaluation; `max_batch` is the number of strings up to a length that a model reads as one batch.
pub(crate) fn eval_batches(lengths: &[usize], max_batch: impl Fn(usize) -> usize) -> Vec<Vec<usize>> {
    let parts = |batch: Vec<usize>| {
        // Batches are sorted by length, so the last string is the longest.
        let max_len = batch.last().map_or(0, |&i| lengths[i]);
        batch.chunks(max_batch(max_len)).map(<[usize]>::to_vec).collect::<Vec<_>>()
    };
    batches(lengths, EVAL_SYMBOLS).into_iter().flat_map(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_holds_every_string_once_and_depends_on_its_seed() {
        let lengths: Vec<usize> = (0..200).map(|i| i * 7 % 41).collect();
        for size in [BatchSize::Symbols(128), BatchSize::Examples(48), BatchSize::All] {
            let [one, two] = [1, 2].map(|seed| size.epoch(&lengths, Seed::new(seed)));
            assert_ne!(one, two);
            for epoch in [one, two] {
                let mut all: Vec<usize> = epoch.concat();
                all.sort_unstable();
                assert_eq!(all, (0..200).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn batches_have_the_requested_size() {
        let lengths: Vec<usize> = (0..200).map(|i| i * 7 % 41).collect();
        for batch in BatchSize::Symbols(128).epoch(&lengths, Seed::new(1)) {
            let max_len = batch.iter().map(|&i| lengths[i]).max().unwrap();
            assert!(batch.len() == 1 || batch.len() * max_len <= 128, "{batch:?}");
        }
        let sizes = |size: BatchSize| -> Vec<usize> {
            size.epoch(&lengths, Seed::new(1)).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(BatchSize::Examples(48)), [48, 48, 48, 48, 8]);
        assert_eq!(sizes(BatchSize::Examples(1000)), [200]);
        assert_eq!(sizes(BatchSize::All), [200]);
        let in_order: Vec<usize> = (0..200).collect();
        let batches = BatchSize::InOrder(48).epoch(&lengths, Seed::new(1));
        assert_eq!(batches, in_order.chunks(48).collect::<Vec<_>>());
    }

    #[test]
    fn parts_of_a_batch_hold_every_example_once_and_little_padding() {
        let lengths: Vec<usize> = (0..600).map(|i| i * 7 % 41).collect();
        let batch: Vec<usize> = (0..600).rev().collect();
        let padding = |parts: &[Vec<usize>]| -> usize {
            let of = |part: &Vec<usize>| {
                let max_len = part.iter().map(|&i| lengths[i]).max().unwrap();
                part.iter().map(|&i| max_len - lengths[i]).sum::<usize>()
            };
            parts.iter().map(of).sum()
        };
        let cache = |max_len: usize| (160 / (max_len + 1)).max(1);
        for (max_batch, share) in [(&cache as &dyn Fn(usize) -> usize, 8), (&|_| 1000, 4)] {
            let parts = parts(&batch, &lengths, max_batch);
            assert!(padding(&parts) * share < padding(std::slice::from_ref(&batch)));
            for part in &parts {
                let max_len = part.iter().map(|&i| lengths[i]).max().unwrap();
                assert!((1..=max_batch(max_len)).contains(&part.len()), "{part:?}");
            }
            let mut all: Vec<usize> = parts.concat();
            all.sort_unstable();
            assert_eq!(all, (0..600).collect::<Vec<_>>());
        }
        // What fits at once and is small, or has hardly any padding, stays as it is.
        assert_eq!(parts(&batch[..100], &lengths, |_| 100), [batch[..100].to_vec()]);
        assert_eq!(parts(&batch, &[40; 600], |_| 400), [batch[..400].to_vec(), batch[400..].to_vec()]);
        assert_eq!(parts(&[], &lengths, |_| 1), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn configs_are_read_and_written() {
        for (size, text) in [
            (BatchSize::Symbols(7), r#"{"symbols":7}"#),
            (BatchSize::Examples(512), r#"{"examples":512}"#),
            (BatchSize::InOrder(1), r#"{"in-order":1}"#),
            (BatchSize::All, r#""all""#),
        ] {
            assert_eq!(serde_json::to_string(&size).unwrap(), text);
            assert_eq!(serde_json::from_str::<BatchSize>(text).unwrap(), size);
        }
    }
}
