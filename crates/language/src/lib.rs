//! What a formal language is: an alphabet, a membership test, samplers by length, exact string probabilities,
//! enumeration and, at every prefix, the exact set of symbols that may come next.
//!
//! This crate knows no files, no tensors and no models. Randomness is an argument. Every language that wug
//! has is listed in [`registry::LANGUAGES`]; [`Regular`] and [`grammar::ContextFree`] make one of any automaton
//! or grammar.

pub mod automaton;
mod big;
pub mod draw;
pub mod grammar;
mod language;
mod languages;
pub mod limit;
mod members;
pub mod negative;
mod next;
pub mod registry;
mod symbol;

pub use automaton::{Dfa, LengthSampler, Nearest, Regular, StateId};
pub use language::{Distribution, Language, LengthError, LengthRange, Scanner};
pub use members::Members;
pub use next::NextSet;
pub use symbol::{Alphabet, Symbol, UnknownToken, Word};
pub use wug_parameter::{Reading, UnknownReading, nearest_names};
