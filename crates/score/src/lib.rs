//! Published metrics as pure functions of predictions, and the result of a run: a [`RunResult`] with a
//! [`Measurement`] per metric and part of a split.
//!
//! A [`Prediction`] is plain data that any model can fill in, ours or another's. With the string it
//! answers it becomes an [`Example`], and an [`ExampleMetric`] gives each example a [`Ratio`]; a [`Score`] is the sum
//! of numerators over the sum of denominators, so that the scores of parts can be combined. Sums are taken in
//! sorted order: results do not depend on the order of examples.
//!
//! What is undefined is `None`: there are no sentinels, and no NaN leaves this crate. This crate knows no
//! learners, no files and no reports.
//!
//! ```
//! use wug_dataset::Labelled;
//! use wug_dataset::language::{Alphabet, Symbol};
//! use wug_score::{Example, Prediction, metric};
//!
//! let alphabet = Alphabet::new(["a", "b"]);
//! let truths = [Labelled::new(vec![Symbol(0)], true), Labelled::new(vec![], false)];
//! let predictions = [Prediction::of_logit(2.0), Prediction::of_logit(0.5)];
//! let pairs = truths.iter().zip(&predictions);
//! let examples: Vec<_> = pairs.map(|(t, p)| Example::new(t, p, &alphabet).unwrap()).collect();
//! let score = metric::RECOGNITION_ACCURACY.score(&examples);
//! assert_eq!((score.value(), score.totals.n, score.chance), (Some(0.5), 2, Some(0.5)));
//! ```

pub mod aggregate;
pub mod best_of;
pub mod bootstrap;
pub mod chance;
mod coordinates;
pub mod estimate;
pub mod metric;
pub mod paired;
pub mod pairs;
pub mod permutation;
pub mod plan;
mod prediction;
mod ratio;
mod record;
mod result;
pub mod select;
pub mod steps;
pub mod strata;
pub mod wade;

pub use aggregate::Aggregate;
pub use bootstrap::{Bootstrap, Interval};
pub use coordinates::{Coordinate, Coordinates};
pub use estimate::Estimate;
pub use metric::{EXAMPLE_METRICS, ExampleMetric, METRICS, Metric, MetricUnit, Score};
pub use prediction::{Example, Mismatch, NextAnswer, Prediction, Verdict, mean_inverse_length};
pub use ratio::{Ratio, Totals};
pub use record::{Measurement, Run};
pub use result::{Ending, FORMAT, Point, ResultError, RunResult, ScoredString};
pub use steps::{
    Acceptance, StepRule, StringSteps, accepted_strings, correct_steps, first_rejected, generalization_index,
    index_sizes,
};
pub use strata::{Stratum, stratify};
pub use wug_language::Reading;
