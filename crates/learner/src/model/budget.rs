//! Hidden sizes from a budget of parameters, to compare architectures of equal size.

use super::{
    BodySpec, Cell, Initialization, NormPlace, Positions, RecognizerModel, RecognizerSpec, RecurrentSpec,
    SpecError, Start, TransformerDropout, TransformerSpec,
};
use crate::kernel::Sinusoid;

/// The architectures of Butoi et al. without their hidden size: five layers, eight heads, feed-forward four times the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Simple recurrent network with tanh.
    Rnn,
    /// Long short-term memory.
    Lstm,
    /// Gated recurrent units (not in the paper).
    Gru,
    /// Causal transformer, pre-norm.
    Transformer,
}

/// How a hidden size is chosen for a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// As published: the root of a quadratic that approximates the count, rounded half to even.
    Published,
    /// The size whose number of parameters is nearest to the budget; the smaller of two.
    Nearest,
}

const LAYERS: usize = 5;
const HEADS: usize = 8;

impl Family {
    /// The recognizer of this family with hidden size or width `d` over an alphabet of `v` symbols. `lm` and `ns` add the
    /// language-modelling and the next-symbol head.
    pub fn recognizer(self, d: usize, v: usize, (lm, ns): (bool, bool), dropout: f64) -> RecognizerSpec {
        let recurrent = |cell, biases| {
            BodySpec::Recurrent(RecurrentSpec {
                cell,
                layers: LAYERS,
                hidden: d,
                embedding: Some(d),
                biases,
                start: Start::Learned,
                dropout,
            })
        };
        let body = match self {
            Self::Rnn => recurrent(Cell::Rnn, 1),
            Self::Lstm => recurrent(Cell::Lstm, 1),
            Self::Gru => recurrent(Cell::Gru, 2),
            Self::Transformer => BodySpec::Transformer(TransformerSpec {
                layers: LAYERS,
                width: d,
                heads: HEADS,
                feedforward: 4 * d,
                norm: NormPlace::Pre,
                final_norm: true,
                positions: Positions::Sinusoidal { layout: Sinusoid::Interleaved, first: 0 },
                scale_embedding: true,
                dropout: TransformerDropout::everywhere(dropout),
            }),
        };
        RecognizerSpec {
            body,
            alphabet: v,
            language_modeling: lm,
            next_symbols: ns,
            initialization: Initialization::Flare,
        }
    }

    /// Hidden sizes are multiples of this.
    fn unit(self) -> usize {
        if self == Self::Transformer { HEADS } else { 1 }
    }

    /// The coefficients of the published estimate `a·d² + b·d + 1` of the number of parameters. It is exact for an RNN or LSTM
    /// without auxiliary heads; for the transformer it has three biases too many per layer and no start symbol.
    fn quadratic(self, v: usize) -> (f64, f64) {
        let v = v as f64;
        match self {
            Self::Rnn => (10.0, v + 11.0),
            Self::Lstm => (40.0, v + 26.0),
            // Per layer: 2·3 matrices, 6 biases and an initial state. Embedding and head.
            Self::Gru => (30.0, v + 36.0),
            Self::Transformer => (60.0, v + 83.0),
        }
    }
}

/// The hidden size (or width) of the recognizer of a family for a budget of parameters.
///
/// ```
/// use wug_learner::model::{Family, Matching, matched};
/// // The sizes of the paper: 64,000 parameters, two symbols.
/// let published = |family| matched(family, 64_000, 2, (false, false), Matching::Published).unwrap();
/// assert_eq!([Family::Rnn, Family::Lstm, Family::Transformer].map(published), [79, 40, 32]);
/// ```
pub fn matched(
    family: Family,
    budget: usize,
    alphabet: usize,
    heads: (bool, bool),
    matching: Matching,
) -> Result<usize, SpecError> {
    let (a, b) = family.quadratic(alphabet);
    let root = (-b + libm::sqrt(b * b - 4.0 * a * (1.0 - budget as f64))) / (2.0 * a);
    let unit = family.unit();
    // `as` saturates: a negative root (a very small budget) becomes zero.
    #[expect(clippy::cast_sign_loss, reason = "see above")]
    let published = unit * (libm::rint(root / unit as f64) as usize).max(1);
    if matching == Matching::Published {
        return Ok(published);
    }
    let distance = |d: usize| -> Result<usize, SpecError> {
        Ok(RecognizerModel::new(family.recognizer(d, alphabet, heads, 0.0))?
            .layout()
            .count()
            .abs_diff(budget))
    };
    let mut best = (usize::MAX, unit);
    for d in (unit..=2 * published + 2 * unit).step_by(unit) {
        best = best.min((distance(d)?, d));
    }
    Ok(best.1)
}
