//! The architectures of the five suites, each written as its forward pass over the [tape](crate::tape).
//!
//! A model is a [`BodySpec`] that reads strings plus outputs: [`RecognizerModel`] or [`LanguageModel`]; or an encoder and
//! a decoder: [`TransducerModel`]. Specs are what a `config.json` holds; parameters are elsewhere ([`crate::params`]). Nothing here trains.

mod augmented;
mod body;
mod budget;
mod init;
mod language;
mod limits;
mod recognizer;
mod recurrent;
mod states;
mod transducer;
mod transformer;

pub use augmented::{Annealing, AugmentedSpec, Gate};
pub use body::BodySpec;
pub use budget::{Family, Matching, matched};
pub use init::Initialization;
pub use language::{LanguageModel, LanguageModelSpec, Memory, Output};
pub use recognizer::{Labelled, Logits, LossWeights, RecognizerModel, RecognizerSpec};
pub use recurrent::{Cell, RecurrentSpec, Start};
pub use states::States;
pub use transducer::{
    CnnTransducerSpec, LstmTransducerSpec, Pair, TransducerBodySpec, TransducerModel, TransducerSpec,
};
pub use transformer::{NormPlace, Positions, TransformerDropout, TransformerSpec};

/// A config that no model can be built from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);
