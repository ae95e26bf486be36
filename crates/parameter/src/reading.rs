//! The two ways to run a published benchmark.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Choice;

/// Whether to do what a paper's released code did, or what the paper meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// What the released code did, quirks and all, so that published numbers can be checked.
    Published,
    /// What the paper meant, with the errors corrected.
    #[default]
    Corrected,
}

impl Reading {
    pub const ALL: [Self; 2] = [Self::Published, Self::Corrected];

    /// The reading's name, as it is typed and written in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Corrected => "corrected",
        }
    }
}

impl Choice for Reading {
    const ALL: &'static [Self] = &Self::ALL;
    const NAMES: &'static [&'static str] = &["published", "corrected"];

    fn name(self) -> &'static str {
        self.name()
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Neither of the two names.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("unknown reading `{0}`; there are: published, corrected")]
pub struct UnknownReading(String);

impl FromStr for Reading {
    type Err = UnknownReading;

    fn from_str(name: &str) -> Result<Self, UnknownReading> {
        Self::ALL.into_iter().find(|r| r.name() == name).ok_or_else(|| UnknownReading(name.to_owned()))
    }
}
