//! The layout that Butoi et al. (2025) published: parallel files joined by line, the training split at the top and the
//! others under `datasets/`. And the same data as one row per string.

use wug_language::{Alphabet, Language};
use wug_table::TableFormat;

use super::rows::{check_count, fields, from_row, to_row};
use super::{Labelled, Split, next_line, parse_next_line};
use crate::manifest::Recorder;
use crate::rows::{self, read_lines, word};
use crate::tabular::{DEFAULT, SplitTable};
use crate::{DataError, FileSource};

/// The name of the split whose files are at the top of the directory.
pub const TRAINING: &str = "training";

/// Where a split's files are.
fn folder(split: &str) -> String {
    if split == TRAINING { String::new() } else { format!("datasets/{split}/") }
}

/// Writes a directory of parallel files.
pub fn write(splits: &[Split], language: &dyn Language, out: &mut Recorder<'_>) -> Result<(), DataError> {
    let alphabet = language.alphabet();
    for split in splits {
        let folder = folder(&split.name);
        let positives = || split.examples.iter().filter(|e| e.label);
        let negatives = || split.examples.iter().filter(|e| !e.label);
        let file = |name: &str| format!("{folder}{name}");
        out.count(&split.name, split.examples.len());
        let tokens = split.examples.iter().map(|e| alphabet.format(&e.word));
        out.put_rows(&file("main.tok"), tokens)?;
        out.put_rows(&file("labels.txt"), split.examples.iter().map(|e| u8::from(e.label).to_string()))?;
        let edits = negatives().map(|e| e.edits.map_or(String::new(), |k| k.to_string()));
        out.put_rows(&file("num-edits.txt"), edits)?;
        // A file is about all strings of its kind or is not there: lines are joined by their numbers.
        if positives().all(|e| e.next.is_some()) {
            let sets = positives().flat_map(|e| &e.next).map(|sets| next_line(sets, alphabet));
            out.put_rows(&file("next-symbols.jsonl"), sets)?;
        }
        if positives().all(|e| e.log_prob.is_some()) {
            let logs = positives().filter_map(|e| e.log_prob).map(|p| format!("{p:?}"));
            out.put_rows(&file("log-probabilities.txt"), logs)?;
        }
        if !split.examples.is_empty() && split.examples.iter().all(|e| e.distance.is_some()) {
            let distances = split.examples.iter().filter_map(|e| e.distance).map(|d| d.to_string());
            out.put_rows(&file("edit-distances.txt"), distances)?;
        }
    }
    Ok(())
}

/// Reads one split of a directory of parallel files; `None` if it has no strings file.
pub fn read(files: &dyn FileSource, split: &str, alphabet: &Alphabet) -> Result<Option<Split>, DataError> {
    let file = |name: &str| format!("{}{name}", folder(split));
    let Some(words) = read_lines(files, &file("main.tok"))? else { return Ok(None) };
    let labels = read_lines(files, &file("labels.txt"))?.ok_or_else(|| DataError::Missing {
        file: file("labels.txt"),
        hint: " beside main.tok".to_owned(),
    })?;
    if labels.len() != words.len() {
        let message = format!("{} labels for {} strings in main.tok", labels.len(), words.len());
        return Err(DataError::file(&file("labels.txt"), message));
    }
    let mut examples = Vec::with_capacity(words.len());
    for (i, (text, label)) in words.iter().zip(&labels).enumerate() {
        let word =
            word(text, alphabet).map_err(|message| DataError::line(&file("main.tok"), i + 1, message))?;
        let label = match label.as_str() {
            "0" => false,
            "1" => true,
            other => {
                return Err(DataError::line(
                    &file("labels.txt"),
                    i + 1,
                    format!("`{other}` is neither 0 nor 1"),
                ));
            }
        };
        examples.push(Labelled::new(word, label));
    }
    attach(
        files,
        &file("num-edits.txt"),
        &mut examples,
        |e| !e.label,
        |e, line| {
            e.edits = if line.is_empty() { None } else { Some(number(line)?) };
            Ok(())
        },
    )?;
    attach(
        files,
        &file("edit-distances.txt"),
        &mut examples,
        |e| !e.label,
        |e, line| {
            e.distance = Some(number(line)?);
            Ok(())
        },
    )?;
    attach(
        files,
        &file("log-probabilities.txt"),
        &mut examples,
        |e| e.label,
        |e, line| {
            e.log_prob = Some(line.parse().map_err(|_| format!("`{line}` is not a number"))?);
            Ok(())
        },
    )?;
    attach(
        files,
        &file("next-symbols.jsonl"),
        &mut examples,
        |e| e.label,
        |e, line| {
            let sets = parse_next_line(line, alphabet)?;
            check_count(&sets, &e.word)?;
            e.next = Some(sets);
            Ok(())
        },
    )?;
    Ok(Some(Split { name: split.to_owned(), examples }))
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is not a count"))
}

/// Joins a file to the strings that it is about, line by line.
fn attach(
    files: &dyn FileSource,
    file: &str,
    examples: &mut [Labelled],
    about: impl Fn(&Labelled) -> bool,
    set: impl Fn(&mut Labelled, &str) -> Result<(), String>,
) -> Result<(), DataError> {
    let Some(lines) = read_lines(files, file)? else { return Ok(()) };
    let mut about: Vec<&mut Labelled> = examples.iter_mut().filter(|e| about(e)).collect();
    if lines.len() != about.len() {
        let message = format!("{} lines for {} strings that they are about", lines.len(), about.len());
        return Err(DataError::file(file, message));
    }
    for (i, (example, line)) in about.iter_mut().zip(&lines).enumerate() {
        set(example, line).map_err(|message| DataError::line(file, i + 1, message))?;
    }
    Ok(())
}

/// Writes splits as one row per string, a file per split.
pub fn write_rows(
    splits: &[Split],
    alphabet: &Alphabet,
    format: TableFormat,
    out: &mut Recorder<'_>,
) -> Result<(), DataError> {
    let table = SplitTable { format, config: DEFAULT, fields: fields() };
    for split in splits {
        let rows = split.examples.iter().map(|e| to_row(e, alphabet));
        table.put(out, &split.name, &split.name, rows)?;
    }
    Ok(())
}

/// Reads a split that [`write_rows`] wrote as JSON lines; `None` if there is none.
pub fn read_rows(
    files: &dyn FileSource,
    split: &str,
    alphabet: &Alphabet,
) -> Result<Option<Split>, DataError> {
    let examples = rows::read_rows(files, &format!("{split}.jsonl"), |line| from_row(line, alphabet))?;
    Ok(examples.map(|examples| Split { name: split.to_owned(), examples }))
}
