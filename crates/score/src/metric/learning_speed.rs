//! How fast does it learn? Measures of a learning curve ([`crate::wade`]). They are made of curves, not of examples.

use super::{Direction, Metric, MetricUnit, Score};
use crate::wade::{AccuracyPoint, WadeMeasure};
use crate::{Ratio, Totals};

/// WADE as the plan of the run defines it.
///
/// ```
/// use wug_score::{Ratio, Totals, metric::WADE, wade::{AccuracyPoint, WadeMeasure}};
/// // Half right after one sequence, all right after two: 1/10 + … + 5/10 at once, the rest at half weight.
/// let curve = [AccuracyPoint { step: 1.0, accuracy: 0.5 }, AccuracyPoint { step: 2.0, accuracy: 1.0 }];
/// let score = WADE.measured(Totals::of(&[Ratio::once(WadeMeasure::even(10).of(&curve))]), None);
/// assert!((score.value().unwrap() - 3.5 / 5.5).abs() < 1e-12);
/// ```
pub static WADE: Metric = Metric {
    name: "wade",
    unit: MetricUnit::Fraction,
    better: Direction::Higher,
    meaning: "weighted mean of 1/T over accuracies, T being the step at which each is first reached",
    chance_of: Some("always giving the most frequent answer of the training sequences"),
    cite: "Cisneros et al. 2022, Eqs. 1 and 2",
};

/// WADE of what is above chance.
pub static WADE_ABOVE_CHANCE: Metric = Metric {
    name: "wade_above_chance",
    meaning: "WADE of (accuracy - chance) / (1 - chance): what chance reaches counts for nothing",
    chance_of: None,
    ..WADE
};

/// WADE of an accuracy that stays as it was before training.
pub static WADE_BEFORE_TRAINING: Metric = Metric {
    name: "wade_before_training",
    meaning: "WADE of an accuracy that stays as it was before training",
    chance_of: None,
    ..WADE
};

/// How many predictions change with the answer itself.
pub static ANSWERS_SEEN: Metric = Metric {
    name: "answers_seen",
    better: Direction::Lower,
    meaning: "share of predictions whose scores change with the answer or with what follows it; it must be 0, or the learner sees the answers",
    chance_of: None,
    ..WADE
};

/// The accuracy that was highest on the way.
pub static HIGHEST_ACCURACY: Metric = Metric {
    name: "highest_accuracy",
    meaning: "highest share of correct answers of all evaluations on the way",
    cite: "Cisneros et al. 2022, Table 5",
    ..WADE
};

/// The accuracy at the end.
pub static LAST_ACCURACY: Metric = Metric {
    name: "last_accuracy",
    meaning: "share of correct answers at the last evaluation",
    cite: "Cisneros et al. 2022, Table 5",
    ..WADE
};

/// The measures of a learning curve, with the accuracy of chance where that is known.
///
/// ```
/// use wug_score::{metric::learning_speed, wade::{AccuracyPoint, WadeMeasure}};
/// let curve = [(1.0, 0.5), (2.0, 1.0), (3.0, 0.9)].map(|(step, accuracy)| AccuracyPoint { step, accuracy });
/// let scores = learning_speed(&WadeMeasure::even(10), &curve, Some(0.5));
/// let named = |name: &str| scores.iter().find(|score| score.metric.name == name).unwrap().value();
/// assert!((named("wade").unwrap() - 3.5 / 5.5).abs() < 1e-12);
/// assert_eq!((named("highest_accuracy"), named("last_accuracy")), (Some(1.0), Some(0.9)));
/// assert!(named("wade_above_chance") < named("wade"));
/// ```
pub fn learning_speed(wade: &WadeMeasure, curve: &[AccuracyPoint], chance: Option<f64>) -> Vec<Score> {
    let once = |value: f64| Totals::of(&[Ratio::once(value)]);
    // Chance needs no training: its accuracy is reached at step 1.
    let constant = |accuracy: f64| wade.of(&[AccuracyPoint { step: 1.0, accuracy }]);
    let mut scores = vec![WADE.measured(once(wade.of(curve)), chance.map(constant))];
    if let Some(chance) = chance {
        // Shares, not counts: an accuracy that is exactly a threshold may be rounded to either side of it.
        let above =
            |accuracy: f64| if chance < 1.0 { (accuracy - chance).max(0.0) / (1.0 - chance) } else { 0.0 };
        let curve: Vec<AccuracyPoint> =
            curve.iter().map(|p| AccuracyPoint { accuracy: above(p.accuracy), ..*p }).collect();
        scores.push(WADE_ABOVE_CHANCE.measured(once(wade.of(&curve)), None));
    }
    // Where the score is of a smoothed curve, so is the highest accuracy, as published.
    if let Some(highest) = wade.smoothed(curve).iter().map(|point| point.accuracy).max_by(f64::total_cmp) {
        scores.push(HIGHEST_ACCURACY.measured(once(highest), chance));
    }
    if let Some(last) = curve.last() {
        scores.push(LAST_ACCURACY.measured(once(last.accuracy), chance));
    }
    scores
}
