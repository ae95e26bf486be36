//! Next-symbol models that are found by a search instead of gradient descent.

use serde_json::Value;
use wug_dataset::Seed;
use wug_language::Reading;

use super::{Parameter, Settings, SettingsCheck};
use crate::interface::AnyNextSymbol;

/// Goes on with a search that was saved; none if the bytes do not fit.
pub(super) type ResumeSearch = fn(&Settings, &SearchTask, &[u8]) -> Option<Box<dyn NextSymbolSearch>>;

/// How a learner that is fitted by a search begins.
#[derive(Debug)]
pub struct SearchRole {
    /// What can be set.
    pub settings: &'static [Parameter],
    /// What settings have to do with each other, if anything.
    pub check: Option<SettingsCheck>,
    pub begin: fn(&Settings, &SearchTask) -> Box<dyn NextSymbolSearch>,
    /// Goes on with a search that was saved; none if the bytes do not fit.
    pub resume: ResumeSearch,
    /// About how many models with these settings the search evaluates.
    pub evaluations: fn(&Settings) -> f64,
}

/// What is searched for.
#[derive(Clone, Debug)]
pub struct SearchTask {
    /// Symbols, the boundary (symbol 0) included.
    pub vocabulary: usize,
    /// The distinct training strings, between boundaries, each with its weight.
    pub strings: Vec<(Vec<u32>, f64)>,
    /// The root of its randomness.
    pub seed: Seed,
    /// As published, or corrected.
    pub reading: Reading,
}

/// A search that goes on step by step. It is the same whatever happens between steps: it can be saved there, and resumed.
pub trait NextSymbolSearch {
    /// Goes on a little.
    fn advance(&mut self);

    /// How far it is.
    fn progress(&self) -> SearchProgress;

    /// The search as bytes.
    fn save(&self) -> Vec<u8>;

    /// Every improvement so far: the step, how many models were evaluated, and the objective.
    fn curve(&self) -> Vec<(usize, u64, f64)>;

    /// The best model so far, in single precision if asked for.
    fn found(&self, single: bool) -> Found;
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchProgress {
    /// Steps done: generations, say.
    pub step: usize,
    /// The objective of the best model; infinite if there is none yet.
    pub best: f64,
    /// Whether it is over.
    pub over: bool,
    /// Whether it stopped before its last step.
    pub stopped: bool,
}

/// What a search found.
#[derive(Debug)]
pub struct Found {
    pub model: AnyNextSymbol<'static>,
    /// The number of its parameters.
    pub parameters: usize,
    /// The model and its scores, as a file has them.
    pub file: Value,
}
