//! `[recognition.data]`: where strings come from.

use std::path::PathBuf;

use serde::Deserialize;
use wug_language::registry::Named;
use wug_language::{Language, Reading};

use super::data::Data;
use super::plan::{DataPlan, Source};
use crate::spec::{DataSeeds, Problem};

/// Sizes and lengths, or a directory. What is left out is as in the paper.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataSpec {
    directory: Option<PathBuf>,
    seed: Option<DataSeeds>,
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
    /// The seeds of drawn data for a run with this seed. Data that are read are the same for all runs.
    pub(super) fn seeds(&self, run: u64) -> Vec<u64> {
        self.data_seeds().of(run)
    }

    /// How many sets of data there are for each seed of a run.
    pub(super) fn sets(&self) -> usize {
        self.data_seeds().len()
    }

    /// One draw may be easier or harder than most, and then so is every figure that is of it: unless a seed is given, runs
    /// with other seeds have other strings.
    fn data_seeds(&self) -> &DataSeeds {
        self.seed.as_ref().unwrap_or(&DataSeeds::OfRun)
    }

    pub(super) fn check(&self) -> Result<(), Problem> {
        self.data_seeds().check("data.seed")?;
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
        let given = [
            ("seed", self.seed.as_ref().map(ToString::to_string)),
            ("training", self.training.map(|n| n.to_string())),
            ("validation", self.validation.map(|n| n.to_string())),
            ("test", self.test.map(|n| n.to_string())),
            ("held_out", self.held_out.map(|n| n.to_string())),
            ("distances", self.distances.map(|n| n.to_string())),
            ("short", self.short.map(|n| n.to_string())),
            ("long", self.long.map(|n| n.to_string())),
            ("longest", self.longest.map(|n| n.to_string())),
        ];
        match given.into_iter().find_map(|(field, value)| Some((field, value?))) {
            None => Ok(()),
            Some((field, value)) => {
                let message = "cannot be given with `directory`: data that are read have sizes and lengths of their own";
                Err(Problem::new(&format!("data.{field}"), &value, message.to_owned()))
            }
        }
    }

    fn drawn(&self) -> DataPlan {
        DataPlan {
            // The seed of each run is put in when the run is planned.
            source: Source::Drawn { seed: 0 },
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
            language.by_length(0..=length).map_err(|error| Problem::of_language(named, &error))?;
        }
        Ok(plan)
    }
}
