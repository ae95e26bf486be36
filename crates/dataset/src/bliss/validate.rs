//! Checking a directory of corpora, tests and masks against the oracle.

use std::io::{BufReader, Cursor, Read};

use wug_language::limit::MEMORY;
use wug_language::registry::Named;
use wug_language::{Language, Reading, Symbol, Word};

use super::files::TESTS;
use super::{Archive, CorpusText, FormatError, MaskReader, PASSWORD, Published, read_strings, test_count};
use crate::corpus::{MaskKind, TEST_SIZE, deterministic_steps, test_after, valid_next};
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
    let check = CorpusCheck {
        files,
        language,
        text: text_of(language)?,
        published: named.entry.name.parse().ok(),
        reading,
    };
    for file in &names {
        let described = file == TESTS;
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

fn is_released_test(file: &str) -> bool {
    matches!(file, "test.txt" | "test.txt.zip" | "test.jsonl" | "preview.txt")
}

/// What the name of a released training corpus says.
#[derive(Clone, Copy)]
struct ReleasedName {
    size: usize,
    prior: f64,
    seed: u32,
}

impl ReleasedName {
    fn parse(file: &str) -> Option<Self> {
        let name = file.trim_end_matches(".zip");
        let name = name.strip_suffix(".txt").or_else(|| name.strip_suffix(".jsonl"))?;
        let (size, rest) = name.strip_prefix("train_")?.split_once("_p_")?;
        let (prior, seed) = rest.split_once("_seed_")?;
        let prior = prior.replace('_', ".").parse().ok()?;
        Some(Self { size: size.parse().ok()?, prior, seed: seed.parse().ok()? })
    }
}

fn text_of(language: &dyn Language) -> Result<CorpusText, DataError> {
    CorpusText::new(language.alphabet()).map_err(|error| DataError::Request(error.to_string()))
}

fn at(file: &str) -> impl Fn(FormatError) -> DataError + '_ {
    move |error| DataError::file(file, error.to_string())
}

struct CorpusCheck<'a> {
    files: &'a dyn FileSource,
    language: &'a dyn Language,
    text: CorpusText,
    published: Option<Published>,
    reading: Reading,
}

/// The strings that a file should hold, one by one, and how many there are.
struct Expected<'a> {
    strings: Box<dyn Iterator<Item = Word> + 'a>,
    count: usize,
}

/// The longest training string whose test strings are enumerated to compare with: brackets that nest deeper take memory
/// with the square of the length.
const COMPARED: usize = 20_000;

impl CorpusCheck<'_> {
    /// Shows every string of a file, text, archive or rows, to `see`.
    fn each(&self, file: &str, mut see: impl FnMut(Word) -> Result<(), DataError>) -> Result<(), DataError> {
        let missing = || DataError::Missing { file: file.to_owned(), hint: String::new() };
        let mut lines = |content: &mut dyn Read| {
            self.text.read(BufReader::new(content)).try_for_each(|word| see(word.map_err(at(file))?))
        };
        if file.ends_with(".zip") {
            let bytes = self.files.bytes(file).map_err(DataError::io(file))?.ok_or_else(missing)?;
            let mut archive = Archive::new(Cursor::new(bytes)).map_err(at(file))?;
            // Asked before it is unpacked: a line of 4 GB deflates to 4 MB.
            let size = archive.size().map_err(at(file))?;
            if size > MEMORY {
                let message = format!("it declares {size} bytes of text; the limit is {MEMORY}");
                return Err(DataError::file(file, message));
            }
            lines(&mut archive.content(Some(PASSWORD)).map_err(at(file))?)
        } else if file.ends_with(".jsonl") {
            let words = read_strings(self.files, file, self.language.alphabet())?.ok_or_else(missing)?;
            words.into_iter().try_for_each(see)
        } else {
            lines(&mut self.files.open(file).map_err(DataError::io(file))?.ok_or_else(missing)?)
        }
    }

    fn strings(&self, file: &str, names: &[String]) -> Result<Findings, DataError> {
        let mut findings = Findings::default();
        let mut expected = self.expected(file, names, &mut findings)?;
        let compared = expected.is_some();
        let (mut strings, mut wrong, mut unordered, mut longest, mut last, mut differ) = (0, 0, 0, 0, 0, 0);
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
                differ += usize::from(expected.strings.next().as_ref() != Some(&word));
            }
            Ok(())
        })?;
        // A preview has the first ten strings on purpose.
        if !file.ends_with("preview.txt") {
            differ += expected.map_or(0, |expected| expected.count.saturating_sub(strings));
        }
        findings.fact("examples", strings);
        findings.error("label_errors", wrong);
        findings.error("order_errors", unordered);
        findings.fact("longest", longest);
        if compared && self.reading == Reading::Corrected && self.is_released(file) {
            findings.fact("equals_released", differ == 0);
        } else if compared {
            findings.error("strings_that_differ", differ);
        }
        Ok(findings)
    }

    /// The strings that a file should hold, where its name says so: what the released generator writes, or
    /// the true next strings after those of the training corpus beside it.
    fn expected(
        &self,
        file: &str,
        names: &[String],
        findings: &mut Findings,
    ) -> Result<Option<Expected<'_>>, DataError> {
        if let Some(published) = self.published.filter(|_| is_released_test(file)) {
            return Ok(Some(Expected { strings: published.test(), count: TEST_SIZE }));
        }
        if let Some((published, corpus)) = self.published.zip(ReleasedName::parse(file)) {
            return self.released(file, published, corpus, findings);
        }
        let Some(size) =
            file.strip_prefix("test_").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok())
        else {
            return Ok(None);
        };
        let train = [".txt", ".txt.zip", ".jsonl"].map(|ending| format!("train_{size}{ending}"));
        let Some(train) = train.iter().find(|file| names.contains(file)) else { return Ok(None) };
        let (_, longest) = self.extent(train)?;
        if longest > COMPARED || self.language.check_length(2 * longest).is_err() {
            findings.unchecked(format!(
                "whether these are the strings after those of {train}: it has one of {longest} symbols; test strings are compared up to {COMPARED}"
            ));
            return Ok(None);
        }
        let count = test_count(size);
        Ok(Some(Expected { strings: Box::new(test_after(self.language, longest, count)), count }))
    }

    /// Whether a file has a name of the released benchmark.
    fn is_released(&self, file: &str) -> bool {
        self.published.is_some() && (is_released_test(file) || ReleasedName::parse(file).is_some())
    }

    /// How many strings a file has, and how long the longest is.
    fn extent(&self, file: &str) -> Result<(usize, usize), DataError> {
        let (mut strings, mut longest) = (0, 0);
        self.each(file, |word| {
            (strings, longest) = (strings + 1, longest.max(word.len()));
            Ok(())
        })?;
        Ok((strings, longest))
    }

    /// What the released generator writes to a file of this name. It draws them all before it sorts them, so nothing is
    /// drawn for a file that has another number of strings.
    fn released(
        &self,
        file: &str,
        published: Published,
        corpus: ReleasedName,
        findings: &mut Findings,
    ) -> Result<Option<Expected<'_>>, DataError> {
        let ReleasedName { size, prior, seed } = corpus;
        let (strings, _) = self.extent(file)?;
        if strings != size {
            findings.sample(|| format!("the name says {size} strings, and there are {strings}"));
            return Ok(Some(Expected { strings: Box::new(std::iter::empty()), count: size }));
        }
        let feasible = if (1e-4..=1.0).contains(&prior) {
            published.check_corpus(size, prior).map_err(|error| error.to_string())
        } else {
            Err(format!("the name says a prior of {prior}; it can be from 0.0001 to 1"))
        };
        let drawn =
            feasible.and_then(|()| published.corpus(size, prior, seed).map_err(|error| error.to_string()));
        match drawn {
            Ok(words) => Ok(Some(Expected { strings: Box::new(words.into_iter()), count: size })),
            Err(why) => {
                findings.unchecked(format!("whether these are the strings of the released generator: {why}"));
                Ok(None)
            }
        }
    }

    /// A mask against the strings that it is about, row by row.
    fn mask(&self, file: &str, names: &[String]) -> Result<Findings, DataError> {
        let stem =
            file.trim_end_matches("_deterministic_mask.npz").trim_end_matches("_valid_next_symbols.npz");
        let about = [format!("{stem}.txt"), format!("{stem}.txt.zip")];
        let Some(about) = about.iter().find(|file| names.contains(file)) else {
            let mut findings = Findings::default();
            findings.unchecked(format!("there is no {stem}.txt to compare with"));
            return Ok(findings);
        };
        let bytes = self.files.bytes(file).map_err(DataError::io(file))?.unwrap_or_default();
        let mut archive = Archive::new(Cursor::new(bytes)).map_err(at(file))?;
        let mut rows = MaskReader::new(archive.content(None).map_err(at(file))?).map_err(at(file))?;
        let (_, longest) = self.extent(about)?;
        // A step more than the string has symbols, and one column more in some released masks.
        let needed = (longest + 2) * (self.language.alphabet().len() + 1);
        rows.expect_width_within(needed).map_err(at(file))?;
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
            // The released test has the released mask. Those of `test_100` and the like are ours, and
            // exact.
            Some(published) if stem == "test" && kind == published.mask_kind() => published.mask_row(word),
            _ if deterministic => deterministic_steps(self.language, word),
            _ => valid_next(self.language, word),
        }
    }
}
