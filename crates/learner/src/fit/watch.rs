//! What a training tells while it goes on.

use crate::interface::Failure;

/// Watches a training: is told of its epochs, may keep checkpoints of it, and may end it. `()` lets it run to its end.
pub trait Watch {
    /// The last checkpoint of the same training, if there is one. One that cannot be read is as good as none.
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// The training can be saved here. To make the bytes takes time: they are asked for only if they are wanted. An error ends the
    /// training.
    fn checkpoint(&mut self, _bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), Failure> {
        Ok(())
    }

    /// The same once training is over.
    fn trained(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), Failure> {
        self.checkpoint(bytes)
    }

    /// An epoch is over, with this validation loss.
    fn epoch(&mut self, _done: usize, _validation: f64) {}
}

impl Watch for () {}
