//! `seed` of data that are drawn: one set for all runs, several, or one per run.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::Problem;
use super::grid::nonempty;

/// How the seed of the run is named.
const RUN: &str = "run";

/// The seeds of the data of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataSeeds {
    /// The seed of the run: runs with other seeds have other data, so that no figure depends on one draw.
    OfRun,
    /// These, whatever the seed of the run.
    Fixed(Vec<u64>),
}

impl DataSeeds {
    /// The seeds of the data that a run with this seed is planned with.
    pub(crate) fn of(&self, run: u64) -> Vec<u64> {
        match self {
            Self::OfRun => vec![run],
            Self::Fixed(seeds) => seeds.clone(),
        }
    }

    /// How many sets of data there are for each seed of a run.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::OfRun => 1,
            Self::Fixed(seeds) => seeds.len(),
        }
    }

    pub(crate) fn check(&self, field: &str) -> Result<(), Problem> {
        match self {
            Self::OfRun => Ok(()),
            Self::Fixed(seeds) => nonempty(field, seeds),
        }
    }
}

impl fmt::Display for DataSeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfRun => f.write_str(RUN),
            Self::Fixed(seeds) => match seeds.as_slice() {
                [one] => one.fmt(f),
                several => write!(f, "{several:?}"),
            },
        }
    }
}

impl<'de> Deserialize<'de> for DataSeeds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            One(u64),
            Several(Vec<u64>),
            Name(String),
        }
        const ALLOWED: &str = "a whole number, a list of them, or \"run\" for the seed of the run";
        match Written::deserialize(from) {
            Ok(Written::One(seed)) => Ok(Self::Fixed(vec![seed])),
            Ok(Written::Several(seeds)) => Ok(Self::Fixed(seeds)),
            Ok(Written::Name(name)) if name == RUN => Ok(Self::OfRun),
            Ok(Written::Name(name)) => Err(D::Error::custom(format!("`{name}` is not {ALLOWED}"))),
            Err(_) => Err(D::Error::custom(format!("not {ALLOWED}"))),
        }
    }
}
