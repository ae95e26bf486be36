//! The states of a body: those of a batch, as rows on the tape, and that of a single prefix, kept between calls.

use crate::tape::{MaskedVar, Var};

/// The strings of a batch, padded to one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchShape {
    /// Symbols of each string, padding and start included.
    pub steps: usize,
    /// How many strings there are.
    pub batch: usize,
}

impl BatchShape {
    /// One symbol of one string.
    pub(super) const ONE: Self = Self { steps: 1, batch: 1 };
}

/// The states after all prefixes of a batch of strings, one row each.
///
/// A recurrent body has a row before the first input (its initial state) and is laid out step by step, `[T+1,B,D]`. A
/// transformer has one row per input and is laid out string by string, `[B,T,D]`. [`States::row`] is the same for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States {
    pub rows: MaskedVar,
    /// `D`, elements per row.
    pub width: usize,
    /// Rows between a position and the next of the same string.
    pub(super) per_position: usize,
    /// Rows between a string and the next at the same position.
    pub(super) per_string: usize,
    /// Inputs read before the first symbol of a string: 1 with a start symbol, else 0.
    pub(super) start: usize,
    /// Inputs read in the first row of a string: 0 if that is the initial state, else 1.
    pub(super) first: usize,
}

impl States {
    /// The row of the state after `position` symbols of string `b`, from which the symbol at `position` is predicted.
    ///
    /// # Panics
    /// In debug builds, if there is no such row: a transformer without a start symbol has no state after 0 symbols.
    pub fn row(&self, b: usize, position: usize) -> u32 {
        // Added before subtracting: `position − first` alone would underflow at the first position.
        ((position + self.start - self.first) * self.per_position + b * self.per_string) as u32
    }
}

/// What a model keeps of a prefix: enough to read on and to predict the next symbol. Its size depends on the body.
#[derive(Clone, Debug, PartialEq)]
pub struct PrefixState<R> {
    /// Recurrent bodies and networks with a memory: `h` of every layer, then `c` of every layer of an LSTM. Transformers:
    /// empty.
    pub(super) hidden: Vec<R>,
    /// What grows with the prefix, per layer. Transformers: keys and values `[length,2D]`. Networks with a memory: the rows
    /// in use, of their one layer. Recurrent bodies: no entry.
    pub(super) caches: Vec<Vec<R>>,
    /// The state `[D]` that the output layer reads. Empty before the first symbol if the body has no initial state.
    pub(crate) top: Vec<R>,
}

/// The states `[T,N,D]` after each symbol of pieces that were read as one batch. `N` may be more than the number of pieces:
/// rows after those of the pieces are padding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchStates {
    pub(crate) tops: Var,
    pub(crate) rows: usize,
}
