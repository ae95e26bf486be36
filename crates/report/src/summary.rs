//! What was run: how many runs, of which versions, how they ended, and what to be cautious about.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use serde::Serialize;
use wug_score::metric::{ANSWERS_SEEN, HIGHEST_ACCURACY};
use wug_score::plan::{Generalization, Recognition, Speed};
use wug_score::{Ending, Run, RunResult};

use crate::columns::coordinate_names;
use crate::measured::TEST;
use crate::run::{AnyRun, Run as TypedRun, of_kind, results};
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
    /// Of all runs, with cautions about those that count, each once.
    pub(crate) fn of(all: &[AnyRun<'_>], distinct: &[AnyRun<'_>]) -> Self {
        let results = results(all);
        let mut endings = BTreeMap::new();
        for result in &results {
            *endings.entry(result.ending.name()).or_insert(0) += 1;
        }
        Self {
            runs: results.len(),
            endings,
            protocols: results.iter().map(|result| result.run.protocol.clone()).collect(),
            readings: results.iter().map(|result| result.run.reading.name()).collect(),
            versions: results.iter().map(|result| result.run.version.clone()).collect(),
            cautions: cautions(&results, distinct),
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

/// A field of what a run was.
type RunField = fn(&Run) -> &str;

fn cautions(all: &[&RunResult], runs: &[AnyRun<'_>]) -> Vec<String> {
    let mut cautions = Vec::new();
    let made_by: [(RunField, &str); 3] = [
        (|run| &run.version, "versions of wug"),
        (|run| &run.build, "builds"),
        // Sums may differ in the last bits between instruction sets, and training magnifies that.
        (|run| &run.instructions, "instruction sets"),
    ];
    for (field, what) in made_by {
        let values: BTreeSet<&str> =
            all.iter().map(|result| field(&result.run)).filter(|text| !text.is_empty()).collect();
        if values.len() > 1 {
            let values = values.into_iter().collect::<Vec<_>>().join(", ");
            cautions.push(format!("the runs are by several {what}: {values}"));
        }
    }
    cautions.extend(repeats::caution(all.len(), runs.len()));
    let repeated = repeated(runs);
    if repeated > 0 {
        cautions.push(format!(
            "{repeated} seeds were run more than once in the same cell of a table, by different plans; means mix them"
        ));
    }
    // External learners end when they like: the epochs of the plan are not theirs.
    let trained = |run: &AnyRun<'_>| {
        let learner = &run.plan.learner;
        run.of::<Recognition>().is_some() && learner.settings.has("max_epochs") && learner.external.is_none()
    };
    // A run that early stopping did not end may have improved further: FLaRe trains until it does.
    let cut = runs.iter().filter(|run| trained(run) && run.ending == Ending::Finished).count();
    if cut > 0 {
        cautions.push(format!(
            "{cut} of {} runs reached their last epoch before they would have stopped; more epochs may score higher",
            runs.len()
        ));
    }
    let mixed = mixed_data(runs);
    if !mixed.is_empty() {
        cautions.push(format!(
            "the data differ between runs of one language, drawn with the same seed: {}",
            mixed.join(", ")
        ));
    }
    let seeds = mixed_seeds(runs);
    if !seeds.is_empty() {
        cautions.push(format!("cells have runs on data drawn with different seeds: {}", seeds.join(", ")));
    }
    cautions.extend(answers_seen(runs));
    cautions.extend(few_sequences(runs));
    cautions.extend(certain(runs));
    cautions
}

/// A caution about runs whose learner sees the answers that it predicts.
fn answers_seen(results: &[AnyRun<'_>]) -> Option<String> {
    let sees = |run: &&AnyRun<'_>| run.value(TEST, ANSWERS_SEEN.name).is_some_and(|share| share > 0.0);
    let seeing: Vec<&AnyRun<'_>> = results.iter().filter(sees).collect();
    let learners: BTreeSet<&str> = seeing.iter().map(|run| run.run.learner()).collect();
    let learners = learners.into_iter().collect::<Vec<_>>().join(", ");
    (!seeing.is_empty()).then(|| {
        let count = seeing.len();
        format!("{count} runs see the answers that they predict ({learners}; answers_seen above 0): their scores do not compare")
    })
}

/// A caution about tasks that have fewer distinct sequences than were asked for.
fn few_sequences(runs: &[AnyRun<'_>]) -> Option<String> {
    let mut fewest: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let drawn = |run: &TypedRun<'_, Speed>| run.plan.data.corpus.is_none();
    for run in of_kind::<Speed>(runs).into_iter().filter(drawn) {
        let count = |name: &str| run.result().data.get(name)?.as_u64();
        let asked = run.plan.data.sequences as u64;
        let (Some(train), Some(test)) = (count("train"), count("test")) else { continue };
        // Numbers of a file can be anything.
        let found = train.saturating_add(test);
        if found < asked {
            let entry = fewest.entry(run.subject()).or_insert((found, asked));
            *entry = (*entry).min((found, asked));
        }
    }
    let of = |(task, (has, asked)): (&&str, &(u64, u64))| format!("{task} {has} of {asked}");
    let all = fewest.iter().map(of).collect::<Vec<_>>().join(", ");
    (!all.is_empty()).then(|| format!("fewer distinct sequences were found than asked for: {all}"))
}

/// A caution about tasks where one answer is always correct.
fn certain(results: &[AnyRun<'_>]) -> Option<String> {
    let is_certain = |run: &&AnyRun<'_>| {
        let chance = run.whole(TEST, HIGHEST_ACCURACY.name).and_then(|accuracy| accuracy.chance);
        chance.is_some_and(|chance| chance >= 1.0)
    };
    let tasks: BTreeSet<&str> = results.iter().filter(is_certain).map(|run| run.run.language()).collect();
    let tasks = tasks.into_iter().collect::<Vec<_>>().join(", ");
    (!tasks.is_empty()).then(|| {
        format!("on {tasks}, always giving the most frequent answer is always correct (chance 1): accuracy and WADE say nothing there")
    })
}

/// How many seeds occur more than once among runs that only their plan tells apart.
fn repeated(runs: &[AnyRun<'_>]) -> usize {
    let mut times: BTreeMap<_, usize> = BTreeMap::new();
    for run in runs {
        let of = &run.result().run;
        let variant = suite::of(*run).map_or_else(String::new, |suite| suite.variant(*run));
        *times.entry((&of.protocol, &of.coordinates, of.reading, of.seed, variant)).or_default() += 1;
    }
    times.values().filter(|n| **n > 1).count()
}

/// The languages whose runs of one protocol, reading and data seed had different data.
fn mixed_data<'r>(runs: &[AnyRun<'r>]) -> Vec<&'r str> {
    let mut hashes: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    // A run that failed early has no data.
    let with_data = |run: &&AnyRun<'_>| !run.run.data_hash.is_empty() && !run.run.language().is_empty();
    for run in runs.iter().filter(with_data) {
        let (of, plan) = (&run.result().run, run.plan);
        // An index is of several sizes of its training sets, which need not be said.
        let data = if run.of::<Generalization>().is_some() { plan.data.to_string() } else { String::new() };
        let key = (of.language(), &of.protocol, of.reading, data, plan.data_seed);
        hashes.entry(key).or_default().insert(&of.data_hash);
    }
    let mixed = hashes.into_iter().filter(|(_, hashes)| hashes.len() > 1).map(|((language, ..), _)| language);
    mixed.collect::<BTreeSet<&str>>().into_iter().collect()
}

/// More seeds than this are not listed one by one.
const MANY: usize = 10;

/// The languages that have cells with data of several seeds, and those seeds.
fn mixed_seeds(runs: &[AnyRun<'_>]) -> Vec<String> {
    let mut cells: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
    for run in runs {
        let of = &run.result().run;
        let seeds = cells.entry((of.language(), &of.protocol, &of.coordinates, of.reading)).or_default();
        seeds.extend(run.plan.data_seed);
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
pub(crate) fn bad_endings(runs: &[impl Deref<Target = RunResult>]) -> String {
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
