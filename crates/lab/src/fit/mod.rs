//! Fitting a learner in one of its roles: data and settings in, a trained model out. Protocols see no more of how a learner is
//! trained than this.

pub(crate) mod next_symbol;

use wug_score::{Ending, Point};

/// What is known of training when it is over.
#[derive(Debug)]
pub(crate) struct TrainingSummary {
    pub(crate) ending: Ending,
    pub(crate) parameters: Option<usize>,
    pub(crate) curve: Vec<Point>,
}
