//! What reads a string: a recurrent stack, a network with a memory or a transformer, behind one interface.

use serde::{Deserialize, Serialize};

use super::SpecError;
use super::augmented::{AugmentedBody, AugmentedSpec};
use super::init::Initialization;
use super::recurrent::{self, Recurrent, RecurrentSpec};
use super::states::States;
use super::transformer::{self, Part, Sight, Transformer, TransformerSpec};
use crate::kernel::Real;
use crate::params::{Layout, Param};
use crate::tape::Recording;

/// An architecture without its outputs, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum BodySpec {
    /// Recurrent layers.
    Recurrent(RecurrentSpec),
    /// A recurrent network with a memory beside it.
    Augmented(AugmentedSpec),
    /// A causal transformer.
    Transformer(TransformerSpec),
}

impl BodySpec {
    /// Numbers per state.
    pub fn width(&self) -> usize {
        match self {
            Self::Recurrent(spec) => spec.hidden,
            Self::Augmented(spec) => spec.hidden,
            Self::Transformer(spec) => spec.width,
        }
    }

    /// How many strings up to this length to read at once: small parts of a transformer stay in cache, while recurrent
    /// layers gain from every string that shares a step.
    pub(super) fn max_batch_strings(&self, longest: usize) -> usize {
        match self {
            Self::Transformer(_) => transformer::max_batch_strings(longest),
            Self::Recurrent(_) => recurrent::MAX_BATCH_STRINGS,
            Self::Augmented(spec) => spec.max_batch_strings(longest),
        }
    }

    /// Whether there can be such a body.
    pub(super) fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::Recurrent(spec) => spec.check(),
            Self::Augmented(spec) => spec.check(),
            Self::Transformer(spec) => spec.check(),
        }
    }
}

/// An architecture with its parameters.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Recurrent(Recurrent),
    Augmented(AugmentedBody),
    Transformer(Transformer),
}

impl Body {
    pub(crate) fn new(spec: &BodySpec, vocabulary: usize, init: Initialization, layout: &mut Layout) -> Self {
        match spec {
            BodySpec::Recurrent(spec) => {
                Self::Recurrent(Recurrent::new(spec.clone(), vocabulary, init, layout))
            }
            BodySpec::Augmented(spec) => {
                Self::Augmented(AugmentedBody::new(spec.clone(), vocabulary, init, layout))
            }
            BodySpec::Transformer(spec) => {
                let whole = Part { prefix: "", cross: false };
                Self::Transformer(Transformer::new(spec.clone(), vocabulary, whole, init, layout))
            }
        }
    }

    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Recurrent(body) => body.width(),
            Self::Augmented(body) => body.hidden(),
            Self::Transformer(body) => body.spec().width,
        }
    }

    /// The embedding, for output layers that share it.
    pub(crate) fn embedding(&self) -> Option<Param> {
        match self {
            Self::Recurrent(body) => body.embedding,
            Self::Augmented(_) => None,
            Self::Transformer(body) => Some(body.embedding),
        }
    }

    /// Reads strings padded at the end; with a start symbol, that comes first and counts as no symbol of the string.
    pub(crate) fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        strings: &[&[u32]],
        bos: Option<u32>,
    ) -> States {
        let shift = usize::from(bos.is_some());
        let longest = strings.iter().map(|s| s.len()).max().unwrap_or(0);
        let sizes = (longest + shift, strings.len());
        let symbol = |t: usize, b: usize| match bos {
            Some(bos) if t == 0 => bos,
            _ => strings[b].get(t - shift).copied().unwrap_or(0),
        };
        match self {
            // Row 0 is the state before the start symbol, if there is one.
            Self::Recurrent(body) => States { skip: shift, ..body.forward(r, sizes, symbol) },
            Self::Augmented(body) => States { skip: shift, ..body.forward(r, sizes, symbol) },
            Self::Transformer(body) => body.forward(r, sizes, symbol, Sight::Back, None),
        }
    }
}
