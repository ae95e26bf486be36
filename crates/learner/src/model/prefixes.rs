//! The distinct prefixes of sequences, as a tree: a recurrent network reads each of them once, whatever the number of sequences that
//! begin with it.

use std::collections::BTreeMap;

use crate::interface::Sequence;

/// The prefixes of one length.
#[derive(Debug, Default)]
pub(crate) struct PrefixLevel {
    /// Of each prefix, which prefix of the level before it continues. The level before the first is the empty prefix.
    pub(crate) parents: Vec<usize>,
    /// Of each prefix, its last symbol.
    pub(crate) symbols: Vec<u32>,
    /// The prefixes after which answers are predicted.
    pub(crate) asked: Vec<usize>,
}

/// All prefixes up to the last answer of each sequence.
#[derive(Debug)]
pub(crate) struct PrefixTree {
    /// By length, from 1 on.
    pub(crate) levels: Vec<PrefixLevel>,
    /// Of each answer, in the order of sequences, which of the asked prefixes it comes after; these are counted level by level.
    pub(crate) rows: Vec<usize>,
}

impl PrefixTree {
    /// The tree of sequences.
    pub(crate) fn new(sequences: &[Sequence<'_>]) -> Self {
        let longest = sequences.iter().filter_map(|s| s.answers.last().copied()).max().unwrap_or(0);
        let firsts: Vec<usize> = sequences
            .iter()
            .scan(0, |next, s| Some(std::mem::replace(next, *next + s.answers.len())))
            .collect();
        let mut rows = vec![0; sequences.iter().map(|s| s.answers.len()).sum()];
        // The prefix of each sequence in the level before, and how many of its answers are passed.
        let mut at = vec![(0, 0); sequences.len()];
        let (mut levels, mut count) = (Vec::with_capacity(longest), 0);
        for length in 1..=longest {
            let (mut level, mut known) = (PrefixLevel::default(), BTreeMap::new());
            let mut asked = BTreeMap::new();
            for (i, (sequence, at)) in sequences.iter().zip(&mut at).enumerate() {
                // Prefixes after the last answer of a sequence are never asked for.
                let Some(&next) = sequence.answers.get(at.1) else { continue };
                let symbol = sequence.symbols[length - 1];
                // Parent and last symbol identify a prefix. Whole prefixes as keys would take quadratic memory.
                let node = *known.entry((at.0, symbol)).or_insert_with(|| {
                    level.parents.push(at.0);
                    level.symbols.push(symbol);
                    level.parents.len() - 1
                });
                at.0 = node;
                if next == length {
                    // Sequences that ask after the same prefix share one row of logits.
                    let row = *asked.entry(node).or_insert_with(|| {
                        level.asked.push(node);
                        count += 1;
                        count - 1
                    });
                    rows[firsts[i] + at.1] = row;
                    at.1 += 1;
                }
            }
            levels.push(level);
        }
        Self { levels, rows }
    }

    /// How many prefixes there are.
    pub(crate) fn count(&self) -> usize {
        self.levels.iter().map(|level| level.parents.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_is_there_once_and_none_after_the_last_answer() {
        let sequence = |symbols: &'static [u32], answers: &'static [usize]| Sequence { symbols, answers };
        let tree = PrefixTree::new(&[
            sequence(&[1, 2, 3, 4], &[2, 3]),
            sequence(&[1, 2, 5], &[2]),
            sequence(&[1, 2, 3, 9, 9], &[3]),
            sequence(&[7, 7], &[]),
        ]);
        let sizes: Vec<usize> = tree.levels.iter().map(|level| level.parents.len()).collect();
        assert_eq!((sizes, tree.count()), (vec![1, 1, 1], 3));
        assert_eq!(tree.rows, [0, 1, 0, 1]);
        assert_eq!(tree.levels[2].symbols, [3]);
    }
}
