//! The row that a measurement is kept in: one JSON line, complete in itself.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wug_dataset::Seed;
use wug_language::Reading;

use crate::metric::find;
use crate::ratio::finite;
use crate::{Interval, Score, Stratum, Unit};

/// What a run was: all that its records have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The hash of the resolved plan.
    pub plan: String,
    /// The suite.
    pub suite: String,
    /// The language or task.
    pub language: String,
    /// The learner.
    pub learner: String,
    /// Which loss it was trained with, where there is a choice.
    pub loss: Option<String>,
    /// Which validation set chose its parameters, where there is a choice.
    pub validation: Option<String>,
    /// The seed of the run.
    pub seed: Seed,
    /// As published, or corrected.
    pub reading: Reading,
    /// The version of wug.
    pub version: String,
    /// The hash of the data.
    pub data_hash: String,
}

/// One measurement. It can be made of a [`Score`] alone, which knows its metric and its unit; an undefined
/// value is absent, never a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields of `Run` and `Score`, under the same names")]
pub struct Record {
    pub plan: String,
    pub suite: String,
    pub language: String,
    pub learner: String,
    pub loss: Option<String>,
    pub validation: Option<String>,
    pub seed: u64,
    pub split: String,
    pub stratum: Stratum,
    pub metric: String,
    pub unit: Unit,
    pub value: Option<f64>,
    pub numerator: Option<f64>,
    pub denominator: Option<f64>,
    pub n: usize,
    pub spread: Option<f64>,
    pub chance: Option<f64>,
    pub interval: Option<Interval>,
    #[serde(with = "reading_name")]
    pub reading: Reading,
    pub version: String,
    pub data_hash: String,
}

/// A line that is no record.
#[derive(Debug, Error)]
pub enum RecordError {
    /// Not the right fields.
    #[error("not a record: {0}")]
    Json(#[from] serde_json::Error),
    /// A unit that is not the metric's.
    #[error("`{metric}` is measured in {allowed}, but the record says {given}")]
    Unit {
        /// The metric.
        metric: String,
        /// The unit given.
        given: &'static str,
        /// The metric's unit.
        allowed: &'static str,
    },
}

impl Record {
    /// The row of a score on a part of a split.
    pub fn new(run: &Run, split: &str, stratum: Stratum, score: &Score) -> Self {
        let run = run.clone();
        Self {
            plan: run.plan,
            suite: run.suite,
            language: run.language,
            learner: run.learner,
            loss: run.loss,
            validation: run.validation,
            seed: run.seed.value(),
            split: split.to_owned(),
            stratum,
            metric: score.metric.name.to_owned(),
            unit: score.metric.unit,
            value: score.value(),
            numerator: finite(score.tally.numerator),
            denominator: finite(score.tally.denominator),
            n: score.tally.n,
            spread: score.spread,
            chance: score.chance,
            interval: score.interval,
            reading: run.reading,
            version: run.version,
            data_hash: run.data_hash,
        }
    }

    /// One line of JSON, without its end.
    pub fn to_line(&self) -> Result<String, RecordError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads what [`to_line`](Self::to_line) writes. A metric that is not known here is let through, so that
    /// records of other versions stay readable; one that is known must have its own unit.
    pub fn from_line(line: &str) -> Result<Self, RecordError> {
        let record: Self = serde_json::from_str(line)?;
        match find(&record.metric) {
            Some(metric) if metric.unit != record.unit => Err(RecordError::Unit {
                given: record.unit.name(),
                allowed: metric.unit.name(),
                metric: record.metric,
            }),
            _ => Ok(record),
        }
    }
}

/// A reading by its name.
mod reading_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use wug_language::Reading;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(super) fn serialize<S: Serializer>(reading: &Reading, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(reading.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Reading, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::RECOGNITION_ACCURACY;
    use crate::strata::Window;
    use crate::{Bootstrap, Ratio, Tally};

    fn run() -> Run {
        Run {
            plan: "a1".to_owned(),
            suite: "flare".to_owned(),
            language: "parity".to_owned(),
            learner: "lstm".to_owned(),
            loss: Some("+NS".to_owned()),
            validation: None,
            seed: Seed::new(7),
            reading: Reading::Published,
            version: "0.1.0".to_owned(),
            data_hash: "d0".to_owned(),
        }
    }

    fn record(ratios: &[Ratio]) -> Record {
        let score = Score { tally: Tally::of(ratios), ..RECOGNITION_ACCURACY.score(&[]) };
        let interval = Bootstrap::new(Seed::new(1), 20, 0.9).unwrap().over_examples(ratios);
        Record::new(&run(), "test", Stratum::Length(Window { lo: 40, hi: 60 }), &Score { interval, ..score })
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for ratios in [vec![], vec![Ratio::right(true)], vec![Ratio::new(1.0, 3.0), Ratio::once(0.1)]] {
            let record = record(&ratios);
            assert_eq!(Record::from_line(&record.to_line().unwrap()).unwrap(), record);
        }
    }

    #[test]
    fn a_line_names_everything() {
        let expected = concat!(
            r#"{"plan":"a1","suite":"flare","language":"parity","learner":"lstm","loss":"+NS","#,
            r#""validation":null,"seed":7,"split":"test","stratum":{"length":"40..60"},"#,
            r#""metric":"recognition_accuracy","unit":"fraction","value":1.0,"numerator":1.0,"#,
            r#""denominator":1.0,"n":1,"spread":null,"chance":null,"interval":null,"#,
            r#""reading":"published","version":"0.1.0","data_hash":"d0"}"#,
        );
        assert_eq!(record(&[Ratio::right(true)]).to_line().unwrap(), expected);
    }

    #[test]
    fn what_is_undefined_is_absent() {
        let record = record(&[Ratio::once(f64::INFINITY), Ratio::once(f64::NAN)]);
        assert_eq!((record.value, record.numerator, record.denominator), (None, None, Some(2.0)));
        assert_eq!(record.n, 2);
    }

    #[test]
    fn wrong_units_and_unknown_fields_are_refused() {
        let line = record(&[]).to_line().unwrap();
        let nats = Record::from_line(&line.replace("\"fraction\"", "\"nats\"")).unwrap_err();
        assert_eq!(
            nats.to_string(),
            "`recognition_accuracy` is measured in fraction, but the record says nats"
        );
        assert!(Record::from_line(&line.replace("\"n\":0", "\"n\":0,\"m\":1")).is_err());
        assert!(Record::from_line(&line.replace("published", "printed")).is_err());
        assert!(Record::from_line(&line.replace("recognition_accuracy", "vibes")).is_ok());
    }
}
