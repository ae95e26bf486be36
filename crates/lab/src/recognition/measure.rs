//! The scores of a trained recognizer on a split: as a whole, and by length, label, kind of negative, edits and distance.

use std::collections::BTreeMap;

use wug_dataset::Seed;
use wug_learner::interface::{Recognizer, RecognizerOutput};
use wug_score::metric::{EXAMPLE_METRICS, ExampleMetric, RECOGNITION_ACCURACY, RECOGNITION_CROSS_ENTROPY};
use wug_score::strata::{NegativeKind, Windows, by_distance, by_edits, by_kind, by_label};
use wug_score::{
    Bootstrap, Example, Measurement, NextAnswer, Prediction, ScoredString, Stratum, Verdict,
    mean_inverse_length, stratify,
};

use super::data::{Data, EncodedSplit};
use crate::LabError;
use crate::keep::{NextSymbols, Predicted, Predictions};

/// The measurements of a split, and its strings with their cross-entropy.
pub(super) struct MeasuredSplit {
    pub(super) scores: Vec<Measurement>,
    pub(super) strings: Vec<ScoredString>,
}

/// How many of the strings with the highest cross-entropy a result has, of each label.
const HARDEST: usize = 10;

/// How finely a split is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    Whole,
    /// By stratum too, with intervals.
    Parts,
}

/// Evaluates every string of a split.
pub(super) fn measure(
    recognizer: &mut dyn Recognizer,
    data: &Data,
    part: &EncodedSplit,
    detail: Detail,
    seed: Seed,
    kept: &mut Predictions,
) -> Result<MeasuredSplit, LabError> {
    let texts: Vec<&[u32]> = part.strings.iter().map(Vec::as_slice).collect();
    let truths = &part.split.examples;
    let outputs = recognizer.predict(&texts, &|i| truths[i].label)?;
    let predictions: Vec<Prediction> = outputs.into_iter().map(prediction).collect();
    let examples = examples(data, part, &predictions)?;
    let name = part.split.name.as_str();
    keep(kept, data, name, &examples)?;
    let bootstrap =
        Bootstrap::new(seed.derive(name), 1000, 0.95).map_err(|e| LabError::Usage(e.to_string()))?;
    let mut scores = Vec::new();
    for metric in EXAMPLE_METRICS {
        let recognition = [&RECOGNITION_ACCURACY, &RECOGNITION_CROSS_ENTROPY].contains(metric);
        let score = if recognition && detail == Detail::Parts {
            metric.score_with_interval(&examples, &bootstrap)
        } else {
            metric.score(&examples)
        };
        // Metrics that apply to no string of the split are left out.
        if score.totals.n > 0 {
            scores.push(Measurement::new(name, Stratum::All, &score));
        }
    }
    if detail == Detail::Parts {
        strata(&examples, name, &mut scores);
    }
    Ok(MeasuredSplit { scores, strings: strings(data, name, &examples) })
}

/// Keeps the predictions for all strings of a split, if they are wanted.
fn keep(kept: &mut Predictions, data: &Data, split: &str, examples: &[Example<'_>]) -> Result<(), LabError> {
    let wanted = kept.wanted();
    for example in examples.iter().filter(|_| wanted) {
        let (truth, prediction) = (example.truth(), example.prediction());
        let log_odds = match prediction.recognition {
            Some(Verdict::Logit(z)) => Some(z),
            _ => None,
        };
        let next = match (&truth.next, &prediction.next) {
            (Some(allowed), Some(NextAnswer::Logits(log_odds))) => Some(NextSymbols { allowed, log_odds }),
            _ => None,
        };
        kept.add(&Predicted {
            split,
            string: data.language.alphabet().format(&truth.word),
            length: truth.word.len(),
            truth: Some(truth),
            kind: NegativeKind::of(truth),
            log_odds,
            log_probs: prediction.log_probs.as_deref(),
            sampler_log_prob: example.sampler_log_prob(),
            choices: Some(example.choices()),
            next,
            ..Predicted::default()
        })?;
    }
    Ok(())
}

fn prediction(output: RecognizerOutput) -> Prediction {
    Prediction {
        recognition: Some(Verdict::Logit(output.log_odds)),
        log_probs: output.log_probs,
        next: output.next.map(|rows| NextAnswer::Logits(rows.into_iter().map(end_last).collect())),
    }
}

/// A row in the order of scores and exports: symbols, then the end. Ids begin with the end.
fn end_last(mut row: Vec<f64>) -> Vec<f64> {
    row.rotate_left(1);
    row
}

/// Strings with their predictions; members with their exact probability if the sampler is known and the model has a
/// language-modelling head.
fn examples<'a>(
    data: &Data,
    part: &'a EncodedSplit,
    predictions: &'a [Prediction],
) -> Result<Vec<Example<'a>>, LabError> {
    let modelled = predictions.iter().any(|p| p.log_probs.is_some());
    // Only for models that tell probabilities: a sampler of lengths up to 500 has large tables.
    let sampler = match &part.lengths {
        Some(lengths) if modelled => data.language.by_length(lengths.clone()).ok(),
        _ => None,
    };
    let lengths = part.split.examples.iter().filter(|e| e.label).map(|e| e.word.len());
    let inverse = mean_inverse_length(lengths);
    let pairs = part.split.examples.iter().zip(predictions);
    pairs
        .map(|(truth, prediction)| {
            let example = Example::new(truth, prediction, data.language.alphabet())
                .map_err(|error| LabError::Usage(error.to_string()))?;
            Ok(match (&sampler, inverse) {
                (Some(sampler), Some(inverse)) if truth.label => {
                    example.drawn_from(sampler.as_ref(), inverse)
                }
                _ => example,
            })
        })
        .collect()
}

fn strata(examples: &[Example<'_>], split: &str, scores: &mut Vec<Measurement>) {
    let mut add = |strata: BTreeMap<Stratum, Vec<Example<'_>>>, metrics: &[&'static ExampleMetric]| {
        for (stratum, part) in strata {
            for metric in metrics {
                scores.push(Measurement::new(split, stratum, &metric.score(&part)));
            }
        }
    };
    let both = [&RECOGNITION_ACCURACY, &RECOGNITION_CROSS_ENTROPY];
    add(stratify(examples, |e| by_label(e.truth())), &both);
    add(stratify(examples, |e| by_kind(e.truth())), &both);
    add(stratify(examples, |e| by_edits(e.truth())), &both);
    add(stratify(examples, |e| by_distance(e.truth())), &both);
    // Windows as in the paper's Figure 3, which ends at 500; longer strings need more of them.
    let last = examples.iter().map(|e| e.truth().word.len()).max().unwrap_or(0).next_multiple_of(10);
    let windows = Windows { last, ..Windows::PUBLISHED };
    add(stratify(examples, |e| windows.of(e.truth().word.len())), &both);
}

fn strings(data: &Data, split: &str, examples: &[Example<'_>]) -> Vec<ScoredString> {
    let scored = |example: &Example<'_>| {
        let truth = example.truth();
        let cross_entropy = RECOGNITION_CROSS_ENTROPY.ratio(example).and_then(wug_score::Ratio::value);
        ScoredString {
            split: split.to_owned(),
            string: data.language.alphabet().format(&truth.word),
            label: truth.label,
            edits: truth.edits,
            distance: truth.distance,
            cross_entropy,
        }
    };
    examples.iter().map(scored).collect()
}

/// The strings with the highest cross-entropy, of each label.
pub(super) fn hardest(mut strings: Vec<ScoredString>) -> Vec<ScoredString> {
    let loss = |s: &ScoredString| s.cross_entropy.unwrap_or(f64::INFINITY);
    strings.sort_by(|a, b| loss(b).total_cmp(&loss(a)).then_with(|| a.string.cmp(&b.string)));
    // The published test repeats strings: one that is hard would fill the list.
    strings.dedup_by(|a, b| a.string == b.string);
    let of = |label: bool| strings.iter().filter(move |s| s.label == label).take(HARDEST).cloned();
    of(true).chain(of(false)).collect()
}
