//! Checking labelled strings against the oracle.

use std::collections::{BTreeMap, BTreeSet};

use wug_language::{Language, LengthRange, NextSet, Reading, Word};

use crate::recognition::{TRAINING, default_splits, next_line, read, read_rows};
use crate::validation::{Findings, Validation};
use crate::{DataError, FileSource, Labelled, Split};

/// The length ranges that splits were drawn from, where they are known; otherwise those of the
/// published splits are assumed.
pub type Ranges = BTreeMap<String, LengthRange>;

/// How many transitions are tried at most to check the edit distances of a split: about a minute.
const DISTANCE_STEPS: f64 = 1e10;

/// The splits that a directory has, published ones first.
pub fn split_names(files: &dyn FileSource) -> Result<Vec<String>, DataError> {
    let paths = files.names().map_err(DataError::io("."))?;
    let found: BTreeSet<&str> = paths
        .iter()
        .filter_map(|name| match name.rsplit_once('/') {
            None if name == "main.tok" => Some(TRAINING),
            Some((folder, "main.tok" | "labels.txt")) => folder.strip_prefix("datasets/"),
            _ => None,
        })
        .collect();
    let mut names: Vec<String> =
        default_splits().into_iter().map(|s| s.name).filter(|name| found.contains(name.as_str())).collect();
    let others = found.iter().filter(|name| !names.iter().any(|n| n == *name)).map(|name| (*name).to_owned());
    let others: Vec<String> = others.collect();
    names.extend(others);
    Ok(names)
}

/// Checks a published directory: labels, next-symbol sets, edit counts and distances are errors if wrong;
/// balance, duplicates, overlap with training and log-probabilities are reported. `language` is the oracle,
/// built in the reading to check against.
pub fn validate(
    files: &dyn FileSource,
    name: &str,
    language: &dyn Language,
    reading: Reading,
    ranges: &Ranges,
) -> Result<Validation, DataError> {
    let splits = split_names(files)?;
    if splits.is_empty() {
        return Err(DataError::Missing {
            file: "main.tok".to_owned(),
            hint: " here nor under datasets/*/: not a FLaRe directory".to_owned(),
        });
    }
    check_splits("flare", &splits, name, language, reading, ranges, |split| {
        read(files, split, language.alphabet())
    })
}

/// Checks a directory of our own rows in the same way.
pub fn validate_rows(
    files: &dyn FileSource,
    name: &str,
    language: &dyn Language,
    reading: Reading,
    ranges: &Ranges,
) -> Result<Validation, DataError> {
    let paths = files.names().map_err(DataError::io("."))?;
    let mut splits: Vec<String> =
        paths.iter().filter_map(|file| file.strip_suffix(".jsonl")).map(str::to_owned).collect();
    if splits.is_empty() {
        let hint = ": no rows to check".to_owned();
        return Err(DataError::Missing { file: "*.jsonl".to_owned(), hint });
    }
    splits.sort_by_key(|split| (split != TRAINING, split.clone()));
    check_splits("jsonl", &splits, name, language, reading, ranges, |split| {
        read_rows(files, split, language.alphabet())
    })
}

fn check_splits(
    format: &str,
    splits: &[String],
    name: &str,
    language: &dyn Language,
    reading: Reading,
    ranges: &Ranges,
    read: impl Fn(&str) -> Result<Option<Split>, DataError>,
) -> Result<Validation, DataError> {
    let mut report = Validation::new(format, name, reading);
    let mut training: Option<BTreeSet<Word>> = None;
    for name in splits {
        let Some(split) = read(name)? else {
            report.unchecked(format!("{name}: there is no main.tok, so nothing could be checked"));
            continue;
        };
        let range = ranges.get(name).cloned().or_else(|| sampler_range(&split));
        let mut findings = check_split(&split, language, reading, range);
        match &training {
            Some(seen) => {
                let overlap = split.distinct().iter().filter(|word| seen.contains(**word)).count();
                findings.fact("overlap_with_training", overlap);
            }
            None if name == TRAINING => {
                training = Some(split.examples.iter().map(|e| e.word.clone()).collect());
            }
            None => {}
        }
        report.add(name, findings);
    }
    Ok(report)
}

fn check_split(
    split: &Split,
    language: &dyn Language,
    reading: Reading,
    range: Option<LengthRange>,
) -> Findings {
    let mut findings = Findings::default();
    let total = split.examples.len();
    findings.fact("examples", total);
    findings.fact("positives", split.positives());
    findings.fact("distinct", split.distinct().len());
    findings.fact("duplicates", total - split.distinct().len());
    findings.fact("tokens", split.examples.iter().map(|e| e.word.len()).sum::<usize>());
    let lengths = || split.examples.iter().map(|e| e.word.len());
    findings.fact("shortest", lengths().min());
    findings.fact("longest", lengths().max());
    findings.fact("perturbed_negatives", split.examples.iter().filter(|e| e.edits.is_some()).count());
    check_labels(split, language, &mut findings);
    check_next(split, language, &mut findings);
    check_distances(split, language, &mut findings);
    check_log_probs(split, language, reading, range, &mut findings);
    findings
}

fn check_labels(split: &Split, language: &dyn Language, findings: &mut Findings) {
    let wrong: Vec<(usize, &Labelled)> =
        split.examples.iter().enumerate().filter(|(_, e)| language.contains(&e.word) != e.label).collect();
    for (i, example) in &wrong {
        let verdict = if example.label { "labelled 1 but not a member" } else { "labelled 0 but a member" };
        findings.sample(|| {
            format!("line {}: {verdict}: {}", i + 1, shorten(&language.alphabet().format(&example.word)))
        });
    }
    findings.error("label_errors", wrong.len());
}

/// Next-symbol sets are compared on members alone: what may follow a prefix of a string that is wrongly
/// labelled is no question of the sets.
fn check_next(split: &Split, language: &dyn Language, findings: &mut Findings) {
    let (mut strings, mut positions, mut errors, mut wrong_strings) = (0, 0, 0, 0);
    for (i, example) in split.examples.iter().enumerate().filter(|(_, e)| e.label) {
        let Some(sets) = &example.next else { continue };
        if !language.contains(&example.word) {
            continue;
        }
        strings += 1;
        positions += sets.len();
        let exact = language.next_sets(&example.word);
        let wrong: Vec<usize> = (0..sets.len()).filter(|&t| sets[t] != exact[t]).collect();
        errors += wrong.len();
        wrong_strings += usize::from(!wrong.is_empty());
        if let Some(&t) = wrong.first() {
            let show = |set: &NextSet| next_line(std::slice::from_ref(set), language.alphabet());
            findings.sample(|| {
                format!(
                    "line {}, after {t} symbols: {} instead of {}",
                    i + 1,
                    show(&sets[t]),
                    show(&exact[t])
                )
            });
        }
    }
    findings.error("next_errors", errors);
    findings.fact("next_error_strings", wrong_strings);
    findings.fact("next_strings", strings);
    findings.fact("next_positions", positions);
}

fn check_distances(split: &Split, language: &dyn Language, findings: &mut Findings) {
    let known: Vec<&Labelled> = split.examples.iter().filter(|e| e.distance.is_some()).collect();
    if known.is_empty() {
        return;
    }
    let Some(dfa) = language.automaton() else {
        findings.unchecked(format!("{} edit distances: the language is not regular", known.len()));
        return;
    };
    let steps = known.iter().map(|e| e.word.len() as f64).sum::<f64>() * (dfa.states() + dfa.size()) as f64;
    let longest = known.iter().map(|e| e.word.len()).max().unwrap_or(0);
    if steps > DISTANCE_STEPS || dfa.check_nearest(longest).is_err() {
        findings.unchecked(format!(
            "{} edit distances of strings of up to {longest} symbols: that would take {steps:.1e} steps; the limit is {DISTANCE_STEPS:.0e}",
            known.len()
        ));
        return;
    }
    let exact = |e: &Labelled| dfa.nearest(&e.word).map(|near| near.distance);
    findings.error("distance_errors", known.iter().filter(|e| e.distance != exact(e)).count());
    // Edits made are an upper bound of the distance, so that fewer edits than that are an error.
    let beyond = |e: &&&Labelled| e.edits.is_some_and(|k| Some(k) < exact(e));
    findings.error("edits_below_distance", known.iter().filter(beyond).count());
}

/// Log-probabilities depend on the sampler that drew the strings; ours are exact, so differences are reported
/// and not counted as errors.
fn check_log_probs(
    split: &Split,
    language: &dyn Language,
    reading: Reading,
    range: Option<LengthRange>,
    findings: &mut Findings,
) {
    let known: Vec<&Labelled> = split.examples.iter().filter(|e| e.label && e.log_prob.is_some()).collect();
    let Some(range) = range.filter(|_| !known.is_empty()) else { return };
    if reading == Reading::Published && language.automaton().is_some() {
        // The released sums of pushed weights cannot be reproduced; they are no probabilities.
        findings.fact("log_probabilities_not_compared", known.len());
        return;
    }
    let distribution = match language.by_length(range) {
        Ok(distribution) => distribution,
        Err(error) => {
            findings.unchecked(format!("{} log-probabilities: {error}", known.len()));
            return;
        }
    };
    let differs = |e: &&&Labelled| {
        let exact = distribution.log_prob(&e.word);
        // Asked for by name: every comparison with NaN is false, and it would pass for equal.
        e.log_prob.is_some_and(|p| p.is_nan() || (p - exact).abs() > 1e-6 * exact.abs().max(1.0))
    };
    findings.fact("log_probabilities", known.len());
    findings.fact("log_probabilities_that_differ_from_exact", known.iter().filter(differs).count());
}

/// The length range of a split: by its published name, or what its strings span.
fn sampler_range(split: &Split) -> Option<LengthRange> {
    let published = default_splits().into_iter().find(|s| s.name == split.name).map(|s| s.lengths);
    published.or_else(|| {
        let longest = split.examples.iter().map(|e| e.word.len()).max()?;
        Some(0..=longest)
    })
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    text.chars().take(60).chain("…".chars()).collect()
}
