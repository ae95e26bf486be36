//! Cross-entropies and accuracies against those of the authors' own code (Butoi et al. 2025) for the same
//! logits. The file is not part of the project: the test fails if it is not in the directory that `WUG_SHARED` names.
//! Without that variable it is looked for beside the project, and the test is skipped if it is not there.

#![expect(clippy::unwrap_used, reason = "a broken golden file should fail the test")]

use std::path::PathBuf;

use serde_json::Value;
use wug_dataset::Labelled;
use wug_language::{Alphabet, NextSet, Symbol};
use wug_score::metric::{
    LANGUAGE_MODELING_CROSS_ENTROPY, NEXT_SYMBOLS_CROSS_ENTROPY, NEXT_SYMBOLS_SET_ACCURACY,
    NEXT_SYMBOLS_SYMBOL_ACCURACY, RECOGNITION_ACCURACY, RECOGNITION_CROSS_ENTROPY,
};
use wug_score::{Example, ExampleMetric, NextAnswer, Prediction, Ratio};

/// The alphabet is `a`, `b`; in the file the end has the index after them.
const END: usize = 2;

fn golden() -> Option<Value> {
    let given = std::env::var_os("WUG_SHARED");
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = given.as_ref().map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(shared.join("golden/flare_golden.json")) else {
        assert!(given.is_none(), "golden/flare_golden.json is not in WUG_SHARED, {}", shared.display());
        #[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
        {
            eprintln!("skipped: flare_golden.json is not here");
        }
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// A number, or a Boolean as one.
fn number(value: &Value) -> f64 {
    value.as_bool().map_or_else(|| value.as_f64().unwrap(), f64::from)
}

fn indices(value: &Value) -> Vec<usize> {
    numbers(value).into_iter().map(|x| x as usize).collect()
}

fn next_set(value: &Value) -> NextSet {
    let indices = indices(value);
    let symbols = indices.iter().filter(|&&i| i != END).map(|&i| Symbol(i as u16));
    NextSet::of(symbols).with_end(indices.contains(&END))
}

fn truths(case: &Value) -> Vec<Labelled> {
    let strings = case["strings"].as_array().unwrap().iter();
    let labels = case["labels"].as_array().unwrap().iter().map(|l| l.as_bool().unwrap());
    let sets = case["next_symbols"].as_array().unwrap().iter();
    strings
        .zip(labels)
        .zip(sets)
        .map(|((string, label), sets)| {
            let word = indices(string).into_iter().map(|i| Symbol(i as u16)).collect();
            let next = sets.as_array().map(|sets| sets.iter().map(next_set).collect());
            Labelled { next, ..Labelled::new(word, label) }
        })
        .collect()
}

/// The rows of logits at the prefixes of a string; what lies beyond its end is padding.
fn rows(logits: &Value, prefixes: usize) -> Vec<Vec<f64>> {
    logits.as_array().unwrap()[..prefixes].iter().map(numbers).collect()
}

fn log_softmax(row: &[f64], index: usize) -> f64 {
    row[index] - row.iter().map(|x| x.exp()).sum::<f64>().ln()
}

/// The file has logits of next symbols for members alone.
fn predictions(case: &Value, truths: &[Labelled]) -> Vec<Prediction> {
    let mut positive = 0;
    let answers = truths.iter().zip(numbers(&case["recognition_logits"])).map(|(truth, logit)| {
        let mut prediction = Prediction::of_logit(logit);
        if truth.label {
            let targets: Vec<usize> = truth.word.iter().map(|s| s.index()).chain([END]).collect();
            if let Some(logits) = case["lm_logits"].get(positive) {
                let rows = rows(logits, targets.len());
                let logs = rows.iter().zip(&targets).map(|(row, &target)| log_softmax(row, target));
                prediction.log_probs = Some(logs.collect());
            }
            let logits = case["ns_logits"].get(positive);
            prediction.next = logits.map(|logits| NextAnswer::Logits(rows(logits, targets.len())));
            positive += 1;
        }
        prediction
    });
    answers.collect()
}

/// The parts as the released evaluation writes them: numerators, and denominators unless all are one.
fn published(case: &Value, metric: &ExampleMetric) -> Option<Vec<Ratio>> {
    let pair = case["per_example"].get(metric.metric.name)?.as_array().unwrap();
    let numerators = numbers(&pair[0]);
    let denominators = if pair[1].is_null() { vec![1.0; numerators.len()] } else { numbers(&pair[1]) };
    Some(numerators.into_iter().zip(denominators).map(|(n, d)| Ratio::new(n, d)).collect())
}

#[test]
fn every_part_is_that_of_the_released_code() {
    let Some(golden) = golden() else { return };
    let alphabet = Alphabet::new(["a", "b"]);
    let mut compared = 0;
    for case in golden["cases"].as_array().unwrap() {
        let truths = truths(case);
        let predictions = predictions(case, &truths);
        let pairs = truths.iter().zip(&predictions);
        let examples: Vec<Example<'_>> = pairs.map(|(t, p)| Example::new(t, p, &alphabet).unwrap()).collect();
        let mut loss = 0.0;
        for (metric, weight) in [
            (&RECOGNITION_CROSS_ENTROPY, 1.0),
            (&LANGUAGE_MODELING_CROSS_ENTROPY, number(&case["lambda_lm"])),
            (&NEXT_SYMBOLS_CROSS_ENTROPY, number(&case["lambda_ns"])),
            (&RECOGNITION_ACCURACY, 0.0),
            (&NEXT_SYMBOLS_SYMBOL_ACCURACY, 0.0),
            (&NEXT_SYMBOLS_SET_ACCURACY, 0.0),
        ] {
            let ours = metric.ratios(&examples);
            let theirs = published(case, metric).unwrap_or_default();
            assert_eq!(ours.len(), theirs.len(), "{} {}", case["variant"], metric.metric.name);
            for (a, b) in ours.iter().zip(&theirs) {
                assert!((a.numerator - b.numerator).abs() < 1e-12, "{}: {a:?} {b:?}", metric.metric.name);
                assert!((a.denominator - b.denominator).abs() < 1e-12, "{}: {a:?} {b:?}", metric.metric.name);
                compared += 1;
            }
            loss += weight * metric.score(&examples).totals.numerator;
        }
        // The loss that is minimised divides all three by the number of strings, negatives included.
        let loss = loss / examples.len() as f64;
        assert!((loss - number(&case["loss"])).abs() < 1e-12, "{} {loss}", case["variant"]);
    }
    assert!(compared > 100, "only {compared} parts compared");
}
