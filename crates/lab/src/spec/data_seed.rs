//! The seed of data that are drawn: one set for all runs, several, or one per run.

use wug_parameter::{Constant, FromValue, Key, SettingValue, ValueLimits};

/// How the seed of the run is named.
const RUN: &str = "run";

/// The seeds of the data of a run. None is the seed of the run itself: runs with other seeds have other data then, so that no figure
/// depends on one draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSeeds(Vec<Option<u64>>);

impl DataSeeds {
    /// The declaration of a field that says them; runs have data of their own unless another default is given.
    pub(crate) const fn key(name: &'static str) -> Key<Self> {
        const MEANING: &str = "seed of the data: a number, a list of them, or `run` for the seed of the run";
        Key::count_or(name, MEANING, &[RUN], Constant::Name(RUN))
            .within(ValueLimits::NamesOrCount(&[RUN], 0))
            .list(Constant::Name(RUN))
            .read_as()
    }

    /// One seed, whatever the seed of the run.
    pub(crate) fn fixed(seed: u64) -> Self {
        Self(vec![Some(seed)])
    }

    /// The seeds of the data that a run with this seed is planned with.
    pub(crate) fn of(&self, run: u64) -> Vec<u64> {
        self.0.iter().map(|seed| seed.unwrap_or(run)).collect()
    }

    /// How many sets of data there are for each seed of a run.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether some data are of the seed of the run.
    pub(crate) fn has_of_run(&self) -> bool {
        self.0.contains(&None)
    }
}

impl FromValue for DataSeeds {
    fn from_value(value: &SettingValue) -> Option<Self> {
        let items = match value {
            SettingValue::List(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        // The declaration allows one name: that of the seed of the run.
        let seed = |item: &SettingValue| match item.name() {
            Some(_) => Some(None),
            None => u64::from_value(item).map(Some),
        };
        items.iter().map(seed).collect::<Option<_>>().map(Self)
    }
}
