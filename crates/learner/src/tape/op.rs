//! What a tape remembers of each operation.

use std::ops::Range;

use super::{AugmentedLayer, Var};
use crate::kernel::{self, Activation, Attention, Augmented, Mask, Recurrence};
use crate::params::Param;

/// Where a tensor lies among the values, and among the gradients too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tensor {
    pub(super) start: usize,
    pub(super) len: usize,
    /// False for inputs that are data, whose gradient nobody asks for.
    pub(super) needs: bool,
    /// On the way back: whether a gradient has been written that the next one must be added to.
    pub(super) touched: bool,
}

impl Tensor {
    pub(super) fn range(self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

/// A tensor seen through a mask of dropout: who reads it drops numbers in reading, and what is left is never written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masked {
    pub(super) var: Var,
    pub(super) mask: Mask,
}

impl From<Var> for Masked {
    fn from(var: Var) -> Self {
        Self { var, mask: Mask::NONE }
    }
}

impl Masked {
    /// The same mask over its numbers.
    pub(super) fn over<R>(self, numbers: &[R]) -> kernel::Masked<'_, R> {
        kernel::Masked { numbers, mask: self.mask }
    }
}

/// The parameters of a recurrent layer. PyTorch has two bias vectors where one would do; both are trained, so both are
/// kept when a paper's learner had them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// `[G·H, I]`
    pub input: Param,
    /// `[G·H, H]`
    pub hidden: Param,
    /// `[G·H]`
    pub bias: Option<Param>,
    /// `[G·H]`, added to the first (for a GRU: the recurrent side's own).
    pub second_bias: Option<Param>,
}

impl Layer {
    fn params(self) -> [Option<Param>; 4] {
        [Some(self.input), Some(self.hidden), self.bias, self.second_bias]
    }
}

/// The parameters of a layer normalisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerNorm {
    /// `[D]`
    pub gain: Param,
    /// `[D]`
    pub bias: Param,
    /// Keeps the division finite.
    pub epsilon: f64,
}

/// What a logit costs when the truth is yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    CrossEntropy,
    Square,
}

/// One operation; ranges point into the `saved` arena, or into the symbols where so named.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Part of a tensor, in place.
    View {
        whole: Var,
        part: Var,
    },
    Embedding {
        out: Var,
        table: Param,
        symbols: Range<usize>,
        d: usize,
        scale: f64,
    },
    /// `out[n] = x + rows of a parameter`, repeated.
    AddParam {
        x: Var,
        out: Var,
        rows: Param,
    },
    /// `out = x + y`
    Add {
        x: Var,
        y: Var,
        out: Var,
    },
    /// `out = factor · x`, and on the way back `dx = back · dout`
    Scale {
        x: Var,
        out: Var,
        back: f64,
    },
    /// Rows of `d` numbers, each multiplied by its own of the saved factors.
    ScaleRows {
        x: Var,
        out: Var,
        factors: Range<usize>,
        d: usize,
    },
    /// `out[O,I] = gain[O] · v[O,I] / |v[O]|`
    WeightNorm {
        out: Var,
        v: Param,
        gain: Param,
    },
    /// As `Linear`, by a weight that is a tensor.
    Product {
        x: Var,
        out: Var,
        weight: Var,
        bias: Param,
        i: usize,
    },
    /// `out[N,O] = a · σ(b)` of `x[N,2O]`
    Gated {
        x: Var,
        out: Var,
        o: usize,
    },
    /// Rows of several tensors (symbols), one beside the other.
    Join {
        parts: Range<usize>,
        out: Var,
        rows: usize,
    },
    /// `out[rows] = x[symbols[rows]]`
    Select {
        x: Masked,
        out: Var,
        rows: Range<usize>,
        d: usize,
    },
    /// `out[B,H] = f(param[H])` in every row
    Repeat {
        out: Var,
        param: Param,
        f: Activation,
    },
    Dropout {
        x: Var,
        out: Var,
        mask: Mask,
    },
    Linear {
        x: Var,
        out: Var,
        weight: Param,
        bias: Option<Param>,
        i: usize,
        f: Activation,
    },
    Rnn {
        x: Masked,
        h0: Option<Var>,
        out: Var,
        layer: Layer,
        n: Recurrence,
        f: Activation,
    },
    Lstm {
        x: Masked,
        start: Option<(Var, Var)>,
        out: Var,
        last_cell: Var,
        cells: Range<usize>,
        gates: Range<usize>,
        layer: Layer,
        n: Recurrence,
    },
    Gru {
        x: Masked,
        h0: Option<Var>,
        out: Var,
        gates: Range<usize>,
        sums: Range<usize>,
        layer: Layer,
        n: Recurrence,
    },
    Augmented {
        x: Var,
        out: Var,
        trace: Range<usize>,
        layer: AugmentedLayer,
        n: Augmented,
    },
    Norm {
        x: Var,
        out: Var,
        norm: LayerNorm,
        mean: Range<usize>,
        inverse: Range<usize>,
    },
    Attention {
        x: Var,
        out: Var,
        kept: Range<usize>,
        mask: Mask,
        n: Attention,
    },
    /// Queries of one tensor, keys and values of another, of whose strings only `lengths` (symbols) count.
    CrossAttention {
        q: Var,
        kv: Var,
        out: Var,
        lengths: Range<usize>,
        kept: Range<usize>,
        mask: Mask,
        n: Attention,
    },
    SoftmaxLoss {
        logits: Var,
        probabilities: Range<usize>,
        weights: Range<usize>,
        targets: Range<usize>,
    },
    LogisticLoss {
        cost: Cost,
        logits: Var,
        truth: Range<usize>,
        weights: Range<usize>,
    },
}

impl Op {
    /// The weight it multiplies by (of an LSTM, that of its states), if its gradient may come later.
    pub(super) fn multiplied(&self) -> Option<Param> {
        match *self {
            Self::Linear { weight, .. } => Some(weight),
            Self::Lstm { layer, .. } => Some(layer.hidden),
            _ => None,
        }
    }

    /// The parameters it uses.
    pub(super) fn params(&self) -> impl Iterator<Item = Param> + use<> {
        let all = match *self {
            Self::Embedding { table: param, .. }
            | Self::AddParam { rows: param, .. }
            | Self::Repeat { param, .. }
            | Self::Product { bias: param, .. } => [Some(param), None, None, None],
            Self::WeightNorm { v, gain, .. } => [Some(v), Some(gain), None, None],
            Self::Linear { weight, bias, .. } => [Some(weight), bias, None, None],
            Self::Rnn { layer, .. } | Self::Lstm { layer, .. } | Self::Gru { layer, .. } => layer.params(),
            Self::Augmented { layer, .. } => layer.network.params(),
            Self::Norm { norm, .. } => [Some(norm.gain), Some(norm.bias), None, None],
            Self::View { .. }
            | Self::Add { .. }
            | Self::Scale { .. }
            | Self::ScaleRows { .. }
            | Self::Gated { .. }
            | Self::Join { .. }
            | Self::Select { .. }
            | Self::Dropout { .. }
            | Self::Attention { .. }
            | Self::CrossAttention { .. }
            | Self::SoftmaxLoss { .. }
            | Self::LogisticLoss { .. } => [None; 4],
        };
        let around = match self {
            Self::Augmented { layer, .. } => layer.around().map(Some),
            _ => [None; 6],
        };
        all.into_iter().chain(around).flatten()
    }
}
