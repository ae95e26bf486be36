//! The runs of TSE by the cells of its table, and which of them a cell shows.

use std::collections::BTreeMap;

use wug_score::metric::{PAIR_ACCURACY_MEAN_PROBABILITY, PAIR_ACCURACY_SUM, PERPLEXITY};
use wug_score::plan::Pairs;
use wug_score::select::best_by_validation;
use wug_score::{Metric, Reading};

use super::NAME;
use super::published::{LEARNERS, place, rows};
use crate::parameters;
use crate::run::{AnyRun, Run};
use crate::table::distinct;

pub(super) type TseRun<'r> = Run<'r, Pairs>;

/// Which runs a cell is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TseCell<'r> {
    pub(super) language: &'r str,
    /// Terminals of each class.
    pub(super) terminals: usize,
    pub(super) learner: String,
    pub(super) version: Version<'r>,
}

/// A version of a table, by the name of its section: corrected, as the paper describes, or as the released code does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version<'r> {
    /// The reading of its pairs.
    pub(super) reading: Reading,
    pub(super) name: &'r str,
}

impl Version<'_> {
    /// What the paper's figures stand beside where only corrected runs were made.
    const DESCRIBED: Self = Self { reading: Reading::Published, name: "as described" };

    /// Its name in an address.
    pub(super) fn id(self) -> String {
        self.name.rsplit(' ').next().unwrap_or_default().to_owned()
    }
}

/// A claimed run with what its recipe says of its place in the tables.
#[derive(Clone, Copy)]
pub(super) struct PlacedRun<'r> {
    pub(super) run: TseRun<'r>,
    /// The table without the suite, such as `3-normal`.
    pub(super) table: &'r str,
    version: Version<'r>,
    /// What follows the version in the name of the section, such as `by SGD`: a learner trained in another way is a learner of its own.
    variant: &'r str,
}

impl<'r> PlacedRun<'r> {
    /// The run, if its language with its terminals is one of the paper's, and its data are.
    pub(super) fn of(run: AnyRun<'r>) -> Option<Self> {
        let run = run.of::<Pairs>().filter(|run| run.has_data_of(NAME) && run.plan.learner.size.is_none())?;
        let (language, terminals) = language(run.subject())?;
        if !rows().contains(&(language, terminals)) {
            return None;
        }
        let cell = run.cell()?;
        let (name, variant) = cell.recipe.version.split_once(", ").unwrap_or((&cell.recipe.version, ""));
        let reading = run.plan.reading;
        let version = Version { reading, name: if name.is_empty() { reading.name() } else { name } };
        // How another learner was trained says nothing of this one.
        let variant = if cell.learner() == run.learner() { variant } else { "" };
        Some(Self { run, table: cell.table(), version, variant })
    }

    pub(super) fn cell(self) -> Option<TseCell<'r>> {
        let (language, terminals) = language(self.run.subject())?;
        Some(TseCell { language, terminals, learner: self.learner(), version: self.version })
    }

    /// The learner whose cells it belongs to.
    fn learner(self) -> String {
        if self.variant.is_empty() {
            return self.run.learner().to_owned();
        }
        format!("{} {}", self.run.learner(), self.variant)
    }
}

/// A language without how its terminals are drawn, and how many there are; `None` if it has other parameters.
fn language(spelled: &str) -> Option<(&str, usize)> {
    let (name, parameters) = spelled.split_once(':').unwrap_or((spelled, ""));
    // The language's own default, if its name does not say how many.
    let mut terminals = 10;
    for parameter in parameters.split(',').filter(|text| !text.is_empty()) {
        match parameter.split_once('=')? {
            ("terminals", count) => terminals = count.parse().ok()?,
            ("law", _) => {}
            _ => return None,
        }
    }
    Some((name, terminals))
}

/// The runs of a table, by their cells.
pub(super) struct TseRuns<'r> {
    /// The table without the suite.
    pub(super) table: &'r str,
    all: Vec<TseRun<'r>>,
    /// The indices of those of a cell.
    by_cell: BTreeMap<TseCell<'r>, Vec<usize>>,
    learners: Vec<String>,
}

/// The metric by which pairs of a language are compared: as the paper says in the published reading, by the probability of the whole
/// string in the corrected one.
pub(super) fn comparison(language: &str, reading: Reading) -> &'static Metric {
    match (language, reading) {
        // Its bad strings differ in length. The paper's footnote compares averages of the words' probabilities.
        ("np-vp", Reading::Published) => &PAIR_ACCURACY_MEAN_PROBABILITY,
        _ => &PAIR_ACCURACY_SUM,
    }
}

impl TseCell<'_> {
    /// The accuracy of a run of the cell.
    pub(super) fn accuracy(&self, run: TseRun<'_>, split: &str) -> Option<f64> {
        run.value(split, comparison(self.language, self.version.reading).name)
    }
}

/// The perplexity by which the paper chooses a model.
pub(super) fn validation_perplexity(run: TseRun<'_>) -> Option<f64> {
    run.value("validation", PERPLEXITY.name)
}

/// The run with the lowest perplexity on the validation strings.
pub(super) fn selected<'r>(runs: &[TseRun<'r>]) -> Option<TseRun<'r>> {
    best_by_validation(runs, |run| validation_perplexity(*run)).copied()
}

impl<'r> TseRuns<'r> {
    /// Those of a table, in the order of their seeds, on which ties depend.
    pub(super) fn of(runs: &[PlacedRun<'r>], table: &'r str) -> Self {
        let mut own: Vec<PlacedRun<'r>> = runs.iter().copied().filter(|run| run.table == table).collect();
        let mut learners = distinct(own.iter().map(|run| run.learner()));
        learners.sort_by_cached_key(|learner| match place(learner) {
            Some(at) => (at, learner.clone()),
            None => (LEARNERS.len(), String::new()),
        });
        own.sort_by_key(|placed| (placed.run.plan.seed, &placed.run.result().run.plan));
        let mut by_cell: BTreeMap<TseCell<'r>, Vec<usize>> = BTreeMap::new();
        for (i, run) in own.iter().enumerate() {
            if let Some(cell) = run.cell() {
                by_cell.entry(cell).or_default().push(i);
            }
        }
        Self { table, all: own.into_iter().map(|placed| placed.run).collect(), by_cell, learners }
    }

    pub(super) fn all(&self) -> &[TseRun<'r>] {
        &self.all
    }

    /// Those of a cell.
    pub(super) fn at(&self, cell: &TseCell<'_>) -> Vec<TseRun<'r>> {
        let found = self.by_cell.iter().find(|(own, _)| *own == cell);
        found.into_iter().flat_map(|(_, runs)| runs).map(|i| self.all[*i]).collect()
    }

    /// The cells that were run, with their runs.
    pub(super) fn cells(&self) -> impl Iterator<Item = (&TseCell<'r>, Vec<TseRun<'r>>)> {
        self.by_cell.iter().map(|(cell, runs)| (cell, runs.iter().map(|i| self.all[*i]).collect()))
    }

    /// The languages that were run with their terminals, in the order of the paper.
    pub(super) fn rows(&self) -> Vec<(&'static str, usize)> {
        let run = |(language, terminals): &(&str, usize)| {
            self.by_cell.keys().any(|key| key.language == *language && key.terminals == *terminals)
        };
        rows().into_iter().filter(run).collect()
    }

    /// The learners of the paper that were run, and then the others, in the order of the results.
    pub(super) fn learners(&self) -> &[String] {
        &self.learners
    }

    /// A learner with the parameters of its runs, as a legend names it.
    pub(super) fn label(&self, name: &str) -> String {
        let own = self.cells().filter(|(cell, _)| cell.learner == name);
        parameters::label(name, own.flat_map(|(_, runs)| runs))
    }

    /// The versions that were run, corrected ones first.
    pub(super) fn versions(&self) -> Vec<Version<'r>> {
        self.versions_where(|_| true)
    }

    /// The versions that a learner was run in; of one of the paper, at least one that its figures can stand beside.
    pub(super) fn versions_of(&self, learner: &str) -> Vec<Version<'r>> {
        let mut own = self.versions_where(|cell| cell.learner == learner);
        if place(learner).is_some() && own.iter().all(|version| version.reading == Reading::Corrected) {
            own.push(Version::DESCRIBED);
        }
        own
    }

    fn versions_where(&self, own: impl Fn(&TseCell<'r>) -> bool) -> Vec<Version<'r>> {
        let mut versions = distinct(self.by_cell.keys().filter(|cell| own(cell)).map(|cell| cell.version));
        // `false` sorts first, which puts corrected versions in front.
        versions.sort_by_key(|version| (version.reading == Reading::Published, version.name));
        versions
    }
}
