//! `[recognition.data]`: where strings come from.

use std::path::PathBuf;

use serde::Deserialize;
use wug_language::registry::Named;
use wug_language::{Language, Reading};

use super::data::Data;
use super::plan::{DataPlan, Source};
use crate::spec::Problem;

/// Sizes and lengths, or a directory. What is left out is as in the paper.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataSpec {
    directory: Option<PathBuf>,
    seed: Option<u64>,
    training: Option<usize>,
    validation: Option<usize>,
    test: Option<usize>,
    held_out: Option<usize>,
    distances: Option<usize>,
    short: Option<usize>,
    long: Option<usize>,
    longest: Option<usize>,
}

/// The most strings of a split.
const MAX_STRINGS: usize = 10_000_000;

impl DataSpec {
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.directory.is_some() {
            return self.check_directory();
        }
        let DataPlan { training, validation, test, held_out, distances, short, long, longest, .. } =
            self.drawn();
        for (field, size, least) in [
            ("data.training", training, 1),
            ("data.validation", validation, 1),
            ("data.test", test, 1),
            ("data.held_out", held_out, 0),
            ("data.distances", distances, 0),
        ] {
            if !(least..=MAX_STRINGS).contains(&size) {
                let allowed = format!("from {least} to {MAX_STRINGS} strings");
                return Err(Problem::value(field, &size.to_string(), &allowed));
            }
        }
        for (field, length) in [("data.longest", longest), ("data.long", long)] {
            if length > crate::data::LONGEST {
                let allowed = format!("a length up to {}", crate::data::LONGEST);
                return Err(Problem::value(field, &length.to_string(), &allowed));
            }
        }
        if short > long {
            return Err(Problem::value("data.short", &short.to_string(), &format!("at most `long`, {long}")));
        }
        Ok(())
    }

    /// Data that are read have sizes and lengths of their own.
    fn check_directory(&self) -> Result<(), Problem> {
        let count = |size: Option<usize>| size.map(|n| n as u64);
        let given = [
            ("seed", self.seed),
            ("training", count(self.training)),
            ("validation", count(self.validation)),
            ("test", count(self.test)),
            ("held_out", count(self.held_out)),
            ("distances", count(self.distances)),
            ("short", count(self.short)),
            ("long", count(self.long)),
            ("longest", count(self.longest)),
        ];
        match given.into_iter().find_map(|(field, value)| Some((field, value?))) {
            None => Ok(()),
            Some((field, value)) => {
                let message = "cannot be given with `directory`: data that are read have sizes and lengths of their own";
                Err(Problem::new(&format!("data.{field}"), &value.to_string(), message.to_owned()))
            }
        }
    }

    fn drawn(&self) -> DataPlan {
        DataPlan {
            source: Source::Drawn { seed: self.seed.unwrap_or(0) },
            training: self.training.unwrap_or(10_000),
            validation: self.validation.unwrap_or(1_000),
            test: self.test.unwrap_or(5_010),
            held_out: self.held_out.unwrap_or(1_000),
            distances: self.distances.unwrap_or(50),
            short: self.short.unwrap_or(40),
            long: self.long.unwrap_or(80),
            longest: self.longest.unwrap_or(500),
        }
    }

    /// The data of a language, drawn or read.
    pub(super) fn plan(
        &self,
        named: &Named,
        reading: Reading,
        language: &dyn Language,
    ) -> Result<DataPlan, Problem> {
        if let Some(directory) = &self.directory {
            let given = directory.display().to_string();
            let problem = |message: String| Problem::new("data.directory", &given, message);
            let path = Data::find(directory, named).map_err(problem)?;
            let files = Data::read(&path, language).map_err(|error| problem(error.to_string()))?;
            files.check_reading(reading).map_err(problem)?;
            return Ok(files.plan(path));
        }
        let plan = self.drawn();
        for length in [plan.short, plan.long, plan.longest] {
            let problem = |message: String| Problem::new("languages", named.entry.name, message);
            language.by_length(0..=length).map_err(|error| problem(error.to_string()))?;
        }
        Ok(plan)
    }
}
