//! Metrics of arrays.

use std::panic::resume_unwind;
use std::thread;

use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use wug_lab::dataset::Labelled;
use wug_lab::score::metric::{
    EXAMPLE_METRICS, NextMarks, agreement as agreement_with, description_lengths, learning_speed,
    next_symbol_scores, pair_accuracies, perplexity_of,
};
use wug_lab::score::pairs::StringScore;
use wug_lab::score::strata::Margin;
use wug_lab::score::wade::{AccuracyPoint, StepUnit, WadeMeasure};
use wug_lab::score::{
    Acceptance, Example, Prediction, Score, StepRule, StringSteps, Verdict, accepted_strings, correct_steps,
    generalization_index, mean_inverse_length,
};

use crate::errors::usage;
use crate::language::PyLanguage;
use crate::numbers::{reals, split, whole, words};

/// How many numbers the strings have, with so many per prefix; there is one prefix more than symbols.
fn prefixes(lengths: &[u8], each: usize) -> Vec<i64> {
    whole(lengths).iter().map(|length| length.saturating_add(1).saturating_mul(each as i64)).collect()
}

fn shown(score: &Score) -> Value {
    json!({ "value": score.value(), "chance": score.chance, "n": score.totals.n, "unit": score.metric.unit.name() })
}

/// Does something for each of `0..n` on all processors; what comes of it, in order. Steps of a large test are many.
fn on_threads<T: Send>(n: usize, each: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    // Consecutive parts, put together in order: sums do not depend on the number of processors.
    let (size, each) = (n.div_ceil(threads).max(1), &each);
    thread::scope(|scope| {
        let part =
            |from: usize| scope.spawn(move || (from..n.min(from + size)).map(each).collect::<Vec<T>>());
        let parts: Vec<_> = (0..n).step_by(size).map(part).collect();
        let joined = parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.flatten().collect()
    })
}

/// Every metric of recognition and language modelling that applies, by name, as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "arrays")]
pub(crate) fn examples(
    py: Python<'_>,
    language: &PyLanguage,
    ids: &[u8],
    lengths: &[u8],
    labels: &[u8],
    log_odds: Option<&[u8]>,
    log_probs: Option<&[u8]>,
    drawn: Option<(usize, usize)>,
) -> PyResult<String> {
    let alphabet = language.oracle.alphabet();
    let words = words(ids, lengths, alphabet)?;
    let n = words.len();
    if labels.len() != n {
        return Err(usage(format!("there are {n} strings and {} labels", labels.len())));
    }
    let log_odds = log_odds.map(reals);
    if log_odds.as_ref().is_some_and(|all| all.len() != n) {
        return Err(usage(format!("there must be one number per string, {n}")));
    }
    let log_probs = log_probs.map(reals);
    let log_probs = log_probs.as_deref().map(|all| split(all, &prefixes(lengths, 1))).transpose()?;
    let scored = py.detach(|| {
        let truths: Vec<Labelled> =
            words.into_iter().zip(labels).map(|(word, &label)| Labelled::new(word, label > 0)).collect();
        let predicted = |i: usize| Prediction {
            recognition: log_odds.as_ref().map(|all| Verdict::Logit(all[i])),
            log_probs: log_probs.as_ref().filter(|_| truths[i].label).map(|all| all[i].to_vec()),
            next: None,
        };
        let predictions: Vec<Prediction> = (0..n).map(predicted).collect();
        let sampler = match (drawn, &log_probs) {
            (Some((low, high)), Some(_)) => {
                Some(language.oracle.by_length(low..=high).map_err(|error| error.to_string())?)
            }
            _ => None,
        };
        let members = truths.iter().filter(|truth| truth.label);
        let inverse = mean_inverse_length(members.map(|truth| truth.word.len()));
        let mut examples = Vec::with_capacity(n);
        for (truth, prediction) in truths.iter().zip(&predictions) {
            let example = Example::new(truth, prediction, alphabet).map_err(|error| error.to_string())?;
            examples.push(match (&sampler, inverse) {
                (Some(sampler), Some(inverse)) if truth.label => {
                    example.drawn_from(sampler.as_ref(), inverse)
                }
                _ => example,
            });
        }
        Ok(by_name(EXAMPLE_METRICS.iter().map(|metric| metric.score(&examples)).filter(|s| s.totals.n > 0)))
    });
    scored.map_err(|error: String| usage(error))
}

/// The numbers of a row, which has the end first, with the end last.
fn end_last(row: &[[u8; 8]]) -> impl Iterator<Item = f64> {
    // Arrays have the end in column 0, as models number it; predictions have it after the symbols.
    row[1..].iter().chain(&row[..1]).map(|cell| f64::from_ne_bytes(*cell))
}

/// Every metric of next-symbol sets, by name, as JSON.
#[pyfunction]
pub(crate) fn next_symbols(
    py: Python<'_>,
    language: &PyLanguage,
    ids: &[u8],
    lengths: &[u8],
    logits: &[u8],
) -> PyResult<String> {
    let alphabet = language.oracle.alphabet();
    let words = words(ids, lengths, alphabet)?;
    let choices = alphabet.len() + 1;
    let rows = split(logits.as_chunks::<8>().0, &prefixes(lengths, choices))?;
    let marks = |i: usize| {
        let sets = language.oracle.next_sets(&words[i]);
        NextMarks::of_logits(&sets, choices, rows[i].chunks_exact(choices).map(end_last))
    };
    Ok(py.detach(|| by_name(next_symbol_scores(&on_threads(words.len(), marks)))))
}

/// Steps of strings scored by a rule: accuracy, acceptance, and for each string the steps scored and correct.
#[pyfunction]
pub(crate) fn steps(
    py: Python<'_>,
    language: &PyLanguage,
    ids: &[u8],
    lengths: &[u8],
    probs: &[u8],
    measure: &str,
    margin: f64,
) -> PyResult<String> {
    Margin::new(margin).map_err(usage)?;
    let rule = match measure {
        "deterministic" => StepRule::Deterministic { margin },
        "categorical" => StepRule::Categorical { margin },
        other => {
            return Err(usage(format!(
                "there is no measure `{other}`; there are: deterministic, categorical"
            )));
        }
    };
    let alphabet = language.oracle.alphabet();
    let words = words(ids, lengths, alphabet)?;
    let choices = alphabet.len() + 1;
    let rows = split(probs.as_chunks::<8>().0, &prefixes(lengths, choices))?;
    let of = |i: usize| {
        let mut steps = StringSteps::default();
        let mut probs = vec![0.0; choices];
        for (set, row) in language.oracle.next_sets(&words[i]).iter().zip(rows[i].chunks_exact(choices)) {
            if rule.scores(set) {
                probs.iter_mut().zip(row).for_each(|(p, cell)| *p = f64::from_ne_bytes(*cell));
                steps.count(rule.is_correct(set, &probs), 1);
            }
        }
        steps
    };
    let strings: Vec<StringSteps> = py.detach(|| on_threads(words.len(), of));
    let solved = Acceptance::ALL
        .map(|rule_of| (rule_of.name().to_owned(), json!(rule_of.holds(&strings, rule.forgiven()))));
    Ok(json!({
        "accuracy": correct_steps(&strings).value(),
        "acceptance": accepted_strings(&strings, rule.forgiven()).value(),
        "solved": Map::from_iter(solved),
        "scored": strings.iter().map(|steps| steps.scored).collect::<Vec<_>>(),
        "correct": strings.iter().map(|steps| steps.correct).collect::<Vec<_>>(),
    })
    .to_string())
}

fn by_name(scores: impl IntoIterator<Item = Score>) -> String {
    let shown = scores.into_iter().map(|score| (score.metric.name.to_owned(), shown(&score)));
    Value::Object(shown.collect()).to_string()
}

/// The accuracies of pairs, from the log-probabilities of symbols.
#[pyfunction]
pub(crate) fn pairs(
    py: Python<'_>,
    good: &[u8],
    good_lengths: &[u8],
    bad: &[u8],
    bad_lengths: &[u8],
) -> PyResult<String> {
    let (good, bad) = (reals(good), reals(bad));
    let (good, bad) = (split(&good, &whole(good_lengths))?, split(&bad, &whole(bad_lengths))?);
    if good.len() != bad.len() {
        return Err(usage(format!("there are {} good strings and {} bad ones", good.len(), bad.len())));
    }
    let pair = |i: usize| [good[i], bad[i]].map(StringScore::new);
    Ok(py.detach(|| by_name(pair_accuracies(&on_threads(good.len(), pair)))))
}

/// The perplexity of strings, from the log-probabilities of symbols.
#[pyfunction]
pub(crate) fn perplexity(log_probs: &[u8], lengths: &[u8]) -> PyResult<String> {
    let logs = reals(log_probs);
    Ok(by_name([perplexity_of(&split(&logs, &whole(lengths))?)]))
}

/// The measures of a learning curve.
#[pyfunction]
pub(crate) fn wade(
    steps: Vec<f64>,
    accuracies: Vec<f64>,
    variant: &str,
    chance: Option<f64>,
) -> PyResult<String> {
    let wade = WadeMeasure::named(variant, StepUnit::Sequences).ok_or_else(|| {
        usage(format!("there is no variant `{variant}`; there are: {}", WadeMeasure::NAMES.join(", ")))
    })?;
    let curve: Vec<AccuracyPoint> =
        steps.into_iter().zip(accuracies).map(|(step, accuracy)| AccuracyPoint { step, accuracy }).collect();
    Ok(by_name(learning_speed(&wade, &curve, chance)))
}

/// How far outputs are those of a rule, by whether each is.
#[pyfunction]
pub(crate) fn agreement(matches: Vec<bool>) -> String {
    by_name(agreement_with(&matches))
}

/// The description length of examples, from the nats of their blocks.
#[pyfunction]
pub(crate) fn description_length(nats: Vec<f64>, examples: usize) -> String {
    by_name(description_lengths(&nats, examples))
}

/// The index: the largest factor that is solved.
#[pyfunction]
pub(crate) fn index(solved: Vec<(usize, bool)>) -> Option<usize> {
    generalization_index(solved)
}
