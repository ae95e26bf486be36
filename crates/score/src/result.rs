//! The result of a run: everything that its plan determines, and nothing else.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::plan::{Plan, PlanKind, Untyped};
use crate::{Measurement, Run};

/// The layout of result files. One that is written in another is refused, not guessed at.
pub const FORMAT: u32 = 4;

/// The result of one run. Two runs of one plan give the same bytes: times and hosts are in the logs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunResult {
    /// The layout of this file.
    pub format: u32,
    /// What the run was.
    pub run: Run,
    /// What was to be done; of any protocol.
    pub plan: Plan<Untyped>,
    pub ending: Ending,
    /// How many trainable parameters the learner had.
    pub parameters: Option<usize>,
    /// What is known of the data.
    pub data: Value,
    /// The loss over time.
    pub curve: Vec<Point>,
    pub scores: Vec<Measurement>,
    /// The strings with the highest cross-entropy, or the first that was rejected.
    pub hardest: Vec<ScoredString>,
    /// Single strings with their scores, where a figure shows each.
    pub strings: Vec<ScoredString>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Ending {
    /// All epochs were run.
    Finished,
    /// The validation loss no longer fell.
    Stopped,
    /// A value was not finite after so many updates; the best model before was scored.
    Diverged { step: u64 },
    /// It ended with an error.
    Failed { message: String },
}

impl Ending {
    /// Its name, as files write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Diverged { .. } => "diverged",
            Self::Failed { .. } => "failed",
        }
    }
}

/// One point of a learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    pub epoch: usize,
    pub steps: u64,
    /// The mean loss on the training data; absent if it was not finite.
    pub training: Option<f64>,
    /// The loss by which the model was chosen.
    pub validation: Option<f64>,
}

/// A string with its score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoredString {
    /// The split it is from.
    pub split: String,
    /// Its tokens, separated by spaces.
    pub string: String,
    /// Whether it is a member.
    pub label: bool,
    /// With how many edits it was made, if it is a perturbed member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<usize>,
    /// How far it is from the language, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<usize>,
    /// The cross-entropy of the learner's verdict, in nats; absent if it is not finite.
    pub cross_entropy: Option<f64>,
}

/// Text that is no result.
#[derive(Debug, Error)]
pub enum ResultError {
    /// Not JSON, or not the fields of a result.
    #[error("not a result: {0}")]
    Json(#[from] serde_json::Error),
    /// Written by another version.
    #[error("a result in format {given}, but this version of wug reads format {FORMAT}")]
    Format {
        /// The format it is in.
        given: u64,
    },
    /// A unit that is not the metric's.
    #[error("`{metric}` is measured in {allowed}, but the result says {given}")]
    Unit { metric: String, given: &'static str, allowed: &'static str },
}

impl RunResult {
    /// As JSON, one field per line at the top so that two results can be compared by eye, with an end of line.
    pub fn to_text(&self) -> Result<String, ResultError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Reads what [`to_text`](Self::to_text) writes.
    pub fn from_text(text: &str) -> Result<Self, ResultError> {
        /// All that other formats are known to have in common.
        #[derive(Deserialize)]
        struct Versioned {
            format: Option<u64>,
        }
        let Versioned { format } = serde_json::from_str(text)?;
        if let Some(given) = format.filter(|format| *format != u64::from(FORMAT)) {
            return Err(ResultError::Format { given });
        }
        // From the text itself: a `Value` in between would forget the order of the coordinates.
        let result: Self = serde_json::from_str(text)?;
        for score in &result.scores {
            if let Some(unit) = score.wrong_unit() {
                let (given, allowed) = (score.unit.name(), unit.name());
                return Err(ResultError::Unit { metric: score.metric.clone(), given, allowed });
            }
        }
        Ok(result)
    }

    /// The plan of a protocol, if the run is of it.
    pub fn plan_of<K: PlanKind>(&self) -> Option<Plan<K>> {
        if self.run.protocol == K::PROTOCOL { self.plan.of().ok() } else { None }
    }

    /// What a metric measured on a whole split.
    pub fn whole(&self, split: &str, metric: &str) -> Option<&Measurement> {
        let whole =
            |m: &&Measurement| m.split == split && m.metric == metric && m.stratum == crate::Stratum::All;
        self.scores.iter().find(whole)
    }

    /// The value of a metric on a whole split.
    pub fn value(&self, split: &str, metric: &str) -> Option<f64> {
        self.whole(split, metric)?.value
    }
}

#[cfg(test)]
mod tests {
    use wug_dataset::Seed;
    use wug_language::Reading;

    use super::*;
    use crate::metric::RECOGNITION_ACCURACY;
    use crate::plan::{PlannedLearner, Precision};
    use crate::strata::Window;
    use crate::{Bootstrap, Coordinates, Ratio, Score, Stratum, Totals};

    fn result(ratios: &[Ratio]) -> RunResult {
        let score = Score { totals: Totals::of(ratios), ..RECOGNITION_ACCURACY.score(&[]) };
        let interval = Bootstrap::new(Seed::new(1), 20, 0.9).unwrap().over_examples(ratios);
        let stratum = Stratum::Length(Window { lo: 40, hi: 60 });
        RunResult {
            format: FORMAT,
            run: Run {
                plan: "a1".to_owned(),
                protocol: "recognition".to_owned(),
                coordinates: Coordinates::default()
                    .with("language", "parity")
                    .with("learner", "lstm")
                    .with("size", 64_000_usize)
                    .with("loss", "R+NS"),
                seed: 7,
                reading: Reading::Published,
                version: "0.1.0".to_owned(),
                build: "0123456789abcdef".to_owned(),
                instructions: "avx2".to_owned(),
                data_hash: "d0".to_owned(),
            },
            plan: Plan {
                subject: "parity".to_owned(),
                reading: Reading::Published,
                learner: PlannedLearner { name: "lstm".to_owned(), ..PlannedLearner::default() },
                data: serde_json::json!({ "training": 10 }),
                data_seed: None,
                measure: Value::Null,
                seed: 7,
                precision: Precision::F32,
            },
            ending: Ending::Diverged { step: 3 },
            parameters: Some(63_713),
            data: Value::Null,
            curve: vec![Point { epoch: 1, steps: 5, training: Some(0.1), validation: None }],
            scores: vec![Measurement::new("test", stratum, &Score { interval, ..score })],
            hardest: Vec::new(),
            strings: Vec::new(),
        }
    }

    #[test]
    fn a_result_is_read_as_it_was_written() {
        for ratios in [vec![], vec![Ratio::correct(true)], vec![Ratio::new(1.0, 3.0), Ratio::once(0.1)]] {
            let result = result(&ratios);
            assert_eq!(RunResult::from_text(&result.to_text().unwrap()).unwrap(), result);
        }
    }

    #[test]
    fn what_is_undefined_is_absent() {
        let result = result(&[Ratio::once(f64::INFINITY), Ratio::once(f64::NAN)]);
        let score = &result.scores[0];
        assert_eq!((score.value, score.numerator, score.denominator, score.n), (None, None, Some(2.0), 2));
    }

    #[test]
    fn wrong_units_other_formats_and_unknown_fields_are_refused() {
        let text = result(&[]).to_text().unwrap();
        let error = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            RunResult::from_text(&text.replace(from, to)).unwrap_err().to_string()
        };
        assert_eq!(
            error("\"fraction\"", "\"nats\""),
            "`recognition_accuracy` is measured in fraction, but the result says nats"
        );
        assert_eq!(
            error("\"format\": 4", "\"format\": 9"),
            "a result in format 9, but this version of wug reads format 4"
        );
        assert!(error("\"n\": 0", "\"n\": 0, \"m\": 1").contains("unknown field `m`"));
        assert!(error("published", "printed").contains("printed"));
        assert!(error("{", "").starts_with("not a result"));
        assert!(RunResult::from_text(&text.replace("recognition_accuracy", "vibes")).is_ok());
    }
}
