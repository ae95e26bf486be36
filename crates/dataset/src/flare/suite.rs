//! FLaRe in the list of suites.

use serde_json::{Value, json};
use wug_language::registry::{self, Named};
use wug_language::{LengthRange, Reading};

use super::{Ranges, validate, validate_rows};
use crate::manifest::{DataManifest, Recorder};
use crate::recognition::{SPLIT_PARAMETERS, SplitSpec, check_sizes, generate, splits, write, write_rows};
use crate::suite::{
    DataFormat, Descriptor, JSONL, PARQUET, PlannedData, Suite, ValidationSubject, Written, parse_lengths,
    range_text,
};
use crate::validation::Validation;
use crate::{DataError, FileSource, Seed};
use wug_parameter::{Parameter, Settings};

pub const FORMAT: DataFormat = DataFormat {
    name: "flare",
    folders: &["datasets/"],
    has: |file| file.ends_with("main.tok"),
    about: "The layout of Butoi et al. (2025). The training split is at the top, each other split in `datasets/SPLIT/`. The files of a \
            split are joined by line:\n\n\
            | file | line i is about | what it says |\n|---|---|---|\n\
            | `main.tok` | string i | its symbols, separated by spaces; the empty string is an empty line |\n\
            | `labels.txt` | string i | `1` if it is in the language, else `0` |\n\
            | `num-edits.txt` | the i-th string with the label `0` | how many edits were made to a member; empty for a random string |\n\
            | `edit-distances.txt` | the i-th string with the label `0` | its edit distance from the language |\n\
            | `log-probabilities.txt` | the i-th string with the label `1` | its natural log-probability under the sampler |\n\
            | `next-symbols.jsonl` | the i-th string with the label `1` | for each prefix, from the empty one to the whole string, the \
            symbols that can follow (`s`) and whether the end can (`e`) |\n\n\
            `--format jsonl` and `--format parquet` have all of a string in one row, and are read by `datasets`.",
    load: "from pathlib import Path\n\n\
           lines = lambda file: Path(file).read_text(encoding=\"utf-8\").splitlines()\n\
           train = list(zip(lines(\"main.tok\"), map(int, lines(\"labels.txt\"))))\n\
           test = list(zip(lines(\"datasets/test/main.tok\"), map(int, lines(\"datasets/test/labels.txt\"))))\n\
           print(len(train), len(test), train[0])",
};

const ABOUT: Descriptor = Descriptor {
    name: "flare",
    question: "can it recognise the language at unseen lengths?",
    measure: "recognition accuracy and cross-entropy, by length and edit distance",
    citation: "Butoi et al. 2025, Training Neural Networks as Recognizers of Formal Languages",
    formats: &[JSONL, PARQUET, FORMAT],
    seed: 0,
};

#[derive(Debug)]
pub struct Flare;

impl Suite for Flare {
    fn about(&self) -> &'static Descriptor {
        &ABOUT
    }

    fn options(&self) -> &'static [Parameter] {
        SPLIT_PARAMETERS
    }

    fn plan(
        &self,
        member: &str,
        reading: Reading,
        options: &Settings,
    ) -> Result<Box<dyn PlannedData>, DataError> {
        let named = registry::find(member)?;
        let language = named.build(reading)?;
        let splits = splits(options);
        check_sizes(language.as_ref(), &splits)?;
        Ok(Box::new(PlannedFlare { named, reading, splits }))
    }

    fn validate(
        &self,
        files: &dyn FileSource,
        subject: &ValidationSubject<'_>,
    ) -> Result<Validation, DataError> {
        let language = registry::find(subject.name)?.build(subject.reading)?;
        let check = if subject.format == FORMAT { validate } else { validate_rows };
        check(files, subject.name, language.as_ref(), subject.reading, &ranges(subject.manifest))
    }
}

/// The length ranges of the splits, as the manifest has them.
fn ranges(manifest: Option<&DataManifest>) -> Ranges {
    let splits = manifest.and_then(|manifest| manifest.spec["data"].as_object());
    // A range that cannot be read is left out: the published one of the split is taken then.
    let range = |(name, split): (&String, &Value)| -> Option<(String, LengthRange)> {
        Some((name.clone(), parse_lengths(split["lengths"].as_str()?)?))
    };
    splits.into_iter().flatten().filter_map(range).collect()
}

struct PlannedFlare {
    named: Named,
    reading: Reading,
    splits: Vec<SplitSpec>,
}

impl PlannedData for PlannedFlare {
    fn write(&self, format: DataFormat, seed: u64, out: &mut Recorder<'_>) -> Result<Written, DataError> {
        let language = self.named.build(self.reading)?;
        let data = generate(language.as_ref(), &self.splits, self.reading, Seed::new(seed))?;
        match format.table() {
            Some(table) => write_rows(&data.splits, language.alphabet(), table, out)?,
            None => write(&data.splits, language.as_ref(), out)?,
        }
        let spec = self.splits.iter().map(|split| {
            (split.name.clone(), json!({ "size": split.size, "lengths": range_text(&split.lengths) }))
        });
        let spec = Value::Object(spec.collect());
        Ok(Written::of_language(&self.named, spec, data.facts()))
    }
}
