//! Results that nobody ran.

#![allow(dead_code, reason = "each test uses its part of this module")]

use wug_score::metric::{RECOGNITION_ACCURACY, RECOGNITION_CROSS_ENTROPY};
use wug_score::{Ending, FORMAT, Measurement, Metric, Ratio, Reading, Run, RunResult, Score, Stratum, Tally};

/// A measurement of a value that is the mean of so many examples.
pub(crate) fn measured(split: &str, stratum: Stratum, metric: &'static Metric, value: f64) -> Measurement {
    let tally = Tally::of(&[Ratio::once(value)]);
    let chance = metric.higher_is_better().then_some(0.5);
    Measurement::new(split, stratum, &Score { metric, tally, spread: Some(0.1), chance, interval: None })
}

/// The accuracy on a split.
pub(crate) fn accuracy(split: &str, value: f64) -> Measurement {
    measured(split, Stratum::All, &RECOGNITION_ACCURACY, value)
}

/// The cross-entropy on a split.
pub(crate) fn cross_entropy(split: &str, value: f64) -> Measurement {
    measured(split, Stratum::All, &RECOGNITION_CROSS_ENTROPY, value)
}

/// A run of FLaRe that measured this.
pub(crate) fn flare(at: [&str; 4], seed: u64, scores: Vec<Measurement>) -> RunResult {
    let [language, learner, loss, validation] = at;
    RunResult {
        format: FORMAT,
        run: Run {
            plan: format!("{language}-{learner}-{loss}-{validation}-{seed}"),
            suite: "flare".to_owned(),
            language: language.to_owned(),
            learner: learner.to_owned(),
            size: Some(64_000),
            loss: Some(loss.to_owned()),
            validation: Some(validation.to_owned()),
            seed,
            reading: Reading::Published,
            version: "0.1.0".to_owned(),
            data_hash: format!("data of {language}"),
        },
        plan: serde_json::Value::Null,
        ending: Ending::Finished,
        parameters: Some(63_713),
        data: serde_json::Value::Null,
        curve: Vec::new(),
        scores,
        hardest: Vec::new(),
        strings: Vec::new(),
    }
}

/// A run of FLaRe of which only the test accuracy is known.
pub(crate) fn scored(at: [&str; 4], seed: u64, test: f64) -> RunResult {
    flare(at, seed, vec![accuracy("test", test)])
}

/// The rows of a printed table, without its head.
pub(crate) fn printed(text: &'static str) -> Vec<Vec<&'static str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}
