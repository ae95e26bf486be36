//! The trials of one suite in one reading, by language, learner and setting.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::strata::Margin;
use wug_score::{Reading, RunResult};

use super::setting::{FACTORS, all_departures, departures};
use super::trial::{Configuration, Trial};
use crate::published::{BLISS, BLISS_INDEX, bliss_languages, bliss_learners, other_data};
use crate::summary::bad_endings;
use crate::table::Table;

/// Learners that have learned nothing, or everything, from the least to the most.
const BASELINES: [&str; 6] = ["uniform", "repeat-last", "unigram", "bigram", "trigram", "true-grammar"];

/// What tells the rows of a table apart beside language and learner: its name, and where it is in a plan.
const SETTINGS: [(&str, &str); 7] = [
    ("measure", "/measure"),
    ("order", "/order"),
    ("prior", "/prior"),
    ("data seed", "/data_seed"),
    ("test from", "/test/from"),
    ("test after", "/test/after"),
    ("precision", "/precision"),
];

/// The place of the measure among them. It is told only of languages that were marked by two.
const MEASURE: usize = 0;

/// Trials that may stand in one table.
pub(super) struct Group<'a> {
    pub(super) suite: &'a str,
    pub(super) reading: Reading,
    /// Whether they are as in the paper, so that its figures stand beside theirs.
    pub(super) of_paper: bool,
    /// In the order of their configurations and seeds, on which ties depend.
    pub(super) trials: Vec<Trial<'a>>,
}

/// Which trials a row is of. Rows are in this order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowKey<'a> {
    /// Where the paper has it, or after all that the paper has.
    language_rank: usize,
    pub(super) language: &'a str,
    learner_rank: usize,
    pub(super) learner: &'a str,
    setting: Vec<String>,
}

/// Trials by their place.
pub(super) type TrialsByRow<'a> = BTreeMap<RowKey<'a>, Vec<Trial<'a>>>;

/// Which settings differ, and what is the same everywhere.
pub(super) struct VaryingColumns {
    differ: Vec<usize>,
    /// In words.
    pub(super) same: String,
}

/// Whether a trial has a place in the tables of the paper.
fn has_place(trial: Trial<'_>) -> bool {
    let run = &trial.result.run;
    run.suite == "bliss" && bliss_languages().contains(&run.language.as_str()) && departures(trial).is_empty()
}

impl<'a> Group<'a> {
    /// The groups of these results: the paper's first, one reading after the other.
    pub(super) fn all(results: &'a [RunResult]) -> Vec<Self> {
        let mut groups: BTreeMap<(bool, &str, Reading), Vec<Trial<'a>>> = BTreeMap::new();
        for trial in results.iter().filter_map(Trial::of) {
            let run = &trial.result.run;
            groups.entry((!has_place(trial), &run.suite, run.reading)).or_default().push(trial);
        }
        let group = |((other, suite, reading), mut trials): ((bool, &'a str, Reading), Vec<Trial<'a>>)| {
            trials.sort_by_cached_key(|trial| {
                (trial.configuration(), trial.result.run.seed, trial.result.run.plan.clone())
            });
            Self { suite, reading, of_paper: !other, trials }
        };
        groups.into_iter().map(group).collect()
    }

    /// Those of some trials, by their place.
    pub(super) fn places(&self, of: impl Fn(Trial<'a>) -> bool) -> TrialsByRow<'a> {
        let mut measures: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for trial in &self.trials {
            let measure = trial.planned(SETTINGS[MEASURE].1);
            measures.entry(&trial.result.run.language).or_default().insert(measure);
        }
        let mut places = TrialsByRow::new();
        for trial in self.trials.iter().copied().filter(|trial| of(*trial)) {
            let mut place = RowKey::of(trial);
            if measures[place.language].len() == 1 {
                place.setting[MEASURE].clear();
            }
            places.entry(place).or_default().push(trial);
        }
        places
    }

    /// The factors that an index is asked about: the paper's, and others that were run.
    pub(super) fn factors(&self) -> BTreeSet<usize> {
        let run = self.trials.iter().filter(|trial| trial.has_sizes_of_index()).map(|trial| trial.factor);
        run.chain(FACTORS).collect()
    }

    /// A table without its rows.
    pub(super) fn blank(&self, name: &str, title: &str, keys: &[&str]) -> Table {
        let paper = self.of_paper.then(|| format!("Paper: {BLISS}."));
        let departures = if self.of_paper { String::new() } else { all_departures(&self.trials) };
        let other = (!departures.is_empty())
            .then(|| format!("Not to be compared with the figures of {BLISS}, which has: {departures}."));
        let notes = [paper, self.other_data(), other].into_iter().flatten().collect();
        Table { notes, ..Table::blank(self.suite, self.reading, name, title, keys) }
    }

    /// That the paper's figures are not of our data, where they are not.
    pub(super) fn other_data(&self) -> Option<String> {
        other_data(self.reading).filter(|_| self.of_paper)
    }

    /// How the runs ended that ended badly.
    pub(super) fn bad_note(&self) -> Option<String> {
        let runs: Vec<&RunResult> = self.trials.iter().map(|trial| trial.result).collect();
        let bad = bad_endings(&runs);
        (!bad.is_empty())
            .then(|| format!("Of {} runs, {bad}; what was not marked counts as not run.", runs.len()))
    }
}

impl<'a> RowKey<'a> {
    fn of(trial: Trial<'a>) -> Self {
        let run = &trial.result.run;
        Self {
            language_rank: rank(&bliss_languages(), &run.language),
            language: &run.language,
            learner_rank: learner_rank(&run.learner),
            learner: &run.learner,
            setting: SETTINGS.iter().map(|(_, at)| trial.planned(at)).collect(),
        }
    }

    /// The place of a learner that only the paper has run.
    pub(super) fn in_print(language: &'a str, learner: &'a str) -> Self {
        let (language_rank, learner_rank) = (rank(&bliss_languages(), language), learner_rank(learner));
        Self { language_rank, language, learner_rank, learner, setting: Vec::new() }
    }

    /// A row below those of the learners.
    pub(super) fn below_learners(&self, name: &'a str) -> Self {
        Self { learner_rank: usize::MAX, learner: name, ..self.clone() }
    }

    /// How the trials were marked, if trials of their language were marked in two ways.
    pub(super) fn measure(&self) -> &str {
        self.setting.get(MEASURE).map_or("", String::as_str)
    }

    /// The value of the paper for a margin.
    pub(super) fn printed(&self, margin: Margin) -> Option<&'static str> {
        BLISS_INDEX.text(&[self.language, self.learner], &format!("b_eps_{margin}"))
    }
}

/// The paper's learners, then others that learn, then those that do not.
fn learner_rank(learner: &str) -> usize {
    let paper = bliss_learners();
    match BASELINES.iter().position(|name| *name == learner) {
        Some(at) => paper.len() + 1 + at,
        None => rank(&paper, learner),
    }
}

fn rank(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(names.len())
}

impl VaryingColumns {
    pub(super) fn of(places: &TrialsByRow<'_>) -> Self {
        let values =
            |i: usize| places.keys().map(|place| place.setting[i].as_str()).collect::<BTreeSet<&str>>();
        let (differ, same): (Vec<usize>, Vec<usize>) =
            (0..SETTINGS.len()).partition(|&i| values(i).len() > 1);
        let same =
            same.into_iter().flat_map(|i| values(i).into_iter().map(move |value| (SETTINGS[i].0, value)));
        let same = same.filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("{name} {value}"));
        Self { differ, same: same.collect::<Vec<_>>().join(", ") }
    }

    /// The names of the settings that differ.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.differ.iter().map(|&i| SETTINGS[i].0.to_owned())
    }

    /// Those of a place; empty of one that only the paper has.
    pub(super) fn values(&self, place: &RowKey<'_>) -> impl Iterator<Item = String> {
        self.differ.iter().map(|&i| place.setting.get(i).cloned().unwrap_or_default())
    }

    /// What is the same everywhere, as a note.
    pub(super) fn note(&self) -> Option<String> {
        (!self.same.is_empty()).then(|| format!("All runs: {}.", self.same))
    }
}

/// The margins of all trials, the most forgiving first, as in the paper.
pub(super) fn margins(places: &TrialsByRow<'_>) -> Vec<Margin> {
    let all: BTreeSet<Margin> = places.values().flatten().flat_map(|trial| trial.margins()).collect();
    all.into_iter().rev().collect()
}

/// How many configurations and seeds some trials are of, such as `21 × 3`.
pub(super) fn counted(trials: &[Trial<'_>]) -> String {
    let configurations = trials.iter().map(|t| t.configuration()).collect::<BTreeSet<Configuration>>().len();
    let seeds = trials.iter().map(|t| t.result.run.seed).collect::<BTreeSet<u64>>().len();
    let whole = format!("{configurations} × {seeds}");
    if trials.len() == configurations * seeds { whole } else { format!("{} of {whole}", trials.len()) }
}
