//! Where a run is done: somebody looks on, and unfinished work can be put away and taken up again.

/// What a run sees of the world.
pub trait RunContext {
    /// Unfinished work of the same run, if there is any.
    fn load_checkpoint(&mut self) -> Option<Vec<u8>>;

    /// Offers to put unfinished work away; the context decides whether it is time to.
    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>);

    /// An epoch is over, with this validation loss.
    fn epoch(&mut self, done: usize, validation: f64);

    /// A split is about to be judged.
    fn judging(&mut self, split: &str);
}
