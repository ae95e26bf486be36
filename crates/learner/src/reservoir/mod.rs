//! Reservoirs: fixed dynamics that turn a sequence into features, and a linear decoder that learns from them, one answer after the
//! other.
//!
//! A reservoir is a file that implements [`Reservoir`]; [`automaton`] and [`echo_state`] are the two there are. The [`LinearDecoder`] is the
//! same for all.

pub mod automaton;
pub mod decoder;
pub mod echo_state;
mod features;
mod learner;

pub use decoder::{DecoderKind, DecoderSpec, LinearDecoder, Standardization};
pub use features::{BitRows, DenseRows, FeatureRows};
pub use learner::{Labels, ReservoirLearner};

use crate::interface::Sequence;
use crate::kernel::Real;

pub trait Reservoir<R: Real> {
    /// How its features are stored.
    type Rows: FeatureRows<R>;

    fn width(&self) -> usize;

    /// The features from which the answers of sequences are predicted, a row for each, in order: those after the symbol before the
    /// answer was read. Every sequence starts anew.
    fn run(&mut self, sequences: &[Sequence<'_>]) -> Self::Rows;
}
