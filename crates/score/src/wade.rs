//! How fast does it learn? The weighted average data efficiency (WADE) of Cisneros, Sivic and Mikolov (2022) of a learning curve,
//! with everything explicit that the paper leaves open: thresholds, comparison, weights and the unit of a step.

use serde::{Deserialize, Serialize};
use wug_parameter::choices;

/// One evaluation of a learning curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccuracyPoint {
    /// Steps until then, from 1 on, in some unit.
    pub step: f64,
    /// The accuracy, from 0 to 1.
    pub accuracy: f64,
}

/// The accuracies whose times are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Thresholds {
    /// `k / of` for `k` from `first` to `last`.
    Even { of: usize, first: usize, last: usize },
    /// As NumPy's `arange` has them, rounding included: which side of a tie an accuracy falls on depends on it.
    Arange {
        from: f64,
        /// From one to the next.
        step: f64,
        count: usize,
    },
}

impl Thresholds {
    /// `1/n, 2/n, …, 1`.
    pub fn up_to_one(n: usize) -> Self {
        Self::Even { of: n, first: 1, last: n }
    }

    /// `from`, `from + step`, … up to `to`; as fractions where the step is one of 1, so that no tie is lost to rounding.
    ///
    /// ```
    /// use wug_score::wade::Thresholds;
    /// assert_eq!(Thresholds::range(0.1, 1.0, 0.1), Some(Thresholds::up_to_one(10)));
    /// assert_eq!(Thresholds::range(0.0, 0.3, 0.15).unwrap().values(), [0.0, 0.15, 0.3]);
    /// assert!(Thresholds::range(0.5, 0.4, 0.1).is_none() && Thresholds::range(0.0, 1.1, 0.1).is_none());
    /// ```
    pub fn range(from: f64, to: f64, step: f64) -> Option<Self> {
        let valid = (0.0..=1.0).contains(&from) && (from..=1.0).contains(&to) && (1e-6..=1.0).contains(&step);
        if !valid {
            return None;
        }
        // All numbers are from 0 to a million.
        #[expect(clippy::cast_sign_loss, reason = "see above")]
        // Steps are typed as decimals, of which few are exact: 0.3/0.1 is not 3.
        let whole = |x: f64| ((x - libm::rint(x)).abs() < 1e-6).then(|| libm::rint(x) as usize);
        if let (Some(of), Some(first)) = (whole(1.0 / step), whole(from / step)) {
            let last =
                (0..=of - first).rev().map(|k| first + k).find(|k| *k as f64 / of as f64 <= to + 1e-9)?;
            return Some(Self::Even { of, first, last });
        }
        #[expect(clippy::cast_sign_loss, reason = "see above")]
        let count = libm::floor((to - from) / step + 1e-6) as usize + 1;
        Some(Self::Arange { from, step, count })
    }

    /// All of them, ascending.
    pub fn values(self) -> Vec<f64> {
        match self {
            Self::Even { of, first, last } => (first..=last).map(|k| k as f64 / of as f64).collect(),
            Self::Arange { from, step, count } => {
                // The step that NumPy computes, which is not the one given: the thresholds of the released
                // code have its rounding.
                let delta = (from + step) - from;
                (0..count).map(|k| from + k as f64 * delta).collect()
            }
        }
    }
}

choices! {
    /// When a threshold is reached.
    pub enum ThresholdRule {
        /// The accuracy is the threshold or more (Eq. 2).
        AtLeast = "at-least",
        /// The accuracy is more than the threshold (the released code).
        Above = "above",
    }
}

choices! {
    /// How much each threshold counts.
    pub enum Weighting {
        /// As much as its value (Eq. 1).
        Threshold = "threshold",
        /// From 1 for the first to 10 for the last, evenly (the released code for IMDB).
        OneToTen = "one-to-ten",
    }
}

choices! {
    /// What a step is.
    pub enum StepUnit {
        /// Sequences seen, repetitions included.
        Sequences = "sequences",
        /// Updates of the learner.
        Updates = "updates",
        /// Evaluations, the first being step 1.
        Evaluations = "evaluations",
        /// `1 + i·b/m` at the evaluation number `i` from 0 on: `b` answers between evaluations, `m` answers per sequence on average (the
        /// released code for reservoirs). It need not be whole.
        MeanSequences = "mean-sequences",
    }
}

/// The window of the released notebook for IMDB.
const IMDB_WINDOW: usize = 10;

/// A definition of the measure. It is stored with every score.
///
/// ```
/// use wug_score::wade::{AccuracyPoint, WadeMeasure};
/// let curve = |accuracies: &[f64]| -> Vec<AccuracyPoint> {
///     let steps = accuracies.iter().enumerate();
///     steps.map(|(i, &accuracy)| AccuracyPoint { step: (i + 1) as f64, accuracy }).collect()
/// };
/// // Thresholds .1 to 1: half of their sum (.1 + … + .5 = 1.5 of 5.5) at step 1, the rest at step 2.
/// let wade = WadeMeasure::even(10).of(&curve(&[0.5, 1.0]));
/// assert!((wade - (1.5 + 4.0 / 2.0) / 5.5).abs() < 1e-12);
/// assert_eq!(WadeMeasure::even(10).of(&curve(&[1.0])), 1.0);
/// assert_eq!(WadeMeasure::even(10).of(&curve(&[0.0, 0.0])), 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WadeMeasure {
    /// The accuracies whose times are averaged.
    pub thresholds: Thresholds,
    /// When a threshold is reached.
    pub comparison: ThresholdRule,
    /// How much each threshold counts.
    pub weighting: Weighting,
    /// What a step is.
    pub unit: StepUnit,
    /// The window of the moving average that accuracies are replaced by first; none if they are taken as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<usize>,
}

impl WadeMeasure {
    /// Equations 1 and 2 with the thresholds `1/n, 2/n, …, 1`, in sequences.
    pub fn even(n: usize) -> Self {
        Self {
            thresholds: Thresholds::up_to_one(n),
            comparison: ThresholdRule::AtLeast,
            weighting: Weighting::Threshold,
            unit: StepUnit::Sequences,
            smoothing: None,
        }
    }

    /// The variant of this name, with its unit replaced: `equation` (Eqs. 1 and 2, a hundred thresholds), `benchmark` (the released
    /// code for the ten tasks), `imdb` (the released code for IMDB), `imdb-smoothed` (the same for its linear classifier, whose
    /// accuracies it replaces by their moving average over a window of 10).
    ///
    /// ```
    /// use wug_score::wade::{StepUnit, WadeMeasure};
    /// assert_eq!(WadeMeasure::named("imdb", StepUnit::Evaluations).unwrap().thresholds.values().len(), 50);
    /// assert!(WadeMeasure::named("mine", StepUnit::Updates).is_none());
    /// ```
    pub fn named(name: &str, unit: StepUnit) -> Option<Self> {
        let (thresholds, comparison, weighting) = match name {
            "equation" => (Thresholds::up_to_one(100), ThresholdRule::AtLeast, Weighting::Threshold),
            "benchmark" => {
                let thresholds = Thresholds::Arange { from: 0.0, step: 0.01, count: 100 };
                (thresholds, ThresholdRule::Above, Weighting::Threshold)
            }
            "imdb" | "imdb-smoothed" => {
                let thresholds = Thresholds::Arange { from: 0.5, step: 0.01, count: 50 };
                (thresholds, ThresholdRule::Above, Weighting::OneToTen)
            }
            _ => return None,
        };
        let smoothing = (name == "imdb-smoothed").then_some(IMDB_WINDOW);
        Some(Self { thresholds, comparison, weighting, unit, smoothing })
    }

    /// The names of the variants.
    pub const NAMES: [&'static str; 4] = ["equation", "benchmark", "imdb", "imdb-smoothed"];

    /// The same with so many thresholds, spread as the variant spreads them: up to 1 if that can be reached,
    /// from the first that the variant has.
    ///
    /// ```
    /// use wug_score::wade::{StepUnit, WadeMeasure};
    /// let values = |name: &str| WadeMeasure::named(name, StepUnit::Updates).unwrap().with_count(2).thresholds.values();
    /// assert_eq!((values("equation"), values("benchmark"), values("imdb")), (vec![0.5, 1.0], vec![0.0, 0.5], vec![0.5, 0.75]));
    /// ```
    #[must_use]
    pub fn with_count(self, n: usize) -> Self {
        // What must be exceeded ends below 1. Weights from one to ten go with IMDB, where thresholds begin
        // at one half, the accuracy of a coin.
        let thresholds = match (self.comparison, self.weighting) {
            (ThresholdRule::AtLeast, Weighting::Threshold) => Thresholds::up_to_one(n),
            (ThresholdRule::Above, Weighting::Threshold) => {
                Thresholds::Even { of: n, first: 0, last: n.saturating_sub(1) }
            }
            (ThresholdRule::AtLeast, Weighting::OneToTen) => {
                Thresholds::Even { of: 2 * n, first: n + 1, last: 2 * n }
            }
            (ThresholdRule::Above, Weighting::OneToTen) => {
                Thresholds::Even { of: 2 * n, first: n, last: 2 * n - 1 }
            }
        };
        Self { thresholds, ..self }
    }

    /// What makes the definition meaningless; none if nothing does.
    ///
    /// ```
    /// use wug_score::wade::{ThresholdRule, Thresholds, WadeMeasure};
    /// assert_eq!(WadeMeasure::even(10).problem(), None);
    /// let above = WadeMeasure { comparison: ThresholdRule::Above, ..WadeMeasure::even(10) };
    /// assert!(above.problem().unwrap().contains("above 1"));
    /// let zero = WadeMeasure { thresholds: Thresholds::Even { of: 10, first: 0, last: 0 }, ..WadeMeasure::even(10) };
    /// assert!(zero.problem().unwrap().contains("weight"));
    /// ```
    pub fn problem(&self) -> Option<&'static str> {
        let last = self.thresholds.values().last().copied().unwrap_or(0.0);
        if self.comparison == ThresholdRule::Above && last >= 1.0 {
            return Some("no accuracy is above 1: thresholds that must be exceeded end below it");
        }
        let counts = self.weights().iter().sum::<f64>() > 0.0;
        (!counts).then_some("thresholds of 0 alone have no weight")
    }

    /// Whether the score converges to [`limit`] as thresholds are refined: they count as much as their value, and fill the interval
    /// from 0 to 1.
    pub fn converges(&self) -> bool {
        let values = self.thresholds.values();
        // One and a half steps: thresholds to be exceeded begin at 0 and end one step below 1.
        let gap = 1.5 / values.len().max(1) as f64;
        let ends = values.first().is_some_and(|first| *first <= gap)
            && values.last().is_some_and(|last| *last >= 1.0 - gap);
        self.weighting == Weighting::Threshold && ends && self.smoothing.is_none()
    }

    /// The thresholds, each with the step at which it is first reached (Eq. 2); none if it never is.
    ///
    /// ```
    /// use wug_score::wade::{AccuracyPoint, WadeMeasure};
    /// let curve = [(1.0, 0.4), (2.0, 0.3), (5.0, 0.8)].map(|(step, accuracy)| AccuracyPoint { step, accuracy });
    /// let times = WadeMeasure::even(4).times(&curve);
    /// assert_eq!(times, [(0.25, Some(1.0)), (0.5, Some(5.0)), (0.75, Some(5.0)), (1.0, None)]);
    /// ```
    pub fn times(&self, curve: &[AccuracyPoint]) -> Vec<(f64, Option<f64>)> {
        let reached = |accuracy: f64, threshold: f64| match self.comparison {
            ThresholdRule::AtLeast => accuracy >= threshold,
            ThresholdRule::Above => accuracy > threshold,
        };
        let curve = self.smoothed(curve);
        let mut points = curve.iter().peekable();
        let time = |threshold: f64| {
            // Thresholds ascend: what does not reach one does not reach the next.
            while points.next_if(|point| !reached(point.accuracy, threshold)).is_some() {}
            (threshold, points.peek().map(|point| point.step))
        };
        self.thresholds.values().into_iter().map(time).collect()
    }

    /// The curve that thresholds are compared with: an exponential moving average of the accuracies that begins with the first of
    /// them, or the accuracies themselves.
    ///
    /// ```
    /// use wug_score::wade::{AccuracyPoint, StepUnit, WadeMeasure};
    /// let wade = WadeMeasure { smoothing: Some(3), ..WadeMeasure::even(10) };
    /// let curve = [(1.0, 0.5), (2.0, 0.9), (3.0, 0.5)].map(|(step, accuracy)| AccuracyPoint { step, accuracy });
    /// // Half of each accuracy, and half of the average before it.
    /// let smoothed: Vec<f64> = wade.smoothed(&curve).iter().map(|point| point.accuracy).collect();
    /// assert_eq!(smoothed, [0.5, 0.7, 0.6]);
    /// assert_eq!(WadeMeasure::even(10).smoothed(&curve), curve);
    /// ```
    pub fn smoothed(&self, curve: &[AccuracyPoint]) -> Vec<AccuracyPoint> {
        let (Some(window), Some(first)) = (self.smoothing, curve.first()) else { return curve.to_vec() };
        let share = 2.0 / (window as f64 + 1.0);
        let mut average = first.accuracy;
        let next = |point: &AccuracyPoint| {
            average = share * point.accuracy + (1.0 - share) * average;
            AccuracyPoint { accuracy: average, ..*point }
        };
        curve.iter().map(next).collect()
    }

    /// The weights of the thresholds.
    fn weights(&self) -> Vec<f64> {
        let values = self.thresholds.values();
        let last = values.len().saturating_sub(1).max(1) as f64;
        let weight = |(k, value): (usize, f64)| match self.weighting {
            Weighting::Threshold => value,
            Weighting::OneToTen => 1.0 + 9.0 * k as f64 / last,
        };
        values.into_iter().enumerate().map(weight).collect()
    }

    /// The score of a learning curve (Eq. 1), from 0 to 1.
    pub fn of(&self, curve: &[AccuracyPoint]) -> f64 {
        let weights = self.weights();
        let total: f64 = weights.iter().sum();
        let times = self.times(curve);
        let sum: f64 =
            // A threshold that is never reached has T = ∞.
            times.iter().zip(&weights).map(|((_, time), weight)| time.map_or(0.0, |t| weight / t)).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// The same at each number of even thresholds: how fast the score converges as they are refined.
    ///
    /// ```
    /// use wug_score::wade::{AccuracyPoint, WadeMeasure, limit};
    /// let curve = [(1.0, 0.4), (2.0, 0.3), (5.0, 0.8)].map(|(step, accuracy)| AccuracyPoint { step, accuracy });
    /// let refined = WadeMeasure::even(100).refined(&curve, &[10, 100, 1000]);
    /// let errors: Vec<f64> = refined.iter().map(|(_, wade)| (wade - limit(&curve)).abs()).collect();
    /// assert!(errors[0] < 0.03 && errors[1] < 0.003 && errors[2] < 0.0003, "{errors:?}");
    /// ```
    pub fn refined(&self, curve: &[AccuracyPoint], sizes: &[usize]) -> Vec<(usize, f64)> {
        let at = |&n: &usize| (n, Self { thresholds: Thresholds::up_to_one(n), ..*self }.of(curve));
        sizes.iter().map(at).collect()
    }
}

/// The value that Equation 1 converges to as the thresholds fill the interval from 0 to 1: `2 ∫ α / T(α) dα`.
pub fn limit(curve: &[AccuracyPoint]) -> f64 {
    let (mut best, mut sum) = (0.0_f64, 0.0);
    for point in curve {
        if point.accuracy > best {
            // T is constant between two records, and 2 ∫ α dα from one to the next is the difference of
            // their squares.
            sum += (point.accuracy * point.accuracy - best * best) / point.step;
            best = point.accuracy;
        }
    }
    sum
}

/// The accuracy with what chance reaches taken for 0, `(a - c) / (1 - c)` and 0 below it, of counts: how many answers are correct, how
/// many are by chance, and how many there are. Counts are divided once, so that a threshold is reached exactly where it should be.
///
/// ```
/// use wug_score::wade::above_chance;
/// assert_eq!(above_chance(5, 5, 10), 0.0);
/// assert_eq!(above_chance(8, 3, 10), 5.0 / 7.0);
/// // As shares, (0.6 - 0.2) / (1 - 0.2) is a little less than a half.
/// assert_eq!(above_chance(6, 2, 10), 0.5);
/// assert_eq!(above_chance(10, 10, 10), 0.0);
/// ```
pub fn above_chance(correct: usize, chance: usize, of: usize) -> f64 {
    match of.checked_sub(chance) {
        Some(rest) if rest > 0 => correct.saturating_sub(chance) as f64 / rest as f64,
        _ => 0.0,
    }
}

/// The learning curve of answers in a row, as Appendix A has it for people: a series of `k` correct answers is an accuracy of `k / full`
/// at its first answer, so that `full` correct answers from the start score 1.
///
/// ```
/// use wug_score::wade::{WadeMeasure, streaks};
/// assert_eq!(WadeMeasure::even(10).of(&streaks(&[true; 10], 10)), 1.0);
/// let one_error_first: Vec<bool> = [false].into_iter().chain([true; 10]).collect();
/// assert_eq!(WadeMeasure::even(10).of(&streaks(&one_error_first, 10)), 0.5);
/// ```
pub fn streaks(answers: &[bool], full: usize) -> Vec<AccuracyPoint> {
    let mut curve = Vec::new();
    let mut at = 0;
    for series in answers.chunk_by(|a, b| a == b) {
        let right = if series[0] { series.len() } else { 0 };
        let accuracy = (right as f64 / full.max(1) as f64).min(1.0);
        curve.push(AccuracyPoint { step: (at + 1) as f64, accuracy });
        at += series.len();
    }
    curve
}

/// The same as the released program has it: `k / full` is reached with the `k`-th answer of a series, and not at its first.
///
/// ```
/// use wug_score::wade::{WadeMeasure, streaks_as_reached};
/// let perfect = WadeMeasure::even(5).of(&streaks_as_reached(&[true; 5], 5));
/// assert!((perfect - 1.0 / 3.0).abs() < 1e-12); // where the paper promises 1
/// ```
pub fn streaks_as_reached(answers: &[bool], full: usize) -> Vec<AccuracyPoint> {
    let mut series = 0_usize;
    let point = |(at, right): (usize, &bool)| {
        series = if *right { series + 1 } else { 0 };
        AccuracyPoint { step: (at + 1) as f64, accuracy: (series as f64 / full.max(1) as f64).min(1.0) }
    };
    answers.iter().enumerate().map(point).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Accuracies at steps `1 + i·stride`.
    fn curve(accuracies: &Value, stride: f64) -> Vec<AccuracyPoint> {
        let point = |(i, a): (usize, &Value)| AccuracyPoint {
            step: 1.0 + i as f64 * stride,
            accuracy: a.as_f64().unwrap(),
        };
        accuracies.as_array().unwrap().iter().enumerate().map(point).collect()
    }

    #[test]
    fn published_variants_and_equation_1_are_the_golden_values() {
        let golden: Value = serde_json::from_str(include_str!("../../../testdata/wade_metric.json")).unwrap();
        let cases = golden["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 10);
        let benchmark = WadeMeasure::named("benchmark", StepUnit::Updates).unwrap();
        let imdb = WadeMeasure::named("imdb", StepUnit::Evaluations).unwrap();
        let hundredths = WadeMeasure {
            thresholds: Thresholds::Even { of: 100, first: 1, last: 99 },
            ..WadeMeasure::even(100)
        };
        for case in cases {
            let (a, name) = (&case["accuracies"], &case["name"]);
            let check = |expected: &Value, wade: WadeMeasure, stride: f64| {
                let (ours, theirs) = (wade.of(&curve(a, stride)), expected.as_f64().unwrap());
                assert!((ours - theirs).abs() < 1e-9, "{name}: {ours}, not {theirs} ({wade:?}, {stride})");
            };
            check(&case["trained"], benchmark, 1.0);
            for answers in ["1", "2.5", "80"] {
                check(&case["reservoir"][answers], benchmark, 8.0 / answers.parse::<f64>().unwrap());
            }
            check(&case["imdb"], imdb, 1.0);
            check(&case["eq1_tenths"], WadeMeasure::even(10), 1.0);
            check(&case["eq1_hundredths"], hundredths, 1.0);
        }
    }

    /// What the released program for people printed.
    #[test]
    fn answers_in_a_row_as_released() {
        let then_right = |first: &[bool]| [first, &[true; 5]].concat();
        for (first, theirs) in
            [(&[][..], 0.333), (&[false], 0.237), (&[true, true, false], 0.246), (&[false; 10], 0.074)]
        {
            let ours = WadeMeasure::even(5).of(&streaks_as_reached(&then_right(first), 5));
            assert!((ours - theirs).abs() < 5e-4, "{first:?}: {ours}");
        }
    }

    #[test]
    fn a_score_is_between_0_and_1_and_refinement_converges() {
        let curve: Vec<AccuracyPoint> = (0..200)
            .map(|i| AccuracyPoint {
                step: 1.0 + f64::from(i),
                accuracy: 1.0 - 0.9 / (1.0 + 0.1 * f64::from(i)),
            })
            .collect();
        let limit = limit(&curve);
        assert!(limit > 0.0 && limit < 1.0);
        let refined = WadeMeasure::even(100).refined(&curve, &[10, 100, 1000, 10_000]);
        let errors: Vec<f64> = refined.iter().map(|(_, wade)| (wade - limit).abs()).collect();
        assert!(errors.windows(2).all(|pair| pair[1] < pair[0]) && errors[3] < 1e-4, "{errors:?}");
        for name in WadeMeasure::NAMES {
            let wade = WadeMeasure::named(name, StepUnit::Sequences).unwrap();
            assert!((0.0..=1.0).contains(&wade.of(&curve)) && wade.of(&[]) == 0.0, "{name}");
            let text = serde_json::to_string(&wade).unwrap();
            assert_eq!(serde_json::from_str::<WadeMeasure>(&text).unwrap(), wade);
        }
    }
}
