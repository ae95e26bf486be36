//! What can be set, declared once: languages, tasks, suites, learners and protocols all declare their settings here.
//!
//! A [`Key`] gives a name, its meaning, its limits and its defaults. Help, parsing, messages and documentation derive from the
//! declaration; code reads the value through the key and gets its type:
//!
//! ```
//! use wug_parameter::{Constant, Key, Reading, Settings};
//! const HIDDEN: Key<usize> = Key::count("hidden", "units of a layer", 1..=100, 32);
//! const DAMPED: Key<bool> = Key::switch("damped", "whether gradients are scaled", false).published(Constant::Switch(true));
//! let all = [HIDDEN.parameter(), DAMPED.parameter()];
//! let settings = Settings::read(&all, Reading::Published, "hidden=8").unwrap();
//! assert_eq!((settings.get(&HIDDEN), settings.get(&DAMPED)), (8, true));
//! let error = Settings::read(&all, Reading::Published, "hidden=0").unwrap_err();
//! assert_eq!(error.to_string(), "`hidden` cannot be 0; it must be a whole number from 1 to 100");
//! ```
//!
//! There is no other place for a default: a value that was not given is the default of its declaration.

mod choice;
mod combinations;
mod edit;
mod error;
mod grid;
mod key;
mod limits;
mod matching;
mod reading;
mod settings;
mod span;
mod text;
mod value;

pub use choice::Choice;
pub use edit::{levenshtein, nearest_names};
pub use error::ParameterError;
pub use grid::{Given, Range};
pub use key::{Key, Parameter};
#[doc(hidden)]
pub use key::{count, joined};
pub use limits::ValueLimits;
pub use matching::Matching;
pub use reading::{Reading, UnknownReading};
pub use settings::Settings;
pub use span::Span;
pub use text::{alternatives, assignments};
pub use value::{Constant, FromValue, SettingValue};

#[doc(hidden)]
pub use serde;
