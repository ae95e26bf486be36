//! Metrics of arrays.

use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use wug_lab::dataset::Labelled;
use wug_lab::score::metric::EXAMPLE_METRICS;
use wug_lab::score::strata::Margin;
use wug_lab::score::{
    Acceptance, Example, NextAnswer, Prediction, Score, StepRule, StringSteps, Verdict, accepted_strings,
    correct_steps, generalization_index, mean_inverse_length,
};

use crate::errors::usage;
use crate::language::Language;
use crate::numbers::{reals, split, whole, words};

fn shown(score: &Score) -> Value {
    json!({ "value": score.value(), "chance": score.chance, "n": score.totals.n, "unit": score.metric.unit.name() })
}

/// Every metric that scores strings one by one and applies, by name, as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "arrays")]
pub(crate) fn examples(
    py: Python<'_>,
    language: &Language,
    ids: &[u8],
    lengths: &[u8],
    labels: &[u8],
    log_odds: Option<&[u8]>,
    log_probs: Option<&[u8]>,
    next_logits: Option<&[u8]>,
    drawn: Option<(usize, usize)>,
) -> PyResult<String> {
    let alphabet = language.oracle.alphabet();
    let words = words(ids, lengths, alphabet)?;
    let (n, choices) = (words.len(), alphabet.len() + 1);
    if labels.len() != n {
        return Err(usage(format!("there are {n} strings and {} labels", labels.len())));
    }
    let log_odds = log_odds.map(reals);
    if log_odds.as_ref().is_some_and(|all| all.len() != n) {
        return Err(usage(format!("there must be one number per string, {n}")));
    }
    // One number, or one row, per prefix: one more than symbols.
    let prefixes: Vec<i64> = whole(lengths).iter().map(|length| length + 1).collect();
    let log_probs = log_probs.map(reals);
    let log_probs = log_probs.as_deref().map(|all| split(all, &prefixes)).transpose()?;
    let next = next_logits.map(reals);
    let cells: Vec<i64> = prefixes.iter().map(|n| n * choices as i64).collect();
    let next = next.as_deref().map(|all| split(all, &cells)).transpose()?;
    let mut predictions = Vec::with_capacity(n);
    for i in 0..n {
        // Rows have the end first; inside it comes last.
        let row = |row: &[f64]| [&row[1..], &row[..1]].concat();
        let rows = |cells: &[f64]| NextAnswer::Logits(cells.chunks_exact(choices).map(row).collect());
        predictions.push(Prediction {
            recognition: log_odds.as_ref().map(|all| Verdict::Logit(all[i])),
            log_probs: log_probs.as_ref().map(|all| all[i].to_vec()),
            next: next.as_ref().map(|all| rows(all[i])),
        });
    }
    let scored = py.detach(|| {
        let with_next = next.is_some();
        let truths: Vec<Labelled> = (words.into_iter().zip(labels))
            .map(|(word, &label)| {
                let sets = (with_next && label > 0).then(|| language.oracle.next_sets(&word));
                Labelled { next: sets, ..Labelled::new(word, label > 0) }
            })
            .collect();
        let sampler = match (drawn, &log_probs) {
            (Some((low, high)), Some(_)) => {
                Some(language.oracle.by_length(low..=high).map_err(|error| error.to_string())?)
            }
            _ => None,
        };
        let inverse = mean_inverse_length(truths.iter().filter(|t| t.label).map(|t| t.word.len()));
        let mut examples = Vec::with_capacity(n);
        for (truth, prediction) in truths.iter().zip(&mut predictions) {
            if !truth.label {
                (prediction.log_probs, prediction.next) = (None, None);
            }
        }
        for (truth, prediction) in truths.iter().zip(&predictions) {
            let example = Example::new(truth, prediction, alphabet).map_err(|error| error.to_string())?;
            examples.push(match (&sampler, inverse) {
                (Some(sampler), Some(inverse)) if truth.label => {
                    example.drawn_from(sampler.as_ref(), inverse)
                }
                _ => example,
            });
        }
        let scores = EXAMPLE_METRICS.iter().map(|metric| metric.score(&examples));
        let applies = scores.filter(|score| score.totals.n > 0);
        Ok(applies.map(|score| (score.metric.name.to_owned(), shown(&score))).collect::<Map<_, _>>())
    });
    let scored: Result<Map<String, Value>, String> = scored;
    Ok(Value::Object(scored.map_err(usage)?).to_string())
}

/// Steps of strings scored by a rule: accuracy, acceptance, and for each string the steps scored and correct.
#[pyfunction]
pub(crate) fn steps(
    py: Python<'_>,
    language: &Language,
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
    let probs = reals(probs);
    let cells: Vec<i64> = whole(lengths).iter().map(|length| (length + 1) * choices as i64).collect();
    let probs = split(&probs, &cells)?;
    let strings: Vec<StringSteps> = py.detach(|| {
        let of = |(word, rows): (&wug_lab::language::Word, &&[f64])| {
            let mut steps = StringSteps::default();
            for (set, row) in language.oracle.next_sets(word).iter().zip(rows.chunks_exact(choices)) {
                if rule.scores(set) {
                    steps.count(rule.is_correct(set, row), 1);
                }
            }
            steps
        };
        words.iter().zip(&probs).map(of).collect()
    });
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

/// The index: the largest factor that is solved.
#[pyfunction]
pub(crate) fn index(solved: Vec<(usize, bool)>) -> Option<usize> {
    generalization_index(solved)
}
