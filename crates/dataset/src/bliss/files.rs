//! A language's corpora and tests as a directory: archives with masks as released, plain text, or rows.

use std::io::Cursor;

use serde_json::{Map, Value, json};
use wug_language::registry::Named;
use wug_language::{Alphabet, Language, Reading, Word};
use wug_table::{Kind, TableFormat};

use super::released::short_seed;
use super::{CorpusText, FormatError, PASSWORD, Published, write_npz, write_zip};
use crate::corpus::{
    MaskKind, Statistics, TEST_SIZE, TestSize, code_length_bits, deterministic_steps, prior, test_after,
    test_size, training, valid_next,
};
use crate::manifest::Recorder;
use crate::tabular::{DEFAULT, DescribedColumn, SplitFile, SplitTable};
use crate::{DataError, FileSource, rows};

/// The file that describes the test strings.
pub(super) const TESTS: &str = "tests.jsonl";

/// How the strings are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorpusLayout {
    /// Encrypted archives, and masks.
    Archives,
    Text,
    Rows(TableFormat),
}

/// Writes the corpora and tests of a language, and says what is in them. As published: the released strings, in archives the
/// released files, byte for byte. Corrected: for a training corpus of 1000/b strings, the true next 1000·b strings after its
/// longest one. `tests.jsonl` describes the test strings, which are many, can be enumerated faster than read, and are stored
/// only if asked for; the released archives hold them in any case.
pub fn write(
    named: &Named,
    sizes: &[usize],
    reading: Reading,
    seed: u64,
    layout: CorpusLayout,
    store_tests: bool,
    out: &mut Recorder<'_>,
) -> Result<Value, DataError> {
    let language = named.build(reading)?;
    let mut files = Files { language: language.as_ref(), layout, store_tests, out };
    match reading {
        Reading::Published => files.published(named, sizes, seed),
        Reading::Corrected => files.corrected(named, sizes, seed),
    }
}

/// How many strings test a training corpus of this size: of order N = 3, train on 1000/b and test on 1000·b.
pub fn test_count(train_size: usize) -> usize {
    1_000_000 / train_size.max(1)
}

/// The strings of a file of rows; `None` if there is no such file.
pub fn read_strings(
    files: &dyn FileSource,
    file: &str,
    alphabet: &Alphabet,
) -> Result<Option<Vec<Word>>, DataError> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        string: String,
    }
    rows::read_rows(files, file, |text| {
        let row: Row = rows::object(text, "a string")?;
        rows::word(&row.string, alphabet)
    })
}

struct Files<'a, 'b> {
    language: &'a dyn Language,
    layout: CorpusLayout,
    store_tests: bool,
    out: &'a mut Recorder<'b>,
}

impl Files<'_, '_> {
    fn published(&mut self, named: &Named, sizes: &[usize], seed: u64) -> Result<Value, DataError> {
        let published: Published = named.entry.name.parse().map_err(DataError::request)?;
        let (prior, short) = (prior(named), short_seed(seed)?);
        let mut facts = Map::new();
        for &size in sizes {
            let words = training(named, size, Reading::Published, seed)?;
            let file = Published::train_file(size, prior, short);
            self.strings(&format!("train_{size}"), &file, &mut words.iter().cloned())?;
            facts.insert(format!("train_{size}"), self.facts(&words));
        }
        let test = json!({ "strings": TEST_SIZE, "longest": published.longest_test() });
        if self.layout == CorpusLayout::Archives {
            self.strings("test", "test.txt", &mut published.test())?;
            self.plain("preview.txt", &mut published.preview().into_iter())?;
            self.mask(published.mask_file(), &published.mask_shape(), published.mask_rows())?;
        } else {
            self.out.put_rows(TESTS, std::iter::once(test.to_string()))?;
            if self.store_tests {
                self.strings("test", "test.txt", &mut published.test())?;
            } else {
                let symbols = published.test().map(|word| word.len()).sum();
                facts.insert("notes".to_owned(), json!([absent(TEST_SIZE, symbols)]));
            }
        }
        facts.insert("test".to_owned(), test);
        Ok(Value::Object(facts))
    }

    fn corrected(&mut self, named: &Named, sizes: &[usize], seed: u64) -> Result<Value, DataError> {
        let mut facts = Map::new();
        let (mut described, mut total) = (Vec::new(), TestSize::default());
        for &size in sizes {
            let words = training(named, size, Reading::Corrected, seed)?;
            self.strings(&format!("train_{size}"), &format!("train_{size}.txt"), &mut words.iter().cloned())?;
            // Corpora are sorted by length.
            let longest = words.last().map_or(0, Vec::len);
            let count = test_count(size);
            let TestSize { strings, symbols } = test_size(self.language, longest, count);
            total = TestSize { strings: total.strings + strings, symbols: total.symbols + symbols };
            let mut test = json!({ "train": size, "longer_than": longest, "strings": count });
            if self.store_tests {
                let words = &mut test_after(self.language, longest, count);
                self.strings(&format!("test_{size}"), &format!("test_{size}.txt"), words)?;
            }
            if self.store_tests && self.layout == CorpusLayout::Archives {
                self.exact_mask(named, size, longest, count)?;
            }
            described.push(test.to_string());
            test["symbols"] = symbols.into();
            let mut row = self.facts(&words);
            row["test"] = test;
            facts.insert(format!("train_{size}"), row);
        }
        self.out.put_rows(TESTS, described.into_iter())?;
        if !self.store_tests {
            facts.insert("notes".to_owned(), json!([absent(total.strings, total.symbols)]));
        }
        Ok(Value::Object(facts))
    }

    /// The exact mask of a test set: deterministic steps for the counting languages, valid
    /// symbols for all others.
    fn exact_mask(
        &mut self,
        named: &Named,
        size: usize,
        longest: usize,
        count: usize,
    ) -> Result<(), DataError> {
        let language = self.language;
        let kind = named.entry.name.parse().map_or(MaskKind::ValidNext, Published::mask_kind);
        let strings = || test_after(language, longest, count);
        // Once for the shape, which comes first in the file, and once for the rows: kept in memory, the
        // largest mask would take 900 MB.
        let (rows, steps) =
            strings().fold((0, 0), |(rows, steps), word| (rows + 1, steps.max(word.len() + 1)));
        let (name, shape) = match kind {
            MaskKind::Deterministic => (format!("test_{size}_deterministic_mask.npz"), vec![rows, steps]),
            MaskKind::ValidNext => {
                let vocabulary = language.alphabet().len() + 1;
                (format!("test_{size}_valid_next_symbols.npz"), vec![rows, steps, vocabulary])
            }
        };
        let width = shape[1..].iter().product();
        let padded = strings().map(|word| {
            let mut cells = match kind {
                MaskKind::Deterministic => deterministic_steps(language, &word),
                MaskKind::ValidNext => valid_next(language, &word),
            };
            cells.resize(width, false);
            cells
        });
        self.mask(&name, &shape, padded)
    }

    fn facts(&self, words: &[Word]) -> Value {
        let s = Statistics::of(words);
        let bits =
            self.language.natural().map(|d| code_length_bits(d.as_ref(), words)).filter(|b| b.is_finite());
        json!({
            "strings": s.strings, "unique": s.unique, "longest": s.longest, "targets": s.targets, "empty": s.empty,
            "optimal_bits": bits,
        })
    }

    /// The strings of a split in the layout asked for; `name` is that of the plain text.
    fn strings(
        &mut self,
        split: &str,
        name: &str,
        words: &mut dyn Iterator<Item = Word>,
    ) -> Result<(), DataError> {
        let mut rows = 0;
        let mut counted = words.inspect(|_| rows += 1);
        match self.layout {
            CorpusLayout::Text => {
                self.plain(name, &mut counted)?;
                let fields = [DescribedColumn::new(
                    "text",
                    Kind::Text,
                    "the string between two `#`, which mark its start and its end",
                )];
                self.out.split(
                    DEFAULT,
                    &fields,
                    SplitFile { name: split.to_owned(), file: name.to_owned(), rows },
                );
            }
            CorpusLayout::Rows(format) => {
                let alphabet: &Alphabet = self.language.alphabet();
                let fields = vec![DescribedColumn::new(
                    "string",
                    Kind::Text,
                    "the string, its symbols separated by spaces",
                )];
                let rows = counted.map(|word| vec![alphabet.format(&word).into()]);
                SplitTable { format, config: DEFAULT, fields }.put(
                    self.out,
                    split,
                    name.trim_end_matches(".txt"),
                    rows,
                )?;
            }
            CorpusLayout::Archives => {
                let text = self.text()?;
                let archive = format!("{name}.zip");
                let mut packed = Vec::new();
                write_zip(&mut packed, name, PASSWORD, |sink| text.write(sink, &mut counted))
                    .map_err(|error| DataError::file(&archive, error.to_string()))?;
                self.out.put(&archive, |sink| sink.write_all(&packed))?;
                self.out.count(split, rows);
            }
        }
        Ok(())
    }

    fn plain(&mut self, name: &str, words: &mut dyn Iterator<Item = Word>) -> Result<(), DataError> {
        let text = self.text()?;
        self.out.put(name, |sink| text.write(sink, &mut *words))
    }

    fn text(&self) -> Result<CorpusText, DataError> {
        CorpusText::new(self.language.alphabet())
            .map_err(|error: FormatError| DataError::request(format!("{error}; write it as jsonl")))
    }

    fn mask(
        &mut self,
        name: &str,
        shape: &[usize],
        rows: impl Iterator<Item = Vec<bool>>,
    ) -> Result<(), DataError> {
        let mut packed = Cursor::new(Vec::new());
        write_npz(&mut packed, shape, rows).map_err(|error| DataError::file(name, error.to_string()))?;
        self.out.put(name, |sink| sink.write_all(packed.get_ref()))
    }
}

/// Says how large the test strings are that were not written.
fn absent(strings: usize, symbols: usize) -> String {
    // As text, a string has two `#` and a line break.
    let bytes = symbols + 3 * strings;
    format!(
        "The {strings} test strings are described in `{TESTS}` and not written; `--set tests=stored` writes them ({:.1} MB as text).",
        bytes as f64 / 1e6
    )
}
