//! The runs of one reading, by language, learner and setting: the rows of the tables.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::Reading;
use wug_score::plan::{Generalization, Plan, PlanKind};
use wug_score::strata::Margin;

use super::NAME;
use super::index_run::{Configuration, IndexRun};
use super::published::{FACTORS, INDEX, PAPER, languages, learners};
use crate::cells::PaperCells;
use crate::columns::{VaryingColumns, coordinate_names};
use crate::departures::{apart_note, reading_note};
use crate::plan_fields::field_name;
use crate::run::AnyRun;
use crate::summary::bad_endings;
use crate::table::{Scope, Table};

/// Baselines, from those that know nothing to the one that knows everything.
const BASELINES: [&str; 7] =
    ["uniform", "repeat-last", "unigram", "bigram", "trigram", "true-grammar", "oracle"];

/// A field that distinguishes rows besides language and learner.
struct RowSetting {
    name: &'static str,
    of: fn(&Plan<Generalization>) -> String,
}

const SETTINGS: [RowSetting; 9] = [
    RowSetting { name: "measure", of: |plan| plan.measure.criterion.to_string() },
    RowSetting { name: "size", of: |plan| shown(plan.learner.size) },
    RowSetting { name: "order", of: |plan| plan.data.order.to_string() },
    RowSetting { name: "prior", of: |plan| plan.data.prior.to_string() },
    RowSetting { name: "data seed", of: |plan| shown(plan.data_seed) },
    RowSetting { name: "test from", of: |plan| plan.data.test.from.to_string() },
    RowSetting { name: "test after", of: |plan| plan.data.test.after.to_string() },
    RowSetting { name: "precision", of: |plan| plan.precision.to_string() },
    RowSetting { name: SHUFFLED, of: |plan| shown(plan.learner.settings.get_value("shuffle")) },
];

fn shown(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Those on which the training strings depend.
const OF_DATA: [&str; 3] = ["order", "prior", "data seed"];

/// The settings of the paper's grids, among which an index is the best. Rows differ in other settings that an experiment lists.
pub(super) const CONFIGURED: [&str; 5] = ["hidden", "regularization", "lambda", "memory", "epochs"];
/// The coordinates that every row has anyway: language and learner are its first keys, and it is of all factors.
const OF_ROW: [&str; 3] = ["language", "learner", "factor"];

/// Whether training strings are read in a new order in every epoch.
pub(super) const SHUFFLED: &str = "shuffled";

pub(super) const ORDER: &str = "Shuffled: true, the training strings are read in a new random order in every epoch; false, in the order of the released files, which are sorted by length. Networks that read one string at a time learn far more from strings in random order. The code of these networks that the paper used does not shuffle.";

/// The index of the measure among them. It is shown only for languages that were evaluated by two.
const MEASURE: usize = 0;

/// Runs that may be in one table.
pub(super) struct RunGroup<'a> {
    pub(super) reading: Reading,
    /// Whether they are as in the paper, so that its values are shown beside theirs.
    pub(super) of_paper: bool,
    pub(super) reading_note: Option<String>,
    apart_note: Option<String>,
    /// In the order of their configurations and seeds, on which ties depend.
    pub(super) runs: Vec<IndexRun<'a>>,
    /// The names of other settings of which an experiment lists several values.
    compared: Vec<&'a str>,
}

/// Which runs a row is of. Rows are in this order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowKey<'a> {
    /// Its rank in the paper, or after all that the paper has.
    language_rank: usize,
    pub(super) language: &'a str,
    learner_rank: usize,
    pub(super) learner: &'a str,
    /// The values of [`SETTINGS`] and of what else is compared; none for a row that only the paper has.
    pub(super) settings: Vec<String>,
}

pub(super) type RunsByRow<'a> = BTreeMap<RowKey<'a>, Vec<IndexRun<'a>>>;

impl<'a> RunGroup<'a> {
    /// The groups of these results: the paper's first, one reading after the other.
    pub(super) fn all(cells: &PaperCells<'_>, runs: &[AnyRun<'a>]) -> Vec<Self> {
        let mut groups: BTreeMap<(bool, Reading), Vec<IndexRun<'a>>> = BTreeMap::new();
        for run in runs.iter().filter_map(|run| IndexRun::of(*run)) {
            // `false` sorts first, which puts the paper's groups on top.
            groups.entry((!run.run.is_as_in_paper(), run.plan().reading)).or_default().push(run);
        }
        let group = |((other, reading), mut runs): ((bool, Reading), Vec<IndexRun<'a>>)| {
            // Ties go to the first run: its order must not depend on the order of files.
            runs.sort_by_cached_key(|run| {
                (run.configuration(), run.result.run.seed, run.result.run.plan.clone())
            });
            let known = |name: &&str| {
                let of_table = SETTINGS.iter().any(|one| one.name == field_name(name)) || *name == "shuffle";
                of_table || CONFIGURED.contains(name) || OF_ROW.contains(name)
            };
            let names = coordinate_names(runs.iter().map(|run| &run.result.run));
            // What baselines do not have, and all others have alike, is not compared.
            let several = |name: &&str| {
                let all = runs.iter().filter_map(|run| run.result.run.coordinates.get(name));
                all.collect::<BTreeSet<_>>().len() > 1
            };
            let compared = names.into_iter().filter(|name| !known(name)).filter(several).collect();
            let placed = || runs.iter().map(|run| run.run);
            let (reading_note, apart_note) = if other {
                (None, apart_note(PAPER, placed()))
            } else {
                (reading_note(cells, reading, placed()), None)
            };
            Self { reading, of_paper: !other, reading_note, apart_note, runs, compared }
        };
        groups.into_iter().map(group).collect()
    }

    /// The rows of some of its runs.
    pub(super) fn rows(&self, of: impl Fn(IndexRun<'a>) -> bool) -> RunsByRow<'a> {
        let mut measures: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for run in &self.runs {
            measures.entry(run.language()).or_default().insert((SETTINGS[MEASURE].of)(run.plan()));
        }
        let mut rows = RunsByRow::new();
        for run in self.runs.iter().copied().filter(|run| of(*run)) {
            let mut key = RowKey::of(run);
            key.settings.extend(self.compared.iter().map(|name| run.result.run.coordinates.show(name)));
            // An empty measure is the same in all rows, so that it makes neither a column nor a table of its own.
            if measures[key.language].len() == 1 {
                key.settings[MEASURE].clear();
            }
            rows.entry(key).or_default().push(run);
        }
        rows
    }

    /// The settings that differ between rows. Baselines have few: rows without a setting make no difference to it.
    pub(super) fn varying(&self, rows: &RunsByRow<'_>) -> VaryingColumns {
        let known = SETTINGS.iter().map(|one| one.name.to_owned());
        let names: Vec<String> = known.chain(self.compared.iter().map(|name| field_name(name))).collect();
        let mut values: Vec<Vec<String>> = rows.keys().map(|key| key.settings.clone()).collect();
        for i in 0..names.len() {
            let given: BTreeSet<String> = values
                .iter()
                .filter_map(|row| row.get(i))
                .filter(|value| !value.is_empty())
                .cloned()
                .collect();
            if let (1, Some(one)) = (given.len(), given.first()) {
                // A baseline has no such setting. Its empty value must not make a column that differs nowhere else.
                values.iter_mut().filter_map(|row| row.get_mut(i)).for_each(|value| value.clone_from(one));
            }
        }
        VaryingColumns::of(&names, values.iter().map(Vec::as_slice))
    }

    /// The factors of an index: the paper's, and others that were run.
    pub(super) fn factors(&self) -> BTreeSet<usize> {
        let run = self.runs.iter().filter(|run| run.has_sizes_of_index()).map(|run| run.factor);
        // The paper's factors count even if they were not run: an index without them is incomplete.
        run.chain(FACTORS).collect()
    }

    /// The tables of the paper are the suite's, the others the protocol's.
    pub(super) fn scope(&self) -> Scope<'static> {
        if self.of_paper { Scope::Suite(NAME) } else { Scope::Protocol(Generalization::PROTOCOL) }
    }

    /// A table without its rows.
    pub(super) fn blank(&self, name: &str, title: &str, keys: &[&str]) -> Table {
        let paper = self.of_paper.then(|| format!("Paper: {PAPER}."));
        let notes =
            [paper, self.reading_note.clone(), self.apart_note.clone()].into_iter().flatten().collect();
        Table { notes, ..Table::blank(self.scope(), self.reading, name, title, keys) }
    }

    /// A note on the runs that diverged or failed.
    pub(super) fn bad_note(&self) -> Option<String> {
        let runs: Vec<_> = self.runs.iter().map(|run| run.result).collect();
        let bad = bad_endings(&runs);
        (!bad.is_empty())
            .then(|| format!("Of {} runs, {bad}; what was not evaluated counts as not run.", runs.len()))
    }
}

impl<'a> RowKey<'a> {
    fn of(run: IndexRun<'a>) -> Self {
        let settings = SETTINGS.iter().map(|one| (one.of)(run.plan())).collect();
        Self { settings, ..Self::in_print(run.language(), run.learner()) }
    }

    /// The row of a learner that only the paper has run.
    pub(super) fn in_print(language: &'a str, learner: &'a str) -> Self {
        let (language_rank, learner_rank) = (rank(&languages(), language), learner_rank(learner));
        Self { language_rank, language, learner_rank, learner, settings: Vec::new() }
    }

    /// A row below those of the learners, about their training strings alone.
    pub(super) fn below_learners(&self, name: &'a str) -> Self {
        let of_data = |(one, value): (&RowSetting, &String)| {
            if OF_DATA.contains(&one.name) { value.clone() } else { String::new() }
        };
        let settings = SETTINGS.iter().zip(&self.settings).map(of_data).collect();
        Self { learner_rank: usize::MAX, learner: name, settings, ..self.clone() }
    }

    /// How the runs were evaluated, if runs of their language were evaluated in two ways.
    pub(super) fn measure(&self) -> &str {
        self.settings.get(MEASURE).map_or("", String::as_str)
    }

    /// The value of the paper for a margin.
    pub(super) fn printed(&self, margin: Margin) -> Option<&'static str> {
        INDEX.text(&[self.language, self.learner], &format!("b_eps_{margin}"))
    }
}

/// The paper's learners, then other learners, then baselines.
fn learner_rank(learner: &str) -> usize {
    let paper = learners();
    match BASELINES.iter().position(|name| *name == learner) {
        Some(at) => paper.len() + 1 + at,
        None => rank(&paper, learner),
    }
}

fn rank(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(names.len())
}

/// What the columns of settings say: those that are the same in all rows, and what the order of strings means.
pub(super) fn settings_notes(columns: &VaryingColumns) -> Vec<String> {
    let constant = columns.constant(" ");
    let constant = (!constant.is_empty()).then(|| format!("All runs: {constant}."));
    let order = columns.has(SHUFFLED).then(|| ORDER.to_owned());
    constant.into_iter().chain(order).collect()
}

/// The margins of all runs, the most forgiving first, as in the paper.
pub(super) fn margins(rows: &RunsByRow<'_>) -> Vec<Margin> {
    let all: BTreeSet<Margin> = rows.values().flatten().flat_map(|run| run.margins()).collect();
    all.into_iter().rev().collect()
}

/// How many configurations and seeds some runs are of, such as `21 × 3`.
pub(super) fn counted(runs: &[IndexRun<'_>]) -> String {
    let configurations =
        runs.iter().map(|run| run.configuration()).collect::<BTreeSet<Configuration>>().len();
    let seeds = runs.iter().map(|run| run.result.run.seed).collect::<BTreeSet<u64>>().len();
    // Not all pairs need have been run; only a full grid is a product.
    let whole = format!("{configurations} × {seeds}");
    if runs.len() == configurations * seeds { whole } else { format!("{} of {whole}", runs.len()) }
}
