//! The six released languages: their names, files and shapes.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use wug_language::limit::{TooLarge, check_memory};
use wug_language::{Alphabet, Word};

use super::grammar;
use crate::corpus::{MaskKind, NotReleased};

/// A language of the released benchmark. Its words are over [`Published::alphabet`], which is that of the
/// language of the same name in the registry.
///
/// ```
/// use wug_dataset::bliss::Published;
/// use wug_dataset::corpus::{PRIOR, SEED};
/// let language: Published = "dyck-1".parse().unwrap();
/// let corpus = language.corpus(100, PRIOR, SEED).unwrap();
/// assert_eq!(corpus.iter().filter(|word| word.is_empty()).count(), 70);
/// assert_eq!(corpus.last().map(Vec::len), Some(16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Published {
    /// aⁿbⁿ, n ≥ 1.
    AnBn,
    /// aⁿbⁿcⁿ, n ≥ 1.
    AnBnCn,
    /// aⁿbⁿcⁿdⁿ, n ≥ 1.
    AnBnCnDn,
    /// aⁿbᵐcⁿ⁺ᵐ, n ≥ 1 and m ≥ 1.
    AnBmCnPlusM,
    /// Balanced strings of one pair of brackets.
    Dyck1,
    /// Balanced strings of two pairs of brackets.
    Dyck2,
}

/// A prior probability with which strings would not end.
#[derive(Debug, Error, PartialEq)]
#[error("a prior of {given} does not work for {language}, where it is the probability {role}")]
pub struct BadPrior {
    /// The prior as it was given.
    pub given: f64,
    pub language: &'static str,
    /// What the prior decides, and its range.
    pub role: &'static str,
}

impl Published {
    /// All six, in the order of the paper.
    pub const ALL: [Self; 6] =
        [Self::AnBn, Self::AnBnCn, Self::AnBnCnDn, Self::AnBmCnPlusM, Self::Dyck1, Self::Dyck2];

    /// The name in the registry of languages.
    pub fn name(self) -> &'static str {
        match self {
            Self::AnBn => "an-bn",
            Self::AnBnCn => "an-bn-cn",
            Self::AnBnCnDn => "an-bn-cn-dn",
            Self::AnBmCnPlusM => "an-bm-cn-plus-m",
            Self::Dyck1 => "dyck-1",
            Self::Dyck2 => "dyck-2",
        }
    }

    /// The name of the released directory.
    pub fn directory(self) -> &'static str {
        match self {
            Self::AnBn => "an_bn",
            Self::AnBnCn => "an_bn_cn",
            Self::AnBnCnDn => "an_bn_cn_dn",
            Self::AnBmCnPlusM => "an_bm_c_n_plus_m",
            Self::Dyck1 => "dyck_1",
            Self::Dyck2 => "dyck_2",
        }
    }

    /// The symbols, without `#`.
    pub fn alphabet(self) -> Alphabet {
        match self {
            Self::AnBn => Alphabet::new(["a", "b"]),
            Self::AnBnCn | Self::AnBmCnPlusM => Alphabet::new(["a", "b", "c"]),
            Self::AnBnCnDn => Alphabet::new(["a", "b", "c", "d"]),
            Self::Dyck1 => Alphabet::new(["(", ")"]),
            Self::Dyck2 => Alphabet::new(["(", ")", "[", "]"]),
        }
    }

    /// The name of a training corpus inside its directory, without the `.zip` of its archive.
    pub fn train_file(size: usize, prior: f64, seed: u32) -> String {
        let prior = format!("{prior:?}").replace('.', "_");
        format!("train_{size}_p_{prior}_seed_{seed}.txt")
    }

    /// The name of the mask inside its directory.
    pub fn mask_file(self) -> &'static str {
        match self.mask_kind() {
            MaskKind::Deterministic => "test_deterministic_mask.npz",
            MaskKind::ValidNext => "test_valid_next_symbols.npz",
        }
    }

    /// What the language's mask says.
    pub fn mask_kind(self) -> MaskKind {
        match self {
            Self::Dyck1 | Self::Dyck2 => MaskKind::ValidNext,
            _ => MaskKind::Deterministic,
        }
    }

    /// The training corpus that the released generator makes: `size` strings, sorted by length, draws of one
    /// length in the order they were drawn.
    ///
    /// The prior is the probability to *stop* for the counting languages and to *go on*
    /// for the Dyck languages.
    pub fn corpus(self, size: usize, prior: f64, seed: u32) -> Result<Vec<Word>, BadPrior> {
        let (possible, role) = match self.mask_kind() {
            MaskKind::Deterministic => (prior > 0.0 && prior <= 1.0, "to stop: above 0 and up to 1"),
            // Above one half a derivation adds more brackets than it closes, and goes on for ever with
            // positive probability.
            MaskKind::ValidNext => ((0.0..=0.5).contains(&prior), "to open a bracket: from 0 to 0.5"),
        };
        if !possible {
            return Err(BadPrior { given: prior, language: self.name(), role });
        }
        let mut words = grammar::draw(self, size, prior, seed);
        words.sort_by_key(Vec::len);
        Ok(words)
    }

    /// An error if a training corpus would take too much memory.
    pub fn check_corpus(self, size: usize, prior: f64) -> Result<(), TooLarge> {
        let letters = self.alphabet().len() as f64;
        // Expected lengths: n is 1/p on average, and a Dyck string has 2p/(1 − 2p) symbols.
        let length = match self {
            Self::AnBn | Self::AnBnCn | Self::AnBnCnDn => letters / prior,
            Self::AnBmCnPlusM => 4.0 / prior,
            Self::Dyck1 | Self::Dyck2 => 2.0 * prior / (1.0 - 2.0 * prior).max(0.0),
        };
        // A symbol is two bytes in memory, and up to two as text.
        check_memory(size as f64 * (50.0 + 4.0 * length), || {
            format!("{size} strings of about {length:.0} symbols")
        })
    }

    /// The strings of `preview.txt`: the first ten of the test set.
    pub fn preview(self) -> Vec<Word> {
        self.test().take(10).collect()
    }
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Published {
    type Err = NotReleased;

    /// Reads the registry's name or that of the released directory.
    fn from_str(name: &str) -> Result<Self, NotReleased> {
        let known = Self::ALL.into_iter().find(|p| p.name() == name || p.directory() == name);
        known.ok_or_else(|| NotReleased { given: name.to_owned() })
    }
}
