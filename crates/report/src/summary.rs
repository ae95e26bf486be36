//! What was run at all: how many, by which version, how they ended, and what should make a reader careful.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use wug_score::{Ending, RunResult};

use crate::bliss::Trial;
use crate::table::{Cell, Column, Row, Table};

/// What was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// How many runs.
    pub runs: usize,
    /// How they ended: name and number.
    pub endings: BTreeMap<&'static str, usize>,
    /// The suites they are of.
    pub suites: BTreeSet<String>,
    /// The readings they are of.
    pub readings: BTreeSet<&'static str>,
    /// The versions of wug that ran them.
    pub versions: BTreeSet<String>,
    /// What makes the tables less than they seem.
    pub cautions: Vec<String>,
}

impl Summary {
    /// Of these results.
    pub fn of(results: &[RunResult]) -> Self {
        let mut endings = BTreeMap::new();
        for result in results {
            *endings.entry(result.ending.name()).or_insert(0) += 1;
        }
        Self {
            runs: results.len(),
            endings,
            suites: results.iter().map(|result| result.run.suite.clone()).collect(),
            readings: results.iter().map(|result| result.run.reading.name()).collect(),
            versions: results.iter().map(|result| result.run.version.clone()).collect(),
            cautions: cautions(results),
        }
    }

    /// In a few words per line: what is said, and what it is.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let endings: Vec<String> = self.endings.iter().map(|(name, n)| format!("{n} {name}")).collect();
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        let readings: Vec<&str> = self.readings.iter().copied().collect();
        let mut lines = vec![
            ("Runs", format!("{}: {}", self.runs, endings.join(", "))),
            ("Suites", list(&self.suites)),
            ("Readings", readings.join(", ")),
            ("Versions", format!("wug {}", list(&self.versions))),
        ];
        lines.extend(self.cautions.iter().map(|caution| ("Caution", caution.clone())));
        lines
    }
}

fn cautions(results: &[RunResult]) -> Vec<String> {
    let mut cautions = Vec::new();
    let versions: BTreeSet<&str> = results.iter().map(|result| result.run.version.as_str()).collect();
    if versions.len() > 1 {
        cautions.push("the runs are by several versions of wug".to_owned());
    }
    let repeated = repeated(results);
    if repeated > 0 {
        cautions.push(format!(
            "{repeated} seeds were run more than once at the same place of a table, by different plans; means mix them"
        ));
    }
    let trained = |result: &&RunResult| result.plan.get("max_epochs").is_some();
    let cut = results.iter().filter(trained).filter(|result| result.ending == Ending::Finished).count();
    if cut > 0 {
        cautions.push(format!(
            "{cut} of {} runs reached their last epoch before they would have stopped; more epochs may score higher",
            results.len()
        ));
    }
    let mixed = mixed_data(results);
    if !mixed.is_empty() {
        cautions.push(format!("the data differ between runs of one language: {}", mixed.join(", ")));
    }
    cautions
}

/// How many seeds occur twice among runs that only their plan tells apart.
fn repeated(results: &[RunResult]) -> usize {
    let mut times: BTreeMap<_, usize> = BTreeMap::new();
    // Trials of the index have no such place: their plans differ by factor and configuration, which are told apart.
    for run in results.iter().filter(|result| Trial::of(result).is_none()).map(|result| &result.run) {
        let place = (&run.suite, &run.language, &run.learner, run.size, &run.loss, &run.validation);
        *times.entry((place, run.reading, run.seed)).or_default() += 1;
    }
    times.values().filter(|n| **n > 1).count()
}

/// The languages whose runs of one reading saw different data.
fn mixed_data(results: &[RunResult]) -> Vec<&str> {
    let mut hashes: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    // A run that failed early has seen no data.
    for result in results.iter().filter(|result| !result.run.data_hash.is_empty()) {
        let run = &result.run;
        let corpus = Trial::of(result).map_or_else(String::new, Trial::corpus);
        let key = (run.suite.as_str(), run.language.as_str(), run.reading, corpus);
        hashes.entry(key).or_default().insert(&run.data_hash);
    }
    let mixed: BTreeSet<&str> = hashes
        .into_iter()
        .filter(|(_, hashes)| hashes.len() > 1)
        .map(|((_, language, ..), _)| language)
        .collect();
    mixed.into_iter().collect()
}

/// How many of the runs ended badly, such as `1 diverged, 2 failed`; empty if none did.
pub(crate) fn bad_endings(runs: &[&RunResult]) -> String {
    let count = |is: fn(&Ending) -> bool| runs.iter().filter(|run| is(&run.ending)).count();
    let diverged = count(|ending| matches!(ending, Ending::Diverged { .. }));
    let failed = count(|ending| matches!(ending, Ending::Failed { .. }));
    let parts = [(diverged, "diverged"), (failed, "failed")];
    let said = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    said.collect::<Vec<_>>().join(", ")
}

/// The runs that diverged or failed, and why; `None` if there are none.
pub(crate) fn bad_runs(results: &[RunResult]) -> Option<Table> {
    let told = |result: &RunResult| match &result.ending {
        Ending::Finished | Ending::Stopped => None,
        Ending::Diverged { step } => Some(format!("not finite after {step} updates")),
        Ending::Failed { message } => Some(message.clone()),
    };
    let row = |result: &RunResult| {
        let run = &result.run;
        let or_none = |text: &Option<String>| text.clone().unwrap_or_default();
        let keys = vec![
            run.reading.name().to_owned(),
            run.language.clone(),
            run.learner.clone(),
            run.size.map_or_else(String::new, |size| size.to_string()),
            or_none(&run.loss),
            or_none(&run.validation),
            run.seed.to_string(),
        ];
        Some(Row { keys, cells: vec![Cell::ours(result.ending.name()), Cell::ours(told(result)?)] })
    };
    let rows: Vec<Row> = results.iter().filter_map(row).collect();
    let keys = ["reading", "language", "learner", "size", "loss", "validation", "seed"];
    (!rows.is_empty()).then(|| Table {
        id: "endings".to_owned(),
        title: "Runs that diverged or failed".to_owned(),
        about: BTreeMap::new(),
        notes: Vec::new(),
        keys: keys.map(str::to_owned).to_vec(),
        columns: ["ending", "why"].map(Column::new).to_vec(),
        rows,
    })
}
