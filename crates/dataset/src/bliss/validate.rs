//! Checking a directory of corpora, tests and masks against the oracle.

use std::io::{BufReader, Cursor, Read};

use wug_language::registry::Named;
use wug_language::{Language, Reading, Symbol, Word};

use super::{Archive, FormatError, MaskReader, PASSWORD, Published, Text, read_strings, test_count};
use crate::corpus::{MaskKind, deterministic_steps, test_after, valid_next};
use crate::validation::{Findings, Validation};
use crate::{DataError, FileSource};

/// Checks every text, archive, row and mask: strings that are not members or not those that the file's name
/// promises, lines out of order and mask cells that differ are errors. In the corrected reading, whether a
/// file equals the one that the released generator makes is only a fact.
pub fn validate(
    files: &dyn FileSource,
    named: &Named,
    language: &dyn Language,
    reading: Reading,
) -> Result<Validation, DataError> {
    let mut report = Validation::new("bliss", &named.spelled(), reading);
    let names = files.names().map_err(DataError::io("."))?;
    let check = Check {
        files,
        language,
        text: text_of(language)?,
        published: named.entry.name.parse().ok(),
        reading,
    };
    for file in &names {
        let described = file == "test.jsonl" || file == "tests.jsonl";
        let strings = [".txt", ".txt.zip", ".jsonl"].iter().any(|ending| file.ends_with(ending));
        if strings && !described && !file.contains('/') {
            report.add(file, check.strings(file, &names)?);
        } else if file.ends_with(".npz") {
            report.add(file, check.mask(file, &names)?);
        }
    }
    if report.splits.is_empty() {
        let hint = ", *.txt.zip, *.jsonl or *.npz here: not a BLISS directory".to_owned();
        return Err(DataError::Missing { file: "*.txt".to_owned(), hint });
    }
    Ok(report)
}

fn text_of(language: &dyn Language) -> Result<Text, DataError> {
    Text::new(language.alphabet()).map_err(|error| DataError::Request(error.to_string()))
}

fn at(file: &str) -> impl Fn(FormatError) -> DataError + '_ {
    move |error| DataError::file(file, error.to_string())
}

struct Check<'a> {
    files: &'a dyn FileSource,
    language: &'a dyn Language,
    text: Text,
    published: Option<Published>,
    reading: Reading,
}

/// Strings, one by one.
type Strings<'a> = Box<dyn Iterator<Item = Word> + 'a>;

impl Check<'_> {
    /// Shows every string of a file, text, archive or rows, to `see`.
    fn each(&self, file: &str, mut see: impl FnMut(Word) -> Result<(), DataError>) -> Result<(), DataError> {
        let missing = || DataError::Missing { file: file.to_owned(), hint: String::new() };
        let mut lines = |content: &mut dyn Read| {
            self.text.read(BufReader::new(content)).try_for_each(|word| see(word.map_err(at(file))?))
        };
        if file.ends_with(".zip") {
            let bytes = self.files.bytes(file).map_err(DataError::io(file))?.ok_or_else(missing)?;
            let mut archive = Archive::new(Cursor::new(bytes)).map_err(at(file))?;
            lines(&mut archive.content(Some(PASSWORD)).map_err(at(file))?)
        } else if file.ends_with(".jsonl") {
            let words = read_strings(self.files, file, self.language.alphabet())?.ok_or_else(missing)?;
            words.into_iter().try_for_each(see)
        } else {
            lines(&mut self.files.open(file).map_err(DataError::io(file))?.ok_or_else(missing)?)
        }
    }

    fn strings(&self, file: &str, names: &[String]) -> Result<Findings, DataError> {
        let mut expected = self.expected(file, names)?;
        let compared = expected.is_some();
        let (mut strings, mut wrong, mut unordered, mut longest, mut last, mut differ) = (0, 0, 0, 0, 0, 0);
        let mut findings = Findings::default();
        self.each(file, |word| {
            strings += 1;
            if !self.language.contains(&word) {
                wrong += 1;
                findings.sample(|| format!("line {strings}: not a member of the language"));
            }
            unordered += usize::from(word.len() < last);
            last = word.len();
            longest = longest.max(word.len());
            if let Some(expected) = &mut expected {
                differ += usize::from(expected.next().as_ref() != Some(&word));
            }
            Ok(())
        })?;
        if !file.ends_with("preview.txt") {
            differ += expected.map_or(0, Iterator::count);
        }
        findings.fact("examples", strings);
        findings.error("label_errors", wrong);
        findings.error("order_errors", unordered);
        findings.fact("longest", longest);
        if compared && self.reading == Reading::Corrected && self.released(file).is_some() {
            findings.fact("equals_released", differ == 0);
        } else if compared {
            findings.error("strings_that_differ", differ);
        }
        Ok(findings)
    }

    /// The strings that a file should hold, where its name says so: what the released generator writes, or
    /// the true next strings after those of the training corpus beside it.
    fn expected(&self, file: &str, names: &[String]) -> Result<Option<Strings<'_>>, DataError> {
        if let Some(released) = self.released(file) {
            return Ok(Some(released));
        }
        let Some(size) =
            file.strip_prefix("test_").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok())
        else {
            return Ok(None);
        };
        let train = [".txt", ".txt.zip", ".jsonl"].map(|ending| format!("train_{size}{ending}"));
        let Some(train) = train.iter().find(|file| names.contains(file)) else { return Ok(None) };
        let mut longest = 0;
        self.each(train, |word| {
            longest = longest.max(word.len());
            Ok(())
        })?;
        Ok(Some(Box::new(test_after(self.language, longest, test_count(size)))))
    }

    /// What the released generator writes to a file of this name.
    fn released(&self, file: &str) -> Option<Strings<'static>> {
        let published = self.published?;
        let name = file.trim_end_matches(".zip");
        let name = name.strip_suffix(".txt").or_else(|| name.strip_suffix(".jsonl"))?;
        if matches!(file, "test.txt" | "test.txt.zip" | "preview.txt") {
            return Some(published.test());
        }
        let (size, rest) = name.strip_prefix("train_")?.split_once("_p_")?;
        let (prior, seed) = rest.split_once("_seed_")?;
        let prior = prior.replace('_', ".").parse().ok()?;
        let words = published.corpus(size.parse().ok()?, prior, seed.parse().ok()?).ok()?;
        Some(Box::new(words.into_iter()))
    }

    /// A mask against the strings that it is about, row by row.
    fn mask(&self, file: &str, names: &[String]) -> Result<Findings, DataError> {
        let stem =
            file.trim_end_matches("_deterministic_mask.npz").trim_end_matches("_valid_next_symbols.npz");
        let about = [format!("{stem}.txt"), format!("{stem}.txt.zip")];
        let Some(about) = about.iter().find(|file| names.contains(file)) else {
            let mut findings = Findings::default();
            findings.fact("not_checked", format!("there is no {stem}.txt to compare with"));
            return Ok(findings);
        };
        let bytes = self.files.bytes(file).map_err(DataError::io(file))?.unwrap_or_default();
        let mut archive = Archive::new(Cursor::new(bytes)).map_err(at(file))?;
        let mut rows = MaskReader::new(archive.content(None).map_err(at(file))?).map_err(at(file))?;
        let (mut checked, mut wrong) = (0usize, 0usize);
        let mut findings = Findings::default();
        self.each(about, |word| {
            let cells = rows.next().transpose().map_err(at(file))?;
            let Some(cells) = cells else {
                return Err(DataError::file(
                    file,
                    format!("it has {checked} rows, fewer than {about} has strings"),
                ));
            };
            let mut expected = self.expected_row(file, stem, &word);
            expected.resize(cells.len().max(expected.len()), false);
            let differ =
                expected.len() - cells.len() + expected.iter().zip(&cells).filter(|(a, b)| a != b).count();
            checked += 1;
            if differ > 0 {
                wrong += differ;
                findings.sample(|| format!("row {checked}: {differ} cells differ"));
            }
            Ok(())
        })?;
        if rows.next().is_some() {
            return Err(DataError::file(
                file,
                format!("it has more rows than {about} has strings ({checked})"),
            ));
        }
        findings.fact("examples", checked);
        findings.error("mask_errors", wrong);
        Ok(findings)
    }

    /// What a string's row should be: the released mask by its name, or the exact one.
    fn expected_row(&self, file: &str, stem: &str, word: &[Symbol]) -> Vec<bool> {
        let deterministic = file.ends_with("_deterministic_mask.npz");
        let kind = if deterministic { MaskKind::Deterministic } else { MaskKind::ValidNext };
        match self.published {
            Some(published) if stem == "test" && kind == published.mask_kind() => published.mask_row(word),
            _ if deterministic => deterministic_steps(self.language, word),
            _ => valid_next(self.language, word),
        }
    }
}
