//! The architectures, each written as its forward pass over the [tape](crate::tape).
//!
//! A [`RecognizerModel`], a [`LanguageModel`] and an [`AnswerModel`] are a body ([`BodySpec`]) with output layers; a
//! [`TransducerModel`] is an encoder and a decoder. A model holds its spec, as in a `config.json`, and where its parameters are in
//! a flat vector; the values are passed to it on a [tape](crate::tape). Training is in [`crate::train`].

mod answers;
mod augmented;
mod body;
mod init;
mod language;
mod limits;
mod prefixes;
mod recognizer;
mod recurrent;
mod stack_rnn;
mod states;
mod transducer;
mod transformer;

pub use answers::{AnswerBodySpec, AnswerModel, AnswerModelSpec};
pub use augmented::{Annealing, AugmentedSpec, Gate};
pub use body::BodySpec;
pub use init::Initialization;
pub use language::{LanguageModel, LanguageModelSpec, Output};
pub(crate) use prefixes::PrefixTree;
pub use recognizer::{LabelledString, Logits, LossWeights, RecognizerModel, RecognizerSpec};
pub use recurrent::{Cell, RecurrentSpec, Start};
pub use stack_rnn::StackRnnSpec;
pub(crate) use states::BatchStates;
pub use states::{BatchShape, PrefixState, States};
pub use transducer::{
    CnnTransducerSpec, LstmTransducerSpec, Pair, TransducerBodySpec, TransducerModel, TransducerSpec,
};
pub use transformer::{NormPlace, Positions, TransformerDropout, TransformerSpec};

/// A config that no model can be built from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(pub(crate) String);

impl SpecError {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// A config whose number of parameters is known before a model is built.
pub trait Counted {
    /// The number of parameters of the model, by formula.
    fn parameters(&self) -> Result<usize, SpecError>;
}
