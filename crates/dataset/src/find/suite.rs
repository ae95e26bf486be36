//! FIND in the list of suites.

use serde_json::{Value, json};
use wug_language::{Reading, registry};

use super::{Entry, TASKS, build, entry, scan, validate, write_jsonl, write_text};
use crate::manifest::Recorder;
use crate::suite::{Descriptor, Format, JSONL, Options, PlannedData, Subject, Suite, TaskSummary, Written};
use crate::validation::Validation;
use crate::{DataError, FileSource, Seed};

/// Text files, source and target.
pub const FORMAT: Format = Format::new("find", &[], |file| file.ends_with(".src"));

/// The text files of SCAN, with all its splits.
pub const SCAN_FORMAT: Format =
    Format::new("scan", &["simple_split/", "add_prim_split/", "length_split/"], |file| {
        file == "tasks.txt" || file.contains("tasks_train_")
    });

const ABOUT: Descriptor = Descriptor {
    name: "find",
    question: "which rule does it prefer when in doubt?",
    measure: "FPA and description length",
    citation: "Kharitonov and Chaabouni 2021, What They Do When in Doubt: a Study of Inductive Biases in Seq2seq Learners",
    formats: &[FORMAT, SCAN_FORMAT, JSONL],
    seed: 0,
};

/// The suite.
#[derive(Debug)]
pub struct Find;

impl Suite for Find {
    fn about(&self) -> &'static Descriptor {
        &ABOUT
    }

    fn formats_of(&self, member: Option<&str>) -> &'static [Format] {
        match member {
            Some(member) if member.split(':').next() == Some(scan::NAME) => &[SCAN_FORMAT, FORMAT, JSONL],
            _ => &[FORMAT, JSONL],
        }
    }

    fn tasks(&self) -> Vec<TaskSummary> {
        TASKS.iter().map(|task| TaskSummary { name: task.name, summary: task.summary }).collect()
    }

    /// SCAN comes without a setting: its own format holds all its splits.
    fn published_members(&self) -> Vec<String> {
        let others = TASKS.iter().filter(|task| task.name != scan::NAME).flat_map(Entry::published);
        others.chain([scan::NAME.to_owned()]).collect()
    }

    fn contains(&self, name: &str) -> bool {
        entry(name.split(':').next().unwrap_or(name)).is_ok()
    }

    fn plan(&self, member: &str, _: Reading, _: &Options<'_>) -> Result<Box<dyn PlannedData>, DataError> {
        build(member, Seed::new(0)).map_err(DataError::request)?;
        Ok(Box::new(Planned { task: member.to_owned() }))
    }

    fn validate(&self, files: &dyn FileSource, subject: &Subject<'_>) -> Result<Validation, DataError> {
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

struct Planned {
    task: String,
}

impl PlannedData for Planned {
    fn write(&self, format: Format, seed: u64, out: &mut Recorder<'_>) -> Result<Written, DataError> {
        let seed = Seed::new(seed);
        if format == SCAN_FORMAT {
            scan::write_scan(seed, out)?;
            return Ok(Written { name: self.task.clone(), spec: Value::Null, facts: Value::Null });
        }
        let task = build(&self.task, seed).map_err(DataError::request)?;
        if format == JSONL {
            write_jsonl(&task, out)?;
        } else {
            write_text(&task, out)?;
        }
        let facts = json!({ "train": task.train.len(), "holdout": task.holdout.len() });
        Ok(Written { name: task.name, spec: Value::Null, facts })
    }
}
