//! Reading a file of answers: JSON lines here, NumPy arrays in [`arrays`](super::arrays). Every answer is checked, and a message
//! names its line.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use serde::Deserialize;
use wug_learner::registry::Role;

use super::arrays::from_arrays;
use super::splits::SplitStrings;
use super::{Answer, ByString, Subject};
use crate::LabError;
use crate::regular::open_regular;

/// The largest file that is read.
const LARGEST: u64 = 4 << 30;
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
    let known = strings(subject, splits)?;
    // A pipe can be read once: lines are hashed on the way, and arrays, which are read twice, need a file.
    if is_stdin(path) {
        return from_lines(&source(path), std::io::stdin().lock(), subject, &known);
    }
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
    if path.extension().is_none_or(|extension| extension != "npz") {
        return from_lines(&source(path), BufReader::new(file), subject, &known);
    }
    let mut hasher = hasher();
    hasher.update_reader(file).map_err(LabError::disk(path))?;
    Ok((hex(&hasher), from_arrays(path, open()?, subject, splits, &known)?))
}

/// Whether answers come through a pipe.
fn is_stdin(path: &Path) -> bool {
    ["-", "/dev/stdin"].iter().any(|name| path == Path::new(name))
}

/// What messages call the place that answers are read from.
pub(super) fn source(path: &Path) -> String {
    if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() }
}

fn hasher() -> blake3::Hasher {
    blake3::Hasher::new_derive_key("wug 2026 answers")
}

fn hex(hasher: &blake3::Hasher) -> String {
    hasher.finalize().to_hex()[..32].to_owned()
}

/// All strings of a data set, as ids.
pub(super) type Strings = BTreeSet<Vec<u32>>;

fn strings(subject: &Subject, splits: &[SplitStrings]) -> Result<Strings, LabError> {
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
    source: &str,
    mut reader: impl BufRead,
    subject: &Subject,
    known: &Strings,
) -> Result<(String, ByString), LabError> {
    let (mut answers, mut hasher, mut size) = (ByString::new(), hasher(), 0);
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        let wrong = |message: String| LabError::Usage(format!("{source}, line {number}: {message}"));
        // Bounded before it is parsed: a file without line breaks would fill the memory.
        let read = (&mut reader).take(LONGEST).read_until(b'\n', &mut text);
        let read = read.map_err(LabError::disk(Path::new(source)))? as u64;
        if read == 0 {
            break;
        }
        size += read;
        // Every byte, blank lines too: the hash is the version of the learner.
        hasher.update(&text);
        if read == LONGEST {
            return Err(wrong(format!("is longer than {LONGEST} bytes")));
        }
        if size > LARGEST {
            return Err(wrong(format!("more than {LARGEST} bytes; no more are read")));
        }
        let mut line = &text[..];
        if number == 1 {
            if let Some(message) = no_lines(line) {
                return Err(LabError::Usage(format!("{source} {message}")));
            }
            // Editors of Windows begin files with a byte-order mark.
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if !line.trim_ascii().is_empty() {
            add(line, number, subject, known, &mut answers).map_err(wrong)?;
        }
    }
    Ok((hex(&hasher), answers))
}

/// The answer of a line.
fn add(
    line: &[u8],
    number: usize,
    subject: &Subject,
    known: &Strings,
    answers: &mut ByString,
) -> Result<(), String> {
    let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let ids = subject.ids(&line.string)?;
    let string = short(&line.string);
    if !known.contains(&ids) {
        return Err(format!("`{string}` is not in the data set"));
    }
    let answer = answer(line, ids.len(), subject)?;
    match answers.get(&ids) {
        // A string may be in the data several times: a model answers it once, or each time alike.
        Some((before, earlier)) if *earlier != answer => {
            Err(format!("`{string}` has another answer in line {before}"))
        }
        _ => {
            answers.insert(ids, (number, answer));
            Ok(())
        }
    }
}

/// What a file is that does not begin as JSON lines do, and what to do about it.
fn no_lines(start: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 8] = [
        (b"\x1f\x8b", "is compressed by gzip; unpack it: `gunzip -c FILE | wug score DIR - …`"),
        (b"BZh", "is compressed by bzip2; unpack it: `bunzip2 -c FILE | wug score DIR - …`"),
        (b"\xfd7zXZ", "is compressed by xz; unpack it: `xz -dc FILE | wug score DIR - …`"),
        (b"\x28\xb5\x2f\xfd", "is compressed by zstd; unpack it: `zstd -dc FILE | wug score DIR - …`"),
        (
            b"PK\x03\x04",
            "is an archive: arrays are read from a file whose name ends with .npz, not from a pipe",
        ),
        (b"\x93NUMPY", "is a single array; write an .npz file with an array per split: numpy.savez"),
        (b"\xff\xfe", "is UTF-16; write it as UTF-8"),
        (b"\xfe\xff", "is UTF-16; write it as UTF-8"),
    ];
    kinds.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, message)| *message)
}

fn answer(line: Line, length: usize, subject: &Subject) -> Result<Answer, String> {
    match (subject.role, line.log_odds, line.probability, line.next) {
        (Role::Recognizer, Some(z), None, None) => log_odds(z),
        (Role::Recognizer, None, Some(p), None) => {
            // Certainty has no finite log-odds, and no number that could stand for it is fair to both labels.
            if !(p > 0.0 && p < 1.0) {
                return Err(format!(
                    "`probability` is {p}; it must be above 0 and below 1 (where a sigmoid is rounded to 0 or 1, give `log_odds`)"
                ));
            }
            log_odds(libm::log(p) - libm::log1p(-p))
        }
        (Role::Recognizer, ..) => Err("an answer has either `log_odds` or `probability`".to_owned()),
        (_, None, None, Some(rows)) => next(&rows, length, subject.alphabet.len() + 1),
        _ => Err("an answer has `next`: a row of probabilities after each prefix".to_owned()),
    }
}

pub(super) fn log_odds(z: f64) -> Result<Answer, String> {
    if z.is_finite() { Ok(Answer::LogOdds(z)) } else { Err(format!("`log_odds` is {z}; it must be finite")) }
}

/// Rows after the boundary and after each symbol, the end of the string (column 0) first.
pub(super) fn next<R: AsRef<[f64]>>(rows: &[R], length: usize, vocabulary: usize) -> Result<Answer, String> {
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
        // Not normalised: scores are of the numbers that were given.
        numbers.extend_from_slice(row);
    }
    Ok(Answer::Rows(numbers))
}

/// The beginning of a string, for a message.
pub(super) fn short(string: &str) -> String {
    let start: String = string.chars().take(60).collect();
    if start.len() < string.len() { format!("{start}…") } else { start }
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use serde_json::Value;
    use wug_dataset::manifest::DataManifest as Manifest;
    use wug_language::Alphabet;

    use super::*;

    /// A data set over `0` and `1`, and its strings.
    pub(in crate::answers) fn subject(role: Role) -> (Subject, Vec<SplitStrings>) {
        let text = String::new;
        let manifest = Manifest {
            wug: text(),
            suite: text(),
            name: text(),
            reading: text(),
            seed: 0,
            spec: Value::Null,
            facts: Value::Null,
            files: Vec::new(),
            content: text(),
        };
        let alphabet = Arc::new(Alphabet::new(["0", "1"]));
        let strings = ["0", "1 1", "0"].map(str::to_owned).into();
        let splits = vec![SplitStrings { name: "test".to_owned(), strings }];
        (Subject { manifest, directory: PathBuf::new(), role, alphabet }, splits)
    }

    fn read_text(text: &[u8]) -> Result<(String, ByString), String> {
        let (subject, splits) = subject(Role::Recognizer);
        let known = strings(&subject, &splits).unwrap();
        from_lines("stdin", text, &subject, &known).map_err(|error| error.to_string())
    }

    #[test]
    fn a_repeated_string_may_have_the_same_answer_only() {
        let twice = br#"{"string": "0", "log_odds": 1.5}
            {"string": "1 1", "log_odds": 0.5}
            {"string": "0", "log_odds": 1.5}"#;
        assert_eq!(read_text(twice).unwrap().1.len(), 2);
        let other = String::from_utf8_lossy(twice).replacen("1.5", "2.5", 1);
        let message = read_text(other.as_bytes()).unwrap_err();
        assert_eq!(message, "stdin, line 3: `0` has another answer in line 1");
    }

    #[test]
    fn certain_probabilities_are_refused() {
        for p in ["0", "1", "0.0", "1.0", "-0.5", "1.5"] {
            let line = format!(r#"{{"string": "0", "probability": {p}}}"#);
            let message = read_text(line.as_bytes()).unwrap_err();
            assert!(message.contains("it must be above 0 and below 1"), "{message}");
        }
        let (_, answers) = read_text(br#"{"string": "0", "probability": 0.75}"#).unwrap();
        let Answer::LogOdds(z) = answers[&vec![1]].1 else { panic!("no log-odds") };
        assert!((z - 3.0_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_and_what_is_no_text_is_named() {
        let line = br#"{"string": "0", "log_odds": 1.5}"#;
        let marked = [&b"\xef\xbb\xbf"[..], line].concat();
        assert_eq!(read_text(&marked).unwrap().1, read_text(line).unwrap().1);
        for (start, expected) in [
            (&b"\x1f\x8b\x08\x00"[..], "stdin is compressed by gzip; unpack it: `gunzip -c FILE | wug score"),
            (b"\xff\xfe{\x00", "stdin is UTF-16; write it as UTF-8"),
            (b"PK\x03\x04", "a file whose name ends with .npz"),
            (b"\x93NUMPY\x01", "numpy.savez"),
        ] {
            let message = read_text(start).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn the_hash_of_answers_is_that_of_all_bytes() {
        let text = b"{\"string\": \"0\", \"log_odds\": 1.5}\n\n{\"string\": \"1 1\", \"log_odds\": 2}";
        let mut whole = hasher();
        whole.update(text);
        assert_eq!(read_text(text).unwrap().0, hex(&whole));
    }
}
