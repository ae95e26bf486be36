//! The one error of learners, ours and external ones.

/// Why a learner did not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A loss or gradient was not finite.
    #[error("a loss or gradient is not finite")]
    Diverged,
    /// The learner is at fault. Models of other programs fail in ways that only their own words can tell.
    #[error("{0}")]
    Learner(String),
    /// The caller asked it to stop. Nothing is wrong with the learner.
    #[error("it was interrupted")]
    Stopped,
}

impl Failure {
    /// Something that the learner is to blame for.
    pub fn learner(message: impl Into<String>) -> Self {
        Self::Learner(message.into())
    }
}
