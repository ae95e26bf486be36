//! The value of a cell: a number with its spread, or words.

use serde::Serialize;
use wug_score::select::rounded;
use wug_score::{Aggregate, Interval, Measurement};

use super::ABSENT;

/// A value and how it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number in full, rounded only when it is shown.
    Number {
        /// The number.
        value: f64,
        /// The standard deviation that goes with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        std: Option<f64>,
        /// The bootstrap interval of a single run.
        #[serde(skip_serializing_if = "Option::is_none")]
        interval: Option<Interval>,
        /// How it is rounded.
        #[serde(skip)]
        decimals: Decimals,
    },
    /// Words.
    Text(String),
}

/// To how many decimals a number is rounded when it is shown: once, from the number in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimals(pub usize);

impl Decimals {
    fn show(self, x: f64) -> String {
        let Self(decimals) = self;
        rounded(x, decimals).map_or_else(|| ABSENT.to_owned(), |x| format!("{x:.decimals$}"))
    }
}

impl Value {
    /// A number without a spread.
    pub fn number(value: f64, decimals: Decimals) -> Self {
        Self::Number { value, std: None, interval: None, decimals }
    }

    /// A number with its standard deviation, where it has one.
    pub fn with_std(value: f64, std: Option<f64>, decimals: Decimals) -> Self {
        Self::Number { value, std, interval: None, decimals }
    }

    /// What was measured of several runs: the mean and the population standard deviation, or of a single run its
    /// value and interval; `None` of none.
    pub(crate) fn of_runs(measured: &[&Measurement], decimals: Decimals) -> Option<Self> {
        let values: Vec<f64> = measured.iter().filter_map(|m| m.value).collect();
        let interval = match measured {
            [one] => one.interval,
            _ => None,
        };
        Some(Self::Number { value: Aggregate::Mean.of(&values)?, std: spread(&values), interval, decimals })
    }

    /// As it is shown. Standard deviations have two decimals, as in print.
    ///
    /// ```
    /// use wug_report::{Decimals, Value};
    /// let value = Value::with_std(0.9349, Some(0.0149), Decimals(3));
    /// assert_eq!(value.show(), "0.935 ± 0.01");
    /// assert_eq!(Value::number(0.9349, Decimals(2)).show(), "0.93"); // not 0.94 by way of 0.935
    /// ```
    pub fn show(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number { value, std, interval, decimals } => {
                let std = std.map_or_else(String::new, |std| format!(" ± {}", Decimals(2).show(std)));
                let interval = interval.map_or_else(String::new, |interval| {
                    format!(" [{}, {}]", decimals.show(interval.low), decimals.show(interval.high))
                });
                decimals.show(*value) + &std + &interval
            }
        }
    }

    /// A number as it is rounded when shown; words have none.
    pub(super) fn rounded(&self) -> Option<f64> {
        match self {
            Self::Text(_) => None,
            Self::Number { value, decimals, .. } => rounded(*value, decimals.0),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A value as it is shown, or [`ABSENT`].
pub(crate) fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), Value::show)
}

/// The population standard deviation; one run has none.
pub(crate) fn spread(scores: &[f64]) -> Option<f64> {
    Aggregate::PopulationStd.of(scores).filter(|_| scores.len() > 1)
}
