//! The value of a cell: a number with its spread, or words.

use serde::Serialize;
use wug_score::estimate::{LEVEL, mean_of_runs};
use wug_score::select::rounded;
use wug_score::{Aggregate, Estimate, Interval, Measurement, MetricUnit as Unit};

use super::ABSENT;

/// A value and how it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number in full, rounded only when it is shown.
    Number {
        value: f64,
        /// The standard deviation that goes with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        std: Option<f64>,
        /// The interval that goes with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        interval: Option<Uncertainty>,
        /// How it is rounded.
        #[serde(skip)]
        decimals: Decimals,
    },
    Text(String),
}

/// An interval of a value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Uncertainty {
    pub low: f64,
    pub high: f64,
    /// How sure it is.
    pub level: f64,
    /// What it is of.
    pub kind: IntervalKind,
}

/// What an interval is of, and how it was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalKind {
    /// Of a single run, if it were tested on other strings: bootstrap.
    Strings,
    /// Of a mean, if there were other runs: Student's t.
    Mean,
    /// Of the share of runs that pass: Wilson's.
    Share,
    /// Of a probability that follows from such a share.
    FromShare,
    /// Of the expected best, if there were other runs: bootstrap.
    Best,
}

impl Uncertainty {
    /// What it is, in words.
    pub(super) fn words(self) -> String {
        let level = 100.0 * self.level;
        match self.kind {
            IntervalKind::Strings => {
                format!("of a single run, the {level}% bootstrap interval over the strings")
            }
            IntervalKind::Mean => format!("of a mean, the {level}% interval over the runs (Student's t)"),
            IntervalKind::Share => format!("of a share of runs, the {level}% interval (Wilson's)"),
            IntervalKind::FromShare => {
                format!("of a probability, what follows from the {level}% interval of the share")
            }
            IntervalKind::Best => {
                format!(
                    "of an expected best, the {level}% bootstrap interval over the runs, which ends at the best of them"
                )
            }
        }
    }
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

    /// What was measured of several runs: the mean with the population standard deviation and the interval over runs, or of
    /// a single run its value and its interval over strings; `None` of none.
    pub(crate) fn of_runs(measured: &[&Measurement], decimals: Decimals) -> Option<Self> {
        if let [Measurement { value: Some(value), interval, .. }] = measured {
            let over_strings = |Interval { low, high, level, .. }: Interval| Uncertainty {
                low,
                high,
                level,
                kind: IntervalKind::Strings,
            };
            return Some(Self::Number {
                value: *value,
                std: None,
                interval: interval.map(over_strings),
                decimals,
            });
        }
        // Unweighted, as in the papers: each run counts once.
        let values: Vec<f64> = measured.iter().filter_map(|m| m.value).collect();
        let fraction = measured.iter().all(|m| m.unit == Unit::Fraction);
        Self::mean(&values, fraction, decimals)
    }

    /// The mean of the values of runs, its spread and its interval, which of fractions ends at 0 and 1; `None` of none.
    pub(crate) fn mean(values: &[f64], fraction: bool, decimals: Decimals) -> Option<Self> {
        let (least, most) = if fraction { (0.0, 1.0) } else { (f64::NEG_INFINITY, f64::INFINITY) };
        let interval = mean_of_runs(values).map(|mean| Uncertainty {
            // Student's t knows no bounds; an accuracy above 1 is impossible.
            low: mean.low.max(least),
            high: mean.high.min(most),
            level: LEVEL,
            kind: IntervalKind::Mean,
        });
        Some(Self::Number { value: Aggregate::Mean.of(values)?, std: spread(values), interval, decimals })
    }

    /// An estimate with its interval.
    pub(crate) fn estimate(
        Estimate { value, low, high }: Estimate,
        kind: IntervalKind,
        decimals: Decimals,
    ) -> Self {
        Self::Number {
            value,
            std: None,
            interval: Some(Uncertainty { low, high, level: LEVEL, kind }),
            decimals,
        }
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
        let (value, interval) = self.parts();
        value + &interval
    }

    /// The same, rounded to other decimals when it is shown.
    pub(crate) fn with_decimals(mut self, to: Decimals) -> Self {
        if let Self::Number { decimals, .. } = &mut self {
            *decimals = to;
        }
        self
    }

    /// A number as it is rounded when shown; words have none.
    pub(crate) fn rounded(&self) -> Option<f64> {
        match self {
            Self::Text(_) => None,
            Self::Number { value, decimals, .. } => rounded(*value, decimals.0),
        }
    }

    /// The value with its standard deviation, and its interval or nothing, as they are shown.
    pub(crate) fn parts(&self) -> (String, String) {
        match self {
            Self::Text(text) => (text.clone(), String::new()),
            Self::Number { value, std, interval, decimals } => {
                // Two decimals whatever the mean has, as in FLaRe's tables.
                let std = std.map_or_else(String::new, |std| format!(" ± {}", Decimals(2).show(std)));
                let interval = interval.map_or_else(String::new, |interval| {
                    format!(" [{}, {}]", decimals.show(interval.low), decimals.show(interval.high))
                });
                (decimals.show(*value) + &std, interval)
            }
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
fn spread(scores: &[f64]) -> Option<f64> {
    Aggregate::PopulationStd.of(scores).filter(|_| scores.len() > 1)
}
