//! What the tape records of each operation, and what the backward pass asks of it.
//!
//! An operation is a struct in the file that also holds its forward method (on [`super::Recording`]) and its backward method
//! ([`Operation::backward`]). [`Op`] is the list of all of them: a new operation is one line there.

use std::ops::Range;

use super::attention::{AttentionOp, CrossAttentionOp};
use super::augmented::AugmentedOp;
use super::elementwise::{AddOp, AddParamOp, DropoutOp, ScaleOp, ViewOp};
use super::gru::GruOp;
use super::linear::{LayerNormOp, LinearOp};
use super::loss::{BinaryLossOp, SoftmaxLossOp};
use super::lstm::LstmOp;
use super::pool::MeanRowsOp;
use super::recurrent::{Layer, RnnOp};
use super::rows::{EmbeddingOp, JoinOp, RepeatOp, ScaleRowsOp, SelectOp};
use super::stack_rnn::StackRnnOp;
use super::weight_norm::{GluOp, ProductOp, WeightNormOp};
use super::{Tape, Var};
use crate::kernel::{DropoutMask, MaskedSlice, Real};
use crate::params::Param;

/// The place of a tensor in the arena of values, and of its gradient in that of gradients (at the same offset).
#[derive(Clone, Copy, Debug)]
pub(super) struct Tensor {
    pub(super) start: usize,
    pub(super) len: usize,
    /// False for data, whose gradient is not computed.
    pub(super) requires_grad: bool,
    /// During the backward pass: whether a gradient has been written, to which the next one must be added.
    pub(super) has_grad: bool,
}

impl Tensor {
    pub(super) fn range(self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

/// A tensor with dropout that is applied wherever it is read. The dropped copy is not stored: recurrent layers and
/// `select` recompute it from the mask, block by block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedVar {
    pub(super) var: Var,
    pub(super) mask: DropoutMask,
}

impl From<Var> for MaskedVar {
    fn from(var: Var) -> Self {
        Self { var, mask: DropoutMask::NONE }
    }
}

impl MaskedVar {
    /// The same mask over the tensor's values.
    pub(super) fn over<R>(self, values: &[R]) -> MaskedSlice<'_, R> {
        MaskedSlice { values, mask: self.mask }
    }
}

/// A recorded operation. Its ranges point into the arena of saved values, or into the symbols where they are called so.
pub(super) trait Operation {
    /// Writes the gradients of its inputs (see [`super::backward`]) and adds to those of its parameters.
    fn backward<R: Real>(&self, tape: &mut Tape<R>, params: &[R], dparams: &mut [R]);

    /// Visits the parameters it uses.
    fn params(&self, _visit: &mut dyn FnMut(Param)) {}

    /// The layer whose weight gradients its kernel can write instead of adding to, if no other operation uses the weights.
    fn overwrites(&self) -> Option<Layer> {
        None
    }

    /// The weight whose gradient it can defer (for an LSTM, the recurrent one stands for both).
    fn defers(&self) -> Option<Param> {
        None
    }
}

// An enum rather than trait objects: `backward` is generic over the precision, which a trait object cannot
// offer, and a record is not an allocation. The macro spares a `match` per method for every operation.
macro_rules! operations {
    ($($name:ident($op:ident)),* $(,)?) => {
        #[derive(Clone, Debug)]
        pub(super) enum Op {
            $($name($op)),*
        }

        impl Operation for Op {
            fn backward<R: Real>(&self, tape: &mut Tape<R>, params: &[R], dparams: &mut [R]) {
                match self {
                    $(Self::$name(op) => op.backward(tape, params, dparams)),*
                }
            }

            fn params(&self, visit: &mut dyn FnMut(Param)) {
                match self {
                    $(Self::$name(op) => op.params(visit)),*
                }
            }

            fn overwrites(&self) -> Option<Layer> {
                match self {
                    $(Self::$name(op) => op.overwrites()),*
                }
            }

            fn defers(&self) -> Option<Param> {
                match self {
                    $(Self::$name(op) => op.defers()),*
                }
            }
        }
    };
}

operations!(
    View(ViewOp),
    AddParam(AddParamOp),
    Add(AddOp),
    Scale(ScaleOp),
    Dropout(DropoutOp),
    Embedding(EmbeddingOp),
    Join(JoinOp),
    Select(SelectOp),
    Repeat(RepeatOp),
    ScaleRows(ScaleRowsOp),
    MeanRows(MeanRowsOp),
    Linear(LinearOp),
    LayerNorm(LayerNormOp),
    WeightNorm(WeightNormOp),
    Product(ProductOp),
    Glu(GluOp),
    Rnn(RnnOp),
    Lstm(LstmOp),
    Gru(GruOp),
    Augmented(AugmentedOp),
    StackRnn(StackRnnOp),
    Attention(AttentionOp),
    CrossAttention(CrossAttentionOp),
    SoftmaxLoss(SoftmaxLossOp),
    BinaryLoss(BinaryLossOp),
);
