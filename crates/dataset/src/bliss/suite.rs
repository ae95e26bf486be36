//! BLISS in the list of suites.

use serde_json::json;
use wug_language::Reading;
use wug_language::registry::{self, Named};

use super::released::RELEASED;
use super::{CorpusLayout, Published, validate, write};
use crate::corpus::{ReleasedCorpus, SEED, SIZES, prior};
use crate::manifest::Recorder;
use crate::suite::{DataFormat, Descriptor, JSONL, PARQUET, PlannedData, Suite, ValidationSubject, Written};
use crate::validation::Validation;
use crate::{DataError, FileSource};
use wug_parameter::{Constant, Key, Parameter, Settings, choices};

/// Archives with a password, and masks.
pub const ARCHIVES: DataFormat = DataFormat {
    name: "bliss",
    folders: &[],
    has: |file| file.starts_with("train_") && file.ends_with(".txt.zip"),
    about: "The layout of Lan, Chemla and Katzir (2023). Each `.txt.zip` is an archive of one text file of the same name, **encrypted \
            with the password `1234`**, as the authors released them: a string per line, between two `#`. `preview.txt` has the first \
            test strings. A mask (`.npz`) has a row per line of its test: `*_deterministic_mask.npz` says for each step whether only \
            one symbol can come, `*_valid_next_symbols.npz` for each step and symbol (`#` first, then the alphabet) whether it can \
            come; rows are padded with `False`. `--format text`, `jsonl` and `parquet` are plain, and are read by `datasets`.",
    load: "import zipfile\nfrom pathlib import Path\n\n\
           read = lambda file: zipfile.ZipFile(file).read(file.stem, pwd=b\"1234\").decode().split(\"\\n\")\n\
           data = {file.name: read(file) for file in sorted(Path(\".\").glob(\"*.txt.zip\"))}\n\
           print({name: len(strings) for name, strings in data.items()})",
};

/// Strings as plain text.
pub const TEXT: DataFormat = DataFormat {
    name: "text",
    folders: &[],
    has: |file| file.starts_with("train_") && file.ends_with(".txt"),
    about: "Plain text: a string per line, between two `#`, sorted by length. `tests.jsonl` says which test strings belong to each \
            training corpus: how many, and which length they are longer than.",
    load: "",
};

const ABOUT: Descriptor = Descriptor {
    name: "bliss",
    question: "how much can be learned from how little?",
    measure: "B-index",
    citation: "Lan, Chemla and Katzir 2023, Benchmarking Neural Network Generalization for Grammar Induction",
    formats: &[TEXT, JSONL, PARQUET, ARCHIVES],
    seed: SEED as u64,
};

const CORPORA: Key<Vec<usize>> =
    Key::count("sizes", "strings of the training corpora", 50..=1_000_000, 0).list(Constant::Counts(&SIZES));
const TESTS: Key<Tests> =
    Key::choice("tests", "whether test strings are described or written out", "described");

choices! {
    /// How test strings are kept.
    pub enum Tests {
        Described = "described",
        Stored = "stored",
    }
}

#[derive(Debug)]
pub struct Bliss;

impl Suite for Bliss {
    fn about(&self) -> &'static Descriptor {
        &ABOUT
    }

    fn options(&self) -> &'static [Parameter] {
        const { &[CORPORA.parameter(), TESTS.parameter()] }
    }

    fn members(&self) -> Vec<&'static str> {
        Published::ALL.map(Published::name).to_vec()
    }

    fn plan(
        &self,
        member: &str,
        reading: Reading,
        options: &Settings,
    ) -> Result<Box<dyn PlannedData>, DataError> {
        let named = registry::find(member)?;
        named.build(reading)?;
        let mut sizes = options.get(&CORPORA);
        sizes.dedup();
        if let (Ok(language), Some(&largest)) = (named.entry.name.parse::<Published>(), sizes.iter().max()) {
            language.check_corpus(largest, prior(&named)).map_err(DataError::too_large)?;
        }
        let store_tests = options.get(&TESTS) == Tests::Stored;
        Ok(Box::new(PlannedBliss { named, reading, sizes, store_tests }))
    }

    fn validate(
        &self,
        files: &dyn FileSource,
        subject: &ValidationSubject<'_>,
    ) -> Result<Validation, DataError> {
        let named = registry::find(subject.name)?;
        let language = named.build(subject.reading)?;
        validate(files, &named, language.as_ref(), subject.reading)
    }

    fn released(&self) -> &'static [&'static dyn ReleasedCorpus] {
        &RELEASED
    }
}

struct PlannedBliss {
    named: Named,
    reading: Reading,
    sizes: Vec<usize>,
    store_tests: bool,
}

impl PlannedData for PlannedBliss {
    fn write(&self, format: DataFormat, seed: u64, out: &mut Recorder<'_>) -> Result<Written, DataError> {
        let Self { named, reading, sizes, store_tests } = self;
        let layout = match format.table() {
            Some(table) => CorpusLayout::Rows(table),
            None if format == TEXT => CorpusLayout::Text,
            None => CorpusLayout::Archives,
        };
        let facts = write(named, sizes, *reading, seed, layout, *store_tests, out)?;
        Ok(Written::of_language(named, json!({ "sizes": sizes }), facts))
    }
}
