//! The measurements of a learning curve.

use serde_json::{Value, json};
use wug_score::metric::{
    ANSWERS_SEEN, HIGHEST_ACCURACY, LAST_ACCURACY, WADE, WADE_ABOVE_CHANCE, WADE_BEFORE_TRAINING,
};
use wug_score::wade::{AccuracyPoint as Evaluated, StepUnit, WadeMeasure as Wade, above_chance, limit};
use wug_score::{Ending, Measurement, Metric, Ratio, Stratum, Totals};

use super::SpeedPlan;
use super::data::Data;
use crate::protocol::Outcome;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CurvePoint {
    pub(super) seen: f64,
    pub(super) updates: u64,
    pub(super) correct: usize,
}

/// What a run measured.
pub(super) struct Measured {
    pub(super) curve: Vec<CurvePoint>,
    /// How many predictions change with the answer, and how many were compared.
    pub(super) leaked: (usize, usize),
    /// How many parameters were trained, where that is known.
    pub(super) parameters: Option<usize>,
}

/// The numbers of thresholds at which the score is compared with its limit.
const REFINED: [usize; 5] = [10, 20, 50, 100, 1000];

pub(super) fn outcome(plan: &SpeedPlan, data: &Data, ending: Ending, measured: &Measured) -> Outcome {
    let of = data.answers();
    let share = |correct: usize| correct as f64 / of as f64;
    let chance = share(data.chance);
    let curve = evaluated(plan, data, &measured.curve, share);
    let corrected = |correct: usize| above_chance(correct, data.chance, of);
    let above = evaluated(plan, data, &measured.curve, corrected);
    let before = measured.curve.first().filter(|point| point.seen == 0.0);
    let mut scores = Vec::new();
    let mut add = |metric: &'static Metric, totals: Totals, chance: Option<f64>| {
        scores.push(Measurement::new("test", Stratum::All, &metric.measured(totals, chance)));
    };
    let once = |value: f64| Totals::of(&[Ratio::once(value)]);
    let constant = |accuracy: f64| plan.measure.wade.of(&[Evaluated { step: 1.0, accuracy }]);
    add(&WADE, once(plan.measure.wade.of(&curve)), Some(constant(chance)));
    add(&WADE_ABOVE_CHANCE, once(plan.measure.wade.of(&above)), None);
    if let Some(before) = before {
        add(&WADE_BEFORE_TRAINING, once(constant(share(before.correct))), None);
    }
    let counted = |correct: f64| Totals { numerator: correct, denominator: of as f64, n: of };
    if let Some(highest) = highest(&plan.measure.wade, &measured.curve, of) {
        add(&HIGHEST_ACCURACY, counted(highest), Some(chance));
    }
    if let Some(last) = measured.curve.last() {
        add(&LAST_ACCURACY, counted(last.correct as f64), Some(chance));
    }
    let (changed, compared) = measured.leaked;
    let seen = Totals { numerator: changed as f64, denominator: compared as f64, n: compared };
    add(&ANSWERS_SEEN, seen, None);
    let mut facts = data.facts();
    if let Value::Object(facts) = &mut facts {
        facts.insert("leak".to_owned(), json!({ "changed": changed, "of": compared }));
        facts.insert("curve".to_owned(), curve_facts(&measured.curve));
        facts.insert("wade".to_owned(), wade_facts(&plan.measure.wade, &curve));
    }
    Outcome {
        ending,
        parameters: measured.parameters,
        data: facts,
        curve: Vec::new(),
        scores,
        hardest: Vec::new(),
        strings: Vec::new(),
    }
}

/// The most correct answers of an evaluation. Where the score is of a smoothed curve, so is the highest accuracy, as published.
fn highest(wade: &Wade, curve: &[CurvePoint], of: usize) -> Option<f64> {
    if wade.smoothing.is_none() {
        return curve.iter().map(|point| point.correct).max().map(|correct| correct as f64);
    }
    let evaluated =
        |point: &CurvePoint| Evaluated { step: point.seen, accuracy: point.correct as f64 / of as f64 };
    let curve: Vec<Evaluated> = curve.iter().map(evaluated).collect();
    wade.smoothed(&curve).iter().map(|point| point.accuracy * of as f64).reduce(f64::max)
}

/// The curve in the unit of the score. What was evaluated before training is no part of it (Eq. 2 begins with the first step).
fn evaluated(
    plan: &SpeedPlan,
    data: &Data,
    curve: &[CurvePoint],
    accuracy: impl Fn(usize) -> f64,
) -> Vec<Evaluated> {
    let step = |(i, point): (usize, &CurvePoint)| match plan.measure.wade.unit {
        // Single answers may be less than a sequence; a step below 1 would let the score exceed 1.
        StepUnit::Sequences => point.seen.max(1.0),
        StepUnit::Updates => point.updates as f64,
        StepUnit::Evaluations => (i + 1) as f64,
        // The released notebook: 1 + i·8/m for evaluation i, where m is the mean number of answers of a sequence.
        StepUnit::MeanSequences => {
            1.0 + (i * plan.measure.evaluations.every) as f64
                / data.answers_per_sequence.max(f64::MIN_POSITIVE)
        }
    };
    let points = curve.iter().filter(|point| point.seen > 0.0).enumerate();
    points.map(|(i, point)| Evaluated { step: step((i, point)), accuracy: accuracy(point.correct) }).collect()
}

fn curve_facts(curve: &[CurvePoint]) -> Value {
    // What was seen is in fractions of a sequence where answers are observed one by one.
    let rounded = |x: f64| (x * 1000.0).round() / 1000.0;
    let seen: Vec<f64> = curve.iter().map(|point| rounded(point.seen)).collect();
    let correct: Vec<usize> = curve.iter().map(|point| point.correct).collect();
    let updates: Vec<u64> = curve.iter().map(|point| point.updates).collect();
    json!({ "seen": seen, "updates": updates, "correct": correct })
}

/// The definition of the score, the time to every tenth, and how the score converges as thresholds are refined.
fn wade_facts(wade: &Wade, curve: &[Evaluated]) -> Value {
    let tenths = Wade { thresholds: wug_score::wade::Thresholds::up_to_one(10), ..*wade };
    let mut facts = json!({ "definition": wade, "time_to": tenths.times(curve) });
    // Other thresholds and weights converge to something else.
    if wade.converges() {
        facts["refined"] = json!(wade.refined(curve, &REFINED));
        facts["limit"] = json!(limit(curve));
    }
    facts
}
