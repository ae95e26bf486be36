//! Networks of minimum description length (Lan, Geyer, Chemla and Katzir 2022): small recurrent networks with rational weights,
//! found by evolution, which minimize the bits of the network plus the bits of the data given the network.
//!
//! [`Network`] is what is evolved and saved; [`Program`] is a network in the order of evaluation; [`score()`] is the objective as
//! it is defined. What the released code does, quirks included, is in `docs/errata.md`.

#![expect(clippy::inline_always, reason = "what is not inlined is not compiled for wide registers")]

mod activation;
mod anneal;
mod cache;
mod code;
mod evaluate;
mod exact;
mod island;
mod json;
mod lanes;
mod math;
mod model;
mod mutate;
mod network;
mod order;
mod program;
mod score;
mod search;
mod set_order;
mod step;
mod weight;

pub use activation::{ACTIVATION_SETS, Activation, ActivationSet, activations_named};
pub use anneal::Annealing;
pub use code::CodeLength;
pub use exact::{ExactMemory, ExactNetwork, ExactOutput, Inexact, Ratio, normalized};
pub use island::{Evolution, Individual};
pub use json::NetworkJsonError;
pub use lanes::LaneCorpus;
pub use model::{NetworkModel, NetworkState};
pub use mutate::Alphabet;
pub use network::{Edge, MAX_UNITS, Network, NetworkError, Unit, UnitKind};
pub use order::Order;
pub use program::Program;
pub use score::{Objective, Score, Sequence, score, score_in};
pub use search::{Improvement, IslandTask, Search, SearchSpec, SearchState, Stop, in_turn};
pub use step::{Float, Outputs, Values};
pub use weight::{Weight, integer_bits};

#[cfg(test)]
mod search_tests;
#[cfg(test)]
mod tests;
