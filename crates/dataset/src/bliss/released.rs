//! The six languages as entries of [`corpus::released`](crate::corpus::released).

use wug_language::{NextSet, Word};

use super::Published;
use crate::DataError;
use crate::corpus::{MaskKind, ReleasedCorpus, Slice};

/// All six, in the order of the paper.
pub(super) static RELEASED: [&dyn ReleasedCorpus; 6] = [
    &Published::AnBn,
    &Published::AnBnCn,
    &Published::AnBnCnDn,
    &Published::AnBmCnPlusM,
    &Published::Dyck1,
    &Published::Dyck2,
];

impl ReleasedCorpus for Published {
    fn name(&self) -> &'static str {
        (*self).name()
    }

    fn training(&self, size: usize, prior: f64, seed: u64) -> Result<Vec<Word>, DataError> {
        self.corpus(size, prior, short_seed(seed)?).map_err(DataError::request)
    }

    fn test(&self) -> Box<dyn Iterator<Item = Word>> {
        (*self).test()
    }

    fn slice(&self, slice: Slice, train: &[Word], count: usize) -> Box<dyn Iterator<Item = Word>> {
        (*self).slice(slice, train, count)
    }

    fn mask_kind(&self) -> MaskKind {
        (*self).mask_kind()
    }

    fn next_probabilities(&self, next: &NextSet, prior: f64) -> Vec<f64> {
        (*self).next_probabilities(next, prior)
    }
}

/// A seed of the released generator.
pub(super) fn short_seed(seed: u64) -> Result<u32, DataError> {
    u32::try_from(seed)
        .map_err(|_| DataError::request(format!("the published generator's seed has 32 bits, not {seed}")))
}
