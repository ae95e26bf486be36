//! TSE in the list of suites.

use serde_json::json;
use wug_language::Reading;
use wug_language::registry::{self, Named};

use super::{LM_EVAL, lm_eval, validate, write, write_rows};
use crate::manifest::Recorder;
use crate::pairs::{PairSizes, generate};
use crate::suite::{
    DataFormat, Descriptor, JSONL, PARQUET, PlannedData, Suite, ValidationSubject, Written, range_text,
};
use crate::validation::Validation;
use crate::{DataError, FileSource, Seed};
use wug_parameter::{Parameter, Settings};

pub const FORMAT: DataFormat = DataFormat {
    name: "tse",
    folders: &[],
    has: |file| file == "test_pair.jsonl",
    about: "The layout of Someya, Yoshida and Oseki (2024). `train.jsonl` and `validation.jsonl` hold grammatical strings. A test of n \
            pairs is in two files: `test_pair.jsonl` has pair i in line i; `test.jsonl` has the grammatical string of pair i in line i \
            and its near miss in line n + i. `out_of_dist_test.jsonl` and `out_of_dist_test_pair.jsonl` are the same at greater \
            lengths. `vocab.txt` has a token per line.",
    load: "",
};

/// The sizes of the vocabulary in the paper.
const TERMINALS: [usize; 5] = [5, 10, 50, 100, 500];

const ABOUT: Descriptor = Descriptor {
    name: "tse",
    question: "does it prefer the grammatical string?",
    measure: "minimal-pair accuracy",
    citation: "Someya, Yoshida and Oseki 2024, Targeted Syntactic Evaluation on the Chomsky Hierarchy",
    formats: &[JSONL, PARQUET, FORMAT, LM_EVAL],
    seed: 0,
};

#[derive(Debug)]
pub struct Tse;

impl Suite for Tse {
    fn about(&self) -> &'static Descriptor {
        &ABOUT
    }

    fn options(&self) -> &'static [Parameter] {
        PairSizes::PARAMETERS
    }

    fn published_members(&self) -> Vec<String> {
        let with = |name: &str| TERMINALS.map(|terminals| format!("{name}:terminals={terminals}"));
        self.members().into_iter().flat_map(with).collect()
    }

    fn plan(
        &self,
        member: &str,
        reading: Reading,
        options: &Settings,
    ) -> Result<Box<dyn PlannedData>, DataError> {
        let named = registry::find(member)?;
        let language = named.build(reading)?;
        let sizes = PairSizes::of(options);
        sizes.check(language.as_ref())?;
        Ok(Box::new(PlannedTse { named, reading, sizes }))
    }

    fn validate(
        &self,
        files: &dyn FileSource,
        subject: &ValidationSubject<'_>,
    ) -> Result<Validation, DataError> {
        let language = registry::find(subject.name)?.build(subject.reading)?;
        validate(files, subject.name, language.as_ref(), subject.reading)
    }
}

struct PlannedTse {
    named: Named,
    reading: Reading,
    sizes: PairSizes,
}

impl PlannedData for PlannedTse {
    fn write(&self, format: DataFormat, seed: u64, out: &mut Recorder<'_>) -> Result<Written, DataError> {
        let Self { named, reading, sizes } = self;
        let language = named.build(*reading)?;
        let data = generate(named, sizes, *reading, Seed::new(seed))?;
        match format.table() {
            Some(table) => write_rows(&data, language.alphabet(), table, out)?,
            None if format == LM_EVAL => {
                let name = format!("{reading}_{}", named.spelled());
                lm_eval::write(&data, &name, Seed::new(seed), language.alphabet(), out)?;
            }
            None => write(&data, language.alphabet(), out)?,
        }
        let spec = json!({
            "train": sizes.training, "validation": sizes.validation, "test": sizes.test,
            "ood": sizes.out_of_distribution,
            "lengths": range_text(&sizes.lengths), "ood.lengths": range_text(&sizes.greater_lengths),
        });
        Ok(Written::of_language(named, spec, data.facts(language.as_ref())))
    }
}
