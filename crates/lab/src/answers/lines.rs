//! Reading a file of answers: JSON lines, or NumPy arrays. Every answer is checked, and a message names its line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use serde::Deserialize;
use wug_learner::registry::Role;

use super::npy::{Array, read_npz};
use super::splits::SplitStrings;
use super::{Answer, ByString, Subject};
use crate::LabError;
use crate::regular::open_regular;

/// The largest file that is read.
const LARGEST: u64 = 4 << 30;
/// The longest line.
const LONGEST: u64 = 256 << 20;
/// How far the sum of probabilities may be from one.
const TOLERANCE: f64 = 1e-3;

/// A line as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    string: String,
    /// Says where the string is from; nothing depends on it.
    #[serde(default)]
    #[expect(dead_code, reason = "people keep it in their files")]
    split: Option<String>,
    log_odds: Option<f64>,
    probability: Option<f64>,
    next: Option<Vec<Vec<f64>>>,
}

/// Reads answers; the hash of the file, and the answers.
pub(super) fn read(
    path: &Path,
    subject: &Subject,
    splits: &[SplitStrings],
) -> Result<(String, ByString), LabError> {
    let open = || {
        let missing = || LabError::Usage(format!("{}: there is no such file", path.display()));
        open_regular(path).map_err(LabError::disk(path))?.ok_or_else(missing)
    };
    let file = open()?;
    let size = file.metadata().map_err(LabError::disk(path))?.len();
    if size > LARGEST {
        return Err(LabError::Usage(format!(
            "{} has {size} bytes; at most {LARGEST} are read",
            path.display()
        )));
    }
    let mut hasher = blake3::Hasher::new_derive_key("wug 2026 answers");
    hasher.update_reader(file).map_err(LabError::disk(path))?;
    let hash = hasher.finalize().to_hex()[..32].to_owned();
    let known = strings(subject, splits)?;
    let answers = if path.extension().is_some_and(|extension| extension == "npz") {
        from_arrays(path, open()?, subject, splits)?
    } else {
        from_lines(path, open()?, subject, &known)?
    };
    Ok((hash, answers))
}

/// All strings of the data set, as ids.
fn strings(
    subject: &Subject,
    splits: &[SplitStrings],
) -> Result<std::collections::BTreeSet<Vec<u32>>, LabError> {
    let all = splits.iter().flat_map(|split| &split.strings);
    all.map(|string| subject.ids(string).map_err(LabError::Usage)).collect()
}

impl Subject {
    /// A string as ids from 1 on.
    pub(super) fn ids(&self, string: &str) -> Result<Vec<u32>, String> {
        let word = self.alphabet.parse(string).map_err(|error| error.to_string())?;
        Ok(word.iter().map(|symbol| u32::from(symbol.0) + 1).collect())
    }
}

fn from_lines(
    path: &Path,
    file: File,
    subject: &Subject,
    known: &std::collections::BTreeSet<Vec<u32>>,
) -> Result<ByString, LabError> {
    let mut reader = BufReader::new(file);
    let mut answers = ByString::new();
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        let read =
            reader.by_ref().take(LONGEST).read_until(b'\n', &mut text).map_err(LabError::disk(path))?;
        if read == 0 {
            break;
        }
        let wrong =
            |message: String| LabError::Usage(format!("{}, line {number}: {message}", path.display()));
        if read as u64 == LONGEST {
            return Err(wrong(format!("is longer than {LONGEST} bytes")));
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        let ids = subject.ids(&line.string).map_err(wrong)?;
        if !known.contains(&ids) {
            return Err(wrong(format!("`{}` is no string of the data set", short(&line.string))));
        }
        let string = short(&line.string);
        let answer = answer(line, ids.len(), subject).map_err(wrong)?;
        match answers.get(&ids) {
            // A string may be in the data several times: a model answers it once, or each time alike.
            Some((before, earlier)) if *earlier != answer => {
                return Err(wrong(format!("`{string}` has another answer in line {before}")));
            }
            _ => answers.insert(ids, (number, answer)),
        };
    }
    Ok(answers)
}

fn answer(line: Line, length: usize, subject: &Subject) -> Result<Answer, String> {
    match (subject.role, line.log_odds, line.probability, line.next) {
        (Role::Recognizer, Some(z), None, None) => log_odds(z),
        (Role::Recognizer, None, Some(p), None) => {
            if !(0.0..=1.0).contains(&p) {
                return Err(format!("`probability` is {p}; it must be from 0 to 1"));
            }
            // Certainty has no finite log-odds: the nearest number below one stands for it.
            let p = p.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0);
            log_odds(libm::log(p) - libm::log1p(-p))
        }
        (Role::Recognizer, ..) => Err("an answer has either `log_odds` or `probability`".to_owned()),
        (_, None, None, Some(rows)) => next(&rows, length, subject.alphabet.len() + 1),
        _ => Err("an answer has `next`: a row of probabilities after each prefix".to_owned()),
    }
}

fn log_odds(z: f64) -> Result<Answer, String> {
    if z.is_finite() { Ok(Answer::LogOdds(z)) } else { Err(format!("`log_odds` is {z}; it must be finite")) }
}

/// Rows after the boundary and after each symbol, the end of the string (column 0) first.
fn next<R: AsRef<[f64]>>(rows: &[R], length: usize, vocabulary: usize) -> Result<Answer, String> {
    if rows.len() != length + 1 {
        return Err(format!(
            "`next` has {} rows for a string of {length} symbols; there must be {}",
            rows.len(),
            length + 1
        ));
    }
    let mut numbers = Vec::with_capacity(rows.len() * vocabulary);
    for (t, row) in rows.iter().map(AsRef::as_ref).enumerate() {
        if row.len() != vocabulary {
            return Err(format!("row {t} of `next` has {} numbers; there must be {vocabulary}", row.len()));
        }
        if let Some(p) = row.iter().find(|p| !(p.is_finite() && **p >= 0.0)) {
            return Err(format!("row {t} of `next` has the probability {p}"));
        }
        let sum: f64 = row.iter().sum();
        if (sum - 1.0).abs() > TOLERANCE {
            return Err(format!("row {t} of `next` adds up to {sum}; it must add up to 1"));
        }
        numbers.extend_from_slice(row);
    }
    Ok(Answer::Rows(numbers))
}

/// Arrays by split: `test` has a number (or rows of probabilities) per string; `test.index`, if it is there, says which
/// strings, by their row in the split's file.
fn from_arrays(
    path: &Path,
    file: File,
    subject: &Subject,
    splits: &[SplitStrings],
) -> Result<ByString, LabError> {
    let wrong = |message: String| LabError::Usage(format!("{}: {message}", path.display()));
    let arrays = read_npz(file).map_err(wrong)?;
    let mut answers = ByString::new();
    for (name, array) in arrays.iter().filter(|(name, _)| !name.ends_with(".index")) {
        let split = splits.iter().find(|split| split.name == *name).ok_or_else(|| {
            let names: Vec<&str> = splits.iter().map(|split| split.name.as_str()).collect();
            wrong(format!("there is no split `{name}`; there are: {}", names.join(", ")))
        })?;
        let rows = array.shape.first().copied().unwrap_or(0);
        let index = match arrays.get(&format!("{name}.index")) {
            Some(index) if index.shape == [rows] => indices(&index.values, split.strings.len())
                .map_err(|message| wrong(format!("`{name}.index`, {message}")))?,
            Some(_) => return Err(wrong(format!("`{name}.index` must have one number per row of `{name}`"))),
            None => (0..rows).collect::<Vec<usize>>(),
        };
        for (row, &at) in index.iter().enumerate() {
            let here = |message: String| wrong(format!("`{name}`, row {row}: {message}"));
            let string = split.strings.get(at).ok_or_else(|| {
                here(format!("there is no string {at} in the split, which has {}", split.strings.len()))
            })?;
            let ids = subject.ids(string).map_err(here)?;
            let answer = of_row(array, row, ids.len(), subject).map_err(here)?;
            match answers.get(&ids) {
                // The same string may be in several splits, or several times in one: a model answers it once.
                Some((_, before)) if *before != answer => {
                    return Err(here(format!("`{}` has another answer elsewhere", short(string))));
                }
                _ => answers.insert(ids, (row, answer)),
            };
        }
    }
    Ok(answers)
}

/// Rows of a split, of which each number must name one.
fn indices(values: &[f64], rows: usize) -> Result<Vec<usize>, String> {
    let each = values.iter().enumerate().map(|(i, &value)| {
        let is_row = value >= 0.0 && value < rows as f64 && value.fract().abs() < f64::EPSILON;
        is_row.then_some(value as usize).ok_or_else(|| {
            format!("number {i}: {value} is no row of the split, which has {rows}, numbered from 0")
        })
    });
    each.collect()
}

fn of_row(array: &Array, row: usize, length: usize, subject: &Subject) -> Result<Answer, String> {
    let vocabulary = subject.alphabet.len() + 1;
    match (subject.role, &array.shape[..]) {
        (Role::Recognizer, [_]) => log_odds(array.values[row]),
        (Role::Recognizer, _) => Err("the array of a split has one number per string".to_owned()),
        (_, &[_, steps, v]) if v == vocabulary && steps > length => {
            let rows = &array.values[row * steps * v..][..(length + 1) * v];
            next(&rows.chunks_exact(v).collect::<Vec<_>>(), length, v)
        }
        (_, shape) => Err(format!(
            "the array of a split has the shape (strings, steps, {vocabulary}) with at least {} steps; this one is {shape:?}",
            length + 1
        )),
    }
}

/// The beginning of a string, for a message.
pub(super) fn short(string: &str) -> String {
    let start: String = string.chars().take(60).collect();
    if start.len() < string.len() { format!("{start}…") } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_whole_numbers_of_rows() {
        assert_eq!(indices(&[2.0, 0.0], 3).unwrap(), [2, 0]);
        for value in [-1.0, 0.7, 3.0, f64::NAN, f64::INFINITY, -0.1] {
            let error = indices(&[0.0, value], 3).unwrap_err();
            assert!(error.contains("number 1: ") && error.contains("which has 3"), "{error}");
        }
    }
}
