//! What reads a string: a recurrent stack or a transformer, behind one interface.

use serde::{Deserialize, Serialize};

use super::init::Initialization;
use super::recurrent::{Recurrent, RecurrentSpec};
use super::states::States;
use super::transformer::{Transformer, TransformerSpec};
use crate::kernel::Real;
use crate::params::{Layout, Param};
use crate::tape::Record;

/// An architecture without its outputs, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum BodySpec {
    /// Recurrent layers.
    Recurrent(RecurrentSpec),
    /// A causal transformer.
    Transformer(TransformerSpec),
}

impl BodySpec {
    /// Numbers per state.
    pub fn width(&self) -> usize {
        match self {
            Self::Recurrent(spec) => spec.hidden,
            Self::Transformer(spec) => spec.width,
        }
    }

    /// What is wrong with it, if anything.
    pub(super) fn complaint(&self) -> Option<String> {
        match self {
            Self::Recurrent(spec) if spec.layers == 0 || spec.hidden == 0 => {
                Some(format!("{} layers of {} units; both must be at least 1", spec.layers, spec.hidden))
            }
            Self::Recurrent(spec) if spec.biases > 2 => {
                Some(format!("{} biases per layer; 0, 1 or 2 are possible", spec.biases))
            }
            Self::Recurrent(spec) if !(0.0..1.0).contains(&spec.dropout) => {
                Some(format!("a dropout of {}; it must be in 0..1", spec.dropout))
            }
            Self::Transformer(spec) if spec.heads == 0 || spec.width == 0 || spec.width % spec.heads != 0 => {
                Some(format!("{} heads cannot share a width of {}", spec.heads, spec.width))
            }
            Self::Transformer(spec) => {
                let p = spec.dropout;
                [p.embedding, p.attention, p.hidden, p.residual]
                    .into_iter()
                    .find(|p| !(0.0..1.0).contains(p))
                    .map(|p| format!("a dropout of {p}; it must be in 0..1"))
            }
            Self::Recurrent(_) => None,
        }
    }
}

/// An architecture with its parameters.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Recurrent(Recurrent),
    Transformer(Transformer),
}

impl Body {
    pub(crate) fn new(spec: &BodySpec, vocabulary: usize, init: Initialization, layout: &mut Layout) -> Self {
        match spec {
            BodySpec::Recurrent(spec) => {
                Self::Recurrent(Recurrent::new(spec.clone(), vocabulary, init, layout))
            }
            BodySpec::Transformer(spec) => {
                Self::Transformer(Transformer::new(spec.clone(), vocabulary, init, layout))
            }
        }
    }

    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Recurrent(body) => body.width(),
            Self::Transformer(body) => body.width(),
        }
    }

    /// The embedding, for output layers that share it.
    pub(crate) fn embedding(&self) -> Option<Param> {
        match self {
            Self::Recurrent(body) => body.embedding,
            Self::Transformer(body) => Some(body.embedding),
        }
    }

    /// Reads strings padded at the end; with a start symbol, that comes first and counts as no symbol of the string.
    pub(crate) fn forward<R: Real>(
        &self,
        r: &mut Record<'_, R>,
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
            Self::Recurrent(body) => {
                let states = body.forward(r, sizes, symbol);
                // Row 0 is the state before the start symbol, if there is one.
                States { skip: shift, ..states }
            }
            Self::Transformer(body) => body.forward(r, sizes, symbol),
        }
    }
}
