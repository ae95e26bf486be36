//! Checking TSE files against the oracle.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _};

use serde_json::Value;
use wug_language::{Language, Reading, Word};

use super::{read_corpus, read_pairs};
use crate::rows::LONGEST_LINE;
use crate::validation::{Findings, Validation};
use crate::{Bounds, DataError, FileSource};

/// Checks every `*.jsonl`: strings called correct must be grammatical, others must not; overlap with training
/// is reported. In the published reading the released negatives of the dependency languages are what they
/// are: grammatical ones are counted, not errors.
pub fn validate(
    files: &dyn FileSource,
    name: &str,
    language: &dyn Language,
    reading: Reading,
) -> Result<Validation, DataError> {
    let mut report = Validation::new("tse", name, reading);
    let mut names: Vec<String> =
        files.names().map_err(DataError::io("."))?.into_iter().filter(|f| f.ends_with(".jsonl")).collect();
    if names.is_empty() {
        return Err(DataError::Missing {
            file: "*.jsonl".to_owned(),
            hint: ": not a TSE directory".to_owned(),
        });
    }
    // Training first: the overlap of every other file is counted against it.
    names.sort_by_key(|file| (file != "train.jsonl", file.clone()));
    let mut training: BTreeSet<Word> = BTreeSet::new();
    for file in names {
        let split = file.trim_end_matches(".jsonl");
        let findings = if is_paired(files, &file)? {
            check_pairs(files, &file, language, reading)?
        } else {
            check_corpus(files, &file, language, reading, &mut training)?
        };
        report.add(split, findings);
    }
    Ok(report)
}

/// Whether a file's first row is a pair; in our own rows a string without a near miss is none.
fn is_paired(files: &dyn FileSource, file: &str) -> Result<bool, DataError> {
    let mut first = String::new();
    if let Some(reader) = files.open(file).map_err(DataError::io(file))? {
        BufReader::new(reader.take(LONGEST_LINE)).read_line(&mut first).map_err(DataError::io(file))?;
    }
    let row: Value = serde_json::from_str(&first).unwrap_or_default();
    Ok(row.get("bad").or(row.get("bad_sequences")).is_some_and(|bad| !bad.is_null()))
}

fn check_corpus(
    files: &dyn FileSource,
    file: &str,
    language: &dyn Language,
    reading: Reading,
    training: &mut BTreeSet<Word>,
) -> Result<Findings, DataError> {
    let rows = read_corpus(files, file, language.alphabet())?.unwrap_or_default();
    let mut findings = Findings::default();
    let distinct: BTreeSet<&Word> = rows.iter().map(|(word, _)| word).collect();
    findings.fact("examples", rows.len());
    findings.fact("positives", rows.iter().filter(|(_, label)| *label).count());
    findings.fact("duplicates", rows.len() - distinct.len());
    let wrong =
        |label: bool| rows.iter().filter(|(word, l)| *l == label && language.contains(word) != label).count();
    let grammatical = wrong(false);
    findings.fact("grammatical_negatives", grammatical);
    findings.error("label_errors", wrong(true) + if reading == Reading::Corrected { grammatical } else { 0 });
    if file == "train.jsonl" {
        training.extend(distinct.into_iter().cloned());
    } else {
        findings
            .fact("overlap_with_training", distinct.iter().filter(|word| training.contains(**word)).count());
    }
    Ok(findings)
}

fn check_pairs(
    files: &dyn FileSource,
    file: &str,
    language: &dyn Language,
    reading: Reading,
) -> Result<Findings, DataError> {
    let pairs = read_pairs(files, file, language.alphabet())?.unwrap_or_default();
    let bounds = Bounds::of(&pairs, language);
    let mut findings = Findings::default();
    findings.fact("examples", bounds.pairs);
    findings.fact("grammatical_negatives", bounds.grammatical);
    findings.fact("identical_negatives", bounds.identical);
    findings.fact("ceiling", bounds.ceiling());
    findings.fact("chance", bounds.chance());
    let ungrammatical = pairs.iter().filter(|pair| !language.contains(&pair.good)).count();
    let grammatical = if reading == Reading::Corrected { bounds.grammatical } else { 0 };
    findings.error("label_errors", ungrammatical + grammatical);
    Ok(findings)
}
