//! What was measured: agreement with each rule, and description lengths with the nats of every block.

use serde_json::{Value, json};
use wug_score::metric::{
    AGREEMENT_WITH_NONE, DESCRIPTION_LENGTH, DESCRIPTION_LENGTH_BITS, DESCRIPTION_LENGTH_PER_EXAMPLE,
    agreement as agreement_with, bits,
};
use wug_score::{Measurement, Metric, Ratio, Stratum, Totals};

use super::checkpoint::{Done, First};
use super::data::Data;
use super::describe::Blocks;
use super::keep::keep_predictions;
use super::{PreferencePlan, RuleMeasure};
use crate::LabError;
use crate::context::RunContext;
use crate::protocol::Outcome;

/// The split of the training pairs.
pub(super) const TRAINING: &str = "training";
/// The split of the hold-out inputs; with the name of a rule after it, its outputs are the truth.
pub(super) const HOLDOUT: &str = "holdout";
/// How many outputs a result has at most.
const SHOWN: usize = 50;

/// The outcome of a run that is done.
pub(super) fn outcome(
    plan: &PreferencePlan,
    data: &Data,
    blocks: &Blocks<'_>,
    done: &Done,
    context: &mut dyn RunContext,
) -> Result<Outcome, LabError> {
    let first = done.first.as_ref().ok_or_else(|| LabError::internal("no training was done"))?;
    let (mut scores, mut facts) = (Vec::new(), data.facts.clone());
    if plan.measure.has(RuleMeasure::Agreement) {
        scores.extend(agreement(data, first));
    }
    if plan.measure.has(RuleMeasure::DescriptionLength) {
        scores.extend(description_lengths(data, blocks, done));
    }
    keep_predictions(data, blocks, first, done, context)?;
    if let Value::Object(facts) = &mut facts {
        let shown = first.holdout.iter().take(SHOWN);
        let shown: Vec<String> = shown.map(|output| data.encoding.show(&data.task, output)).collect();
        facts.insert("outputs".to_owned(), json!(shown));
        facts.insert("trainings".to_owned(), json!(done.trainings));
        if let Some((training, _)) = &done.bad {
            facts.insert("first_bad_training".to_owned(), json!(training + 1));
        }
    }
    Ok(Outcome {
        ending: done.ending(),
        parameters: first.parameters,
        data: facts,
        curve: first.curve.clone(),
        scores,
        hardest: Vec::new(),
        strings: Vec::new(),
    })
}

pub(super) fn split(rule: &str) -> String {
    format!("{HOLDOUT}/{rule}")
}

fn score(split: &str, metric: &'static Metric, ratios: &[Ratio]) -> Measurement {
    Measurement::new(split, Stratum::All, &metric.measured(Totals::of(ratios), None))
}

fn agreement(data: &Data, first: &First) -> Vec<Measurement> {
    let (task, encoding) = (&data.task, data.encoding);
    let mut scores = Vec::new();
    let mut compare = |split: &str, matches: &[bool]| {
        scores.extend(agreement_with(matches).map(|score| Measurement::new(split, Stratum::All, &score)));
        matches.iter().all(|&same| same)
    };
    let trained = task.train.iter().zip(&first.training);
    compare(
        TRAINING,
        &trained.map(|(pair, output)| encoding.word(&pair.output) == *output).collect::<Vec<_>>(),
    );
    let mut any = false;
    for rule in &task.rules {
        let answers = rule.outputs.iter().zip(&first.holdout);
        let matches: Vec<bool> = answers.map(|(answer, output)| encoding.word(answer) == *output).collect();
        // Not `||`: every rule is scored.
        any |= compare(&split(&rule.name), &matches);
    }
    scores.push(score(HOLDOUT, &AGREEMENT_WITH_NONE, &[Ratio::correct(!any)]));
    scores
}

fn description_lengths(data: &Data, blocks: &Blocks<'_>, done: &Done) -> Vec<Measurement> {
    let mut scores = Vec::new();
    for (rule, nats) in data.task.rules.iter().zip(&done.nats) {
        let split = split(&rule.name);
        // JSON has no infinity: checkpoints have none in its place.
        let value = |nats: Option<f64>| nats.unwrap_or(f64::INFINITY);
        // The sum of no blocks is -0.0, which would be shown with its sign.
        let total: f64 = nats.iter().map(|&nats| value(nats)).sum::<f64>() + 0.0;
        let n = blocks.sent(blocks.count()).len();
        let mut add = |stratum: Stratum, metric: &'static Metric, totals: Totals| {
            scores.push(Measurement::new(&split, stratum, &metric.measured(totals, None)));
        };
        let whole = |numerator: f64| Totals { numerator, denominator: 1.0, n };
        add(Stratum::All, &DESCRIPTION_LENGTH, whole(total));
        add(Stratum::All, &DESCRIPTION_LENGTH_BITS, whole(bits(total)));
        let per_example = Totals { numerator: total, denominator: n as f64, n };
        add(Stratum::All, &DESCRIPTION_LENGTH_PER_EXAMPLE, per_example);
        for (block, &nats) in nats.iter().enumerate() {
            let totals = Totals { numerator: value(nats), denominator: 1.0, n: blocks.block(block).len() };
            add(Stratum::Block(block + 1), &DESCRIPTION_LENGTH, totals);
        }
    }
    scores
}
