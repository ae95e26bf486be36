//! The learner of a run: one of ours, or an external one.

use serde::{Deserialize, Serialize};
use wug_parameter::{Matching, Settings};

/// A learner with all its settings, those of its training included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedLearner {
    pub name: String,
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
    /// The number of parameters that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// How dimensions were found from that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching: Option<Matching>,
    /// The settings that nobody gave: the size decided them, or the run drew them. They tell no runs apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// The number of parameters that it has. Baselines have none; of a search or an external learner it is not known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<External>,
}

/// Where a learner is that is none of ours, and how long it may take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct External {
    #[serde(flatten)]
    pub place: LearnerPlace,
    /// Another version is another learner.
    pub version: String,
    /// Seconds for fitting; the default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit_seconds: Option<u64>,
    /// Seconds for any other answer; the default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_seconds: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LearnerPlace {
    /// A process of its own: the program and its arguments.
    Command(Vec<String>),
    /// The program that runs the sweep, by name.
    Host(String),
}
