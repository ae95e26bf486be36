//! How long an external learner may take, and where it is, as plans say it.

use std::time::Duration;

use serde_json::{Value, json};
use wug_learner::registry::Settings;
use wug_score::plan::{External, LearnerPlace};

/// How long a learner may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub fit: Duration,
    /// For any other answer.
    pub answer: Duration,
}

/// How long a child may take to say hello, unless its limits say otherwise. Some import large libraries first.
const HELLO: Duration = Duration::from_secs(20);

impl Limits {
    /// The most seconds that can be allowed: a year. Clocks cannot count to just any number.
    pub const LONGEST: u64 = 366 * 24 * 3600;

    /// For the hello: as long as for any other answer if that was chosen, else less.
    pub(super) fn hello(self) -> Duration {
        if self.answer == Self::default().answer { HELLO } else { self.answer }
    }

    /// The limits of a planned learner. A plan is read from a file: what it says is bounded.
    pub fn of(external: &External) -> Self {
        let seconds = |given: Option<u64>, default: Duration| {
            given.map_or(default, |n| Duration::from_secs(n.min(Self::LONGEST)))
        };
        let default = Self::default();
        Self {
            fit: seconds(external.fit_seconds, default.fit),
            answer: seconds(external.answer_seconds, default.answer),
        }
    }

    /// A learner with these limits. Plans say them only where they are not the default.
    pub fn external(self, place: LearnerPlace, version: String) -> External {
        let default = Self::default();
        // What is left out is no part of the id: a learner with the default limits written out is the same learner.
        let unusual = |own: Duration, default: Duration| (own != default).then_some(own.as_secs());
        External {
            place,
            version,
            fit_seconds: unusual(self.fit, default.fit),
            answer_seconds: unusual(self.answer, default.answer),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { fit: Duration::from_hours(24), answer: Duration::from_mins(10) }
    }
}

/// Settings as a learner is told them.
pub(super) fn told(settings: &Settings) -> Value {
    settings
        .iter()
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The version of a learner that gave no hello when its runs were planned. They are planned anyway: each of them fails with what
/// the learner says then, and the others go on.
pub(crate) const UNHEARD: &str = "unheard";
