//! Parameters and runs as bytes. Callers read and write the files.
//!
//! Tensors are in the safetensors format, which other tools read: the length of the header (eight bytes, little-endian), the
//! header (JSON: name → dtype, shape, offsets into the data), the data (elements in little-endian order).
//!
//! The weights of a model are one tensor per entry of its [`Layout`], under the same names. The checkpoint of a run has four
//! flat tensors instead: `params`, `best` (the parameters with the smallest validation loss so far) and the optimiser's
//! moments `mean` and `square`, which may be empty. Everything else of a run is JSON ([`TrainerState`]); random streams are
//! named after epochs and steps, so no generator state is saved.

use serde_json::{Map, Value, json};
use wug_dataset::Seed;

use super::{Objective, TrainSpec, Trainer, TrainerState};
use crate::kernel::Real;
use crate::params::Layout;

/// Bytes that cannot be loaded as weights of a model or as a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The bytes are not safetensors.
    #[error("not a safetensors file: {0}")]
    Format(String),
    /// A tensor of the model is missing.
    #[error("the checkpoint has no tensor {0}")]
    Missing(String),
    /// A tensor is not one of the model.
    #[error("the checkpoint has a tensor {0}, but the model has none")]
    Unknown(String),
    /// A tensor has another precision.
    #[error("{name} has {found} values, but {needed} are needed")]
    Precision { name: String, found: String, needed: &'static str },
    /// A tensor has another shape.
    #[error("{name} has shape {found:?}, but the model needs {needed:?}")]
    Shape { name: String, found: Vec<usize>, needed: Vec<usize> },
    /// The state beside the tensors cannot be read.
    #[error("not the state of a run: {0}")]
    State(String),
}

/// The bytes of a run between two steps.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainerCheckpoint {
    /// Parameters, best parameters and the optimiser's moments, as safetensors.
    pub tensors: Vec<u8>,
    /// Everything else.
    pub state: TrainerState,
}

fn write<'a, R: Real>(tensors: impl IntoIterator<Item = (&'a str, Vec<usize>, &'a [R])>) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for (name, shape, elements) in tensors {
        let start = data.len();
        for &x in elements {
            x.put_bytes(&mut data);
        }
        header.insert(
            name.to_owned(),
            json!({"dtype": R::NAME, "shape": shape, "data_offsets": [start, data.len()]}),
        );
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    // The format requires the data to begin at a multiple of eight.
    header.resize(header.len().next_multiple_of(8), b' ');
    [&(header.len() as u64).to_le_bytes(), &header[..], &data].concat()
}

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
        let truncated = || format(&format!("a header of {length} bytes, but only {} are there", rest.len()));
        let (header, data) =
            usize::try_from(length).ok().and_then(|l| rest.split_at_checked(l)).ok_or_else(truncated)?;
        let header = serde_json::from_slice(header).map_err(|e| CheckpointError::Format(e.to_string()))?;
        Ok(Self { header, data })
    }

    /// The shape and the elements of a tensor, converted from single or double precision.
    fn get<R: Real>(&self, name: &str) -> Result<(Vec<usize>, Vec<R>), CheckpointError> {
        let entry = self.header.get(name).ok_or_else(|| CheckpointError::Missing(name.to_owned()))?;
        let sizes = |key: &str| -> Option<Vec<usize>> {
            entry[key].as_array()?.iter().map(|x| usize::try_from(x.as_u64()?).ok()).collect()
        };
        let format = || CheckpointError::Format(format!("the entry of {name}"));
        let (shape, offsets) =
            (sizes("shape").ok_or_else(format)?, sizes("data_offsets").ok_or_else(format)?);
        let [start, end] = offsets[..] else { return Err(format()) };
        let truncated =
            || CheckpointError::Format(format!("{name} is bytes {start}..{end} of {}", self.data.len()));
        let bytes = self.data.get(start..end).ok_or_else(truncated)?;
        let elements: Vec<R> = match entry["dtype"].as_str() {
            Some("F32") => bytes.as_chunks().0.iter().map(|&b| R::of(f32::from_le_bytes(b).into())).collect(),
            Some("F64") => bytes.as_chunks().0.iter().map(|&b| R::of(f64::from_le_bytes(b))).collect(),
            _ => return Err(format()),
        };
        // Sizes come from the file and can be anything.
        let count = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        if count == Some(elements.len()) { Ok((shape, elements)) } else { Err(format()) }
    }

    fn get_as<R: Real>(&self, name: &str, needed: &[usize]) -> Result<Vec<R>, CheckpointError> {
        let (found, elements) = self.get(name)?;
        if found == needed {
            return Ok(elements);
        }
        Err(CheckpointError::Shape { name: name.to_owned(), found, needed: needed.to_vec() })
    }
}

/// A number of steps, unless no run can have taken so many: those of a damaged file must not overflow.
fn possible(steps: u64) -> Result<u64, CheckpointError> {
    const MOST: u64 = 1 << 53;
    if steps <= MOST { Ok(steps) } else { Err(CheckpointError::State(format!("{steps} steps"))) }
}

pub fn save_weights<R: Real>(layout: &Layout, params: &[R]) -> Vec<u8> {
    write(layout.entries().iter().map(|e| (e.name.as_str(), e.shape.clone(), e.param.of(params))))
}

/// Parameters from safetensors, which must have exactly the tensors of the layout. Precision is converted.
pub fn load_weights<R: Real>(layout: &Layout, bytes: &[u8]) -> Result<Vec<R>, CheckpointError> {
    weights(layout, &Tensors::parse(bytes)?)
}

/// [`load_weights`] without conversion: another precision is an error.
pub(crate) fn load_weights_exact<R: Real>(layout: &Layout, bytes: &[u8]) -> Result<Vec<R>, CheckpointError> {
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
    // Grown tensor by tensor: a layout much larger than the file is an error before it is an allocation.
    let mut params = Vec::new();
    for entry in layout.entries() {
        params.extend(tensors.get_as::<R>(&entry.name, &entry.shape)?);
    }
    // The format reserves this name for free text.
    let metadata = |name: &str| name == "__metadata__";
    match tensors.header.keys().find(|name| !metadata(name) && layout.find(name).is_none()) {
        Some(name) => Err(CheckpointError::Unknown(name.clone())),
        None => Ok(params),
    }
}

impl<'a, R: Real, O: Objective<R>> Trainer<'a, R, O> {
    /// The checkpoint of the run, between steps.
    pub fn save(&self) -> TrainerCheckpoint {
        let (steps, mean, square) = self.optimizer.state();
        let tensors = [
            // By name, as in the header's map: so the offsets ascend.
            ("best", &self.best_params[..]),
            ("mean", mean),
            ("params", &self.params[..]),
            ("square", square),
        ];
        let state = TrainerState { optimizer_steps: steps, ..self.state.clone() };
        TrainerCheckpoint {
            tensors: write(tensors.into_iter().map(|(name, x)| (name, vec![x.len()], x))),
            state,
        }
    }

    /// The optimiser's state alone, for [`carry`](Self::carry).
    pub fn optimizer_state(&self) -> Vec<u8> {
        let (steps, mean, square) = self.optimizer.state();
        let tensors = [("mean", mean), ("square", square)].map(|(name, x)| (name, vec![x.len()], x));
        [&steps.to_le_bytes()[..], &write(tensors)].concat()
    }

    /// Goes on with the moments and the step count of another run's optimiser, before the first step. The learning rate and
    /// the streams of randomness still begin anew.
    pub fn carry(&mut self, optimizer: &[u8]) -> Result<(), CheckpointError> {
        let short = || CheckpointError::Format("the state of an optimiser has at least 8 bytes".to_owned());
        let (steps, tensors) = optimizer.split_first_chunk::<8>().ok_or_else(short)?;
        let (_, mean, square) = self.optimizer.state();
        let (means, squares) = (mean.len(), square.len());
        let tensors = Tensors::parse(tensors)?;
        let (mean, square) = (tensors.get_as("mean", &[means])?, tensors.get_as("square", &[squares])?);
        // Rate and dropout follow this run's steps; Adam's bias correction follows all, as in FIND's released code.
        self.state.carried_steps = possible(u64::from_le_bytes(*steps))?;
        self.optimizer.restore(self.state.carried_steps, &mean, &square);
        Ok(())
    }

    /// Resumes a run from a checkpoint. Objective and spec must be those it was started with.
    pub fn resume(
        objective: &'a O,
        spec: TrainSpec,
        saved: &TrainerCheckpoint,
    ) -> Result<Self, CheckpointError> {
        let state = saved.state.clone();
        // Counts that no run can reach would make a trainer that never ends or underflows.
        if state.epoch > spec.max_epochs {
            let message = format!("{} epochs are done, but there are {}", state.epoch, spec.max_epochs);
            return Err(CheckpointError::State(message));
        }
        let waited = state.bad.max(state.rate.waited());
        if waited > state.epoch {
            let message = format!("{waited} epochs without improvement, but {} are done", state.epoch);
            return Err(CheckpointError::State(message));
        }
        possible(state.optimizer_steps)?;
        let mut trainer = Self::new(objective, spec, Seed::new(state.seed))
            .map_err(|e| CheckpointError::State(e.to_string()))?;
        let tensors = Tensors::parse(&saved.tensors)?;
        let (_, mean, square) = trainer.optimizer.state();
        let (means, squares) = (mean.len(), square.len());
        trainer.params = tensors.get_as::<R>("params", &[trainer.params.len()])?.into();
        trainer.best_params = tensors.get_as("best", &[trainer.params.len()])?;
        let (mean, square) = (tensors.get_as("mean", &[means])?, tensors.get_as("square", &[squares])?);
        if state.carried_steps > state.optimizer_steps {
            return Err(CheckpointError::State("fewer steps than were carried over".to_owned()));
        }
        trainer.optimizer.restore(state.optimizer_steps, &mean, &square);
        trainer.state = state;
        // The order of the epoch is drawn again from its own stream, so only the position in it is saved.
        if trainer.state.partial_epoch.is_some() {
            trainer.batches = trainer.epoch_batches();
        }
        if let Some(partial) = &mut trainer.state.partial_epoch {
            let (done, count) = (partial.batches, trainer.batches.len());
            let impossible =
                || CheckpointError::State(format!("{done} batches of an epoch are done, but it has {count}"));
            let batches = trainer.batches.get(..done).filter(|_| done < count).ok_or_else(impossible)?;
            partial.examples = batches.iter().map(Vec::len).sum();
        }
        Ok(trainer)
    }
}
