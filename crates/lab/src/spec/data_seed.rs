//! The seed of data that are drawn: one set for all runs, several, or one per run.

use std::fmt;

use wug_parameter::{Constant, FromValue, Key, SettingValue, ValueLimits};

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
    /// The declaration of a field that says them; runs have data of their own unless another default is given.
    pub(crate) const fn key(name: &'static str) -> Key<Self> {
        const MEANING: &str = "seed of the data: a number, a list of them, or `run` for the seed of the run";
        Key::count_or(name, MEANING, &[RUN], Constant::Name(RUN))
            .within(ValueLimits::NamesOrCount(&[RUN], 0))
            .list(Constant::Name(RUN))
            .read_as()
    }

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
}

impl FromValue for DataSeeds {
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Name(_) => Some(Self::OfRun),
            SettingValue::List(items) if items.iter().any(|item| item.name().is_some()) => Some(Self::OfRun),
            numbers => Vec::from_value(numbers).map(Self::Fixed),
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
