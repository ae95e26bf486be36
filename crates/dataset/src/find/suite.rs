//! FIND in the list of suites.

use serde_json::{Value, json};
use wug_language::{Reading, registry};

use super::{TASKS, TaskEntry, build, entry, scan, validate, write_rows, write_text};
use crate::manifest::Recorder;
use crate::suite::{
    DataFormat, Descriptor, JSONL, PARQUET, PlannedData, Suite, TaskSummary, ValidationSubject, Written,
};
use crate::validation::Validation;
use crate::{DataError, FileSource, Seed};
use wug_parameter::Settings;

/// Text files, source and target.
pub const FORMAT: DataFormat = DataFormat {
    name: "find",
    folders: &[],
    has: |file| file.ends_with(".src"),
    about: "The layout of Kharitonov and Chaabouni (2021): line i of `X.src` is an input and line i of `X.dst` its output, tokens \
            separated by spaces. `train` has the training pairs. `test` has the hold-out inputs, with empty lines for outputs, and \
            `valid` is a copy of it. Each other pair of files is a rule: the training pairs, then the hold-out inputs that were not \
            trained on, with the rule's answers. `--format jsonl` and `--format parquet` have inputs, outputs and rules in one row, \
            and are read by `datasets`.",
    load: "from pathlib import Path\n\n\
           lines = lambda file: Path(file).read_text(encoding=\"utf-8\").splitlines()\n\
           pairs = {file.stem: list(zip(lines(file), lines(file.with_suffix(\".dst\")))) for file in Path(\".\").glob(\"*.src\")}\n\
           train, test = pairs.pop(\"train\"), [source for source, _ in pairs.pop(\"test\")]\n\
           print(train[:1], len(test), sorted(pairs))",
};

/// The text files of SCAN, with all its splits.
pub const SCAN_FORMAT: DataFormat = DataFormat {
    name: "scan",
    folders: &["simple_split/", "add_prim_split/", "length_split/"],
    has: |file| file == "tasks.txt" || file.contains("tasks_train_"),
    about: "The layout of Lake and Baroni (2018): a line per command, `IN: COMMAND OUT: ACTIONS`. `tasks.txt` has all commands; each \
            split has a training and a test file.",
    load: "",
};

const ABOUT: Descriptor = Descriptor {
    name: "find",
    question: "which rule does it prefer when in doubt?",
    measure: "FPA and description length",
    citation: "Kharitonov and Chaabouni 2021, What They Do When in Doubt: a Study of Inductive Biases in Seq2seq Learners",
    formats: &[JSONL, PARQUET, FORMAT, SCAN_FORMAT],
    seed: 0,
};

#[derive(Debug)]
pub struct Find;

impl Suite for Find {
    fn about(&self) -> &'static Descriptor {
        &ABOUT
    }

    fn formats_of(&self, member: Option<&str>) -> &'static [DataFormat] {
        match member {
            Some(member) if member.split(':').next() == Some(scan::NAME) => ABOUT.formats,
            _ => &[JSONL, PARQUET, FORMAT],
        }
    }

    fn tasks(&self) -> Vec<TaskSummary> {
        TASKS.iter().map(|task| TaskSummary { name: task.name, summary: task.summary }).collect()
    }

    /// SCAN comes without a setting: its own format holds all its splits.
    fn published_members(&self) -> Vec<String> {
        let others = TASKS.iter().filter(|task| task.name != scan::NAME).flat_map(TaskEntry::published);
        others.chain([scan::NAME.to_owned()]).collect()
    }

    fn contains(&self, name: &str) -> bool {
        entry(name.split(':').next().unwrap_or(name)).is_ok()
    }

    fn plan(&self, member: &str, _: Reading, _: &Settings) -> Result<Box<dyn PlannedData>, DataError> {
        // Only the settings are checked; the task is built with its own seed when it is written.
        build(member, Seed::new(0)).map_err(DataError::request)?;
        Ok(Box::new(PlannedFind { task: member.to_owned() }))
    }

    fn validate(
        &self,
        files: &dyn FileSource,
        subject: &ValidationSubject<'_>,
    ) -> Result<Validation, DataError> {
        let (name, base) = (subject.name, subject.base());
        if subject.format != SCAN_FORMAT {
            let seed = Seed::new(subject.manifest.map_or(0, |manifest| manifest.seed));
            return validate(files, name, seed);
        }
        if base != scan::NAME && (entry(base).is_ok() || registry::find(base).is_ok()) {
            return Err(DataError::Request(format!("`{name}` is not laid out as scan; only `scan` is")));
        }
        scan::validate_scan(files)
    }
}

struct PlannedFind {
    task: String,
}

impl PlannedFind {
    fn written(&self, name: String, facts: Value) -> Result<Written, DataError> {
        let task = self.task.split(':').next().unwrap_or(&self.task);
        let TaskEntry { summary, definition, cite, .. } = entry(task).map_err(DataError::request)?;
        Ok(Written { name, description: format!("{summary} {definition}"), cite, spec: Value::Null, facts })
    }
}

impl PlannedData for PlannedFind {
    fn write(&self, format: DataFormat, seed: u64, out: &mut Recorder<'_>) -> Result<Written, DataError> {
        let seed = Seed::new(seed);
        if format == SCAN_FORMAT {
            scan::write_scan(seed, out)?;
            return self.written(self.task.clone(), Value::Null);
        }
        let task = build(&self.task, seed).map_err(DataError::request)?;
        match format.table() {
            Some(table) => write_rows(&task, table, out)?,
            None => write_text(&task, out)?,
        }
        let facts = json!({ "train": task.train.len(), "holdout": task.holdout.len() });
        self.written(task.name, facts)
    }
}
