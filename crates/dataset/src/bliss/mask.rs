//! The released masks. They differ from the exact ones of [`corpus`](crate::corpus) in three ways: the first step is
//! never scored, although `a` is certain there; rows are padded with `false` to the longest string; and all but those of
//! the powers have one column more than there are steps.

use wug_language::Symbol;

use super::Published;
use crate::corpus::{MaskKind, TEST_SIZE};

impl Published {
    /// The shape of the released mask: strings, steps and, for Dyck, symbols of the vocabulary.
    pub fn mask_shape(self) -> Vec<usize> {
        let steps = self.longest_test() + 1;
        match self {
            Self::AnBn | Self::AnBnCn | Self::AnBnCnDn => vec![TEST_SIZE, steps],
            Self::AnBmCnPlusM => vec![TEST_SIZE, steps + 1],
            Self::Dyck1 | Self::Dyck2 => vec![TEST_SIZE, steps + 1, self.alphabet().len() + 1],
        }
    }

    /// A string's row of the released mask, without padding: a cell per step, or per step and symbol.
    pub fn mask_row(self, word: &[Symbol]) -> Vec<bool> {
        match self.mask_kind() {
            MaskKind::Deterministic => self.last_phase(word),
            MaskKind::ValidNext => self.open_brackets(word),
        }
    }

    /// The released mask, row by row, each padded to the same width.
    pub fn mask_rows(self) -> impl Iterator<Item = Vec<bool>> {
        let width = self.mask_shape()[1..].iter().product();
        self.test().map(move |word| {
            let mut row = self.mask_row(&word);
            row.resize(width, false);
            row
        })
    }

    /// True from the step that reads the first symbol after the free phases (the first `b`, or `c` where both
    /// `a` and `b` are free) to the last.
    fn last_phase(self, word: &[Symbol]) -> Vec<bool> {
        let first = if self == Self::AnBmCnPlusM { Symbol(2) } else { Symbol(1) };
        let free = word.iter().position(|&symbol| symbol == first).unwrap_or(word.len());
        (0..=word.len()).map(|step| step > free).collect()
    }

    fn open_brackets(self, word: &[Symbol]) -> Vec<bool> {
        let alphabet = self.alphabet();
        let mut open = Vec::new();
        let mut mask = Vec::with_capacity((word.len() + 1) * (alphabet.len() + 1));
        let mut see = |open: &[Symbol]| {
            mask.push(open.is_empty());
            for bracket in alphabet.symbols() {
                let opens = bracket.0 % 2 == 0;
                mask.push(opens || open.last().is_some_and(|last| last.0 + 1 == bracket.0));
            }
        };
        see(&open);
        for &bracket in word {
            if bracket.0 % 2 == 0 {
                open.push(bracket);
            } else {
                open.pop();
            }
            see(&open);
        }
        mask
    }
}
