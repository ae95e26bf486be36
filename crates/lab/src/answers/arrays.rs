//! Answers as NumPy arrays: an array per split, checked against the split before it is unpacked.

use std::fs::File;
use std::path::Path;

use wug_learner::registry::Role;

use super::lines::{Strings, log_odds, next, short};
use super::npy::{Array, read_npz};
use super::splits::SplitStrings;
use super::{Answer, ByString, Subject};
use crate::LabError;

/// Arrays by split: `test` has a number (or rows of probabilities) per string; `test.index`, if it is there, says which
/// strings, by their row in the split's file.
pub(super) fn from_arrays(
    path: &Path,
    file: File,
    subject: &Subject,
    splits: &[SplitStrings],
    known: &Strings,
) -> Result<ByString, LabError> {
    let wrong = |message: String| LabError::Usage(format!("{}: {message}", path.display()));
    let longest = known.iter().map(Vec::len).max().unwrap_or(0);
    let check = |name: &str, shape: &[usize]| check_shape(name, shape, subject, splits, longest);
    let arrays = read_npz(file, &check).map_err(wrong)?;
    let mut answers = ByString::new();
    for (name, array) in arrays.iter().filter(|(name, _)| !name.ends_with(".index")) {
        let split = split(name, splits).map_err(wrong)?;
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

fn split<'s>(name: &str, splits: &'s [SplitStrings]) -> Result<&'s SplitStrings, String> {
    splits.iter().find(|split| split.name == name).ok_or_else(|| {
        let names: Vec<&str> = splits.iter().map(|split| split.name.as_str()).collect();
        format!("there is no split `{name}`; there are: {}", names.join(", "))
    })
}

/// Refuses an array that is larger than the answers about its split can be.
fn check_shape(
    name: &str,
    shape: &[usize],
    subject: &Subject,
    splits: &[SplitStrings],
    longest: usize,
) -> Result<(), String> {
    let of = name.strip_suffix(".index");
    let strings = split(of.unwrap_or(name), splits)?.strings.len();
    if let Some(rows) = shape.first().filter(|rows| **rows > strings) {
        return Err(format!("its shape {shape:?} has {rows} rows, but the split has {strings} strings"));
    }
    // As `fit` gets them, strings are between two boundaries.
    let (vocabulary, most) = (subject.alphabet.len() + 1, longest + 2);
    match (subject.role, of, shape) {
        (_, Some(_), [_]) | (Role::Recognizer, None, [_]) => Ok(()),
        (_, Some(of), _) => Err(format!("it must have one number per row of `{of}`; its shape is {shape:?}")),
        (Role::Recognizer, None, _) => {
            Err(format!("the array of a split has one number per string; its shape is {shape:?}"))
        }
        (_, None, &[_, steps, v]) if v == vocabulary && steps <= most => Ok(()),
        _ => Err(format!(
            "the array of a split has the shape (strings, steps, {vocabulary}) with at most {most} steps; its shape is {shape:?}"
        )),
    }
}

/// Rows of a split, of which each number must name one.
fn indices(values: &[f64], rows: usize) -> Result<Vec<usize>, String> {
    let each = values.iter().enumerate().map(|(i, &value)| {
        let is_row = value >= 0.0 && value < rows as f64 && value.fract().abs() < f64::EPSILON;
        is_row.then_some(value as usize).ok_or_else(|| {
            format!("number {i}: {value} is not a row of the split, which has {rows}, numbered from 0")
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
            // Arrays are padded to the longest string: what is behind a string's own rows is not looked at.
            let rows = &array.values[row * steps * v..][..(length + 1) * v];
            next(&rows.chunks_exact(v).collect::<Vec<_>>(), length, v)
        }
        (_, shape) => Err(format!(
            "the array of a split has the shape (strings, steps, {vocabulary}) with at least {} steps; this one is {shape:?}",
            length + 1
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::tests::subject;
    use super::*;

    #[test]
    fn an_index_has_whole_numbers_of_rows() {
        assert_eq!(indices(&[2.0, 0.0], 3).unwrap(), [2, 0]);
        for value in [-1.0, 0.7, 3.0, f64::NAN, f64::INFINITY, -0.1] {
            let error = indices(&[0.0, value], 3).unwrap_err();
            assert!(error.contains("number 1: ") && error.contains("which has 3"), "{error}");
        }
    }

    #[test]
    fn shapes_are_checked_against_the_split() {
        let check = |role, name: &str, shape: &[usize]| {
            let (subject, splits) = subject(role);
            check_shape(name, shape, &subject, &splits, 2).err().unwrap_or_default()
        };
        for (role, name, shape) in [
            (Role::Recognizer, "test", &[3][..]),
            (Role::Recognizer, "test.index", &[2]),
            (Role::NextSymbol, "test", &[3, 3, 3]),
            (Role::NextSymbol, "test", &[2, 4, 3]),
        ] {
            assert_eq!(check(role, name, shape), "");
        }
        for (role, name, shape, expected) in [
            (Role::Recognizer, "test", &[4][..], "has 4 rows, but the split has 3 strings"),
            (Role::Recognizer, "test.index", &[250_000_000], "but the split has 3 strings"),
            (Role::Recognizer, "test", &[3, 80_000_000], "one number per string; its shape is [3, 80000000]"),
            (Role::Recognizer, "test.index", &[3, 9], "one number per row of `test`"),
            (Role::Recognizer, "train", &[3], "there is no split `train`; there are: test"),
            (Role::NextSymbol, "test", &[3, 5, 3], "(strings, steps, 3) with at most 4 steps"),
            (Role::NextSymbol, "test", &[3, 3, 90_000_000], "its shape is [3, 3, 90000000]"),
        ] {
            let message = check(role, name, shape);
            assert!(message.contains(expected), "{message}");
        }
    }

    /// 100 million zeros are deflated to 400 KB; not one of them is unpacked.
    #[test]
    fn an_archive_that_unpacks_to_more_than_the_split_is_refused_first() {
        use std::io::Write as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.npz");
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        archive.start_file("test.npy", zip::write::SimpleFileOptions::default()).unwrap();
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (12500000,), }";
        archive.write_all(b"\x93NUMPY\x01\x00").unwrap();
        archive.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        archive.write_all(header.as_bytes()).unwrap();
        archive.write_all(&vec![0; 100_000_000]).unwrap();
        archive.finish().unwrap();
        let (subject, splits) = subject(Role::Recognizer);
        let file = File::open(&path).unwrap();
        let error = from_arrays(&path, file, &subject, &splits, &Strings::new()).unwrap_err().to_string();
        assert!(error.contains("has 12500000 rows, but the split has 3 strings"), "{error}");
    }
}
