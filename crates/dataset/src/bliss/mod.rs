//! BLISS: learning a language from few strings (Lan, Chemla and Katzir 2023, *Benchmarking Neural Network Generalization
//! for Grammar Induction*).
//!
//! [`Published`] regenerates the six released languages byte for byte, quirks included: training corpora,
//! test sets, masks, previews. [`corpus`](crate::corpus) has what works for every language.

mod archive;
mod error;
mod files;
mod grammar;
mod mask;
mod npz;
mod published;
mod released;
mod suite;
mod test_set;
#[cfg(test)]
mod tests;
mod text;
mod validate;

pub use archive::{Archive, PASSWORD, write_zip};
pub use error::FormatError;
pub use files::{CorpusLayout, read_strings, test_count, write};
pub use npz::{MaskReader, write_npz};
pub use published::{BadPrior, Published};
pub use suite::{ARCHIVES, Bliss, TEXT};
pub use text::{CorpusText, Lines};
pub use validate::validate;
