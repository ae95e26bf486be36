//! WADE in the list of suites.

use serde_json::json;
use wug_language::Reading;
use wug_table::TableFormat;

use super::check_size;
use super::{CITATION, TASKS, TaskSettings, WadeTask, dataset_with, task, validate, write};
use crate::manifest::Recorder;
use crate::suite::{
    DataFormat, Descriptor, JSONL, PARQUET, PlannedData, Suite, TaskSummary, ValidationSubject, Written, size,
};
use crate::validation::Validation;
use crate::{DataError, FileSource, Seed};
use wug_parameter::{Key, Parameter, Settings};

const ABOUT: Descriptor = Descriptor {
    name: "wade",
    question: "how fast does it learn?",
    measure: "WADE",
    citation: "Cisneros, Sivic and Mikolov 2022, Benchmarking Learning Efficiency in Deep Reservoir Computing",
    formats: &[JSONL, PARQUET],
    seed: 0,
};

const SEQUENCES: Key<usize> = size("n", "distinct sequences of a task", 1_200);

#[derive(Debug)]
pub struct Wade;

impl Suite for Wade {
    fn about(&self) -> &'static Descriptor {
        &ABOUT
    }

    fn options(&self) -> &'static [Parameter] {
        const { &[SEQUENCES.parameter()] }
    }

    fn tasks(&self) -> Vec<TaskSummary> {
        TASKS.iter().map(|task| TaskSummary { name: task.name, summary: task.summary }).collect()
    }

    fn contains(&self, name: &str) -> bool {
        task(name.split(':').next().unwrap_or(name)).is_ok()
    }

    fn plan(
        &self,
        member: &str,
        reading: Reading,
        options: &Settings,
    ) -> Result<Box<dyn PlannedData>, DataError> {
        let (name, rest) = member.split_once(':').unwrap_or((member, ""));
        let task = task(name).map_err(DataError::request)?;
        let settings = task.settings_with(reading, rest).map_err(DataError::request)?;
        let count = options.get(&SEQUENCES);
        check_size(task, &settings, count).map_err(DataError::too_large)?;
        Ok(Box::new(PlannedWade { task, settings, count }))
    }

    fn validate(
        &self,
        files: &dyn FileSource,
        subject: &ValidationSubject<'_>,
    ) -> Result<Validation, DataError> {
        validate(files, task(subject.base()).map_err(DataError::request)?, subject.reading)
    }
}

struct PlannedWade {
    task: &'static WadeTask,
    settings: TaskSettings,
    count: usize,
}

impl PlannedData for PlannedWade {
    fn write(&self, format: DataFormat, seed: u64, out: &mut Recorder<'_>) -> Result<Written, DataError> {
        let data = dataset_with(self.task, &self.settings, self.count, Seed::new(seed));
        write(&data, format.table().unwrap_or(TableFormat::Jsonl), out)?;
        let facts = json!({
            "drawn": data.drawn, "distinct": data.sequences.len(), "missing": data.missing(),
            "train": data.train.len(), "test": data.test.len(),
        });
        let spec = json!({ "n": self.count, "settings": self.task.spelled(&self.settings, " ") });
        let WadeTask { name, summary, definition, .. } = self.task;
        let description = format!("{summary}: {definition}");
        Ok(Written { name: (*name).to_owned(), description, cite: CITATION, spec, facts })
    }
}
