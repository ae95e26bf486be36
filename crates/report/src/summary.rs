//! What was run: how many runs, of which versions, how they ended, and what to be cautious about.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use wug_score::metric::{ANSWERS_SEEN, HIGHEST_ACCURACY};
use wug_score::{Ending, Run, RunResult};

use crate::columns::coordinate_names;
use crate::measured::TEST;
use crate::plan_fields::data_seed;
use crate::table::{Cell, Column, Row, Table};
use crate::{repeats, suite};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub runs: usize,
    /// How they ended: name and number.
    pub endings: BTreeMap<&'static str, usize>,
    /// The protocols they are of.
    pub protocols: BTreeSet<String>,
    /// The readings they are of.
    pub readings: BTreeSet<&'static str>,
    /// The versions of wug that ran them.
    pub versions: BTreeSet<String>,
    /// What makes the tables less reliable.
    pub cautions: Vec<String>,
}

impl Summary {
    pub fn of(results: &[RunResult]) -> Self {
        let mut endings = BTreeMap::new();
        for result in results {
            *endings.entry(result.ending.name()).or_insert(0) += 1;
        }
        Self {
            runs: results.len(),
            endings,
            protocols: results.iter().map(|result| result.run.protocol.clone()).collect(),
            readings: results.iter().map(|result| result.run.reading.name()).collect(),
            versions: results.iter().map(|result| result.run.version.clone()).collect(),
            cautions: cautions(results),
        }
    }

    /// As lines: a name and what there is to say.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let endings: Vec<String> = self.endings.iter().map(|(name, n)| format!("{n} {name}")).collect();
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        let readings: Vec<&str> = self.readings.iter().copied().collect();
        let mut lines = vec![
            ("Runs", format!("{}: {}", self.runs, endings.join(", "))),
            ("Protocols", list(&self.protocols)),
            ("Readings", readings.join(", ")),
            ("Versions", format!("wug {}", list(&self.versions))),
        ];
        lines.extend(self.cautions.iter().map(|caution| ("Caution", caution.clone())));
        lines
    }
}

fn cautions(results: &[RunResult]) -> Vec<String> {
    let mut cautions = Vec::new();
    for (field, what) in MADE_BY {
        let values: BTreeSet<String> = results.iter().filter_map(|result| text(&result.run, field)).collect();
        if values.len() > 1 {
            let values = values.into_iter().collect::<Vec<_>>().join(", ");
            cautions.push(format!("the runs are by several {what}: {values}"));
        }
    }
    cautions.extend(repeats::caution(results));
    let results = repeats::distinct(results);
    let repeated = repeated(&results);
    if repeated > 0 {
        cautions.push(format!(
            "{repeated} seeds were run more than once in the same cell of a table, by different plans; means mix them"
        ));
    }
    // Learners from elsewhere end when they like: the epochs of the plan are not theirs.
    let foreign = |result: &RunResult| {
        let settings = result.plan.get("settings").and_then(serde_json::Value::as_object);
        settings.is_some_and(|settings| settings.keys().any(|name| name.starts_with("foreign.")))
    };
    let trained = |result: &RunResult| result.plan.get("max_epochs").is_some() && !foreign(result);
    let cut = results.iter().filter(|result| trained(result) && result.ending == Ending::Finished).count();
    if cut > 0 {
        cautions.push(format!(
            "{cut} of {} runs reached their last epoch before they would have stopped; more epochs may score higher",
            results.len()
        ));
    }
    let mixed = mixed_data(&results);
    if !mixed.is_empty() {
        cautions.push(format!(
            "the data differ between runs of one language, drawn with the same seed: {}",
            mixed.join(", ")
        ));
    }
    let seeds = mixed_seeds(&results);
    if !seeds.is_empty() {
        cautions.push(format!("cells have runs on data drawn with different seeds: {}", seeds.join(", ")));
    }
    cautions.extend(answers_seen(&results));
    cautions.extend(few_sequences(&results));
    cautions.extend(certain(&results));
    cautions
}

/// A caution about runs whose learner sees the answers that it predicts.
fn answers_seen(results: &[&RunResult]) -> Option<String> {
    let sees = |run: &&&RunResult| run.value(TEST, ANSWERS_SEEN.name).is_some_and(|share| share > 0.0);
    let seeing: Vec<&&RunResult> = results.iter().filter(sees).collect();
    let learners: BTreeSet<&str> = seeing.iter().map(|run| run.run.learner()).collect();
    let learners = learners.into_iter().collect::<Vec<_>>().join(", ");
    (!seeing.is_empty()).then(|| {
        let count = seeing.len();
        format!("{count} runs see the answers that they predict ({learners}; answers_seen above 0): their scores do not compare")
    })
}

/// A caution about tasks that have fewer distinct sequences than were asked for.
fn few_sequences(results: &[&RunResult]) -> Option<String> {
    let mut fewest: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for run in results.iter().filter(|run| run.plan.get("corpus").is_none()) {
        let count = |name: &str| run.data.get(name)?.as_u64();
        let asked = run.plan.get("sequences").and_then(serde_json::Value::as_u64);
        let (Some(asked), Some(train), Some(test)) = (asked, count("train"), count("test")) else { continue };
        // Numbers of a file can be anything.
        let found = train.saturating_add(test);
        if found < asked {
            let entry = fewest.entry(run.run.language()).or_insert((found, asked));
            *entry = (*entry).min((found, asked));
        }
    }
    let of = |(task, (has, asked)): (&&str, &(u64, u64))| format!("{task} {has} of {asked}");
    let all = fewest.iter().map(of).collect::<Vec<_>>().join(", ");
    (!all.is_empty()).then(|| format!("fewer distinct sequences were found than asked for: {all}"))
}

/// A caution about tasks where one answer is always correct.
fn certain(results: &[&RunResult]) -> Option<String> {
    let is_certain = |run: &&&RunResult| {
        let chance = run.whole(TEST, HIGHEST_ACCURACY.name).and_then(|accuracy| accuracy.chance);
        chance.is_some_and(|chance| chance >= 1.0)
    };
    let tasks: BTreeSet<&str> = results.iter().filter(is_certain).map(|run| run.run.language()).collect();
    let tasks = tasks.into_iter().collect::<Vec<_>>().join(", ");
    (!tasks.is_empty()).then(|| {
        format!("on {tasks}, always giving the most frequent answer is always correct (chance 1): accuracy and WADE say nothing there")
    })
}

/// What made the runs, where runs say so: the name of the field, and what it tells apart.
const MADE_BY: [(&str, &str); 3] =
    [("version", "versions of wug"), ("build", "builds"), ("instructions", "instruction sets")];

/// A field of a run, if it has it and it is text.
fn text(run: &Run, field: &str) -> Option<String> {
    let run = serde_json::to_value(run).ok()?;
    Some(run.get(field)?.as_str()?.to_owned()).filter(|text| !text.is_empty())
}

/// How many seeds occur more than once among runs that only their plan tells apart.
fn repeated(results: &[&RunResult]) -> usize {
    let mut times: BTreeMap<_, usize> = BTreeMap::new();
    for result in results {
        let run = &result.run;
        let variant = suite::of(result).map_or_else(String::new, |suite| suite.variant(result));
        *times.entry((&run.protocol, &run.coordinates, run.reading, run.seed, variant)).or_default() += 1;
    }
    times.values().filter(|n| **n > 1).count()
}

/// The languages whose runs of one protocol, reading and data seed had different data.
fn mixed_data<'a>(results: &[&'a RunResult]) -> Vec<&'a str> {
    let mut hashes: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    // A run that failed early has no data.
    let with_data =
        |result: &&&RunResult| !result.run.data_hash.is_empty() && !result.run.language().is_empty();
    for result in results.iter().filter(with_data) {
        let run = &result.run;
        let data = suite::of(result).map_or_else(String::new, |suite| suite.data_key(result));
        let key = (run.language(), &run.protocol, run.reading, data, data_seed(result));
        hashes.entry(key).or_default().insert(&run.data_hash);
    }
    let mixed = hashes.into_iter().filter(|(_, hashes)| hashes.len() > 1).map(|((language, ..), _)| language);
    mixed.collect::<BTreeSet<&str>>().into_iter().collect()
}

/// More seeds than this are not listed one by one.
const MANY: usize = 10;

/// The languages that have cells with data of several seeds, and those seeds.
fn mixed_seeds(results: &[&RunResult]) -> Vec<String> {
    let mut cells: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
    for result in results {
        let run = &result.run;
        let seeds = cells.entry((run.language(), &run.protocol, &run.coordinates, run.reading)).or_default();
        seeds.extend(data_seed(result));
    }
    let mut languages: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for ((language, ..), seeds) in cells.into_iter().filter(|(_, seeds)| seeds.len() > 1) {
        languages.entry(language).or_default().extend(seeds);
    }
    let shown = |(language, seeds): (&str, BTreeSet<u64>)| {
        if let (Some(first), Some(last), true) = (seeds.first(), seeds.last(), seeds.len() > MANY) {
            return format!("{language} ({} seeds from {first} to {last})", seeds.len());
        }
        let seeds = seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        format!("{language} ({seeds})")
    };
    languages.into_iter().map(shown).collect()
}

/// How many of the runs diverged or failed, such as `1 diverged, 2 failed`; empty if none did.
pub(crate) fn bad_endings(runs: &[&RunResult]) -> String {
    let count = |is: fn(&Ending) -> bool| runs.iter().filter(|run| is(&run.ending)).count();
    let diverged = count(|ending| matches!(ending, Ending::Diverged { .. }));
    let failed = count(|ending| matches!(ending, Ending::Failed { .. }));
    let parts = [(diverged, "diverged"), (failed, "failed")];
    let shown = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    shown.collect::<Vec<_>>().join(", ")
}

/// The runs that diverged or failed, and why; `None` if there are none.
pub(crate) fn bad_runs(results: &[RunResult]) -> Option<Table> {
    let why = |result: &RunResult| match &result.ending {
        Ending::Finished | Ending::Stopped => None,
        Ending::Diverged { step } => Some(format!("not finite after {step} updates")),
        Ending::Failed { message } => Some(message.clone()),
    };
    let bad: Vec<(&RunResult, String)> =
        results.iter().filter_map(|result| Some((result, why(result)?))).collect();
    let names = coordinate_names(bad.iter().map(|(result, _)| &result.run));
    let row = |(result, why): &(&RunResult, String)| {
        let run = &result.run;
        let coordinates = names.iter().map(|name| run.coordinates.show(name));
        let keys = std::iter::once(run.reading.name().to_owned()).chain(coordinates);
        let cells = vec![Cell::ours(result.ending.name()), Cell::ours(why.as_str())];
        Row { keys: keys.chain([run.seed.to_string()]).collect(), cells }
    };
    let keys = ["reading"].into_iter().chain(names.iter().copied()).chain(["seed"]);
    (!bad.is_empty()).then(|| Table {
        id: "endings".to_owned(),
        title: "Runs that diverged or failed".to_owned(),
        about: BTreeMap::new(),
        notes: Vec::new(),
        keys: keys.map(str::to_owned).collect(),
        columns: ["ending", "why"].map(Column::new).to_vec(),
        rows: bad.iter().map(row).collect(),
    })
}
