//! A trained model as bytes: its spec (a `config.json`) and its parameters (safetensors, laid out as in
//! [`crate::train::save_weights`]). Callers read and write the files.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Trained;
use crate::kernel::Real;
use crate::model::{
    LanguageModel, LanguageModelSpec, RecognizerModel, RecognizerSpec, SpecError, TransducerModel,
    TransducerSpec,
};
use crate::params::Layout;
use crate::train::{CheckpointError, load_weights_exact, save_weights};

/// A model that can be built from its spec.
pub trait Model: Sized {
    /// The kind of model in a config.
    const KIND: &'static str;
    /// The spec in a config.
    type Spec: Serialize + DeserializeOwned;

    fn build(spec: Self::Spec) -> Result<Self, SpecError>;

    /// The spec it was built from.
    fn spec(&self) -> &Self::Spec;

    fn layout(&self) -> &Layout;
}

impl Model for RecognizerModel {
    const KIND: &'static str = "recognizer";
    type Spec = RecognizerSpec;

    fn build(spec: RecognizerSpec) -> Result<Self, SpecError> {
        Self::new(spec)
    }

    fn spec(&self) -> &RecognizerSpec {
        self.spec()
    }

    fn layout(&self) -> &Layout {
        self.layout()
    }
}

impl Model for LanguageModel {
    const KIND: &'static str = "language-model";
    type Spec = LanguageModelSpec;

    fn build(spec: LanguageModelSpec) -> Result<Self, SpecError> {
        Self::new(spec)
    }

    fn spec(&self) -> &LanguageModelSpec {
        self.spec()
    }

    fn layout(&self) -> &Layout {
        self.layout()
    }
}

impl Model for TransducerModel {
    const KIND: &'static str = "transducer";
    type Spec = TransducerSpec;

    fn build(spec: TransducerSpec) -> Result<Self, SpecError> {
        Self::new(spec)
    }

    fn spec(&self) -> &TransducerSpec {
        self.spec()
    }

    fn layout(&self) -> &Layout {
        self.layout()
    }
}

/// The bytes of a trained model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedModel {
    /// A `config.json`: the kind of model, its spec, the precision of its parameters, and the version of this crate (which is
    /// not checked).
    pub config: Vec<u8>,
    /// The parameters, as safetensors.
    pub weights: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    kind: String,
    version: String,
    dtype: String,
    spec: Value,
}

/// Bytes that cannot be loaded as a model of the requested type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The config cannot be read, or has a field too many or too few.
    #[error("not the config of a {kind}: {message}")]
    Config {
        /// The requested kind of model.
        kind: &'static str,
        message: String,
    },
    /// Another kind of model.
    #[error("the config is that of a {found}, but a {needed} is needed")]
    Kind { found: String, needed: &'static str },
    /// Another precision. Parameters are not converted, because that may change a result.
    #[error("the config says {found} values, but {needed} are needed")]
    Precision { found: String, needed: &'static str },
    /// No model can be built from the spec.
    #[error("no model can be built from the config: {0}")]
    Spec(#[from] SpecError),
    /// The weights are not those of the config's model.
    #[error("the weights are not those of the config: {0}")]
    Weights(#[from] CheckpointError),
}

impl<M: Model, R: Real> Trained<M, R> {
    /// The model as bytes. Equal models give equal bytes.
    pub fn save(&self) -> SavedModel {
        let config = Config {
            kind: M::KIND.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dtype: R::NAME.to_owned(),
            spec: json!(self.model.spec()),
        };
        SavedModel {
            config: format!("{:#}\n", json!(config)).into_bytes(),
            weights: save_weights(self.model.layout(), &self.params),
        }
    }

    /// Loads a model of this kind and precision.
    pub fn load(saved: &SavedModel) -> Result<Self, LoadError> {
        let unreadable = |e: serde_json::Error| LoadError::Config { kind: M::KIND, message: e.to_string() };
        let config: Config = serde_json::from_slice(&saved.config).map_err(unreadable)?;
        // Before the spec is read: a spec of another kind would fail with an error about its fields.
        if config.kind != M::KIND {
            return Err(LoadError::Kind { found: config.kind, needed: M::KIND });
        }
        if config.dtype != R::NAME {
            return Err(LoadError::Precision { found: config.dtype, needed: R::NAME });
        }
        let model = M::build(serde_json::from_value(config.spec).map_err(unreadable)?)?;
        let params = load_weights_exact(model.layout(), &saved.weights)?;
        Ok(Self::new(model, params))
    }
}

#[cfg(test)]
mod tests;
