//! Fitting a learner in one of its roles: data and settings in, a trained model out. Protocols know nothing else
//! about how a learner is trained.

pub(crate) mod incremental;
pub(crate) mod next_symbol;
pub(crate) mod recognizer;
pub(crate) mod transducer;

use serde_json::Value;
use wug_score::{Ending, Point};

#[derive(Debug)]
pub(crate) struct TrainingSummary {
    pub(crate) ending: Ending,
    pub(crate) parameters: Option<usize>,
    pub(crate) curve: Vec<Point>,
    /// What a search found, as a file has it.
    pub(crate) found: Option<Value>,
}
