//! What a run sees of its worker: an observer of its progress, and checkpoints.

use crate::LabError;
use crate::foreign::Host;
use crate::keep::Keep;

/// What a run sees of its worker.
pub trait RunContext {
    /// The last checkpoint of the same run, if there is one.
    fn load_checkpoint(&mut self) -> Option<Vec<u8>>;

    /// Offers to save a checkpoint; the context decides whether it is time to. If the run is to stop, this is
    /// [`LabError::Stopped`].
    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError>;

    /// Offers to save a checkpoint once training is over: evaluation may take long, and has no checkpoints.
    fn trained(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        self.checkpoint(bytes)
    }

    /// An epoch is over, with this validation loss.
    fn epoch(&mut self, done: usize, validation: f64);

    /// A split is about to be evaluated. If the run is to stop, this is [`LabError::Stopped`], as above.
    fn evaluating(&mut self, split: &str) -> Result<(), LabError>;

    /// What talking to foreign learners needs.
    fn host(&self) -> Host {
        Host::default()
    }

    /// What is to be kept beside the result.
    fn keeps(&self) -> Keep {
        Keep::default()
    }

    /// Keeps a file beside the result.
    fn keep(&mut self, _name: &'static str, _bytes: &[u8]) -> Result<(), LabError> {
        Ok(())
    }
}
