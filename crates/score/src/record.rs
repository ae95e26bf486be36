//! What a run was, and a row per measurement.

use serde::{Deserialize, Serialize};
use wug_language::Reading;

use crate::metric::find;
use crate::ratio::finite;
use crate::{Coordinates, Interval, MetricUnit, Score, Stratum};

/// What a run was: all that its records have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The hash of the resolved plan.
    pub plan: String,
    /// The protocol: what was done.
    pub protocol: String,
    /// Its coordinates in the grid of its experiment: language, learner, and whatever else may vary.
    pub coordinates: Coordinates,
    /// The seed of the run.
    pub seed: u64,
    /// As published, or corrected.
    pub reading: Reading,
    /// The version of wug.
    pub version: String,
    /// The build of wug: a hash of the sources that results depend on. Two builds of one version may compute other numbers.
    pub build: String,
    /// The instruction set of the kernels: sums are taken in another order with another one.
    pub instructions: String,
    /// The hash of the data.
    pub data_hash: String,
}

impl Run {
    /// The language or task; empty if the protocol has none.
    pub fn language(&self) -> &str {
        self.coordinates.text("language").unwrap_or_default()
    }

    /// The learner; empty if the protocol has none.
    pub fn learner(&self) -> &str {
        self.coordinates.text("learner").unwrap_or_default()
    }
}

/// One measurement of a run. It can be made of a [`Score`] alone, which knows its metric and its unit; an
/// undefined value is absent, never a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields of `Score`, under the same names")]
pub struct Measurement {
    pub split: String,
    pub stratum: Stratum,
    pub metric: String,
    pub unit: MetricUnit,
    pub value: Option<f64>,
    pub numerator: Option<f64>,
    pub denominator: Option<f64>,
    pub n: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl Measurement {
    /// The row of a score on a part of a split.
    pub fn new(split: &str, stratum: Stratum, score: &Score) -> Self {
        Self {
            split: split.to_owned(),
            stratum,
            metric: score.metric.name.to_owned(),
            unit: score.metric.unit,
            value: score.value(),
            numerator: finite(score.totals.numerator),
            denominator: finite(score.totals.denominator),
            n: score.totals.n,
            spread: score.spread,
            chance: score.chance,
            interval: score.interval,
        }
    }

    /// The unit that the metric has, if it is known here and another one is given. A metric that is not known
    /// is let through, so that results of other versions stay readable.
    pub(crate) fn wrong_unit(&self) -> Option<MetricUnit> {
        find(&self.metric).map(|metric| metric.unit).filter(|unit| *unit != self.unit)
    }
}
