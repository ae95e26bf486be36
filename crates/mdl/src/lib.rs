//! Networks of minimum description length (Lan, Geyer, Chemla and Katzir 2022): small recurrent networks with rational weights,
//! found by evolution, which minimize the bits of the network plus the bits of the data given the network.
//!
//! [`MdlNetwork`] is what is evolved and saved; [`NetworkProgram`] is a network in the order of evaluation; [`score()`] is the objective as
//! it is defined. What the released code does, quirks included, is in `docs/errata.md`.
//!
//! | choice | whose |
//! |---|---|
//! | the code of a network, prices of activations, weights as fractions that are never reduced | Lan et al. 2022 |
//! | a population per island, tournaments of two, offspring in the loser's place, an elite; operators drawn with equal probability | Lan et al. 2022 |
//! | tournament winners that migrate, to islands in rotation | Lan et al. 2022; at fixed generations only (theirs also migrate by the clock), so that a result does not depend on the machine |
//! | a cache of scores | theirs by network, ours by what the network computes |
//! | distinct strings in lanes, shared prefixes once, an end at the first impossible target | ours: millions of networks are scored, most of them bad at once |
//! | annealing with operators that add a whole memory, probabilities with a floor | ours, and the recommended search: at equal evaluations it solves aⁿbⁿ where evolution does not (record/2026-11-17-mdl.md) |
//! | exact fractions, for certificates | ours: in single precision a weight of ⅓ drifts until long strings are predicted wrongly |

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

pub use activation::{ACTIVATION_SETS, ActivationSet, UnitActivation, activations_named};
pub use anneal::AnnealingSchedule;
pub use code::CodeLength;
pub use exact::{ExactMemory, ExactNetwork, ExactOutput, ExactRatio, Inexact, normalized};
pub use island::{Evolution, Individual};
pub use json::NetworkJsonError;
pub use lanes::LaneCorpus;
pub use model::{NetworkModel, NetworkState};
pub use mutate::SearchSpace;
pub use network::{MAX_UNITS, MdlNetwork, NetworkEdge, NetworkError, NetworkUnit, UnitKind};
pub use order::EvaluationOrder;
pub use program::NetworkProgram;
pub use score::{CorpusSequence, MdlObjective, NetworkScore, score, score_in};
pub use search::{Improvement, IslandTask, Search, SearchSpec, SearchState, StopReason, in_turn};
pub use step::{Float, Outputs, UnitValues};
pub use weight::{RationalWeight, integer_bits};

#[cfg(test)]
mod search_tests;
#[cfg(test)]
mod tests;
