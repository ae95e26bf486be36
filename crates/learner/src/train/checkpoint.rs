//! Parameters and runs as bytes: the safetensors format (eight bytes of header length, a JSON header, the numbers in
//! little-endian order), so that other tools can read what we trained. Where bytes are kept is somebody else's business.

use serde_json::{Map, Value, json};
use wug_dataset::Seed;

use super::{Objective, TrainSpec, Trainer, TrainerState};
use crate::kernel::Real;
use crate::params::Layout;

/// Bytes that are not the checkpoint asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The bytes are not in the format.
    #[error("not a safetensors file: {0}")]
    Format(String),
    /// A tensor is not there.
    #[error("the checkpoint has no tensor {0}")]
    Missing(String),
    /// A tensor is there that the model does not have.
    #[error("the checkpoint has a tensor {0}, but the model has none")]
    Unknown(String),
    /// A tensor has numbers of another precision.
    #[error("{name} has {found} numbers, but {needed} are needed")]
    Precision {
        /// Of the tensor.
        name: String,
        /// In the bytes.
        found: String,
        /// In the model.
        needed: &'static str,
    },
    /// A tensor has another shape.
    #[error("{name} has shape {found:?}, but the model needs {needed:?}")]
    Shape {
        /// Of the tensor.
        name: String,
        /// In the bytes.
        found: Vec<usize>,
        /// In the model.
        needed: Vec<usize>,
    },
    /// The state beside the tensors cannot be read.
    #[error("not the state of a run: {0}")]
    State(String),
}

/// The bytes of a run between two epochs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Parameters, best parameters and the optimiser's moments.
    pub tensors: Vec<u8>,
    /// Everything else, as JSON.
    pub state: String,
}

fn write<'a, R: Real>(tensors: impl IntoIterator<Item = (&'a str, Vec<usize>, &'a [R])>) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for (name, shape, numbers) in tensors {
        let start = data.len();
        for &x in numbers {
            x.put_bytes(&mut data);
        }
        header.insert(
            name.to_owned(),
            json!({"dtype": R::NAME, "shape": shape, "data_offsets": [start, data.len()]}),
        );
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    // The format wants the numbers to begin at a multiple of eight.
    header.resize(header.len().next_multiple_of(8), b' ');
    [&(header.len() as u64).to_le_bytes(), &header[..], &data].concat()
}

/// A parsed file: header and numbers.
struct Tensors<'a> {
    header: Map<String, Value>,
    data: &'a [u8],
}

impl<'a> Tensors<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, CheckpointError> {
        let format = |what: &str| CheckpointError::Format(what.to_owned());
        let short = || format(&format!("{} bytes, but at least 8 are needed", bytes.len()));
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(short)?;
        let length = u64::from_le_bytes(*length);
        let cut = || format(&format!("a header of {length} bytes, but only {} are there", rest.len()));
        let (header, data) =
            usize::try_from(length).ok().and_then(|l| rest.split_at_checked(l)).ok_or_else(cut)?;
        let header = serde_json::from_slice(header).map_err(|e| CheckpointError::Format(e.to_string()))?;
        Ok(Self { header, data })
    }

    /// A tensor's shape and numbers; single and double precision are converted.
    fn get<R: Real>(&self, name: &str) -> Result<(Vec<usize>, Vec<R>), CheckpointError> {
        let entry = self.header.get(name).ok_or_else(|| CheckpointError::Missing(name.to_owned()))?;
        let sizes = |key: &str| -> Option<Vec<usize>> {
            entry[key].as_array()?.iter().map(|x| usize::try_from(x.as_u64()?).ok()).collect()
        };
        let format = || CheckpointError::Format(format!("the entry of {name}"));
        let (shape, offsets) =
            (sizes("shape").ok_or_else(format)?, sizes("data_offsets").ok_or_else(format)?);
        let [start, end] = offsets[..] else { return Err(format()) };
        let cut =
            || CheckpointError::Format(format!("{name} is bytes {start}..{end} of {}", self.data.len()));
        let bytes = self.data.get(start..end).ok_or_else(cut)?;
        let numbers: Vec<R> = match entry["dtype"].as_str() {
            Some("F32") => bytes.as_chunks().0.iter().map(|&b| R::of(f32::from_le_bytes(b).into())).collect(),
            Some("F64") => bytes.as_chunks().0.iter().map(|&b| R::of(f64::from_le_bytes(b))).collect(),
            _ => return Err(format()),
        };
        // Sizes come from the bytes and may be anything.
        let count = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        if count == Some(numbers.len()) { Ok((shape, numbers)) } else { Err(format()) }
    }

    fn get_as<R: Real>(&self, name: &str, needed: &[usize]) -> Result<Vec<R>, CheckpointError> {
        let (found, numbers) = self.get(name)?;
        if found == needed {
            return Ok(numbers);
        }
        Err(CheckpointError::Shape { name: name.to_owned(), found, needed: needed.to_vec() })
    }
}

/// Parameters as safetensors.
pub fn save_weights<R: Real>(layout: &Layout, params: &[R]) -> Vec<u8> {
    write(layout.entries().iter().map(|e| (e.name.as_str(), e.shape.clone(), e.param.of(params))))
}

/// Parameters from safetensors; every tensor of the layout must be there, in its shape, and no other.
pub fn load_weights<R: Real>(layout: &Layout, bytes: &[u8]) -> Result<Vec<R>, CheckpointError> {
    weights(layout, &Tensors::parse(bytes)?)
}

/// The same, if no number has to be rounded or widened.
pub(crate) fn load_weights_as_they_are<R: Real>(
    layout: &Layout,
    bytes: &[u8],
) -> Result<Vec<R>, CheckpointError> {
    let tensors = Tensors::parse(bytes)?;
    for entry in layout.entries() {
        let dtype = tensors.header.get(&entry.name).and_then(|tensor| tensor["dtype"].as_str());
        if let Some(found) = dtype.filter(|&found| found != R::NAME) {
            let (name, found) = (entry.name.clone(), found.to_owned());
            return Err(CheckpointError::Precision { name, found, needed: R::NAME });
        }
    }
    weights(layout, &tensors)
}

fn weights<R: Real>(layout: &Layout, tensors: &Tensors<'_>) -> Result<Vec<R>, CheckpointError> {
    // Grown tensor by tensor, so that a model far larger than the bytes is found out before room is made for it.
    let mut params = Vec::new();
    for entry in layout.entries() {
        params.extend(tensors.get_as::<R>(&entry.name, &entry.shape)?);
    }
    // The format keeps free text under this name.
    let free = |name: &str| name == "__metadata__";
    match tensors.header.keys().find(|name| !free(name) && layout.find(name).is_none()) {
        Some(name) => Err(CheckpointError::Unknown(name.clone())),
        None => Ok(params),
    }
}

impl<'a, R: Real, O: Objective<R>> Trainer<'a, R, O> {
    /// The run as bytes, between epochs.
    pub fn save(&self) -> Saved {
        let (steps, mean, square) = self.optimizer.state();
        let tensors = [
            ("best", &self.best_params[..]),
            ("mean", mean),
            ("params", &self.params[..]),
            ("square", square),
        ];
        let standing = TrainerState { optimizer_steps: steps, ..self.standing.clone() };
        Saved {
            tensors: write(tensors.into_iter().map(|(name, x)| (name, vec![x.len()], x))),
            state: json!(standing).to_string(),
        }
    }

    /// Takes a run up again; objective and spec must be those it was begun with.
    pub fn resume(objective: &'a O, spec: TrainSpec, saved: &Saved) -> Result<Self, CheckpointError> {
        let standing: TrainerState =
            serde_json::from_str(&saved.state).map_err(|e| CheckpointError::State(e.to_string()))?;
        let mut trainer = Self::new(objective, spec, Seed::new(standing.seed))
            .map_err(|e| CheckpointError::State(e.to_string()))?;
        let tensors = Tensors::parse(&saved.tensors)?;
        let (_, mean, square) = trainer.optimizer.state();
        let (means, squares) = (mean.len(), square.len());
        trainer.params = tensors.get_as("params", &[trainer.params.len()])?;
        trainer.best_params = tensors.get_as("best", &[trainer.params.len()])?;
        let (mean, square) = (tensors.get_as("mean", &[means])?, tensors.get_as("square", &[squares])?);
        trainer.optimizer.restore(standing.optimizer_steps, &mean, &square);
        trainer.standing = standing;
        Ok(trainer)
    }
}
