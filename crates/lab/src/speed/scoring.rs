//! The fields `wade.…`: how a learning curve is scored.

use wug_parameter::{Key, ValueLimits};
use wug_score::plan::{Reading, Speed, TrainingUnit};
use wug_score::wade::{StepUnit, ThresholdRule, Thresholds, WadeMeasure, Weighting};

use crate::spec::{Problem, Section};

pub(super) const VARIANT: Key<Option<String>> =
    Key::one_of("wade.variant", "the definition of the score", &WadeMeasure::NAMES, "equation")
        .derived("that of the reading: Equations 1 and 2, or the released code");
pub(super) const THRESHOLDS: Key<Option<usize>> =
    Key::count("wade.thresholds", "so many even thresholds up to 1", 1..=1_000_000, 10)
        .derived("those of the variant");
const SHARE: ValueLimits = ValueLimits::Between(0.0, 1.0);
pub(super) const FROM: Key<Option<f64>> =
    Key::real("wade.thresholds.from", "the first threshold of a range", SHARE, 0.0).derived("none");
pub(super) const TO: Key<Option<f64>> =
    Key::real("wade.thresholds.to", "the last threshold of a range", SHARE, 1.0).derived("none");
pub(super) const STEP: Key<Option<f64>> =
    Key::real("wade.thresholds.step", "from one threshold to the next", SHARE, 0.1).derived("none");
pub(super) const COMPARISON: Key<Option<ThresholdRule>> =
    Key::choice("wade.comparison", "when a threshold is reached", ThresholdRule::AtLeast.name())
        .derived("that of the variant");
pub(super) const WEIGHTING: Key<Option<Weighting>> =
    Key::choice("wade.weighting", "how much each threshold counts", Weighting::Threshold.name())
        .derived("that of the variant");
pub(super) const UNIT: Key<Option<StepUnit>> =
    Key::choice("wade.step", "what a step is", StepUnit::Sequences.name()).derived("that of the reading");

/// The learner whose curve on reviews the released code smooths.
const LINEAR: &str = "bag-of-words";

/// The definition of the score of a learner unless another is given: that of the released code, or Equations 1 and 2.
pub(super) fn usual(
    (reading, learner): (Reading, &str),
    unit: TrainingUnit,
    of_reviews: bool,
) -> (&'static str, StepUnit) {
    match (reading, unit) {
        (Reading::Corrected, _) => ("equation", StepUnit::Sequences),
        (Reading::Published, _) if of_reviews => {
            (if learner == LINEAR { "imdb-smoothed" } else { "imdb" }, StepUnit::Evaluations)
        }
        // The released notebook counts sequences for reservoirs and updates, of 8 sequences each, for networks.
        (Reading::Published, TrainingUnit::Answers) => ("benchmark", StepUnit::MeanSequences),
        (Reading::Published, TrainingUnit::Sequences) => ("benchmark", StepUnit::Updates),
    }
}

/// A definition as a coordinate.
pub(super) fn name(wade: WadeMeasure) -> String {
    let named = |name: &&&str| WadeMeasure::named(name, wade.unit) == Some(wade);
    let name = WadeMeasure::NAMES.iter().find(named).map_or("other", |name| *name);
    format!("{name}, {}", wade.unit.name())
}

/// The definition of the score of a learner.
pub(super) fn wade(
    section: &Section<Speed>,
    of: (Reading, &str),
    unit: TrainingUnit,
    of_reviews: bool,
) -> Result<WadeMeasure, Problem> {
    let (usual, usual_step) = usual(of, unit, of_reviews);
    let step = section.get(&UNIT).unwrap_or(usual_step);
    if step == StepUnit::MeanSequences && unit == TrainingUnit::Sequences {
        let message = "counts answers between evaluations: it goes with `unit = \"answers\"`".to_owned();
        return Err(Problem::new(UNIT.name(), step.name(), message));
    }
    let variant = section.get(&VARIANT).unwrap_or_else(|| usual.to_owned());
    let mut wade = WadeMeasure::named(&variant, step)
        .ok_or_else(|| Problem::unknown(VARIANT.name(), &variant, &WadeMeasure::NAMES))?;
    wade.comparison = section.get(&COMPARISON).unwrap_or(wade.comparison);
    wade.weighting = section.get(&WEIGHTING).unwrap_or(wade.weighting);
    if let Some(count) = section.get(&THRESHOLDS) {
        wade = wade.with_count(count);
    }
    match (section.get(&FROM), section.get(&TO), section.get(&STEP)) {
        (None, None, None) => {}
        (Some(from), Some(to), Some(step)) => {
            wade.thresholds = Thresholds::range(from, to, step).ok_or_else(|| {
                let given = format!("from {from} to {to} by {step}");
                let allowed = "from 0 or more up to 1 or less, by 0.000001 to 1";
                Problem::value(THRESHOLDS.name(), &given, allowed)
            })?;
        }
        _ => {
            let message = "a range of thresholds has `from`, `to` and `step`".to_owned();
            return Err(Problem::new(THRESHOLDS.name(), "", message));
        }
    }
    match wade.problem() {
        Some(problem) => Err(Problem::new("wade", &variant, problem.to_owned())),
        None => Ok(wade),
    }
}
